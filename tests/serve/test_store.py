import asyncio
import threading
from unittest.mock import Mock

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


def all_of(*asked):
    return asyncio.gather(*asked, return_exceptions=True)


def done(ask):
    async def asking():
        return await all_of(*ask())

    return asyncio.run(asking())


@pytest.fixture
def store(tmp_path):
    index = la.Index.create(tmp_path / "seen.idx", threshold=0.5, width=2, keep_text=True)
    made = BatchedIndex(index, Limits(waiting=50), Metrics(), 2)
    yield made
    assert made.close(MINUTES)


def counted(store, *names):
    return [store.metrics.registry.get_sample_value(f"lookalike_{name}") for name in names]


def test_queries_that_come_together_are_answered_as_one_by_one(store, rng, monkeypatch):
    known = [" ".join(rng.choice([f"w{i}" for i in range(400)], 30).tolist()) for _ in range(100)]
    store.index.add([f"d{i}" for i in range(60)], known[:20] * 3)
    asked = [([known[k] + " more" for k in rng.integers(0, 20, i % 5)] + [known[60 + i]], 1 + i % 3) for i in range(40)]
    for direct in (0, 1 << 20):  # by threads, or at once
        monkeypatch.setattr(module, "DIRECT_BYTES", direct)
        found = done(lambda: [store.query(texts, top, sum(map(len, texts))) for texts, top in asked])
        for (texts, top), mine in zip(asked, found, strict=True):
            columns = [mine.query, mine.ids, mine.estimated, mine.error, mine.exact]
            assert columns == [column.to_pylist() for column in store.index.query(texts, top=top).columns]
            assert mine.n_texts == len(texts)
    texts, groups = counted(store, "texts_queried_total", "query_group_requests_count")
    assert texts == 2 * sum(len(texts) for texts, _ in asked) and 0 < groups <= 80


def test_changes_that_wait_together_are_one_commit(store, monkeypatch):
    """The first ids decide their type."""
    writes, index, begun, go = [], store.index, threading.Event(), threading.Event()
    real_add, real_remove = index.add, index.remove

    def add(ids, texts, replace):
        writes.append(("add", list(ids)))
        real_add(ids, texts, replace=replace)
        begun.set()
        go.wait(MINUTES)

    monkeypatch.setattr(index, "add", add)
    monkeypatch.setattr(index, "remove", lambda ids: writes.append(("remove", sorted(ids))) or real_remove(ids))

    async def change():
        first = asyncio.ensure_future(store.add(["a"], ["one two three"], 1))
        await asyncio.get_running_loop().run_in_executor(None, begun.wait, MINUTES)
        waiting = asyncio.ensure_future(
            all_of(
                store.add([], [], 0),
                store.add(["a", "b"], ["one two four", "b b b"], 1),
                store.add(["b", "c"], ["five six seven", "c"], 1),
                store.remove(["a", "nothing"]),
                store.remove(["a", "c"]),
                store.add(["a"], ["the last one of all"], 1),
                store.remove([7]),
                store.add([7], ["seven"], 1),
            )
        )
        await asyncio.sleep(0.01)
        go.set()
        return [await first, *await waiting]

    *found, removed, added = asyncio.run(change())
    assert found == [(1, 0), (0, 0), (2, 1), (2, 1), 1, 1, (1, 0)] and removed.status == added.status == 422
    assert writes == [("add", ["a"]), ("add", ["a", "b", "c"]), ("remove", ["a", "c"]), ("add", ["a"])]
    assert index.get(["a", "b", "c"])["text"].to_pylist() == ["the last one of all", "five six seven"]
    assert counted(store, *(f"documents_{name}_total" for name in ("added", "replaced", "removed"))) == [6, 2, 2]


def test_what_fails_fails_for_those_that_it_concerns(store, monkeypatch):
    """What cannot be written fails for all of a group, a query alone."""

    def change():
        return [store.add(["a"], ["a"], 1), store.add(["b"], ["b"], 1)]

    with monkeypatch.context() as patch:
        patch.setattr(store.index, "add", Mock(side_effect=OutputError("seen.idx: No space left on device")))
        assert [one.status for one in done(change)] == [507, 507]
    assert done(change) == [(1, 0), (1, 0)]
    answers = store.index.answers
    monkeypatch.setattr(store.index, "answers", lambda texts, top: answers(texts, top=top // ("bad" not in texts)))
    first, bad, last = done(lambda: [store.query([text], 10, 1) for text in ("a", "bad", "b")])
    assert isinstance(bad, ZeroDivisionError) and first.n_texts == last.n_texts == 1


async def until(holds):
    async with asyncio.timeout(MINUTES):
        while not holds():
            await asyncio.sleep(0.005)


@pytest.fixture
def blocked(store, monkeypatch):
    go, calls, none = threading.Event(), [], np.empty(0)
    for name, answer in (("answers", Answers(none.astype(int), [], none, none, None, None)), ("add", None)):
        wait = lambda *_, name=name, answer=answer, **__: (calls.append(name), go.wait(MINUTES)) and answer  # noqa: E731
        monkeypatch.setattr(store.index, name, wait)
    return go, calls


def test_full_queues_and_late_requests(store, monkeypatch, blocked):
    monkeypatch.setattr(module, "DIRECT_BYTES", 0)
    monkeypatch.setattr(module, "GROUP_TEXTS", 1)
    go, calls = blocked

    def add(ids):
        return [asyncio.ensure_future(store.add([f"{i}"], ["a"], 1)) for i in ids]

    def look_up(n):
        return [asyncio.ensure_future(store.query(["a"], 10, 1)) for _ in range(n)]

    async def ask():
        queries = look_up(2 + 50)
        await until(lambda: calls == ["answers"] * 2)
        queries += look_up(3)
        changes = add([0])
        await until(lambda: calls[2:] == ["add"])
        changes += add(range(1, 54))
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


def test_closing_waits_for_a_while_only(store, blocked):
    go, calls = blocked

    async def begin():
        left, waiting = (asyncio.ensure_future(store.add(["a"], ["a"], 1)) for _ in range(2))
        left.cancel()
        await until(lambda: calls == ["add"])
        closed = store.close(0.05)
        go.set()
        await asyncio.wait([waiting], timeout=MINUTES)
        return closed

    assert asyncio.run(begin()) is False
