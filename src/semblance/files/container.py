"""A file of named arrays, each with a checksum of its own: the parts of long jobs and of lasting indexes. No pickle.

Layout, little endian: the 8 bytes ``SEMBLARR``; uint32 format version (1); uint32 CRC-32 of the header; uint64 length of the
header; the header, JSON in UTF-8, padded with blanks; then the arrays, each at a multiple of 64 bytes. The header holds
``meta`` (whatever the writer wants to say) and ``arrays``: for each its name, dtype, shape, offset from the end of the header,
and CRC-32 in eight hexadecimal digits.
"""

from __future__ import annotations

import json
import math
import mmap
import os
import re
import stat
import struct
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ..errors import IndexFormatError
from .atomic import atomic_file

MAGIC, VERSION = b"SEMBLARR", 1
_HEAD = struct.Struct("<8sIIQ")
_ALIGN = 64
_BLOCK = 1 << 20
_DTYPES = {np.dtype(code).newbyteorder("<").str for code in "?bBhHiIqQfd"}
_MOST_BYTES = 1 << 62
_CRC = re.compile("[0-9a-f]{8}")


def _aligned(offset: int) -> int:
    return -(-offset // _ALIGN) * _ALIGN


def _raw(array: NDArray[Any]) -> memoryview:
    return array.reshape(-1).view(np.uint8).data


@dataclass(frozen=True, slots=True)
class Streamed:
    """An array that comes in pieces, so that it need never be in memory as a whole."""

    dtype: Any
    shape: tuple[int, ...]
    pieces: Iterable[NDArray[Any]]

    @property
    def nbytes(self) -> int:
        """Bytes of the whole array."""
        return int(np.dtype(self.dtype).itemsize * math.prod(self.shape))


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any] | Streamed], meta: dict[str, Any] | None = None) -> None:
    """Write arrays to a file that gets its name only when all is on the disk.

    Raises
    ------
    OutputError
        If it cannot be written; nothing half written is left.
    """
    streamed = {name: a if isinstance(a, Streamed) else Streamed(a.dtype, a.shape, [a]) for name, a in arrays.items()}
    offsets = np.cumsum([0, *(_aligned(a.nbytes) for a in streamed.values())]).tolist()

    def header(sums: list[int]) -> bytes:
        """The same number of bytes whatever the checksums; offsets count from its end."""
        entries = [
            [name, np.dtype(a.dtype).newbyteorder("<").str, list(a.shape), offset, f"{crc:08x}"]
            for (name, a), offset, crc in zip(streamed.items(), offsets, sums, strict=False)
        ]
        text = json.dumps({"meta": meta or {}, "arrays": entries}).encode()
        text += b" " * (_aligned(_HEAD.size + len(text)) - _HEAD.size - len(text))
        return _HEAD.pack(MAGIC, VERSION, crc32(text), len(text)) + text

    with atomic_file(path, compress=False) as stream:
        stream.write(header([0] * len(streamed)))
        sums = []
        for name, a in streamed.items():
            crc = done = 0
            for piece in a.pieces:
                raw = _raw(np.ascontiguousarray(piece, np.dtype(a.dtype).newbyteorder("<")))
                crc, done = crc32(raw, crc), done + len(raw)
                stream.write(raw)
            if done != a.nbytes:
                raise ValueError(f"{name}: {a.nbytes} bytes were announced, {done} came")
            stream.write(bytes(_aligned(done) - done))
            sums.append(crc)
        stream.seek(0)
        stream.write(header(sums))


@contextmanager
def open_regular(path: Path) -> Iterator[BinaryIO]:
    """Open a file of ours for reading; a link, a pipe or a device in its place is refused, not followed or waited for.

    Raises
    ------
    IndexFormatError
        If it is no regular file, or cannot be read.
    """
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb", buffering=0) as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                raise IndexFormatError(f"{path}: not a regular file")
            yield stream
    except OSError as error:
        if path.is_symlink():
            raise IndexFormatError(f"{path}: a symbolic link; files of an index or a job must be regular files") from None
        raise IndexFormatError(f"{path}: cannot be read: {error.strerror}") from None


def is_count(value: object, most: int = _MOST_BYTES) -> bool:
    """Tell whether a value read from a file is a number from 0 to ``most``."""
    return type(value) is int and 0 <= value <= most


def _entry(dtype: str, shape: list[int], offset: int, crc: str) -> tuple[np.dtype[Any], tuple[int, ...], int, int]:
    """Check what a header says of one array.

    Raises
    ------
    ValueError, TypeError
        If it is no description of an array.
    """
    if dtype not in _DTYPES or not is_count(offset) or not _CRC.fullmatch(crc) or not all(map(is_count, shape)):
        raise ValueError
    kind = np.dtype(dtype)
    if math.prod(max(length, 1) for length in shape) * kind.itemsize > _MOST_BYTES:
        raise ValueError
    return kind, tuple(shape), offset, int(crc, 16)


class ArrayFile(Mapping[str, NDArray[Any]]):
    """The arrays of one file; each is read, and held against its checksum, when it is asked for.

    Parameters
    ----------
    path : path

    Raises
    ------
    IndexFormatError
        If the file is of another kind, of a newer version, cut short, or its header is damaged.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with open_regular(path) as stream:
            self.size = os.fstat(stream.fileno()).st_size
            head = stream.read(_HEAD.size)
            if head[:8] != MAGIC[: len(head)] or len(head) < 8:
                raise IndexFormatError(f"{path}: not a file of arrays of semblance")
            if len(head) < _HEAD.size:
                raise IndexFormatError(f"{path}: cut short")
            _, version, crc, length = _HEAD.unpack(head)
            if version > VERSION:
                raise IndexFormatError(f"{path}: format version {version} is newer than {VERSION}, the newest known here")
            header = stream.read(min(length, self.size))
        if version < 1 or len(header) < length or crc32(header) != crc:
            raise IndexFormatError(f"{path}: damaged: its header does not fit its checksum")
        self._begin = _HEAD.size + length
        try:
            described = json.loads(header)
            self.meta: dict[str, Any] = described["meta"]
            self._entries = {name: _entry(*rest) for name, *rest in described["arrays"]}
            wrong = not isinstance(self.meta, dict) or len(self._entries) != len(described["arrays"])
        except (ValueError, TypeError, KeyError, RecursionError):
            wrong = True
        if wrong:
            raise IndexFormatError(f"{path}: damaged: its header does not describe arrays")
        end = self._begin
        for name, (_, _, offset, _) in self._entries.items():
            if self._begin + offset != end:
                raise IndexFormatError(f"{path}: damaged: its {name} do not begin where the array before them ends")
            end += _aligned(self._bytes(name))
        if end != self.size:
            raise IndexFormatError(f"{path}: {'cut short' if self.size < end else 'damaged'}: {self.size:,} bytes, not {end:,}")

    def _bytes(self, name: str) -> int:
        dtype, shape, _, _ = self._entries[name]
        return int(dtype.itemsize * math.prod(shape))

    def __iter__(self) -> Iterator[str]:
        """Go through the names."""
        return iter(self._entries)

    def __len__(self) -> int:
        """Return the number of arrays."""
        return len(self._entries)

    def __contains__(self, name: object) -> bool:
        """Tell whether there is an array of that name, without reading it."""
        return name in self._entries

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Read one array.

        Raises
        ------
        IndexFormatError
            If it cannot be read, or its bytes do not fit its checksum.
        """
        dtype, shape, offset, crc = self._entries[name]
        out = np.empty(shape, dtype)
        flat = out.reshape(-1).view(np.uint8)
        done = 0
        with open_regular(self.path) as stream:
            stream.seek(self._begin + offset)
            while done < len(flat) and (count := stream.readinto(flat[done:])):  # type: ignore[attr-defined]
                done += count
        if done < len(flat) or crc32(flat.data) != crc:
            raise IndexFormatError(f"{self.path}: damaged: its {name} do not fit their checksum")
        return out

    def hold(self) -> None:
        """Map the file, so that it can be read even when its name is gone.

        Raises
        ------
        IndexFormatError
            If it is gone already, or has become shorter.
        """
        with open_regular(self.path) as stream:
            if os.fstat(stream.fileno()).st_size != self.size:
                raise IndexFormatError(f"{self.path}: changed while it was opened")
            self._whole = np.frombuffer(mmap.mmap(stream.fileno(), self.size, access=mmap.ACCESS_READ), np.uint8)

    def map(self, name: str) -> NDArray[Any]:
        """Return one array of a file that is held without reading it: its pages come when they are touched, unchecked."""
        dtype, shape, offset, _ = self._entries[name]
        begin = self._begin + offset
        mapped: NDArray[Any] = self._whole[begin : begin + self._bytes(name)].view(dtype).reshape(shape)
        return mapped

    def map_stack(self, names: list[str]) -> NDArray[Any]:
        """Return arrays of one length and dtype, each as far from the next, as the rows of one; as ``map`` does."""
        dtype, shape, first, _ = self._entries[names[0]]
        stride = self._entries[names[1]][2] - first if len(names) > 1 else 0
        return np.ndarray((len(names), *shape), dtype, self._whole.data, self._begin + first, (stride, dtype.itemsize))

    def described(self, name: str) -> tuple[str, tuple[int, ...]]:
        """Return dtype and shape of an array, as the header says: ("", ()) where there is none of that name."""
        dtype, shape, _, _ = self._entries.get(name, (None, (), 0, 0))
        return ("" if dtype is None else dtype.str), shape

    def check(self) -> None:
        """Read every array, a block at a time.

        Raises
        ------
        IndexFormatError
            If the file cannot be read, or an array does not fit its checksum.
        """
        with open_regular(self.path) as stream:
            for name, (_, _, offset, wanted) in self._entries.items():
                stream.seek(self._begin + offset)
                left, crc = self._bytes(name), 0
                while left and (block := stream.read(min(left, _BLOCK))):
                    crc, left = crc32(block, crc), left - len(block)
                padding = stream.read(-self._bytes(name) % _ALIGN)
                if left or crc != wanted or any(padding):
                    raise IndexFormatError(f"{self.path}: damaged: its {name} do not fit their checksum")
