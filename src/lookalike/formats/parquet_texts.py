"""Texts of parquet files page by page: threads decompress pages, and take their values apart, side by side.

Arrow reads a row group in one thread, however many pages it has.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..core import unpack_rows
from ..text.texts import PIECE_BYTES, Texts
from ..values import Int64Array
from .parquet_pages import DICTIONARIES, DICTIONARY, LARGE, STREAMED, WHOLE, Numbers, Page, is_streamed, parts_of

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
        and is_streamed(chunk, pages, LARGEST)
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


def _opened(
    page: Page, stored: bytes, codec: str, nullable: bool, looked_up: bool
) -> tuple[NDArray[np.uint8], Int64Array, Numbers]:
    """Decompress a page; return its values as they lie there, which rows have one, and the numbers of values looked up."""
    n_bytes, whole = page.n_bytes - page.level_bytes, pa.py_buffer(stored).slice(page.level_bytes)
    if codec != "UNCOMPRESSED" and page.compressed:
        whole = pa.Codec(STREAMED.get(codec) or WHOLE[codec]).decompress(whole, n_bytes)
    if len(whole) != n_bytes:
        raise OSError("a page is cut short")
    stream: Any = pa.BufferReader(whole)
    _, defined, packed = parts_of(io.BytesIO(stored), page._replace(at=0), stream, 0, int(nullable), looked_up)
    there = defined.take(page.n_values) if nullable else np.ones(page.n_values, np.int64)
    return np.frombuffer(whole, np.uint8)[stream.tell() :], there, packed


def _unpacked(pages: _Stored, codec: str, nullable: bool) -> Texts:
    """Make the texts of plain pages."""
    opened = [_opened(page, stored, codec, nullable, False)[:2] for page, stored in pages]
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
    _, there, packed = _opened(page, stored, codec, nullable, True)
    present, numbers = np.flatnonzero(there), packed.take(int(np.count_nonzero(there)))
    if known is None or (len(numbers) and int(numbers.max()) >= len(known)):
        raise OSError("a page refers to a dictionary that does not have the value")
    sizes, rows = np.zeros(len(there), np.int64), np.full(len(there), -1)
    sizes[present], rows[present] = np.diff(known.offsets)[numbers], numbers
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    for begin, end in Texts(_NOTHING, offsets).cut():
        yield end - begin, partial(known.take, rows[begin:end])
