"""What is read of stores before it is asked for: a store answers late, but several requests at a time."""

from __future__ import annotations

import io
import os
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

AT_ONCE = 4
"""Requests in flight, in this process, for what is read ahead; files that are opened at a time."""
LEAST, MOST = 24 << 20, 256 << 20
"""Bytes that may be held before they are read, of a file and of the one that is read next."""
HELD = AT_ONCE + 2
"""Blocks that are held of what is read from front to back: as many as are asked for ahead, and those that readers are in."""
LARGEST = 4 << 20  # bytes of a request
TAIL = 1 << 16  # bytes at the end of a file, which are held
GAP = 1 << 16  # bytes between two ranges that are asked for with them
SMALL = 8 << 20  # bytes of files of which more than one are begun ahead
T = TypeVar("T")
R = TypeVar("R")
Range = tuple[int, int]
_room = LEAST
_pool: ThreadPoolExecutor | None = None


def allow(n_bytes: int) -> None:
    """Let this process hold so many bytes from now on: see ``LEAST``, which it may in any case."""
    global _room
    _room = max(LEAST, n_bytes)


def _forget() -> None:
    global _pool
    _pool = None


os.register_at_fork(after_in_child=_forget)  # which has no threads


def _soon(fetch: Callable[[int, int], bytes], n_bytes: int, begin: int) -> Future[bytes]:
    global _pool
    if _pool is None:
        from concurrent.futures import ThreadPoolExecutor  # here, for what is not needed to start

        _pool = ThreadPoolExecutor(AT_ONCE, "lookalike-ahead")
    return _pool.submit(fetch, n_bytes, begin)


class Prefetcher:
    """The bytes of a file that ``fetch(n_bytes, begin)`` brings, for one thread: ranges that somebody wants, and blocks.

    Where one block follows another, those after it are asked for, too.
    """

    def __init__(self, fetch: Callable[[int, int], bytes], size: int, tail: Callable[[], bytes]) -> None:
        self.fetch, self.size, self._tail = fetch, size, tail
        self.room = _room // 2
        self.block = min(LARGEST, self.room // HELD)
        self._wanted: dict[Range, Future[bytes]] = {}
        self._blocks: OrderedDict[int, Future[bytes]] = OrderedDict()

    def prefetch(self, groups: Sequence[Sequence[Range]]) -> None:
        """Ask for groups of ranges, as many of the first as there is room for; others that were wanted are not any more."""
        pieces: list[Range] = []
        size = 0
        for ranges in groups:
            together = _together(sorted(ranges))
            size += sum(end - begin for begin, end in together)
            if size > self.room:
                break
            for begin, last in together:
                end = min(last, self.size)
                pieces += [(at, min(at + self.block, end)) for at in range(begin, end, self.block)]
        before = self._wanted
        self._wanted = {p: before.pop(p) if p in before else _soon(self.fetch, p[1] - p[0], p[0]) for p in pieces}
        for piece in before.values():
            piece.cancel()

    def at(self, at: int) -> tuple[int, bytes] | None:
        """Return what is wanted and has a byte, and where it begins."""
        for (begin, end), piece in self._wanted.items():
            if begin <= at < end:
                return begin, piece.result()
        return None

    def exactly(self, at: int, n_bytes: int) -> tuple[int, bytes]:
        """Return bytes as they are asked for, or the end of the file, and where they begin."""
        last = max(0, self.size - TAIL)
        return (last, self._tail()) if at >= last else (at, self.fetch(min(n_bytes, self.size - at), at))

    def block_at(self, at: int) -> tuple[int, bytes]:
        """Return the block that has a byte, or a small file as a whole, and where it begins."""
        if self.size <= TAIL:
            return 0, self._tail()
        number, last = at // self.block, -(-self.size // self.block)
        follows = number - 1 in self._blocks or not number
        wanted = self._ask(number)
        for other in range(number + 1, min(number + 1 + AT_ONCE, last)) if follows else ():
            self._ask(other)
        return number * self.block, wanted.result()

    def _ask(self, number: int) -> Future[bytes]:
        """Return a block that may be still on its way."""
        found = self._blocks.get(number)
        if found is None:
            begin = number * self.block
            found = self._blocks[number] = _soon(self.fetch, min(self.block, self.size - begin), begin)
            while len(self._blocks) > HELD:
                self._blocks.popitem(last=False)[1].cancel()
        self._blocks.move_to_end(number)
        return found

    def close(self) -> None:
        for piece in (*self._wanted.values(), *self._blocks.values()):
            piece.cancel()
        self._wanted.clear()
        self._blocks.clear()


def _together(ranges: Sequence[Range]) -> list[Range]:
    """Return ranges, those with hardly anything between them as one."""
    found: list[Range] = []
    for begin, end in ranges:
        if found and begin <= found[-1][1] + GAP:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((begin, end))
    return found


class PrefetchedFile(io.RawIOBase):
    """A reader of such bytes; what nobody wants comes in blocks or, if ``exact``, as it is asked for."""

    def __init__(self, ahead: Prefetcher, exact: bool = False, owner: bool = True) -> None:
        self.ahead, self._exact, self._owner, self._at = ahead, exact, owner, 0

    def _some(self, n_bytes: int) -> memoryview:
        """Return some of the next bytes; none at the end."""
        at, ahead = self._at, self.ahead
        n_bytes = min(n_bytes, ahead.size - at)
        if n_bytes <= 0:
            return memoryview(b"")
        found = ahead.at(at) or (ahead.exactly(at, n_bytes) if self._exact else ahead.block_at(at))
        data = memoryview(found[1])[at - found[0] :][:n_bytes]
        if not data:
            raise OSError(f"the object has become shorter than {ahead.size:,} bytes")
        self._at += len(data)
        return data

    def readinto(self, buffer: Any) -> int:
        data = self._some(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def read(self, n_bytes: int = -1) -> bytes:
        """Return so many bytes, fewer at the end only."""
        parts, left = [], self.ahead.size if n_bytes is None or n_bytes < 0 else n_bytes
        while left and (some := self._some(left)):
            parts.append(some)
            left -= len(some)
        return b"".join(parts)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, at: int, whence: int = io.SEEK_SET) -> int:
        self._at = at + (0, self._at, self.ahead.size)[whence]
        return self._at

    def tell(self) -> int:
        return self._at

    def close(self) -> None:
        if self._owner and not self.closed:
            self.ahead.close()
        super().close()


def want(file: BinaryIO, groups: Sequence[Sequence[Range]]) -> None:
    """Ask for groups of ranges of a file that will be read, if it is on a store: see ``Prefetcher.want``."""
    reader = getattr(file, "raw", None)
    if isinstance(reader, PrefetchedFile):
        reader.ahead.prefetch(groups)


def prefetch_first(makes: Iterable[tuple[int, Callable[[], Iterator[T]]]]) -> Iterator[Iterator[T]]:
    """Yield what each makes, in order; once it has made an item, threads make the first items of those that follow.

    Each comes with the bytes of a store that it reads; one that reads none is made when it is its turn.
    """
    left, waiting, pool = iter(makes), deque[tuple[int, Callable[[], Iterator[T]], Any]](), None

    def prepare() -> None:
        nonlocal pool
        while len(waiting) < AT_ONCE and (not waiting or sum(n for n, _, _ in waiting) < SMALL):
            if (following := next(left, None)) is None:
                return
            started = None
            if following[0]:
                if pool is None:
                    from concurrent.futures import ThreadPoolExecutor  # here, for what is not needed to start

                    pool = ThreadPoolExecutor(AT_ONCE, "lookalike-begun")
                started = pool.submit(_begin, following[1])
            waiting.append((*following, started))

    def all_of(first: list[T], items: Iterator[T]) -> Iterator[T]:
        first = first or [item for item in (next(items, None),) if item is not None]
        prepare()
        while first:
            yield first.pop()  # it is not held while others are made
        yield from items

    try:
        for _, make in left:
            yield all_of([], make())
            while waiting:
                _, make, started = waiting.popleft()
                yield all_of([], make()) if started is None else all_of(*started.result())
    finally:
        for _, _, started in waiting:
            if started is not None and not started.cancel() and started.exception() is None:
                started.result()[1].close()
        if pool is not None:
            pool.shutdown()


def _begin(make: Callable[[], Iterator[T]]) -> tuple[list[T], Iterator[T]]:
    items = make()
    return [item for item in (next(items, None),) if item is not None], items


def map_in_threads(work: Callable[[T], R], items: Sequence[T], remote: bool) -> list[R]:
    """Return what is made of each item, of several at a time if stores are asked for it (``remote``)."""
    if not remote or len(items) < 2:
        return list(map(work, items))
    from concurrent.futures import ThreadPoolExecutor  # here, for what is not needed to start

    with ThreadPoolExecutor(AT_ONCE, "lookalike-asks") as pool:
        return list(pool.map(work, items))
