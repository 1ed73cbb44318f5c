"""Tables that a result is made of: rows in batches, held or made when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..values.arrow import string, to_numpy

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


def collect(rows: Rows) -> pa.Table:
    """Return all rows as an Arrow table."""
    return pa.Table.from_batches(rows.batches(), rows.schema)


def filtered(rows: Rows, wanted: Callable[[pa.RecordBatch], pa.Array]) -> pa.Table:
    """Return the rows for which a function of a batch says true, as an Arrow table; the others are not held."""
    return pa.Table.from_batches((batch.filter(wanted(batch)) for batch in rows.batches()), rows.schema)


def there_of(reasons: Rows) -> NDArray[np.bool_]:
    """Return a mask of documents by their reasons: those that were read, not left out as too large."""
    there = [to_numpy(pc.not_equal(batch.column(0), string("skipped"))) for batch in reasons.batches()]
    return np.concatenate([np.empty(0, np.bool_), *there])
