"""How large rows of parquet files are, as the headers of pages tell, and what lies in some of them."""

from __future__ import annotations

from typing import Any, BinaryIO

import numpy as np

from ..core import unpack_rows
from ..values import Int64Array
from .parquet_pages import DICTIONARIES, DICTIONARY, PIECE, Page, Stream, pages_of, parts_of

_PREFIXED = 7  # DELTA_BYTE_ARRAY: a value is how much of the one before begins it, and what follows


def bytes_per_row(file: BinaryIO, chunk: Any, column: Any, n_rows: int, of_value: int) -> Int64Array:
    """Return the bytes of a column in each row: so many ``of_value``, and those of the numbers or texts themselves.

    A list that is empty or missing has one value. Outside of a dictionary, texts of a page count as equally long.
    """
    deepest, full, texts = column.max_repetition_level, column.max_definition_level, chunk.physical_type == "BYTE_ARRAY"
    if not texts:
        of_value += int(column.length)
        if not deepest:
            return np.full(n_rows, of_value, np.int64)
    sizes, row, lengths = np.zeros(n_rows), -1, np.zeros(0, np.int64)
    for page in pages_of(file, chunk):
        looked_up = texts and page.kind != DICTIONARY and page.encoding in DICTIONARIES
        if page.kind != DICTIONARY and not deepest and not looked_up:  # all alike: nothing in the page has to be read
            first, row = row + 1, row + page.n_values
            if row >= n_rows:
                raise OSError("the rows of a page are damaged")
            sizes[first : row + 1] = of_value + _bytes_of_value(page)
            continue
        stream = Stream(file, page, chunk.compression)
        if page.kind == DICTIONARY:
            lengths = _lengths_in(stream, page) if texts else lengths
            continue
        repeated, defined, packed = parts_of(file, page, stream, deepest, full, looked_up)
        for begin in range(0, page.n_values, PIECE):
            n = min(PIECE, page.n_values - begin)
            rows = row + np.cumsum(repeated.take(n) == 0 if deepest else np.ones(n, np.bool_))
            first, row = int(rows[0]), int(rows[-1])
            if first < 0 or row >= n_rows:
                raise OSError("the rows of a page are damaged")
            of_each = np.full(n, of_value + (_bytes_of_value(page) if texts else 0.0))
            if looked_up:
                there = defined.take(n) == full if full else np.ones(n, np.bool_)
                of_each[there] += lengths[packed.take(int(np.count_nonzero(there)))]
            sizes[first : row + 1] += np.bincount(rows - first, of_each)
    return np.ceil(sizes).astype(np.int64)


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


def _lengths_in(stream: Stream, page: Page) -> Int64Array:
    """Return the bytes of each value in a dictionary page."""
    data, offsets = np.frombuffer(bytearray(stream.read(page.n_bytes)), np.uint8), np.empty(page.n_values + 1, np.int64)
    if unpack_rows(data, np.ones(page.n_values, np.int64), data, offsets) < 0:
        raise OSError("the values of a page are damaged")
    return np.diff(offsets)
