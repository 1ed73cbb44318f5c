"""Files on stores that are read ahead: a store answers late, but many requests at a time."""

from __future__ import annotations

import io
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

BLOCK = 2 << 20
AT_ONCE = 4
"""Requests in flight for a file that is read from front to back."""
HELD = AT_ONCE + 2
"""Blocks of a file that are held: as many as are asked for ahead, and those that readers of several columns are in."""


class Ahead(io.RawIOBase):
    """A file of Arrow's whose bytes are asked for in blocks; where one follows another, those after it are asked for, too."""

    def __init__(self, file: Any) -> None:
        self._file, self._size, self._at = file, int(file.size()), 0
        self._blocks: OrderedDict[int, Future[bytes]] = OrderedDict()
        self._pool: ThreadPoolExecutor | None = None

    def _ask(self, number: int) -> Future[bytes]:
        """Return a block that may be still on its way."""
        found = self._blocks.get(number)
        if found is None:
            if self._pool is None:
                from concurrent.futures import ThreadPoolExecutor  # here, for what is not needed to start

                self._pool = ThreadPoolExecutor(AT_ONCE, "lookalike-ahead")
            found = self._blocks[number] = self._pool.submit(self._file.read_at, BLOCK, number * BLOCK)
            while len(self._blocks) > HELD:
                self._blocks.popitem(last=False)[1].cancel()
        self._blocks.move_to_end(number)
        return found

    def readinto(self, buffer: Any) -> int:
        """Read up to the end of a block."""
        number, begin = divmod(self._at, BLOCK)
        if self._at >= self._size:
            return 0
        follows = number - 1 in self._blocks or not number
        wanted = self._ask(number)
        for other in range(number + 1, min(number + 1 + AT_ONCE, -(-self._size // BLOCK))) if follows else ():
            self._ask(other)
        data = memoryview(wanted.result())[begin : begin + len(buffer)]
        if not data:
            raise OSError(f"the object has become shorter than {self._size:,} bytes")
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, at: int, whence: int = io.SEEK_SET) -> int:
        self._at = at + (0, self._at, self._size)[whence]
        return self._at

    def tell(self) -> int:
        return self._at

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None
        self._blocks.clear()
        self._file.close()
        super().close()
