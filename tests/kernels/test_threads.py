"""Work shared among threads comes back in order; one piece of it takes no thread; each thread has arrays of its own."""

import threading

import numpy as np
import pytest

from lookalike.kernels.scratch import scratch
from lookalike.kernels.threads import in_order


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 50])
def test_results_come_in_the_order_of_the_items(threads, n):
    assert list(in_order(lambda i: i * i, iter(range(n)), threads)) == [i * i for i in range(n)]


@pytest.mark.parametrize(("n", "threads", "own"), [(1, 4, True), (5, 1, True), (2, 2, False)])
def test_threads_are_started_for_several_pieces_only(n, threads, own):
    used = set(in_order(lambda i: threading.current_thread(), range(n), threads))
    assert (used == {threading.current_thread()}) == own


@pytest.mark.parametrize(("threads", "most"), [(1, 1), (2, 4), (3, 6)])
def test_few_items_are_drawn_ahead(threads, most):
    drawn = []
    results = in_order(lambda i: i, (drawn.append(i) or i for i in range(20)), threads)
    assert next(results) == 0 and len(drawn) <= most
    results.close()
    assert len(drawn) <= most


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("n", [1, 10])
def test_an_error_reaches_the_caller(threads, n):
    with pytest.raises(ZeroDivisionError):
        list(in_order(lambda i: 1 // (n - 1 - i), range(n), threads))


def test_arrays_are_kept_by_name_and_thread_unless_they_are_large():
    first = scratch("of a test", 100, np.int64)
    assert len(first) >= 100 and scratch("of a test", 50, np.int64) is first
    large = scratch("of a test", 1000, np.int64, 8000)
    assert len(large) >= 1000 and scratch("of a test", 100, np.int64) is first
    larger = scratch("of a test", 1000, np.int64)
    assert scratch("of a test", 1000, np.int64) is larger is not large
    others = []
    thread = threading.Thread(target=lambda: others.append(scratch("of a test", 10, np.int64)))
    thread.start()
    thread.join()
    assert others[0] is not larger
