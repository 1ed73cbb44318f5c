"""Streams of bytes: compressed or not, in blocks, in lines."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from ..errors import InputDataError
from .names import shown

BLOCK = 4 << 20


def compression_of(path: str | Path) -> str | None:
    """Return "gzip", "zstd" or None by the last suffix of a name, whatever stands before it."""
    return {".gz": "gzip", ".zst": "zstd"}.get(Path(path).suffix.lower())


def read_blocks(path: Path, n_bytes: int | None = None) -> Iterator[bytes]:
    """Yield the decompressed bytes of a file in blocks of ``n_bytes``, or of ``BLOCK``.

    Raises
    ------
    InputDataError
        If the file cannot be opened or its compression is damaged.
    """
    return _read(path, n_bytes, compression_of(path))


def read_raw(path: Path, n_bytes: int | None = None) -> Iterator[bytes]:
    """Yield the bytes of a file in blocks of ``n_bytes``, or of ``BLOCK``, as they are.

    Raises
    ------
    InputDataError
        If the file cannot be read.
    """
    return _read(path, n_bytes, None)


def _read(path: Path, n_bytes: int | None, compression: str | None) -> Iterator[bytes]:
    try:
        stream: Any
        if compression == "gzip":
            stream = gzip.open(path, "rb")
        elif compression == "zstd":
            stream = pa.input_stream(pa.OSFile(os.fsencode(path)), compression="zstd")
        else:
            stream = open(path, "rb", buffering=0)
        with stream:
            while block := stream.read(n_bytes or BLOCK):
                yield block
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputDataError(f"{shown(path)}: the {compression} data is damaged or cut short ({error})") from None
    except OSError as error:
        reason = error.strerror or f"the data is damaged or cut short ({error})"
        raise InputDataError(f"{shown(path)}: cannot be read: {reason}") from None


def read_lines(path: Path) -> Iterator[list[bytes]]:
    """Yield lists of lines, each with its line feed (the last may lack it), a list a block; lines may have any length."""
    pieces: list[bytes] = []
    for block in read_blocks(path):
        head, feed, rest = block.rpartition(b"\n")
        if not feed:
            pieces.append(block)
            continue
        yield _split(b"".join(pieces) + head + feed)
        pieces = [rest]
    last = b"".join(pieces)
    if last:
        yield [last]


def _split(data: bytes) -> list[bytes]:
    """Split at line feeds alone, keeping them; ``data`` ends with one."""
    return [line + b"\n" for line in data[:-1].split(b"\n")]


@contextmanager
def compressed(raw: BinaryIO, path: Path) -> Iterator[BinaryIO]:
    """Give a stream into an open file that compresses by the suffix of its path."""
    compression = compression_of(path)
    if compression == "gzip":
        with gzip.GzipFile("", "wb", 6, raw, mtime=0) as stream:
            yield stream  # type: ignore[misc]
    elif compression == "zstd":
        with pa.CompressedOutputStream(pa.PythonFile(raw, "w"), "zstd") as stream:
            yield stream
    else:
        yield raw
