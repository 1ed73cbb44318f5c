"""How many bytes the rows of parquet files take once they are decoded, from the levels and dictionaries of their pages."""

from __future__ import annotations

from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from .pages import DATA2, DICTIONARIES, DICTIONARY, PIECE, Page, Stream, pages_of, runs_in

_PREFIXED = 7  # DELTA_BYTE_ARRAY: a value is how much of the one before begins it, and what follows


class _Numbers:
    """Numbers of some bits, in runs, of which as many are decoded as are taken."""

    def __init__(self, data: bytes, width: int, n: int) -> None:
        self._runs = runs_in(data, width, n)
        self._length, self._run = 0, cast("int | NDArray[np.int64]", 0)

    def take(self, n: int) -> NDArray[np.int64]:
        """Return the next numbers; an OSError if there are fewer."""
        taken, at = np.empty(n, np.int64), 0
        while at < n:
            if not self._length:
                self._length, self._run = next(self._runs, (0, 0))
                if not self._length:
                    raise OSError("a page is cut short")
            some = min(n - at, self._length)
            if isinstance(self._run, int):
                taken[at : at + some] = self._run
            else:
                taken[at : at + some], self._run = self._run[:some], self._run[some:]
            at, self._length = at + some, self._length - some
        return taken


def values_per_row(file: BinaryIO, chunk: Any, deepest: int, n_rows: int) -> NDArray[np.int64]:
    """Return how many values each row of a chunk of lists has, by its repetition levels up to ``deepest``."""
    counts, row = np.zeros(n_rows, np.int64), -1
    for page in pages_of(file, chunk):
        if page.kind == DICTIONARY:
            continue
        if page.kind == DATA2:
            file.seek(page.at)
            levels = file.read(page.level_bytes)
        else:
            stream = Stream(file, page, chunk.compression)
            levels = stream.read(min(page.n_bytes, int.from_bytes(stream.read(4), "little")))
        for length, run in runs_in(levels, deepest.bit_length(), page.n_values):
            if isinstance(run, int):
                before, n_starts = (length, 0) if run else (0, length)
                each: Any = 1
            else:
                starts = np.flatnonzero(run == 0)
                before, n_starts = int(starts[0]) if len(starts) else length, len(starts)
                each = np.diff(starts, append=length)
            if row + n_starts >= n_rows or (row < 0 < before):
                raise OSError("the rows of a page are damaged")
            if before:
                counts[row] += before
            counts[row + 1 : row + 1 + n_starts] = each
            row += n_starts
    return counts


def text_bytes_per_row(file: BinaryIO, chunk: Any, column: Any, n_rows: int) -> NDArray[np.int64]:
    """Return how many bytes the texts of each row have; outside of a dictionary, texts of a page count as equally long."""
    sizes, row, lengths = np.zeros(n_rows), -1, np.zeros(0, np.int64)
    for page in pages_of(file, chunk):
        stream = Stream(file, page, chunk.compression)
        if page.kind == DICTIONARY:
            lengths = _lengths_in(stream, page)
            continue
        deepest, full = column.max_repetition_level, column.max_definition_level
        repeated, defined, packed = _parts(file, page, stream, deepest, full)
        numbers = _Numbers(packed[1:], packed[0] if packed else 0, page.n_values)
        for begin in range(0, page.n_values, PIECE):
            n = min(PIECE, page.n_values - begin)
            starts = repeated.take(n) == 0 if deepest else np.ones(n, np.bool_)
            rows = row + np.cumsum(starts)
            first, row = int(rows[0]), int(rows[-1])
            if first < 0 or row >= n_rows:
                raise OSError("the rows of a page are damaged")
            of_values = np.full(n, _bytes_of_value(page))
            if page.encoding in DICTIONARIES:
                there = defined.take(n) == full if full else np.ones(n, np.bool_)
                of_values = np.zeros(n)
                of_values[there] = lengths[numbers.take(int(np.count_nonzero(there)))]
            sizes[first : row + 1] += np.bincount(rows - first, of_values)
    return np.ceil(sizes).astype(np.int64)


def _parts(file: BinaryIO, page: Page, stream: Stream, deepest: int, full: int) -> tuple[_Numbers, _Numbers, bytes]:
    """Return the repetition and definition levels of a page and, if they refer to a dictionary, its values."""
    levels = [b"", b""]
    left = page.n_bytes - page.level_bytes
    if page.kind == DATA2:
        file.seek(page.at)
        data = file.read(page.level_bytes)
        levels = [data[: page.repetition_bytes], data[page.repetition_bytes :]]
    else:
        for i, highest in enumerate((deepest, full)):
            if highest:
                n_bytes = int.from_bytes(stream.read(4), "little")
                left -= 4 + n_bytes
                if left < 0:
                    raise OSError("the levels of a page are damaged")
                levels[i] = stream.read(n_bytes)
    repeated, defined = (
        _Numbers(data, highest.bit_length(), page.n_values) for data, highest in zip(levels, (deepest, full), strict=True)
    )
    return repeated, defined, stream.read(left) if page.encoding in DICTIONARIES else b""


def held_of(pages: list[Page], texts: bool) -> int:
    """Return the bytes of a column chunk that are held while it is read: its dictionary, and one page at a time."""
    known = [page.n_stored + 2 * page.n_bytes + 24 * texts * page.n_values for page in pages if page.kind == DICTIONARY]
    return sum(known) + max((page.n_stored + page.n_bytes for page in pages if page.kind != DICTIONARY), default=0)


def longest_value(file: BinaryIO, chunk: Any, pages: list[Page]) -> int:
    """Return the bytes of the longest text in a chunk; outside of a dictionary, texts of a page count as equally long."""
    return int(max((_longest_in(file, chunk, page) for page in pages), default=0))


def _longest_in(file: BinaryIO, chunk: Any, page: Page) -> float:
    if page.kind != DICTIONARY:
        return _bytes_of_value(page)
    try:
        return int(_lengths_in(Stream(file, page, chunk.compression), page).max(initial=0))
    except (OSError, KeyError):
        return page.n_bytes  # of another compression, or another LZ4


def _bytes_of_value(page: Page) -> float:
    """Return the bytes of each value in a page, which count as equally long; 0 if it refers to a dictionary."""
    if page.encoding == _PREFIXED:
        return page.n_bytes  # a value repeats what others begin with, but no more than there is
    return 0 if page.encoding in DICTIONARIES else page.n_bytes / max(1, page.n_values)


def _lengths_in(stream: Stream, page: Page) -> NDArray[np.int64]:
    """Return the bytes of each value in a dictionary page."""
    data, at = stream.read(page.n_bytes), 0
    lengths = np.zeros(page.n_values, np.int64)
    for i in range(page.n_values):
        n_bytes = int.from_bytes(data[at : at + 4], "little")
        at, lengths[i] = at + 4 + n_bytes, n_bytes
    return lengths
