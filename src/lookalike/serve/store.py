"""An index behind one thread that writes, and a few that read.

A change is acknowledged once the index says that it is on disk, and changes are made in the order in which they came; what
waits while one group is written is the next. Queries are answered for the state when their group is begun: whoever has been
told of a change sees it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import enumerate as enumerate_threads
from time import monotonic, perf_counter
from typing import Any

from ..errors import OutputError, ParameterError
from ..index.index import Index
from .bodies import Limits, Problem, busy, invalid
from .log import Metrics

GROUP_TEXTS = 256  # of queries that are answered together; a larger request is answered alone
GROUP_BYTES = 1 << 18
DIRECT_BYTES = 1 << 16  # what takes a few milliseconds at most
COMMIT_TEXTS = 100_000  # of additions that are written together
Ids = Sequence[int] | Sequence[str]
Done = tuple["PendingCalls", Any]


@dataclass(slots=True, eq=False)
class PendingCalls:
    """A request that waits: what it is about, and its answer to come."""

    ids: Ids
    texts: Sequence[str] | None
    n_bytes: int
    answer: asyncio.Future[Any]
    top: int = 0
    since: float = field(default_factory=monotonic)


@dataclass(frozen=True, slots=True)
class Matches:
    """The matches of the texts of one request, in columns: places of texts, ids and scores."""

    n_texts: int
    query: list[int]
    ids: list[Any]
    estimated: list[float]
    error: list[float]
    exact: list[float | None]


class BatchedIndex:
    """An index, opened for changes, that many requests share; ``threads`` groups of queries are answered at the same time."""

    def __init__(self, index: Index, limits: Limits, metrics: Metrics, threads: int = 1) -> None:
        self.index = index
        self.limits = limits
        self.metrics = metrics
        self._queries: deque[PendingCalls] = deque()
        self._changes: deque[PendingCalls] = deque()
        self._writer_name, self._reader_name = f"writer-{id(self)}", f"reader-{id(self)}"
        self._writer = ThreadPoolExecutor(1, self._writer_name)
        self._readers = ThreadPoolExecutor(threads, self._reader_name)
        self._idle = threads
        self._beside = 0
        self._asked = self._writing = False

    @property
    def n_waiting(self) -> tuple[int, int]:
        """Queries and changes that wait for their turn."""
        return len(self._queries), len(self._changes)

    def close(self, seconds: float) -> bool:
        """Let what was begun end, then close the index; tell whether it ended within some seconds."""
        until = monotonic() + seconds
        for pool in (self._writer, self._readers):
            pool.shutdown(wait=False, cancel_futures=True)
        threads = [thread for thread in enumerate_threads() if thread.name.startswith((self._writer_name, self._reader_name))]
        for thread in threads:
            thread.join(max(0.0, until - monotonic()))
        if any(thread.is_alive() for thread in threads):
            return False
        self.index.close()
        return True

    def withdraw(self) -> None:
        """Give up requests that have waited for too long; nothing was done about them."""
        latest = monotonic() - self.limits.seconds
        for queue in (self._queries, self._changes):
            while queue and queue[0].since < latest:
                late = queue.popleft()
                if not late.answer.done():
                    late.answer.set_exception(
                        Problem(503, "the request waited too long and was not processed", retry_after="1")
                    )

    async def run(self, work: Callable[[], Any]) -> Any:
        """Do something that takes time beside the queries."""
        if self._beside >= self.limits.waiting:
            raise busy(f"{self.limits.waiting:,} requests are waiting")
        self._beside += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._readers, work)
        finally:
            self._beside -= 1

    def ids_of(self, text: str) -> Ids:
        """Return an id, in a list, of the type that the index has."""
        if self.index.id_type != "int":
            return [text]
        digits = text.removeprefix("-")
        if not (digits.isascii() and digits.isdecimal() and len(digits) < 20):
            raise ParameterError(f"ids of this index are integers; got {text[:40]!r}")
        return [int(text)]

    # Queries

    async def query(self, texts: Sequence[str], top: int, n_bytes: int) -> Matches:
        """Look up texts, together with those of other requests."""
        if len(self._queries) >= self.limits.waiting:
            raise busy(f"{self.limits.waiting:,} queries are waiting")
        loop = asyncio.get_running_loop()
        waiting = PendingCalls((), texts, n_bytes, loop.create_future(), top)
        self._queries.append(waiting)
        if not self._asked:  # after what else arrived by now
            self._asked = True
            loop.call_soon(self._answer, loop)
        found: Matches = await waiting.answer
        return found

    def _answer(self, loop: asyncio.AbstractEventLoop) -> None:
        """Answer what waits: a little at once, which costs less than handing it to a thread; more by a thread."""
        self._asked = False
        while self._queries and self._idle:
            group = self._next_group()
            self.metrics.groups.observe(len(group))
            if sum(one.n_bytes for one in group) <= DIRECT_BYTES:
                _settle(_attempt(self._look_up, group))
                if self._queries:  # but not before others had their turn
                    self._asked = True
                    loop.call_soon(self._answer, loop)
                return
            self._idle -= 1
            future = loop.run_in_executor(self._readers, _attempt, self._look_up, group)
            future.add_done_callback(lambda done: self._answered(done.result(), loop))

    def _answered(self, done: Iterable[Done], loop: asyncio.AbstractEventLoop) -> None:
        """Hand out what a thread has found, and go on."""
        self._idle += 1
        _settle(done)
        self._answer(loop)

    def _next_group(self) -> list[PendingCalls]:
        """Take queries that wait and ask for as many matches each."""
        group = [self._queries.popleft()]
        texts, size = len(group[0].texts or ()), group[0].n_bytes
        while self._queries and self._queries[0].top == group[0].top:
            texts, size = texts + len(self._queries[0].texts or ()), size + self._queries[0].n_bytes
            if texts > GROUP_TEXTS or size > GROUP_BYTES:
                break
            group.append(self._queries.popleft())
        return group

    def _look_up(self, group: list[PendingCalls]) -> list[Done]:
        """Answer a group by one call, and cut the answer."""
        texts = [text for one in group for text in one.texts or ()]
        found = self.index.answers(texts, top=group[0].top)
        self.metrics.texts.inc(len(texts))
        query, exact = found.query.tolist(), found.resemblance
        scores = [found.id, found.estimated_resemblance.tolist(), found.standard_error.tolist()]
        columns = [*scores, [None] * len(query) if exact is None else exact.tolist()]
        out: list[Done] = []
        begin = first = 0
        for one in group:
            last, end = first + len(one.texts or ()), begin
            while end < len(query) and query[end] < last:
                end += 1
            mine = (column[begin:end] for column in columns)
            out.append((one, Matches(last - first, [q - first for q in query[begin:end]], *mine)))
            first, begin = last, end
        return out

    # Changes

    async def add(self, ids: Ids, texts: Sequence[str], n_bytes: int) -> tuple[int, int]:
        """Add documents, in place of those with the same ids; return how many were added, and how many replaced one."""
        done: tuple[int, int] = await self._change(ids, texts, n_bytes)
        return done

    async def remove(self, ids: Ids) -> int:
        """Remove documents; return how many were there."""
        done: int = await self._change(ids, None, 0)
        return done

    def _change(self, ids: Ids, texts: Sequence[str] | None, n_bytes: int) -> asyncio.Future[Any]:
        """Put a change behind those that wait."""
        if len(self._changes) >= self.limits.waiting:
            raise busy(f"{self.limits.waiting:,} changes are waiting to be written")
        if len(set(ids)) < len(ids):
            raise invalid("an id appears twice in the request")
        if len({type(id) for id in ids}) > 1:
            raise invalid("ids must all be strings or all be integers")
        loop = asyncio.get_running_loop()
        waiting = PendingCalls(ids, texts, n_bytes, loop.create_future())
        self._changes.append(waiting)
        self._write(loop)
        return waiting.answer

    def _write(self, loop: asyncio.AbstractEventLoop) -> None:
        """Let the writer begin with what waits."""
        if self._writing or not self._changes:
            return
        group, texts = [self._changes.popleft()], 0
        while self._changes and (texts := texts + len(self._changes[0].ids)) <= COMMIT_TEXTS:
            group.append(self._changes.popleft())
        self._writing = True
        loop.run_in_executor(self._writer, self._commit, group).add_done_callback(lambda d: self._written(d.result(), loop))

    def _written(self, done: Iterable[Done], loop: asyncio.AbstractEventLoop) -> None:
        """Acknowledge what was written, and go on."""
        self._writing = False
        _settle(done)
        self._write(loop)

    def _commit(self, group: list[PendingCalls]) -> list[Done]:
        """Make changes in their order: those of one kind that follow each other by one call."""
        out: list[Done] = []
        while group:
            adds = group[0].texts is not None
            n = next((i for i, one in enumerate(group) if (one.texts is not None) != adds), len(group))
            some, group = group[:n], group[n:]
            begun = perf_counter()
            out += _attempt(self._add_all if adds else self._remove_all, some)
            self.metrics.commits.observe(perf_counter() - begun)
        return out

    def _fitting(self, group: list[PendingCalls], out: list[Done]) -> list[PendingCalls]:
        """Return the requests whose ids have the type of the index; the first ids that it gets decide."""
        kind, fitting = self.index.id_type, []
        for one in group:
            mine = None if not one.ids else "int" if isinstance(one.ids[0], int) else "str"
            if None in (kind, mine) or kind == mine:
                kind = kind or mine
                fitting.append(one)
            else:
                out.append((one, invalid(f"the ids of this index are of type {kind}; got one of type {mine}")))
        return fitting

    def _add_all(self, group: list[PendingCalls]) -> list[Done]:
        """Add the documents of several requests: of those with one id, the last one is there in the end."""
        out: list[Done] = []
        fitting = self._fitting(group, out)
        wanted: dict[Any, str] = {}
        for one in fitting:
            wanted |= zip(one.ids, one.texts or (), strict=True)
        known = set()
        if wanted:
            listed = list(wanted)
            known = {listed[i] for i in self.index.contains(listed).nonzero()[0].tolist()}
            self.index.add(listed, list(wanted.values()), replace=True)
        for one in fitting:
            replaced = sum(id in known for id in one.ids)
            known.update(one.ids)
            self.metrics.added.inc(len(one.ids))
            self.metrics.replaced.inc(replaced)
            out.append((one, (len(one.ids), replaced)))
        return out

    def _remove_all(self, group: list[PendingCalls]) -> list[Done]:
        """Remove the documents of several requests; the first one that names a document counts it."""
        out: list[Done] = []
        fitting = self._fitting(group, out)
        listed: list[Any] = list(dict.fromkeys(id for one in fitting for id in one.ids))
        known = {listed[i] for i in self.index.contains(listed).nonzero()[0].tolist()} if listed else set()
        if known:
            self.index.remove(list(known))
        for one in fitting:
            out.append((one, sum(id in known for id in one.ids)))
            known.difference_update(one.ids)
            self.metrics.removed.inc(out[-1][1])
        return out


def _attempt(work: Callable[[list[PendingCalls]], list[Done]], group: list[PendingCalls]) -> list[Done]:
    """Do something for a group; if that fails, for each request alone, so that none fails because of another one."""
    try:
        return work(group)
    except OutputError as error:
        return [(one, Problem(507, f"the index cannot be written, and is unchanged: {error}")) for one in group]
    except Exception as error:
        if len(group) > 1:
            return [done for one in group for done in _attempt(work, [one])]
        return [(group[0], invalid(str(error)) if isinstance(error, ParameterError) else error)]


def _settle(done: Iterable[Done]) -> None:
    """Hand answers to those who wait for them, unless they are gone."""
    for waiting, value in done:
        if not waiting.answer.done():
            if isinstance(value, Exception):
                waiting.answer.set_exception(value)
            else:
                waiting.answer.set_result(value)
