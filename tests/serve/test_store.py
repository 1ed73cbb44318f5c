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


def text_of(rng):
    """Return a text."""
    return " ".join(rng.choice(WORDS, 30).tolist())


@pytest.fixture
def store(tmp_path):
    """A store of an empty index."""
    made = BatchedIndex(
        la.Index.create(tmp_path / "seen.idx", threshold=0.5, width=2, keep_text=True), Limits(waiting=50), Metrics(), 2
    )
    yield made
    assert made.close(MINUTES)


def counted(store, name):
    """Return a number of the metrics."""
    return store.metrics.registry.get_sample_value(f"lookalike_{name}")


def rows_of(matches):
    """Return matches as the rows of ``Index.query``."""
    columns = (matches.query, matches.ids, matches.estimated, matches.error, matches.exact)
    names = ("query", "id", "estimated_resemblance", "standard_error", "resemblance")
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


@pytest.mark.parametrize("direct", [0, 1 << 20], ids=["by threads", "at once"])
def test_queries_that_come_together_are_answered_as_one_by_one(store, rng, monkeypatch, direct):
    monkeypatch.setattr(module, "DIRECT_BYTES", direct)
    known = [text_of(rng) for _ in range(60)]
    store.index.add([f"d{i}" for i in range(60)], known)
    asked = []
    for i in range(40):
        texts = [known[int(k)] + " more" for k in rng.integers(0, 60, int(rng.integers(0, 5)))] + [text_of(rng)]
        asked.append((texts, 1 + i % 3))

    async def ask():
        return await asyncio.gather(*(store.query(texts, top, sum(map(len, texts))) for texts, top in asked))

    for (texts, top), found in zip(asked, asyncio.run(ask()), strict=True):
        assert found.n_texts == len(texts) and rows_of(found) == store.index.query(texts, top=top).to_pylist()
    assert counted(store, "texts_queried_total") == sum(len(texts) for texts, _ in asked)
    assert 0 < counted(store, "query_group_requests_count") <= 40


def test_as_many_as_fit_are_answered_by_one_call(store, rng, monkeypatch):
    calls = []
    answers = store.index.answers
    monkeypatch.setattr(store.index, "answers", lambda texts, top: calls.append((len(texts), top)) or answers(texts, top=top))

    async def ask(sizes, tops):
        await asyncio.gather(*(store.query(["x y z"] * n, top, 5 * n) for n, top in zip(sizes, tops, strict=True)))

    asyncio.run(ask([1, 2, 3], [10, 10, 10]))
    assert calls == [(6, 10)]
    calls.clear()
    asyncio.run(ask([1, 1, 1], [10, 5, 5]))
    assert calls == [(1, 10), (2, 5)]
    calls.clear()
    asyncio.run(ask([200, 56, 1, 1000], [10] * 4))
    assert calls == [(256, 10), (1, 10), (1000, 10)]


def test_changes_that_wait_together_are_one_commit(store):
    writes = []
    index = store.index
    inner_add, inner_remove = index.add, index.remove
    begun, go = threading.Event(), threading.Event()

    def add(ids, texts, replace):
        writes.append(("add", list(ids)))
        inner_add(ids, texts, replace=replace)
        begun.set()
        go.wait(MINUTES)

    def remove(ids):
        writes.append(("remove", sorted(ids)))
        return inner_remove(ids)

    class Watched(SimpleNamespace):
        id_type = property(lambda _: index.id_type)

    store.index = Watched(add=add, remove=remove, contains=index.contains, close=index.close)

    async def change():
        first = store.add(["a"], ["one two three"], 1)
        first = asyncio.ensure_future(first)
        await asyncio.get_running_loop().run_in_executor(None, begun.wait, MINUTES)
        later = [
            store.add(["a", "b"], ["one two four", "b b b"], 1),
            store.add(["b", "c"], ["five six seven", "c"], 1),
            store.remove(["a", "nothing"]),
            store.remove(["a", "c"]),
            store.add(["a"], ["the last one of all"], 1),
            store.remove([7]),
        ]
        waiting = [asyncio.ensure_future(one) for one in later]
        await asyncio.sleep(0)
        go.set()
        return [await first, *await asyncio.gather(*waiting, return_exceptions=True)]

    done = asyncio.run(change())
    assert done[:6] == [(1, 0), (2, 1), (2, 1), 1, 1, (1, 0)]
    assert isinstance(done[6], Problem) and done[6].status == 422
    assert writes == [("add", ["a"]), ("add", ["a", "b", "c"]), ("remove", ["a", "c"]), ("add", ["a"])]
    assert index.get(["a", "b", "c"]).to_pylist() == [
        {"id": "a", "text": "the last one of all"},
        {"id": "b", "text": "five six seven"},
    ]
    assert [counted(store, f"documents_{name}_total") for name in ("added", "replaced", "removed")] == [6, 2, 2]


def test_the_first_ids_decide_their_type(store):
    async def change():
        return await asyncio.gather(
            store.add([], [], 0),
            store.add([1], ["a b c"], 1),
            store.add(["x"], ["a b d"], 1),
            store.remove(["x"]),
            return_exceptions=True,
        )

    done = asyncio.run(change())
    assert done[:2] == [(0, 0), (1, 0)] and [one.status for one in done[2:]] == [422, 422]
    assert store.index.contains([1]).tolist() == [True]


def test_what_cannot_be_written_fails_for_all_of_a_group(store, monkeypatch):
    def full(*_, **__):
        raise OutputError("seen.idx: No space left on device")

    async def change():
        return await asyncio.gather(store.add(["a"], ["a"], 1), store.add(["b"], ["b"], 1), return_exceptions=True)

    monkeypatch.setattr(store.index, "add", full)
    assert [one.status for one in asyncio.run(change())] == [507, 507]
    monkeypatch.undo()
    assert asyncio.run(change()) == [(1, 0), (1, 0)]


def test_a_query_that_fails_fails_alone(store, monkeypatch):
    answers = store.index.answers

    def picky(texts, top):
        if "bad" in texts:
            raise ZeroDivisionError
        return answers(texts, top=top)

    async def ask():
        return await asyncio.gather(*(store.query([text], 10, 1) for text in ("a", "bad", "b")), return_exceptions=True)

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
    go, calls = threading.Event(), []
    none = np.empty(0)
    empty = Answers(np.empty(0, int), [], none, none, None, None)

    def answers(texts, top):
        calls.append("answers")
        go.wait(MINUTES)
        return empty

    def add(*_, **__):
        calls.append("add")
        go.wait(MINUTES)

    index = store.index
    store.index = SimpleNamespace(
        answers=answers, add=add, contains=lambda ids: np.zeros(len(ids), bool), id_type=None, close=index.close
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
        changes = [asyncio.ensure_future(store.add([f"{i}"], ["a"], 1)) for i in range(1)]
        await until(lambda: calls[2:] == ["add"])
        changes += [asyncio.ensure_future(store.add([f"x{i}"], ["a"], 1)) for i in range(53)]
        await until(lambda: sum(map(asyncio.Future.done, changes)) == 3)
        assert store.n_waiting == (50, 50)
        store.withdraw()
        assert store.n_waiting == (50, 50)
        store.limits = Limits(seconds=0.01, waiting=50)
        await until(lambda: store.withdraw() or store.n_waiting == (0, 0))
        go.set()
        return await asyncio.gather(*queries, return_exceptions=True), await asyncio.gather(*changes, return_exceptions=True)

    queries, changes = asyncio.run(ask())

    def told(found):
        statuses = [one.status for one in found if isinstance(one, Problem)]
        assert all(one.headers == {"retry-after": "1"} for one in found if isinstance(one, Problem))
        return [statuses.count(status) for status in (503, 429)], len(found) - len(statuses)

    assert told(queries) == ([50, 3], 2)
    assert told(changes) == ([50, 3], 1)


def test_work_beside_queries_is_limited(store):
    go = threading.Event()

    async def ask():
        work = [asyncio.ensure_future(store.run(lambda: go.wait(MINUTES))) for _ in range(53)]
        await asyncio.sleep(0)
        go.set()
        return await asyncio.gather(*work, return_exceptions=True)

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
