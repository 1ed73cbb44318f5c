"""Pages of parquet files: how large they are, and values of those that are too large to be read as a whole.

Most programs write at least a thousand values into a page, however long. Arrow reads a page in one piece; here it is read as
a stream. Batches of eight texts of 350 kB in zstd took 650 MB with Arrow, and take 75 MB so, in the same time (pyarrow 26).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, BinaryIO, NamedTuple, cast

import numpy as np
import pyarrow as pa

from ..values import Int64Array

LARGE = 16 << 20  # bytes of a page from which on it is read as a stream
STREAMED = {"UNCOMPRESSED": None, "ZSTD": "zstd", "GZIP": "gzip", "BROTLI": "brotli"}
WHOLE = {"SNAPPY": "snappy", "LZ4": "lz4_raw"}
PIECE = 1 << 16  # numbers that are decoded at a time
_DEEPEST = 8  # structs within structs; a header has three
HEADER = 1 << 12  # bytes in which a header ends, unless it holds statistics of long values
_DATA, DICTIONARY, DATA2 = 0, 2, 3
_PLAIN, _PLAIN_DICTIONARY, _RLE_DICTIONARY = 0, 2, 8
DICTIONARIES = (_PLAIN_DICTIONARY, _RLE_DICTIONARY)


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
        if n_stored > end + HEADER - at:  # old writers left out a header
            raise OSError("the header of a page is damaged")
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


class _Part:
    """Some bytes of a file, as a file."""

    closed = False

    def __init__(self, file: BinaryIO, at: int, n_bytes: int) -> None:
        self._file, self._at, self._left = file, at, n_bytes

    def read(self, n_bytes: int = -1) -> bytes:
        self._file.seek(self._at)
        data = self._file.read(self._left if n_bytes < 0 else min(n_bytes, self._left))
        self._at, self._left = self._at + len(data), self._left - len(data)
        return data

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        """Leave the file open."""


class Stream:
    """The values of a page, decompressed as they are read."""

    def __init__(self, file: BinaryIO, page: Page, codec: str) -> None:
        part = _Part(file, page.at + page.level_bytes, page.n_stored - page.level_bytes)
        self._read: Any
        if codec == "UNCOMPRESSED" or not page.compressed:
            self._read = part.read
        elif codec in STREAMED:
            self._stream = pa.CompressedInputStream(pa.PythonFile(part, "r"), STREAMED[codec])
            self._read = self._stream.read
        else:
            size = page.n_bytes - page.level_bytes
            whole = pa.Codec(WHOLE[codec]).decompress(part.read(), size)
            self._stream = pa.BufferReader(whole)
            self._read = self._stream.read

    def read(self, n_bytes: int) -> bytes:
        """Return so many bytes; an OSError if there are fewer."""
        data = self._read(n_bytes)
        while len(data) < n_bytes:
            more = self._read(n_bytes - len(data))
            if not more:
                raise OSError("a page is cut short")
            data += more
        return bytes(data)

    def skip(self, n_bytes: int) -> None:
        """Pass over bytes without holding them."""
        while n_bytes:
            n_bytes -= len(self.read(min(n_bytes, 1 << 20)))


@dataclass(frozen=True, slots=True)
class TooLong:
    """Stands for a value that has more bytes than are wanted."""

    n_bytes: int


class _Dictionary:
    """The values of a dictionary page, in a temporary file."""

    def __init__(self, stream: Stream, n_values: int) -> None:
        import tempfile  # here, for what is not needed to start

        self._file = tempfile.TemporaryFile(prefix="lookalike-")
        offsets = [0]
        for _ in range(n_values):
            left = int.from_bytes(stream.read(4), "little")
            offsets.append(offsets[-1] + left)
            while left:
                left -= self._file.write(stream.read(min(left, 1 << 20)))
        self._file.flush()
        self._bounds = list(pairwise(offsets))

    def __enter__(self) -> _Dictionary:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def value(self, number: int, most: int) -> bytes | TooLong:
        begin, end = self._bounds[number]
        return TooLong(end - begin) if end - begin > most else os.pread(self._file.fileno(), end - begin, begin)


def _runs_in(data: bytes, width: int, n: int) -> Iterator[tuple[int, int | Int64Array]]:
    """Yield numbers of some bits in runs, each with its length: one number, or as many as were packed."""
    count, at, size = 0, 0, (width + 7) // 8
    weights = 1 << np.arange(width)
    while count < n:
        head, at = _number(data, at)
        length = min((head >> 1) * (8 if head & 1 else 1), n - count)
        if head & 1:
            for begin in range(0, length, PIECE):
                some = min(PIECE, length - begin)
                n_bits = some * width
                packed = np.frombuffer(data, np.uint8, (n_bits + 7) // 8, at + begin * width // 8)
                bits = np.unpackbits(packed, count=n_bits, bitorder="little")
                yield some, bits.reshape(some, width).astype(np.int64) @ weights
            at += (head >> 1) * width
        else:
            yield length, int.from_bytes(data[at : at + size], "little")
            at += size
        count += length


class Numbers:
    """Numbers of some bits, in runs, of which as many are decoded as are taken."""

    def __init__(self, data: bytes, width: int, n: int) -> None:
        self._runs = _runs_in(data, width, n)
        self._length, self._run = 0, cast("int | Int64Array", 0)

    def take(self, n: int) -> Int64Array:
        """Return the next numbers; an OSError if there are fewer."""
        taken, at = np.empty(n, np.int64), 0
        while at < n:
            if not self._length:
                self._length, self._run = next(self._runs, (-1, 0))  # a run may be of none
                if self._length < 0:
                    raise OSError("a page is cut short")
            some = min(n - at, self._length)
            if isinstance(self._run, int):
                taken[at : at + some] = self._run
            else:
                taken[at : at + some], self._run = self._run[:some], self._run[some:]
            at, self._length = at + some, self._length - some
        return taken


def parts_of(
    file: BinaryIO, page: Page, stream: Stream, deepest: int, full: int, looked_up: bool
) -> tuple[Numbers, Numbers, Numbers]:
    """Return the repetition and definition levels of a page and, if ``looked_up``, the numbers of values in a dictionary."""
    levels, left = [b"", b""], page.n_bytes - page.level_bytes
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
    packed = stream.read(left) if looked_up else b""
    if packed and packed[0] > 32:  # bits of a number
        raise OSError("the numbers of a page are damaged")
    repeated, defined = (
        Numbers(data, highest.bit_length(), page.n_values) for data, highest in zip(levels, (deepest, full), strict=True)
    )
    return repeated, defined, Numbers(packed[1:], packed[0] if packed else 0, page.n_values)


def values_of(file: BinaryIO, chunk: Any, nullable: bool, most: int) -> Iterator[bytes | TooLong | None]:
    """Yield the values of a column chunk of texts, none longer than ``most``; OSError, IndexError, ValueError: damaged."""
    with ExitStack() as opened:
        known: _Dictionary | None = None
        for page in pages_of(file, chunk):
            stream = Stream(file, page, chunk.compression)
            if page.kind == DICTIONARY:
                known = opened.enter_context(_Dictionary(stream, page.n_values))
            else:
                yield from _values_in(file, page, stream, known, nullable, most)


def _values_in(
    file: BinaryIO, page: Page, stream: Stream, known: _Dictionary | None, nullable: bool, most: int
) -> Iterator[bytes | TooLong | None]:
    looked_up = page.encoding in DICTIONARIES
    _, defined, packed = parts_of(file, page, stream, 0, int(nullable), looked_up)
    there = defined.take(page.n_values) if nullable else np.ones(page.n_values, np.int64)
    numbers = iter(packed.take(int(there.sum())).tolist() if looked_up else ())
    for one in there.tolist():
        if not one:
            yield None
        elif looked_up:
            if known is None:
                raise OSError("a page refers to a dictionary that is not there")
            yield known.value(next(numbers), most)
        else:
            n_bytes = int.from_bytes(stream.read(4), "little")
            if n_bytes <= most:
                yield stream.read(n_bytes)
            else:
                stream.skip(n_bytes)
                yield TooLong(n_bytes)


def is_streamed(chunk: Any, pages: list[Page], largest: int = 0) -> bool:
    """Tell whether a chunk can be read as a stream, or from pages of so many bytes at most."""
    coded = all(page.encoding in (_PLAIN, *DICTIONARIES) for page in pages)
    whole = chunk.compression in WHOLE and max(page.n_bytes for page in pages) <= (largest or LARGE)
    return chunk.physical_type == "BYTE_ARRAY" and coded and (chunk.compression in STREAMED or whole)
