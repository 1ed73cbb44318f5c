import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from itertools import product

import numpy as np
from raising import assert_raises

from lookalike.core.scratch import KEPT, scratch
from lookalike.core.threads import in_order
from lookalike.methods.method import sets_of_values
from lookalike.text.shingle import Shingling
from lookalike.text.texts import from_strings


def test_results_come_in_the_order_of_the_items():
    """Up to an error, which reaches the caller."""
    for threads, n in product([1, 2, 3], [0, 1, 2, 3, 50]):
        assert list(in_order(lambda i: i * i, iter(range(n)), threads)) == [i * i for i in range(n)]
        found = []
        assert_raises(ZeroDivisionError, "", found.extend, in_order(lambda i: 1 // i, iter(range(n, -1, -1)), threads))
        assert found == [1 // i for i in range(n, 0, -1)]


def test_threads_are_started_for_several_pieces_only():
    """The caller's is one of them."""
    for n, threads in [(1, 4), (5, 1), (2, 2), (9, 3)]:
        at_once = threading.Barrier(min(n, threads), timeout=30)
        used = set(in_order(lambda _, at_once=at_once: (at_once.wait(), threading.current_thread())[1], range(n), threads))
        assert len(used) == min(n, threads) and threading.current_thread() in used


def test_few_items_are_drawn_ahead():
    for threads, most in [(1, 1), (2, 4), (3, 6)]:
        drawn = []
        results = in_order(lambda i: i, (drawn.append(i) or i for i in range(20)), threads)
        assert next(results) == 0 and len(drawn) <= most
        results.close()
        assert len(drawn) <= most


def test_an_error_waits_for_its_turn():
    begun = threading.Event()

    def work(i):
        if i == 0:
            assert begun.wait(30)
            return i
        begun.set()
        return 1 // (i - 1)

    results = in_order(work, range(8), 2)
    assert next(results) == 0
    assert_raises(ZeroDivisionError, "", next, results)


def test_an_item_is_let_go_once_it_is_worked_on():
    """While its result waits for those before it."""

    class Item(list):
        pass

    gone, done = threading.Event(), threading.Event()

    def items():
        for i in range(3):
            item = Item([i])
            if i == 1:
                weakref.finalize(item, gone.set)
            yield item

    def work(item):
        if item == [0]:
            assert done.wait(30)
            return gone.wait(30)
        if item == [2]:
            done.set()
        return item[0]

    assert list(in_order(work, items(), 2)) == [True, 1, 2]


def test_arrays_are_kept_by_name_and_thread_unless_they_are_large():
    first, large = scratch("of a test", 100, np.int64), scratch("of a test", 1 + KEPT // 8, np.int64)
    assert len(first) >= 100 and len(large) > KEPT // 8
    with ThreadPoolExecutor(1) as other:
        assert other.submit(scratch, "of a test", 10, np.int64).result() is not first
    assert scratch("of a test", 50, np.int64) is first is not scratch("of a test", 1000, np.int64)


def test_threads_get_the_same_from_the_core():
    """What they share is only read, and what one of them uses again is nothing that another still has."""
    texts, shingling, left = from_strings([f"{i} é " * (i % 9) + "b c d e f" for i in range(200)]), Shingling(), np.arange(199)
    values, offsets = (array.copy() for array in shingling.hashes(texts))
    rows = sets_of_values(values, offsets)
    scores = rows.compare(left, left + 1, 0.0)
    for found, compared in in_order(lambda _: (shingling.hashes(texts)[0], rows.compare(left, left + 1, 0.0)), range(99), 4):
        assert np.array_equal(found, values) and np.array_equal(compared, scores)
