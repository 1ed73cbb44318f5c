"""Sorted batches of fingerprints in a file that grows, appended and read without ever holding all of it.

A file of ``files.arrays``: its first section says ``bits`` and ``made_by``; each other one is a batch: ``words``, the
fingerprints in ascending order as numbers, uint64 of shape (count, words), and ``rows``, uint32, their rows in the batch.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from ..errors import InputDataError, ParameterError
from ..files.arrays import GrowingFile
from ..files.layout import FileType, Section, open_regular, read_pieces
from ..values import Int64Array, UInt64Array
from ..values.arrays import concatenate_columns
from .self_join import sort_rows

FINGERPRINTS = FileType(magic=b"LOOKAFPS", version=1, name="fingerprints", error=InputDataError, links=True)
MOST_HEADER, MOST_BITS = 1 << 20, 1024
Check = Callable[[dict[str, Any]], None]


def _ascend(words: UInt64Array, bits: int) -> bool:
    """Tell whether fingerprints ascend as numbers of so many bits: searches index with their prefixes."""
    if bits % 64 and (words[-1:, -1] >> np.uint64(bits % 64)).any():
        return False
    equal: Any = True
    for column in words.T[::-1]:
        if (equal & (column[1:] < column[:-1])).any():
            return False
        equal = equal & (column[1:] == column[:-1])
    return True


def _accepts(first: Section, section: Section) -> bool:
    """Tell whether a section says what it must: the first what the fingerprints are, any other that it is a batch of them."""
    meta, entries = first.meta, section.entries
    if section is first:
        return (
            set(meta) == {"bits", "made_by"}
            and type(meta["bits"]) is int
            and 1 <= meta["bits"] <= MOST_BITS
            and (meta["made_by"] is None or isinstance(meta["made_by"], str))
            and not entries
        )
    described = [(name, entry.dtype.str, entry.shape[1:]) for name, entry in entries.items()]
    wanted = [("words", "<u8", (_n_words(meta),)), ("rows", "<u4", ())]
    return described == wanted and entries["words"].shape[:1] == entries["rows"].shape


def _n_words(meta: dict[str, Any]) -> int:
    return (int(meta["bits"]) + 63) // 64


class ChunkedFile:
    """The batches of one file, of fingerprints of so many bits if it is new."""

    def __init__(self, path: str | Path, bits: int) -> None:
        self.path = Path(path)
        self._header = {"bits": bits, "made_by": None}
        self._file = GrowingFile(self.path, FINGERPRINTS, _accepts)

    @property
    def header(self) -> dict[str, Any]:
        """What the file says of its fingerprints, or a new one is to say."""
        sections = self._file.sections
        return sections[0].meta if sections else self._header

    @property
    def n_rows(self) -> int:
        """Fingerprints in the file."""
        return sum(_count(section) for section in self._file.sections[1:])

    def append(self, words: UInt64Array, made_by: str, fits: Check) -> int:
        """Sort a batch and append it; it counts once it is on the disk. Returns its first row."""
        header = self._header | {"made_by": made_by}
        if (size := len(json.dumps(header))) > MOST_HEADER:
            raise ParameterError(
                f"{self.path}: what made the fingerprints takes {size:,} bytes to say, and {MOST_HEADER:,} is the most: "
                "give the features a short name"
            )
        order = sort_rows(words)
        arrays: dict[str, NDArray[Any]] = {"words": words[order], "rows": order.astype(np.uint32)}
        sections = self._file.append(arrays, header, fits)
        return sum(_count(section) for section in sections[1:-1])

    def batches(self) -> Iterator[UInt64Array]:
        """Yield the fingerprints of each batch as they were appended."""
        for section in self._file.sections[1:]:
            with open_regular(self.path, FINGERPRINTS) as stream:
                words, rows = next(self._parts(stream, section, 0, max(1, _count(section))))
            yield words[np.argsort(rows)]

    def pieces(self, most: int) -> Generator[tuple[UInt64Array, Int64Array]]:
        """Yield (sorted fingerprints, their rows), at most so many at a time: parts of large batches, small ones together."""
        waiting: list[tuple[UInt64Array, Int64Array]] = []
        sections, first_row = self._file.sections[1:], 0
        if not sections:
            return
        with open_regular(self.path, FINGERPRINTS) as stream:
            for section in sections:
                count = _count(section)
                if waiting and sum(len(rows) for _, rows in waiting) + count > most:
                    yield self._together(waiting)
                    waiting = []
                for piece in self._parts(stream, section, first_row, most):
                    if len(piece[1]) == most or count > most:
                        yield piece
                    else:
                        waiting.append(piece)
                first_row += count
        if waiting:
            yield self._together(waiting)

    @staticmethod
    def _together(parts: list[tuple[UInt64Array, Int64Array]]) -> tuple[UInt64Array, Int64Array]:
        """Merge sorted parts."""
        if len(parts) == 1:
            return parts[0]
        words, rows = concatenate_columns(parts)
        order = sort_rows(words)
        return words[order], rows[order]

    def _parts(self, stream: BinaryIO, section: Section, first_row: int, most: int) -> Iterator[tuple[UInt64Array, Int64Array]]:
        """Read one batch, at most so many rows at a time."""
        bits = self.header["bits"]
        words, rows = (read_pieces(stream, self.path, FINGERPRINTS, section, name, most) for name in ("words", "rows"))
        for some, places in zip(words, rows, strict=True):
            if not _ascend(some, bits):
                after = first_row + _count(section)
                raise InputDataError(f"damaged: the batch of rows {first_row:,} to {after - 1:,} is not in order", self.path)
            yield some, places.astype(np.int64) + first_row


def _count(section: Section) -> int:
    return section.entries["rows"].n_rows
