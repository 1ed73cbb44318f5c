"""The rows of a split that are to be written, and what is added to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..errors import InputDataError
from ._split import Record, Split

_RECORDS = 4096
_ADDED = 1 << 17  # rows whose additions are made at once: those may be drawn from all parts of a long job

Added = Callable[[int, int], pa.Table]


class Selection:
    """The rows of one split that are to be written, and what is added to them.

    Parameters
    ----------
    mask : ndarray of bool, shape (n_rows,)
        Rows to write.
    added : callable, optional
        From rows of the split, the first and the one after the last, to an Arrow table of columns to append to them.
    encoding_errors : {"strict", "replace"}, default "strict"
        Whether U+FFFD takes the place of invalid UTF-8 where a row is converted.
    """

    def __init__(
        self, split: Split, mask: NDArray[np.bool_], added: Added | None = None, encoding_errors: str = "strict"
    ) -> None:  # fmt: skip
        self.split = split
        self.mask = mask
        self.added = added
        self.encoding_errors = encoding_errors

    @property
    def added_schema(self) -> pa.Schema:
        """The schema of what is added."""
        return pa.schema([]) if self.added is None else self.added(0, min(1, len(self.mask))).schema

    def check_count(self, n_rows: int) -> None:
        """Raise InputDataError if the split has another number of rows than it had."""
        if n_rows != len(self.mask):
            raise InputDataError(f"{self.split.name}: {len(self.mask)} rows were read at first, {n_rows} now; run again")

    def additions(self) -> Callable[[int, int], pa.Table]:
        """Return what gives the additions of some rows, which are made for many rows at once."""
        made: dict[int, pa.Table] = {}

        def some(first: int, last: int) -> pa.Table:
            assert self.added is not None
            parts: list[pa.Table] = []
            while first < last or not parts:
                begin = first // _ADDED * _ADDED
                if begin not in made:
                    made.clear()
                    made[begin] = self.added(begin, min(begin + _ADDED, len(self.mask)))
                end = min(last, begin + _ADDED)
                parts.append(made[begin].slice(first - begin, end - first))
                first = end
            return pa.concat_tables(parts)

        return some

    def _additions(self) -> Iterator[Record]:
        assert self.added is not None
        for begin in range(0, len(self.mask), _ADDED):
            for batch in self.added(begin, min(begin + _ADDED, len(self.mask))).to_batches(_RECORDS):
                yield from batch.to_pylist()

    def lines(self, raw_rows: Iterable[bytes], annotate: Callable[[bytes, Record], bytes]) -> Iterator[bytes]:
        """Yield the selected ones of the rows' own bytes, additions appended by ``annotate``."""
        additions = self._additions() if self.added is not None else None
        count = 0
        self.split.check_unchanged()
        for count, line in enumerate(raw_rows, 1):
            self.check_count(count) if count > len(self.mask) else None
            added = next(additions) if additions is not None else None
            if self.mask[count - 1]:
                yield line if added is None else annotate(line, added)
        self.check_count(count)
        self.split.check_unchanged()

    def records(self) -> Iterator[tuple[int, Record]]:
        """Yield the rows as dictionaries, each with its number, additions appended."""
        additions = self._additions() if self.added is not None else None
        count = 0
        for count, (number, record) in enumerate(self.split.records(self.encoding_errors), 1):
            self.check_count(count) if count > len(self.mask) else None
            added = next(additions) if additions is not None else {}
            if self.mask[count - 1]:
                yield number, {**record, **added}
        self.check_count(count)
        self.split.check_unchanged()


def write_lines(stream: BinaryIO, lines: Iterable[bytes], feed: bool = False) -> bool:
    """Write lines, a line feed first if one is missing (``feed``); return whether one is missing at the end."""
    for line in lines:
        if feed:
            stream.write(b"\n")
        stream.write(line)
        feed = not line.endswith(b"\n")
    return feed
