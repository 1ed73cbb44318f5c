"""The one layout of all binary files that only lookalike reads: sections of named arrays, each with a checksum. No pickle.

A section begins at a multiple of 64 bytes. It holds, little endian: 8 bytes that name the kind of file; uint32 version of that
kind; uint32 CRC-32 of the header; uint64 length of the header; the header, JSON in UTF-8, padded with blanks; then the arrays,
each at a multiple of 64 bytes. The header has ``meta`` (whatever the writer wants to say) and ``arrays`` (the name, dtype,
shape, offset from the end of the header, and CRC-32 in eight hexadecimal digits of each). Every section but the first also has
``at``, the byte where it begins.
"""

from __future__ import annotations

import json
import math
import os
import re
import stat
import struct
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ..errors import IndexFormatError, InputDataError

ALIGN, HEAD_SIZE = 64, 24
MOST_BYTES = 1 << 62
_HEAD, _START = struct.Struct("<8sIIQ"), struct.Struct("<8sI")
_AHEAD = 1 << 10  # bytes read at once: most headers are shorter
_BLOCK = 1 << 20
DTYPES = {dtype.str: dtype for dtype in (np.dtype(code).newbyteorder("<") for code in "?bBhHiIqQfd")}
_CRC = re.compile("[0-9a-f]{8}")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileType:
    """One kind of file."""

    magic: bytes  # its first 8 bytes
    version: int  # the one written, and the newest that is read
    name: str  # what it holds, for messages
    error: type[IndexFormatError | InputDataError] = IndexFormatError  # for other kinds, newer or damaged files
    links: bool = False  # symbolic links to it are followed: users choose its name


ARRAYS = FileType(magic=b"LOOKAARR", version=1, name="arrays of lookalike")


@dataclass(frozen=True, slots=True)
class ChunkedArray:
    """An array that comes in pieces, so that it need never be in memory as a whole."""

    dtype: Any
    shape: tuple[int, ...]
    pieces: Iterable[NDArray[Any]]

    @property
    def nbytes(self) -> int:
        return int(np.dtype(self.dtype).itemsize * math.prod(self.shape))

    def whole(self) -> NDArray[Any]:
        """Return the array in memory; one of a single contiguous piece is not copied."""
        pieces = list(self.pieces)
        return np.ascontiguousarray(pieces[0] if len(pieces) == 1 else np.concatenate(pieces), self.dtype)


class ArrayHeader(NamedTuple):
    """One array of a section: its type, its shape, its first byte, the byte behind its padding, and its checksum."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    begin: int
    end: int
    crc: int

    @property
    def n_rows(self) -> int:
        """Length of its first axis; 1 if it has none."""
        return self.shape[0] if self.shape else 1

    @property
    def nbytes(self) -> int:
        """Bytes of the array, without padding."""
        return int(self.dtype.itemsize * math.prod(self.shape))

    def view(self, whole: NDArray[np.uint8]) -> NDArray[Any]:
        """Return the array as a view of the bytes of its whole file, mapped: unchecked, aligned to 64 bytes."""
        seen: NDArray[Any] = whole[self.begin : self.begin + self.nbytes].view(self.dtype).reshape(self.shape)
        return seen


class Section(NamedTuple):
    """What the head of one section says: its first byte, the byte behind it, ``meta``, and its arrays by name."""

    begin: int
    end: int
    meta: dict[str, Any]
    entries: dict[str, ArrayHeader]


def aligned(offset: int) -> int:
    """Return the first multiple of 64 that is not smaller."""
    return -(-offset // ALIGN) * ALIGN


def is_count(value: object, most: int = MOST_BYTES) -> bool:
    """Tell whether a value read from a file is a number from 0 to ``most``."""
    return type(value) is int and 0 <= value <= most


def _write_at(file: int, place: int, data: bytes | memoryview) -> int:
    """Write bytes at a place of a file; return where they end. No buffer holds any that could be written after a failure."""
    rest = memoryview(data)
    while rest:
        n = os.pwrite(file, rest, place)
        rest, place = rest[n:], place + n
    return place


def write_section(
    file: int,
    begin: int,
    kind: FileType,
    arrays: Mapping[str, NDArray[Any] | ChunkedArray],
    meta: dict[str, Any],
    *,
    sync: bool,
) -> Section:
    """Write a section into an open file; return what its head says.

    The first 24 bytes are written last, with ``sync`` once the rest is on the disk: they lie within one sector of it, so that
    a section that was cut off begins with zeros.
    """
    streamed = {name: a if isinstance(a, ChunkedArray) else ChunkedArray(a.dtype, a.shape, [a]) for name, a in arrays.items()}
    entries: dict[str, ArrayHeader] = {}  # their places count from the end of the header
    size = 0
    for name, a in streamed.items():
        first, size = size, aligned(size + a.nbytes)
        entries[name] = ArrayHeader(np.dtype(a.dtype).newbyteorder("<"), tuple(a.shape), first, size, 0)

    def header() -> bytes:
        """The same number of bytes whatever the checksums."""
        described = [[name, e.dtype.str, list(e.shape), e.begin, f"{e.crc:08x}"] for name, e in entries.items()]
        text = json.dumps({"meta": meta, "arrays": described} | ({"at": begin} if begin else {})).encode()
        return text.ljust(aligned(HEAD_SIZE + len(text)) - HEAD_SIZE)

    data = begin + HEAD_SIZE + len(header())
    for name, a in streamed.items():
        entry, crc, done = entries[name], 0, 0
        for piece in a.pieces:
            raw = np.ascontiguousarray(piece, entry.dtype).reshape(-1).view(np.uint8).data
            crc, done = crc32(raw, crc), _write_at(file, data + entry.begin + done, raw) - data - entry.begin
        if done != a.nbytes:
            raise ValueError(f"{name}: {a.nbytes} bytes were announced, {done} came")
        entries[name] = entry._replace(crc=crc)
    text = header()
    head = _HEAD.pack(kind.magic, kind.version, crc32(text), len(text))
    _write_at(file, begin + (HEAD_SIZE if sync else 0), text if sync else head + text)
    os.ftruncate(file, data + size)  # zeros behind the last array
    if sync:
        os.fsync(file)
        _write_at(file, begin, head)
        os.fsync(file)
    placed = {name: e._replace(begin=data + e.begin, end=data + e.end) for name, e in entries.items()}
    return Section(begin, data + size, meta, placed)


@contextmanager
def open_regular(path: Path, kind: FileType = ARRAYS) -> Iterator[BinaryIO]:
    """Open a file of ours for reading; a pipe or device is refused, not waited for, as is a link if the kind follows none."""
    try:
        flags = os.O_RDONLY | os.O_NONBLOCK | (0 if kind.links else os.O_NOFOLLOW)
        with os.fdopen(os.open(path, flags), "rb", buffering=0) as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                raise kind.error(f"{path}: not a regular file")
            yield stream
    except OSError as error:
        if path.is_symlink() and not kind.links:
            raise kind.error(f"{path}: a symbolic link; files of an index or a job must be regular files") from None
        raise kind.error(f"{path}: cannot be read: {error.strerror}") from None


def read_version(path: Path, kind: FileType, start: bytes) -> int:
    """Check the first bytes of a file or section; return its version."""
    if start[:8] != kind.magic:
        raise kind.error(f"{path}: not a file of {kind.name}")
    if len(start) < _START.size:
        raise kind.error(f"{path}: cut short: {len(start)} bytes")
    version = int(_START.unpack_from(start)[1])
    if version > kind.version:
        raise kind.error(f"{path}: format version {version} is newer than {kind.version}, the newest known here; upgrade")
    return version


def read_section(stream: BinaryIO, path: Path, kind: FileType, begin: int = 0) -> Section:
    """Read the head of a section, whose arrays may extend beyond the end of the file."""
    start = os.pread(stream.fileno(), _AHEAD, begin)
    version = read_version(path, kind, start)
    where = f"the section at byte {begin:,}" if begin else "the header"
    if len(start) < HEAD_SIZE:
        raise kind.error(f"{path}: cut short: {where} is not whole")
    _, _, crc, length = _HEAD.unpack_from(start)
    header = start[HEAD_SIZE : HEAD_SIZE + length]
    if length > len(header):
        most = min(length, os.fstat(stream.fileno()).st_size)
        header += os.pread(stream.fileno(), max(0, most - len(header)), begin + _AHEAD)
    data = begin + HEAD_SIZE + length
    if not version or len(header) < length or crc32(header) != crc or data % ALIGN:
        raise kind.error(f"{path}: damaged: checksum mismatch in {where}")
    try:
        held = json.loads(header)
        meta, entries, end = held["meta"], {}, data
        for name, *rest in held["arrays"]:
            if name in entries:
                raise ValueError
            entries[name] = _entry(*rest, data=data, wanted=end)
            end = entries[name].end
        wrong = not isinstance(meta, dict) or held.get("at", 0) != begin
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        wrong = True
    if wrong:
        raise kind.error(f"{path}: damaged: {where} does not describe arrays")
    return Section(begin, end, meta, entries)


def _entry(dtype: str, shape: list[int], offset: int, crc: str, *, data: int, wanted: int) -> ArrayHeader:
    """Check what a header says of one array, which must begin where the one before it ends."""
    if dtype not in DTYPES or not is_count(offset) or not _CRC.fullmatch(crc) or not all(map(is_count, shape)):
        raise ValueError
    kind = DTYPES[dtype]
    if math.prod([max(length, 1) for length in shape]) * kind.itemsize > MOST_BYTES or data + offset != wanted:
        raise ValueError
    return ArrayHeader(kind, tuple(shape), wanted, aligned(wanted + math.prod(shape) * kind.itemsize), int(crc, 16))


def read_pieces(stream: BinaryIO, path: Path, kind: FileType, section: Section, name: str, most: int) -> Iterator[NDArray[Any]]:
    """Yield an array, at most this many rows at a time."""
    entry, crc = section.entries[name], 0
    row_bytes = entry.dtype.itemsize * math.prod(entry.shape[1:])
    for start in range(0, max(entry.n_rows, 1), most):
        count = min(most, entry.n_rows - start)
        out = np.empty((count, *entry.shape[1:]) if entry.shape else (), entry.dtype)
        flat, done = out.reshape(-1).view(np.uint8), 0
        stream.seek(entry.begin + start * row_bytes)
        while done < len(flat) and (n := stream.readinto(flat[done:])):  # type: ignore[attr-defined]
            done += n
        crc, ended = crc32(flat.data, crc), start + count == entry.n_rows
        padding = (
            os.pread(stream.fileno(), entry.end - entry.begin - entry.nbytes, entry.begin + entry.nbytes) if ended else b""
        )
        if done < len(flat) or (ended and crc != entry.crc) or any(padding):
            place = f", section at byte {section.begin:,}" if section.begin else ""
            raise kind.error(f"{path}: damaged: checksum mismatch in its {name}{place}")
        yield out


def find_magic(stream: BinaryIO, begin: int, magic: bytes) -> Iterator[int]:
    """Yield the places of some bytes at or behind a byte of a file."""
    rest, place = b"", begin
    stream.seek(begin)
    while block := stream.read(_BLOCK):
        data, found = rest + block, -1
        while (found := data.find(magic, found + 1)) >= 0:
            yield place - len(rest) + found
        rest, place = data[1 - len(magic) :], place + len(block)
        stream.seek(place)
