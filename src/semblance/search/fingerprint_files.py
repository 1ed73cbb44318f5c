"""A file of fingerprints: sorted chunks, one a batch, appended and read without ever holding all of it.

Layout, little endian: the 8 bytes ``SEMBLFPS``; uint32 format version (1); uint32 length of the header; the header, JSON in
UTF-8. Then chunks: a head of 40 bytes (the 8 bytes ``SEMBLCHK``, uint64 count, uint64 first row, uint32 CRC-32 of the words,
uint32 CRC-32 of the rows, uint32 CRC-32 of the head so far, 4 zeros); the fingerprints in ascending order as numbers, uint64
of shape (count, words); their rows, uint32, counted from the first row. A head is written after its data have reached the
disk: one of zeros, with no other head behind it, is an append that never ended, and does not count.
"""

from __future__ import annotations

import fcntl
import json
import os
import stat
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO
from zlib import crc32

import numpy as np

from ..errors import InputDataError, OutputError, ParameterError
from ..files.atomic import sync_folder
from ..values import Int64Array, UInt64Array

MAGIC, CHUNK_MAGIC, VERSION = b"SEMBLFPS", b"SEMBLCHK", 1
_HEAD = struct.Struct("<8sQQIIII")
MOST_HEADER, MOST_BITS = 1 << 20, 1024
Check = Callable[[dict[str, Any]], None]


@dataclass(frozen=True, slots=True)
class Chunk:
    """Place of one chunk: where its data begin, how many fingerprints, their first row, checksums of words and rows."""

    begin: int
    count: int
    first_row: int
    words_crc: int
    rows_crc: int


def sort_rows(words: UInt64Array) -> Int64Array:
    """Return the order in which fingerprints ascend as numbers, the last word the most significant; equal ones by row."""
    return np.lexsort(words.T) if words.shape[1] > 1 else np.argsort(words[:, 0], kind="stable")


def _ascend(words: UInt64Array) -> bool:
    """Tell whether fingerprints ascend as numbers: searches index with their prefixes."""
    equal: Any = True
    for column in words.T[::-1]:
        if (equal & (column[1:] < column[:-1])).any():
            return False
        equal = equal & (column[1:] == column[:-1])
    return True


def _is_header(header: object) -> bool:
    """Tell whether a header says what it must."""
    return (
        isinstance(header, dict)
        and set(header) == {"bits", "made_by"}
        and type(header["bits"]) is int
        and 1 <= header["bits"] <= MOST_BITS
        and (header["made_by"] is None or isinstance(header["made_by"], str))
    )


def _write_at(file: int, place: int, data: bytes) -> int:
    """Write bytes at a place of a file; return where they end. No buffer holds any that could be written after a failure."""
    rest = memoryview(data)
    while rest:
        n = os.pwrite(file, rest, place)
        rest, place = rest[n:], place + n
    return place


class ChunkedFile:
    """The chunks of one file.

    Parameters
    ----------
    path : str or path
    header : dict
        What a new file is to say of its fingerprints; ``bits`` at least.

    Raises
    ------
    InputDataError
        If the file is of another kind, of a newer version, or damaged.
    """

    def __init__(self, path: str | Path, header: dict[str, Any]) -> None:
        self.path = Path(path)
        self.header = header
        self.chunks: tuple[Chunk, ...] = ()
        self._end = 0
        self._turn = threading.Lock()
        try:
            os.stat(self.path)
        except FileNotFoundError:
            return
        except OSError as error:
            raise InputDataError(f"{self.path}: cannot be read: {error.strerror}") from None
        with self._reading() as stream:
            self._scan(stream)

    @property
    def n_words(self) -> int:
        """Words of a fingerprint."""
        return (int(self.header["bits"]) + 63) // 64

    @property
    def n_rows(self) -> int:
        """Fingerprints in the file."""
        return self.chunks[-1].first_row + self.chunks[-1].count if self.chunks else 0

    def _bytes(self, count: int) -> int:
        return count * (8 * self.n_words + 4)

    @contextmanager
    def _reading(self) -> Iterator[BinaryIO]:
        """Open the file for reading."""
        try:
            with os.fdopen(os.open(self.path, os.O_RDONLY | os.O_NONBLOCK), "rb") as stream:
                if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                    raise InputDataError(f"{self.path}: not a regular file")
                yield stream
        except OSError as error:
            raise InputDataError(f"{self.path}: cannot be read: {error.strerror}") from None

    def _scan(self, stream: BinaryIO) -> None:
        """Read the header and the heads of all chunks that were appended to the end."""
        size = os.fstat(stream.fileno()).st_size
        start = stream.read(16)
        if not start:
            raise InputDataError(
                f"{self.path}: an empty file: another process may be making it, so try again; if it stays empty, remove it"
            )
        if start[:8] != MAGIC:
            raise InputDataError(f"{self.path}: not a file of fingerprints")
        version, length = struct.unpack("<II", start[8:]) if len(start) == 16 else (0, size)
        if version > VERSION:
            raise InputDataError(
                f"{self.path}: format version {version} is newer than {VERSION}, the newest known here; upgrade"
            )
        text = stream.read(min(length, size, MOST_HEADER))
        try:
            header = json.loads(text)
        except (ValueError, RecursionError):
            header = None
        if version < 1 or len(text) < length or not _is_header(header):
            raise InputDataError(f"{self.path}: damaged: its header cannot be read")
        self.header = header
        chunks: list[Chunk] = []
        n_rows, end = 0, 16 + length
        while end < size:
            stream.seek(end)
            head = stream.read(_HEAD.size)
            if not any(head):
                self._check_tail(stream, end, n_rows)
                break
            if len(head) < _HEAD.size:
                raise InputDataError(f"{self.path}: cut short: the chunk at byte {end} has not all of its head")
            magic, count, first_row, words_crc, rows_crc, head_crc, _ = _HEAD.unpack(head)
            if magic != CHUNK_MAGIC or crc32(head[:32]) != head_crc or first_row != n_rows or any(head[36:]):
                raise InputDataError(f"{self.path}: damaged: the chunk at byte {end} has a wrong head")
            begin = end + _HEAD.size
            if begin + self._bytes(count) > size:
                raise InputDataError(f"{self.path}: cut short: the chunk at byte {end} has not all of its {count:,} rows")
            chunks.append(Chunk(begin, count, first_row, words_crc, rows_crc))
            n_rows, end = n_rows + count, begin + self._bytes(count)
        self.chunks, self._end = tuple(chunks), end

    def _check_tail(self, stream: BinaryIO, end: int, n_rows: int) -> None:
        """Check that a head of zeros is that of the last append: behind a damaged one there can be the heads of others."""
        stream.seek(end)
        rest = b""
        while block := stream.read(1 << 20):
            data, place = rest + block, -1
            while (place := data.find(CHUNK_MAGIC, place + 1)) >= 0 and place + _HEAD.size <= len(data):
                head = data[place : place + _HEAD.size]
                if crc32(head[:32]) == int.from_bytes(head[32:36], "little") and _HEAD.unpack(head)[2] >= n_rows:
                    raise InputDataError(f"{self.path}: damaged: the head of the chunk at byte {end} is lost, others follow")
            rest = data[-_HEAD.size + 1 :]

    def append(self, words: UInt64Array, made_by: str | None = None, fits: Check | None = None) -> int:
        """Sort a batch and append it; it counts once it is on the disk. Returns its first row.

        Parameters
        ----------
        words : ndarray of uint64, shape (n, words)
        made_by : str, optional
            What the header of a new file is to say of it.
        fits : callable, optional
            Called with the header of the file as it is once nobody else can append; raises if the batch does not fit.

        Raises
        ------
        OutputError
            If the file cannot be written, or another process appends to it.
        """
        order = sort_rows(words)
        data = np.ascontiguousarray(words[order], "<u8").tobytes(), order.astype("<u4").tobytes()
        with self._turn:
            try:
                return self._append(len(words), data, made_by, fits or (lambda header: None))
            except BlockingIOError:
                raise OutputError(f"{self.path}: another process is appending to it; wait until it is done") from None
            except OSError as error:
                if isinstance(error, OutputError):
                    raise
                raise OutputError(f"{self.path}: cannot be written: {error.strerror}; the batch was not added") from None

    def _append(self, count: int, data: tuple[bytes, bytes], made_by: str | None, fits: Check) -> int:
        try:
            file, made = os.open(self.path, os.O_RDWR | os.O_NONBLOCK), False
        except FileNotFoundError:
            file, made = os.open(self.path, os.O_RDWR | os.O_NONBLOCK | os.O_CREAT, 0o666), True
        with os.fdopen(file, "r+b") as stream:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                raise OutputError(f"{self.path}: not a regular file")
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not (self.path.exists() and os.path.samestat(os.fstat(file), os.stat(self.path))):
                raise OutputError(f"{self.path}: the file was removed or replaced while it was opened; try again")
            made = made and not os.fstat(file).st_size
            header, chunks = self.header, self.chunks
            try:
                if made:
                    self.chunks, self.header = (), header | ({} if made_by is None else {"made_by": made_by})
                    self._end = self._write_header(file)
                else:  # others may have appended since
                    self._scan(stream)
                fits(self.header)
                self._write_chunk(file, count, data)
                if not self.chunks:
                    sync_folder(self.path.absolute().parent)
            except BaseException as error:
                if made:
                    self.path.unlink(missing_ok=True)
                    self.header, self.chunks = header, chunks
                elif isinstance(error, OSError):
                    with suppress(OSError):
                        os.ftruncate(file, self._end)
                raise
            first_row = self.n_rows
            crcs = crc32(data[0]), crc32(data[1])
            self.chunks = (*self.chunks, Chunk(self._end + _HEAD.size, count, first_row, *crcs))
            self._end += _HEAD.size + self._bytes(count)
        return first_row

    def _write_header(self, file: int) -> int:
        """Begin a new file; return where its chunks begin."""
        header = json.dumps(self.header).encode()
        if len(header) > MOST_HEADER:
            raise ParameterError(
                f"{self.path}: what made the fingerprints takes {len(header):,} bytes to say, and {MOST_HEADER:,} is the most: "
                "give the features a short name"
            )
        return _write_at(file, 0, MAGIC + struct.pack("<II", VERSION, len(header)) + header)

    def _write_chunk(self, file: int, count: int, data: tuple[bytes, bytes]) -> None:
        """Write a chunk behind the last one: its head when its data are on the disk."""
        os.ftruncate(file, self._end)
        end = _write_at(file, self._end, bytes(_HEAD.size))
        for part in data:
            end = _write_at(file, end, part)
        os.fsync(file)
        head = _HEAD.pack(CHUNK_MAGIC, count, self.n_rows, crc32(data[0]), crc32(data[1]), 0, 0)[:32]
        _write_at(file, self._end, head + struct.pack("<II", crc32(head), 0))
        os.fsync(file)

    def pieces(self, most: int) -> Iterator[tuple[UInt64Array, Int64Array]]:
        """Yield (sorted fingerprints, their rows), at most so many at a time: parts of large chunks, small ones together.

        Raises
        ------
        InputDataError
            If what is read does not fit its checksum; known only at the end of each chunk.
        """
        waiting: list[tuple[UInt64Array, Int64Array]] = []
        chunks = self.chunks
        if not chunks:
            return
        with self._reading() as stream:
            for chunk in chunks:
                if waiting and sum(len(rows) for _, rows in waiting) + chunk.count > most:
                    yield self._together(waiting)
                    waiting = []
                for piece in self._parts(stream, chunk, most):
                    if len(piece[1]) == most or chunk.count > most:
                        yield piece
                    else:
                        waiting.append(piece)
        if waiting:
            yield self._together(waiting)

    @staticmethod
    def _together(parts: list[tuple[UInt64Array, Int64Array]]) -> tuple[UInt64Array, Int64Array]:
        """Merge sorted parts."""
        if len(parts) == 1:
            return parts[0]
        words, rows = (np.concatenate(part) for part in zip(*parts, strict=True))
        order = sort_rows(words)
        return words[order], rows[order]

    def _parts(self, stream: BinaryIO, chunk: Chunk, most: int) -> Iterator[tuple[UInt64Array, Int64Array]]:
        words_crc = rows_crc = 0
        for done in range(0, chunk.count, most):
            count = min(most, chunk.count - done)
            stream.seek(chunk.begin + 8 * self.n_words * done)
            words, rows = np.empty((count, self.n_words), "<u8"), np.empty(count, "<u4")
            whole = stream.readinto(words) == words.nbytes  # type: ignore[attr-defined]
            stream.seek(chunk.begin + 8 * self.n_words * chunk.count + 4 * done)
            whole = stream.readinto(rows) == rows.nbytes and whole  # type: ignore[attr-defined]
            words_crc, rows_crc = crc32(words.data, words_crc), crc32(rows.data, rows_crc)
            ended = done + count == chunk.count
            if not whole or not _ascend(words) or (ended and (words_crc, rows_crc) != (chunk.words_crc, chunk.rows_crc)):
                raise InputDataError(
                    f"{self.path}: damaged: the chunk of rows {chunk.first_row:,} to {chunk.first_row + chunk.count - 1:,} "
                    "does not fit its checksum"
                )
            yield words, rows.astype(np.int64) + chunk.first_row
