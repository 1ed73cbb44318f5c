"""A file of fingerprints: sorted chunks, one a batch, appended and read without ever holding all of it.

Layout, little endian: the 8 bytes ``SEMBLFPS``; uint32 format version (1); uint32 length of the header; the header, JSON in
UTF-8. Then chunks: a head of 40 bytes (the 8 bytes ``SEMBLCHK``, uint64 count, uint64 first row, uint32 CRC-32 of the words,
uint32 CRC-32 of the rows, uint32 CRC-32 of the head so far, 4 zeros); the fingerprints in ascending order as numbers, uint64
of shape (count, words); their rows, uint32, counted from the first row. A head is written after its data have reached the
disk: one of zeros, or data cut short, is an append that never ended, and does not count.
"""

from __future__ import annotations

import fcntl
import json
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO
from zlib import crc32

import numpy as np

from ..errors import InputDataError, OutputError
from ..values import Int64Array, UInt64Array
from .formats import sync_folder

MAGIC, CHUNK_MAGIC, VERSION = b"SEMBLFPS", b"SEMBLCHK", 1
_HEAD = struct.Struct("<8sQQIIII")
CHUNK_ROWS = 1 << 32


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
        self.chunks: list[Chunk] = []
        self._end = 0
        if self.path.exists():
            self._scan()

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

    def _scan(self) -> None:
        """Read the header and the heads of all chunks that were appended to the end."""
        try:
            with self.path.open("rb") as stream:
                self._scan_stream(stream)
        except OSError as error:
            raise InputDataError(f"{self.path}: cannot be read: {error.strerror}") from None

    def _scan_stream(self, stream: BinaryIO) -> None:
        size = os.fstat(stream.fileno()).st_size
        start = stream.read(16)
        if start[:8] != MAGIC:
            raise InputDataError(f"{self.path}: not a file of fingerprints")
        version, length = struct.unpack("<II", start[8:]) if len(start) == 16 else (0, size)
        if version > VERSION:
            raise InputDataError(
                f"{self.path}: format version {version} is newer than {VERSION}, the newest known here; upgrade"
            )
        try:
            self.header = json.loads(stream.read(length))
            self._end = 16 + length
            _ = self.n_words
        except (ValueError, KeyError, TypeError):
            raise InputDataError(f"{self.path}: damaged: its header cannot be read") from None
        while self._end + _HEAD.size <= size:
            stream.seek(self._end)
            head = stream.read(_HEAD.size)
            if head == bytes(_HEAD.size):
                break
            magic, count, first_row, words_crc, rows_crc, head_crc, _ = _HEAD.unpack(head)
            if magic != CHUNK_MAGIC or crc32(head[:32]) != head_crc or first_row != self.n_rows:
                raise InputDataError(f"{self.path}: damaged: the chunk at byte {self._end} has a wrong head")
            begin = self._end + _HEAD.size
            if begin + self._bytes(count) > size:
                raise InputDataError(f"{self.path}: cut short: the chunk at byte {self._end} has not all of its {count:,} rows")
            self.chunks.append(Chunk(begin, count, first_row, words_crc, rows_crc))
            self._end = begin + self._bytes(count)

    def append(self, words: UInt64Array) -> int:
        """Sort a batch and append it; it counts once it is on the disk. Returns its first row.

        Raises
        ------
        OutputError
            If the file cannot be written, or another process appends to it.
        """
        order = sort_rows(words)
        data = np.ascontiguousarray(words[order], "<u8").tobytes(), order.astype("<u4").tobytes()
        try:
            with os.fdopen(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666), "r+b") as stream:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if not os.fstat(stream.fileno()).st_size:
                    header = json.dumps(self.header).encode()
                    stream.write(MAGIC + struct.pack("<II", VERSION, len(header)) + header)
                    self._end = stream.tell()
                else:  # others may have appended since
                    bits, self.chunks = self.header["bits"], []
                    self._scan_stream(stream)
                    if self.header["bits"] != bits:
                        raise InputDataError(
                            f"{self.path}: holds fingerprints of {self.header['bits']} bits by now; these have {bits}"
                        )
                first_row = self.n_rows
                stream.truncate(self._end)
                stream.seek(self._end)
                stream.write(bytes(_HEAD.size))
                for part in data:
                    stream.write(part)
                stream.flush()
                os.fsync(stream.fileno())
                crcs = crc32(data[0]), crc32(data[1])
                head = _HEAD.pack(CHUNK_MAGIC, len(words), first_row, *crcs, 0, 0)[:32]
                stream.seek(self._end)
                stream.write(head + struct.pack("<II", crc32(head), 0))
                stream.flush()
                os.fsync(stream.fileno())
            if not first_row:
                sync_folder(self.path.parent)
        except BlockingIOError:
            raise OutputError(f"{self.path}: another process is appending to it; wait until it is done") from None
        except OSError as error:
            raise OutputError(f"{self.path}: cannot be written: {error.strerror}; the batch was not added") from None
        self.chunks.append(Chunk(self._end + _HEAD.size, len(words), first_row, *crcs))
        self._end += _HEAD.size + self._bytes(len(words))
        return first_row

    def pieces(self, most: int) -> Iterator[tuple[UInt64Array, Int64Array]]:
        """Yield (sorted fingerprints, their rows), at most so many at a time: parts of large chunks, small ones together.

        Raises
        ------
        InputDataError
            If what is read does not fit its checksum; known only at the end of each chunk.
        """
        waiting: list[tuple[UInt64Array, Int64Array]] = []
        with self.path.open("rb") if self.chunks else open(os.devnull, "rb") as stream:
            for chunk in self.chunks:
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
            stream.readinto(words)  # type: ignore[attr-defined]
            stream.seek(chunk.begin + 8 * self.n_words * chunk.count + 4 * done)
            stream.readinto(rows)  # type: ignore[attr-defined]
            words_crc, rows_crc = crc32(words.data, words_crc), crc32(rows.data, rows_crc)
            if done + count == chunk.count and (words_crc, rows_crc) != (chunk.words_crc, chunk.rows_crc):
                raise InputDataError(
                    f"{self.path}: damaged: the chunk of rows {chunk.first_row:,} to {chunk.first_row + chunk.count - 1:,} "
                    "does not fit its checksum"
                )
            yield words, rows.astype(np.int64) + chunk.first_row
