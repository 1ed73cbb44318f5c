"""Requests that wait together are done together; each has its own answer."""

import asyncio
import threading
from types import SimpleNamespace

import numpy as np
import pytest
from waiting import MINUTES

import lookalike as la
from lookalike.errors import OutputError
from lookalike.index.answers import Answers
from lookalike.serve import store as module
from lookalike.serve.bodies import Limits, Problem
from lookalike.serve.log import Metrics
from lookalike.serve.store import BatchedIndex

WORDS = [f"w{i}" for i in range(400)]


async def all_of(*asked):
    """What comes of several requests that come together: their answers, or their errors."""
    return await asyncio.gather(*asked, return_exceptions=True)


@pytest.fixture
def store(tmp_path):
    made = BatchedIndex(
        la.Index.create(tmp_path / "seen.idx", threshold=0.5, width=2, keep_text=True), Limits(waiting=50), Metrics(), 2
    )
    yield made
    assert made.close(MINUTES)


def counted(store, name):
    return store.metrics.registry.get_sample_value(f"lookalike_{name}")


def rows_of(matches):
    """Return matches as the rows of ``Index.query``."""
    columns = (matches.query, matches.ids, matches.estimated, matches.error, matches.exact)
    names = ("query", "id", "estimated_resemblance", "standard_error", "resemblance")
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


@pytest.mark.parametrize("direct", [0, 1 << 20], ids=["by threads", "at once"])
def test_queries_that_come_together_are_answered_as_one_by_one(store, rng, monkeypatch, direct):
    monkeypatch.setattr(module, "DIRECT_BYTES", direct)
    known = [" ".join(rng.choice(WORDS, 30).tolist()) for _ in range(100)]
    store.index.add([f"d{i}" for i in range(60)], known[:60])
    asked = [([known[k] + " more" for k in rng.integers(0, 60, i % 5)] + [known[60 + i]], 1 + i % 3) for i in range(40)]

    async def ask():
        return await all_of(*(store.query(texts, top, sum(map(len, texts))) for texts, top in asked))

    for (texts, top), found in zip(asked, asyncio.run(ask()), strict=True):
        assert found.n_texts == len(texts) and rows_of(found) == store.index.query(texts, top=top).to_pylist()
    assert counted(store, "texts_queried_total") == sum(len(texts) for texts, _ in asked)
    assert 0 < counted(store, "query_group_requests_count") <= 40


def test_as_many_as_fit_are_answered_by_one_call(store, monkeypatch):
    calls = []
    answers = store.index.answers
    monkeypatch.setattr(store.index, "answers", lambda texts, top: calls.append((len(texts), top)) or answers(texts, top=top))

    async def ask(asked):
        await all_of(*(store.query(["x y z"] * n, top, 5 * n) for n, top in asked))

    for asked, wanted in (
        ([(1, 10), (2, 10), (3, 10)], [(6, 10)]),
        ([(1, 10), (1, 5), (1, 5)], [(1, 10), (2, 5)]),
        ([(200, 10), (56, 10), (1, 10), (1000, 10)], [(256, 10), (1, 10), (1000, 10)]),
    ):
        calls.clear()
        asyncio.run(ask(asked))
        assert calls == wanted


def test_changes_that_wait_together_are_one_commit(store):
    writes = []
    index = store.index
    begun = threading.Event()
    go = threading.Event()

    class Watched:
        contains = index.contains
        close = index.close
        id_type = property(lambda _: index.id_type)

        def add(self, ids, texts, replace):
            writes.append(("add", list(ids)))
            index.add(ids, texts, replace=replace)
            begun.set()
            go.wait(MINUTES)

        def remove(self, ids):
            writes.append(("remove", sorted(ids)))
            return index.remove(ids)

    store.index = Watched()

    async def change():
        first = asyncio.ensure_future(store.add(["a"], ["one two three"], 1))
        await asyncio.get_running_loop().run_in_executor(None, begun.wait, MINUTES)
        waiting = asyncio.ensure_future(
            all_of(
                store.add(["a", "b"], ["one two four", "b b b"], 1),
                store.add(["b", "c"], ["five six seven", "c"], 1),
                store.remove(["a", "nothing"]),
                store.remove(["a", "c"]),
                store.add(["a"], ["the last one of all"], 1),
                store.remove([7]),
            )
        )
        await asyncio.sleep(0.01)
        go.set()
        return [await first, *await waiting]

    *done, refused = asyncio.run(change())
    assert done == [(1, 0), (2, 1), (2, 1), 1, 1, (1, 0)] and refused.status == 422
    assert writes == [("add", ["a"]), ("add", ["a", "b", "c"]), ("remove", ["a", "c"]), ("add", ["a"])]
    assert index.get(["a", "b", "c"])["text"].to_pylist() == ["the last one of all", "five six seven"]
    assert [counted(store, f"documents_{name}_total") for name in ("added", "replaced", "removed")] == [6, 2, 2]


def test_the_first_ids_decide_their_type(store):
    async def change():
        return await all_of(
            store.add([], [], 0), store.add([1], ["a b c"], 1), store.add(["x"], ["a b d"], 1), store.remove(["x"])
        )

    done = asyncio.run(change())
    assert done[:2] == [(0, 0), (1, 0)] and [one.status for one in done[2:]] == [422, 422]
    assert store.index.contains([1]).tolist() == [True]


def test_what_cannot_be_written_fails_for_all_of_a_group(store, monkeypatch):
    def full(*_, **__):
        raise OutputError("seen.idx: No space left on device")

    async def change():
        return await all_of(store.add(["a"], ["a"], 1), store.add(["b"], ["b"], 1))

    with monkeypatch.context() as patch:
        patch.setattr(store.index, "add", full)
        assert [one.status for one in asyncio.run(change())] == [507, 507]
    assert asyncio.run(change()) == [(1, 0), (1, 0)]


def test_a_query_that_fails_fails_alone(store, monkeypatch):
    answers = store.index.answers

    def picky(texts, top):
        return answers(texts, top=top // ("bad" not in texts))

    async def ask():
        return await all_of(*(store.query([text], 10, 1) for text in ("a", "bad", "b")))

    monkeypatch.setattr(store.index, "answers", picky)
    first, bad, last = asyncio.run(ask())
    assert isinstance(bad, ZeroDivisionError) and first.n_texts == last.n_texts == 1


async def until(holds):
    """Let the loop go on until something holds."""

    async def wait():
        while not holds():
            await asyncio.sleep(0.005)

    await asyncio.wait_for(wait(), MINUTES)


def blocked(store):
    """Let every call of the index wait; return what ends that, and the calls."""
    go = threading.Event()
    calls = []
    none = np.empty(0)
    close = store.index.close

    def waiting(name, answer):
        return lambda *_, **__: (calls.append(name), go.wait(MINUTES)) and answer

    store.index = SimpleNamespace(
        answers=waiting("answers", Answers(np.empty(0, int), [], none, none, None, None)),
        add=waiting("add", None),
        contains=lambda ids: np.zeros(len(ids), bool),
        id_type=None,
        close=close,
    )
    return go, calls


def test_full_queues_and_late_requests(store, monkeypatch):
    monkeypatch.setattr(module, "DIRECT_BYTES", 0)
    monkeypatch.setattr(module, "GROUP_TEXTS", 1)
    go, calls = blocked(store)

    async def ask():

        queries = [asyncio.ensure_future(store.query(["a"], 10, 1)) for _ in range(2 + 50)]
        await until(lambda: calls == ["answers"] * 2)
        queries += [asyncio.ensure_future(store.query(["a"], 10, 1)) for _ in range(3)]
        changes = [asyncio.ensure_future(store.add(["first"], ["a"], 1))]
        await until(lambda: calls[2:] == ["add"])
        changes += [asyncio.ensure_future(store.add([f"{i}"], ["a"], 1)) for i in range(53)]
        await until(lambda: sum(map(asyncio.Future.done, changes)) == 3)
        store.withdraw()
        assert store.n_waiting == (50, 50)
        store.limits = Limits(seconds=0.01, waiting=50)
        await until(lambda: store.withdraw() or store.n_waiting == (0, 0))
        go.set()
        return await all_of(*queries), await all_of(*changes)

    for found, n_answered in zip(asyncio.run(ask()), (2, 1), strict=True):
        problems = [one for one in found if isinstance(one, Problem)]
        assert len(found) - len(problems) == n_answered and all(one.headers == {"retry-after": "1"} for one in problems)
        assert sorted(one.status for one in problems) == [429] * 3 + [503] * 50


def test_work_beside_queries_is_limited(store):
    go = threading.Event()

    async def ask():
        work = [asyncio.ensure_future(store.run(lambda: go.wait(MINUTES))) for _ in range(53)]
        await asyncio.sleep(0)
        go.set()
        return await all_of(*work)

    done = asyncio.run(ask())
    assert done[:50] == [True] * 50 and [one.status for one in done[50:]] == [429] * 3
    assert asyncio.run(store.run(lambda: 7)) == 7


def test_closing_waits_for_a_while_only(store):
    go, calls = blocked(store)

    async def begin():
        asyncio.ensure_future(store.add(["a"], ["a"], 1)).cancel()
        waiting = asyncio.ensure_future(store.add(["a"], ["a"], 1))
        await until(lambda: calls == ["add"])
        closed = store.close(0.05)
        go.set()
        await asyncio.wait([waiting], timeout=MINUTES)
        return closed

    assert asyncio.run(begin()) is False
