"""Reading ahead of stores, which answer late, but several requests at a time."""

from __future__ import annotations

import io
import os
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

AT_ONCE = 4
"""Requests in flight, in this process, for what is read ahead; files that are opened at a time."""
LEAST, MOST = 24 << 20, 256 << 20
"""Bytes that may be held before they are read, of a file and of the one that is read next."""
HELD = AT_ONCE + 2
"""Blocks held of a file read from front to back: those asked for ahead, and those that readers are in."""
LARGEST = 4 << 20  # bytes of a request
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
    """The bytes of a file that ``fetch(n_bytes, begin)`` brings, for one thread: wanted ranges, and blocks.

    Where one block follows another, those after it are asked for, too.
    """

    def __init__(self, fetch: Callable[[int, int], bytes], size: int) -> None:
        self.fetch, self.size = fetch, size
        self.room = _room // 2
        self.block = min(LARGEST, self.room // HELD)
        self._wanted: dict[Range, Future[bytes]] = {}
        self._blocks: OrderedDict[int, Future[bytes]] = OrderedDict()

    def prefetch(self, groups: Sequence[Sequence[Range]]) -> None:
        """Ask for groups of ranges, as many of the first as there is room for, in place of earlier ones."""
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

    def block_at(self, at: int) -> tuple[int, bytes]:
        """Return the block that has a byte, and where it begins."""
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
        found = ahead.at(at) or ((at, ahead.fetch(n_bytes, at)) if self._exact else ahead.block_at(at))
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


def map_ahead(work: Callable[[T], R], items: Iterable[tuple[int, T]]) -> Iterator[R]:
    """Yield what is made of each item, in order; threads make it, and what follows.

    Each comes with the bytes of a store that it takes; what takes none is made when it is its turn.
    """
    left, waiting, pool = iter(items), deque[tuple[int, Callable[[], R]]](), None
    try:
        while True:
            while len(waiting) <= AT_ONCE and sum(n for n, _ in islice(waiting, 1, None)) < SMALL:
                if (one := next(left, None)) is None:
                    break
                made: Callable[[], R] = partial(work, one[1])
                if one[0]:
                    from concurrent.futures import ThreadPoolExecutor  # here, for what is not needed to start

                    pool = pool or ThreadPoolExecutor(AT_ONCE, "lookalike-begun")
                    made = pool.submit(made).result
                waiting.append((one[0], made))
            if not waiting:
                return
            yield waiting.popleft()[1]()  # it is not held while others are made
    finally:
        if pool is not None:
            pool.shutdown(cancel_futures=True)


def make_first(make: Callable[[], Iterator[T]]) -> Iterator[T]:
    """Return what is made, the first item of it already, which is not held while others are made."""
    items = make()
    first = [*islice(items, 1)]
    return chain((first.pop() for _ in range(len(first))), items)
