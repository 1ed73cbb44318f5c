"""Texts of parquet files page by page: threads decompress pages, and take their values apart, side by side.

Arrow reads a row group in one thread, however many pages it has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..core import unpack_rows
from ..text.texts import PIECE_BYTES, Texts
from ..values import Int64Array
from .parquet_pages import (
    CODECS,
    DATA2,
    DICTIONARIES,
    DICTIONARY,
    LARGE,
    PREFIXED,
    Page,
    is_plain,
    unpack_numbers,
    unpack_references,
)

ROWS = 1 << 15  # whose pages are put together
LEAST = 2 << 20  # bytes of a chunk that is worth it
LARGEST = 8 * LARGE  # bytes of a page, where the memory suffices for one of each thread
_NOTHING = np.zeros(0, np.uint8)
Make = Callable[[], Texts]
_Stored = list[tuple[Page, bytes]]


def is_paged(chunk: Any, pages: list[Page], n_rows: int, most: int) -> bool:
    """Tell whether the texts of a chunk, each of so many bytes at most, can be read page by page."""
    return (
        chunk.total_uncompressed_size >= LEAST
        and is_plain(chunk, pages)
        and chunk.compression in CODECS
        and max(page.n_bytes for page in pages) <= max(min(LARGE, most // 2), min(LARGEST, most // 8))
        and sum(page.n_values for page in pages if page.kind != DICTIONARY) == n_rows
    )


def texts_of(file: BinaryIO, pages: list[Page], codec: str, nullable: bool) -> Iterator[tuple[int, Make]]:
    """Yield how many texts come next, and what makes them: those of a large page, or of some small ones."""
    known: Texts | None = None
    waiting: _Stored = []
    rows = size = 0
    for page in pages:
        file.seek(page.at)
        stored = file.read(page.n_stored)
        if len(stored) < page.n_stored:
            raise OSError("a page is cut short")
        looked_up = page.kind != DICTIONARY and page.encoding in DICTIONARIES
        if waiting and (looked_up or rows + page.n_values > ROWS or size + page.n_bytes > PIECE_BYTES):
            yield rows, partial(_unpacked, waiting, codec, nullable)
            waiting, rows, size = [], 0, 0
        if page.kind == DICTIONARY:
            known = _unpacked([(page, stored)], codec, False)
        elif looked_up:
            yield from _looked_up(page, stored, codec, nullable, known)
        else:
            waiting.append((page, stored))
            rows, size = rows + page.n_values, size + page.n_bytes
    if waiting:
        yield rows, partial(_unpacked, waiting, codec, nullable)


def text_sizes(file: BinaryIO, chunk: Any, pages: list[Page]) -> list[float]:
    """Return the bytes of a text in each page, all of which count as equally long; in a dictionary, as if its longest alone
    were repeated, or on average if there are lists."""
    sizes: list[float] = []
    used = sum(page.n_values for page in pages if page.kind != DICTIONARY and page.encoding in DICTIONARIES)
    for page in pages:
        if page.kind == DICTIONARY:
            file.seek(page.at)
            try:
                known = np.diff(_unpacked([(page, file.read(page.n_stored))], chunk.compression, False).offsets)
            except (OSError, KeyError):  # of another compression, or another LZ4
                known = np.array([page.n_bytes])
            repeated = max(0, used - len(known)) if "." not in chunk.path_in_schema else 0
            longest = int(known.max(initial=0))
            sizes.append((int(known.sum()) + repeated * longest) / max(1, len(known) + repeated))
        elif page.encoding not in DICTIONARIES:  # a prefixed text repeats what others begin with, but no more than there is
            sizes.append(page.n_bytes / (1 if page.encoding == PREFIXED else max(1, page.n_values)))
    return sizes


def _opened(page: Page, stored: bytes, codec: str, nullable: bool) -> tuple[NDArray[np.uint8], Int64Array]:
    """Decompress a page; return its values as they lie there, and which rows have one."""
    n_bytes, whole = page.n_bytes - page.level_bytes, pa.py_buffer(stored).slice(page.level_bytes)
    if codec != "UNCOMPRESSED" and page.compressed:
        whole = pa.Codec(CODECS[codec]).decompress(whole, n_bytes)
    if len(whole) != n_bytes:
        raise OSError("a page is cut short")
    data, levels = np.frombuffer(whole, np.uint8), stored[page.repetition_bytes : page.level_bytes]
    if not nullable:
        return data, np.ones(page.n_values, np.int64)
    if page.kind != DATA2:
        end = 4 + int.from_bytes(data[:4].tobytes(), "little")
        if end > len(data):
            raise OSError("the levels of a page are damaged")
        levels, data = data[4:end].tobytes(), data[end:]
    return data, unpack_numbers(levels, 1, page.n_values)


def _unpacked(pages: _Stored, codec: str, nullable: bool) -> Texts:
    """Make the texts of plain pages."""
    opened = [_opened(page, stored, codec, nullable) for page, stored in pages]
    in_place = len(opened) == 1 and opened[0][0].flags.writeable
    out = opened[0][0] if in_place else np.empty(sum(len(data) for data, _ in opened), np.uint8)
    offsets, row, begin = np.zeros(1 + sum(len(there) for _, there in opened), np.int64), 0, 0
    for data, there in opened:
        own = offsets[row : row + len(there) + 1]
        if unpack_rows(data, there, out[begin:], own) != len(data):
            raise OSError("the values of a page are damaged")
        own += begin
        row, begin = row + len(there), int(own[-1])
    return Texts(out, offsets)


def _looked_up(page: Page, stored: bytes, codec: str, nullable: bool, known: Texts | None) -> Iterator[tuple[int, Make]]:
    """Yield what ``texts_of`` does of a page that refers to a dictionary."""
    data, there = _opened(page, stored, codec, nullable)
    present = np.flatnonzero(there)
    numbers = unpack_references(data.tobytes(), len(present))
    if known is None or (len(numbers) and int(numbers.max()) >= len(known)):
        raise OSError("a page refers to a dictionary that does not have the value")
    sizes, rows = np.zeros(len(there), np.int64), np.full(len(there), -1)
    sizes[present], rows[present] = np.diff(known.offsets)[numbers], numbers
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    for begin, end in Texts(_NOTHING, offsets).cut():
        yield end - begin, partial(known.take, rows[begin:end])
