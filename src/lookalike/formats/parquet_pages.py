"""Pages of parquet files: where they are, how large they are, and the numbers in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from ..values import Int64Array

CODECS = {
    "UNCOMPRESSED": None, "ZSTD": "zstd", "GZIP": "gzip", "BROTLI": "brotli", "SNAPPY": "snappy", "LZ4": "lz4_raw",
}  # fmt: skip
PIECE = 1 << 16  # numbers that are decoded at a time
_DEEPEST = 8  # structs within structs; a header has three
HEADER = 1 << 12  # bytes in which a header ends, unless it holds statistics of long values
_DATA, DICTIONARY, DATA2 = 0, 2, 3  # kinds of pages
PLAIN, PREFIXED = 0, 7  # encodings: each text by itself; how much of the one before begins it, and what follows
DICTIONARIES = (2, 8)


class Page(NamedTuple):
    """A page: where its bytes begin, how many there are, and what they are."""

    kind: int
    at: int
    n_bytes: int
    n_stored: int
    n_values: int
    encoding: int
    level_bytes: int
    repetition_bytes: int
    compressed: bool


def chunk_begin(chunk: Any) -> int:
    """Return where the pages of a column chunk begin."""
    if chunk.has_dictionary_page and chunk.dictionary_page_offset:
        return int(min(chunk.data_page_offset, chunk.dictionary_page_offset))
    return int(chunk.data_page_offset)


def pages_of(file: BinaryIO, chunk: Any) -> Iterator[Page]:
    """Yield the pages of a column chunk, which are found by their headers; an OSError if one is damaged."""
    at = chunk_begin(chunk)
    end = at + (chunk.total_compressed_size if chunk.num_values else 0)
    while at < end:
        fields, length = _header_at(file, at)
        kind, n_bytes, n_stored = (_count(fields, number, -1) for number in (1, 2, 3))
        inside = fields.get({_DATA: 5, DICTIONARY: 7, DATA2: 8}.get(kind, -1), {})
        n_values = _count(inside, 1) if isinstance(inside, dict) else -1
        most = n_bytes if kind == DICTIONARY else chunk.num_values
        if min(kind, n_bytes, n_stored, n_values) < 0 or n_values > most:
            raise OSError("the header of a page is damaged")
        definition, repetition = (_count(inside, 5), _count(inside, 6)) if kind == DATA2 else (0, 0)
        encoding = _count(inside, 4 if kind == DATA2 else 2, -1)
        at += length
        compressed = bool(inside.get(7, True))
        yield Page(kind, at, n_bytes, n_stored, n_values, encoding, definition + repetition, repetition, compressed)
        at += n_stored


def _count(fields: dict[int, Any], number: int, missing: int = 0) -> int:
    """Return a field that counts something; what is no number counts as missing, and so does a negative one."""
    value = fields.get(number)
    return value if type(value) is int and value >= 0 else missing


def _header_at(file: BinaryIO, at: int) -> tuple[dict[int, Any], int]:
    """Return the fields of the header of a page, and its length."""
    size = HEADER
    while True:
        file.seek(at)
        data = file.read(size)
        try:
            return _struct(data, 0)
        except IndexError:
            if len(data) < size:
                raise OSError("the header of a page is cut short") from None
            size *= 8


def _number(data: bytes, at: int) -> tuple[int, int]:
    """Read a number of variable length; return it and what follows."""
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
        if shift > 63:
            raise OSError("the header of a page is damaged")


def _struct(data: bytes, at: int, depth: int = 0) -> tuple[dict[int, Any], int]:
    """Read a struct of Thrift's compact protocol, of which only numbers, truth and structs matter here."""
    if depth > _DEEPEST:
        raise OSError("the header of a page is damaged")
    found: dict[int, Any] = {}
    field = 0
    while data[at]:
        kind, step = data[at] & 15, data[at] >> 4
        at += 1
        if not step:
            step, at = _number(data, at)
            field = 0
            step = (step >> 1) ^ -(step & 1)
        field += step
        if kind in (1, 2):
            found[field] = kind == 1
        elif kind in (4, 5, 6):
            value, at = _number(data, at)
            found[field] = (value >> 1) ^ -(value & 1)
        elif kind == 3:
            at += 1
        elif kind == 7:
            at += 8
        elif kind == 8:
            n_bytes, at = _number(data, at)
            at += n_bytes
        elif kind == 12:
            found[field], at = _struct(data, at, depth + 1)
        else:
            raise OSError("the header of a page is damaged")
    return found, at + 1


def unpack_numbers(data: bytes, width: int, n: int) -> Int64Array:
    """Return numbers of some bits, which come in runs: one that is repeated, or several packed; IndexError: there are fewer."""
    found, count, at, size = np.empty(n, np.int64), 0, 0, (width + 7) // 8
    weights = 1 << np.arange(width)
    while count < n:
        head, at = _number(data, at)
        length = min((head >> 1) * (8 if head & 1 else 1), n - count)
        if head & 1:
            for begin in range(0, length, PIECE):
                some = min(PIECE, length - begin)
                packed = np.frombuffer(data, np.uint8, (some * width + 7) // 8, at + begin * width // 8)
                bits = np.unpackbits(packed, count=some * width, bitorder="little")
                found[count + begin : count + begin + some] = bits.reshape(some, width).astype(np.int64) @ weights
            at += (head >> 1) * width
        else:
            found[count : count + length] = int.from_bytes(data[at : at + size], "little")
            at += size
        count += length
    return found
