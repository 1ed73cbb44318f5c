"""Files that version 0.1 wrote before all binary files had one layout (``.layout``). They are read, and not written any more.

Fingerprints (``LOOKAFPS``, version 1): magic; uint32 version; uint32 length of the header; the header, JSON. Then chunks: a
head of 40 bytes (``LOOKACHK``, uint64 count, uint64 first row, uint32 CRC-32 of the words, uint32 CRC-32 of the rows, uint32
CRC-32 of the head so far, 4 zeros), the words and the rows. A head of zeros, with no other head behind it, ends the file.

Signatures (``LOOKASIG``, versions 1 and 2): magic; uint32 version; uint32 length of the header; the header, JSON padded with
blanks; the arrays, in the order the header names them, padded with zeros, all to multiples of 8 bytes; 32 bytes of BLAKE2b over
all that precedes.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import struct
from pathlib import Path
from typing import Any, BinaryIO
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ..errors import InputDataError
from .layout import DTYPES, Entry, Section, find_magic, is_count

_CHUNK, _HEAD = b"LOOKACHK", struct.Struct("<8sQQIIII")
_START, _DIGEST = 16, 32
_MOST_HEADER, _MOST_BITS = 1 << 20, 1024


def read_chunks(stream: BinaryIO, path: Path) -> tuple[Section, ...]:
    """Read the header and the heads of all chunks of a file of fingerprints, as sections.

    Raises
    ------
    InputDataError
        If the file is damaged or cut short.
    """
    size = os.fstat(stream.fileno()).st_size
    start = os.pread(stream.fileno(), _START, 0)
    length = int.from_bytes(start[12:], "little")
    text = os.pread(stream.fileno(), min(length, _MOST_HEADER), _START)
    try:
        header = json.loads(text)
        bits = header["bits"]
        wrong = len(start) < _START or len(text) < length or not is_count(bits, _MOST_BITS)
    except (ValueError, TypeError, KeyError, RecursionError):
        wrong = True
    if wrong:
        raise InputDataError(f"{path}: damaged: its header cannot be read")
    n_words = (bits + 63) // 64
    sections, n_rows = [Section(0, _START + length, header, {})], 0
    while (end := sections[-1].end) < size:
        head = os.pread(stream.fileno(), _HEAD.size, end)
        if not any(head):
            _check_tail(stream, path, end, n_rows)
            break
        if len(head) < _HEAD.size:
            raise InputDataError(f"{path}: cut short: the chunk at byte {end:,} is not whole")
        magic, count, first_row, *crcs, _, _ = _HEAD.unpack(head)
        if magic != _CHUNK or not _is_head(head) or first_row != n_rows or any(head[36:]):
            raise InputDataError(f"{path}: damaged: the chunk at byte {end:,} has a wrong head")
        begin = end + _HEAD.size
        middle, after = begin + 8 * n_words * count, begin + (8 * n_words + 4) * count
        words = Entry(np.dtype("<u8"), (count, n_words), begin, middle, crcs[0])
        rows = Entry(np.dtype("<u4"), (count,), middle, after, crcs[1])
        sections.append(Section(end, after, {}, {"words": words, "rows": rows}))
        n_rows += count
    return tuple(sections)


def _is_head(head: bytes) -> bool:
    return crc32(head[:32]) == int.from_bytes(head[32:36], "little")


def _check_tail(stream: BinaryIO, path: Path, end: int, n_rows: int) -> None:
    """Check that a head of zeros is that of the last chunk: behind a damaged one there can be the heads of others."""
    for place in find_magic(stream, end, _CHUNK):
        head = os.pread(stream.fileno(), _HEAD.size, place)
        if len(head) == _HEAD.size and _is_head(head) and _HEAD.unpack(head)[2] >= n_rows:
            raise InputDataError(f"{path}: damaged: the head of the chunk at byte {end:,} is lost, others follow")


def read_signatures(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read a file of signatures whole: what its header says, and its arrays.

    Raises
    ------
    InputDataError
        If the file is damaged or cut short.
    """
    data = path.read_bytes()
    if len(data) < _START + _DIGEST or hashlib.blake2b(data[:-_DIGEST], digest_size=_DIGEST).digest() != data[-_DIGEST:]:
        raise InputDataError(f"{path}: damaged or cut short: checksum mismatch")
    end = _START + int.from_bytes(data[12:_START], "little")
    arrays: dict[str, NDArray[Any]] = {}
    try:
        header = json.loads(data[_START:end])
        for described in header["arrays"]:
            name, kind, shape = described["name"], described["dtype"], described["shape"]
            if kind not in DTYPES or not all(is_count(length, len(data)) for length in shape):
                raise ValueError
            dtype, count = np.dtype(kind), math.prod(shape)
            padded = -(-count * dtype.itemsize // 8) * 8
            if end + padded > len(data) - _DIGEST:
                raise ValueError
            arrays[name] = np.frombuffer(data, dtype, count, end).reshape(shape)
            end += padded
        wrong = end != len(data) - _DIGEST or not isinstance(header, dict)
    except (ValueError, TypeError, KeyError, RecursionError):
        wrong = True
    if wrong:
        raise InputDataError(f"{path}: damaged: its header does not describe signatures")
    return header, arrays
