"""Tables that a result is made of: rows in batches, held or made when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

import numpy as np
import pyarrow as pa

from ..values import Int64Array

BATCH_ROWS = 1 << 17


class Rows(Protocol):
    """Rows in batches; every call of ``batches`` yields the same rows."""

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the columns."""
        ...

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows in their order."""
        ...

    def select(self, names: Sequence[str]) -> Rows:
        """Return some columns; the others are not made."""
        ...

    def slice(self, begin: int, end: int) -> Rows:
        """Return some rows; the others are not made."""
        ...


class HeldRows:
    """Rows of an Arrow table.

    Parameters
    ----------
    table : pyarrow.Table
    """

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the columns."""
        return self.table.schema

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows in their order."""
        yield from self.table.to_batches(BATCH_ROWS)

    def select(self, names: Sequence[str]) -> HeldRows:
        """Return some columns."""
        return HeldRows(self.table.select(list(names)))

    def slice(self, begin: int, end: int) -> HeldRows:
        """Return some rows."""
        return HeldRows(self.table.slice(begin, end - begin))


class MadeRows:
    """Rows whose columns are made by a function of their names and of the rows wanted.

    Parameters
    ----------
    schema : pyarrow.Schema
    make : callable
        From the name of a column and an array of rows to an Arrow array.
    count : callable
        Returns how many rows there are.
    begin, end : int, optional
        The first row, and the one after the last.
    """

    def __init__(
        self, schema: pa.Schema, make: Callable[[str, Int64Array], pa.Array], count: Callable[[], int], begin: int = 0,
        end: int | None = None,
    ) -> None:  # fmt: skip
        self.schema = schema
        self._make, self._count = make, count
        self._begin, self._end = begin, end

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Make the rows, some at a time."""
        count = self._count()
        end = count if self._end is None else min(self._end, count)
        for first in range(self._begin, end, BATCH_ROWS):
            rows = np.arange(first, min(first + BATCH_ROWS, end))
            yield pa.RecordBatch.from_arrays([self._make(name, rows) for name in self.schema.names], schema=self.schema)

    def select(self, names: Sequence[str]) -> MadeRows:
        """Return some columns; the others are not made."""
        schema = pa.schema([self.schema.field(name) for name in names])
        return MadeRows(schema, self._make, self._count, self._begin, self._end)

    def slice(self, begin: int, end: int) -> MadeRows:
        """Return some rows; the others are not made."""
        most = self._begin + end
        end = most if self._end is None else min(most, self._end)
        return MadeRows(self.schema, self._make, self._count, self._begin + begin, end)


def collect(rows: Rows) -> pa.Table:
    """Return all rows as an Arrow table."""
    return pa.Table.from_batches(rows.batches(), rows.schema)


def filtered(rows: Rows, wanted: Callable[[pa.RecordBatch], pa.Array]) -> pa.Table:
    """Return the rows for which a function of a batch says true, as an Arrow table; the others are not held."""
    return pa.Table.from_batches((batch.filter(wanted(batch)) for batch in rows.batches()), rows.schema)
