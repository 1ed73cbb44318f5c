"""What documents are called: their ids, and the files that they come from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from ..values import Int64Array
from ..values.arrow import strings, to_arrow
from ..values.tables import SOURCE_BITS


def as_utf8(label: Any) -> str:
    """Return a file's name, or what is made from it, with the bytes that are not UTF-8 as escapes."""
    return str(label).encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def default_ids(split: Any, numbers: Int64Array) -> list[str | int]:
    """Return the default ids of rows, as the values of a column."""
    labels = map(split.label, numbers.tolist())
    return [label if isinstance(label, int) else as_utf8(label) for label in labels]


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """The names of inputs, and what ids are.

    Parameters
    ----------
    splits : tuple of Split
        A position's input is the one of its number.
    kind : pyarrow.DataType
        What ids are: int64 where all are integers, else strings.
    """

    splits: tuple[Any, ...]
    kind: pa.DataType

    @classmethod
    def of(cls, splits: Sequence[Any], named: bool, all_integers: bool) -> Labels:
        """Return the labels of a job whose ids come from a column (``named``), or are made from file and row."""
        if named:
            return cls(splits=tuple(splits), kind=pa.int64() if all_integers else pa.large_string())
        rows_only = bool(splits) and all(isinstance(split.label(1), int) for split in splits)
        return cls(splits=tuple(splits), kind=pa.int64() if rows_only else pa.string())

    def ids(self, positions: Int64Array, numbers: Int64Array, given: pa.Array | None = None) -> pa.Array:
        """Return the ids of some documents: as ``given``, or the default ones."""
        if given is not None:
            return given.cast(self.kind)
        if self.kind == pa.int64():
            return to_arrow(numbers)
        return self._made(positions, numbers, lambda split, number: as_utf8(split.label(number)))

    def files(self, positions: Int64Array, numbers: Int64Array) -> pa.Array:
        """Return the file that each document comes from, null for those from memory."""

        def file(split: Any, number: int) -> str | None:
            name = split.file(number)
            return None if name is None else as_utf8(name)

        return self._made(positions, numbers, file)

    def _made(self, positions: Int64Array, numbers: Int64Array, make: Callable[[Any, int], str | None]) -> pa.Array:
        sources = (positions >> SOURCE_BITS).tolist()
        return strings([make(self.splits[s], n) for s, n in zip(sources, numbers.tolist(), strict=True)])

    def without(self, missing: np.ndarray[Any, Any], make: Callable[..., pa.Array], *columns: Any) -> pa.Array:
        """Return what ``make`` makes of some rows of columns, null for the ``missing`` ones, which are not made."""
        there = ~missing
        if there.all():
            return make(*columns)
        some = [c.filter(to_arrow(there)) if isinstance(c, pa.Array) else None if c is None else c[there] for c in columns]
        made = make(*some)
        places = np.maximum(np.cumsum(there) - 1, 0)
        return made.take(to_arrow(places, missing))
