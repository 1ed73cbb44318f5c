"""Tables that a result is made of: rows in batches, held or made when they are asked for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from copy import copy
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
    """Rows of an Arrow table."""

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


class ParquetRows:
    """Rows of a Parquet file, read when they are asked for; the file is the one that was opened, whatever takes its name."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        import pyarrow.parquet as pq  # here, for what is not needed to start

        self._file = pa.memory_map(os.fspath(path)) if os.path.getsize(path) else pa.BufferReader(b"")
        self._metadata = pq.read_metadata(self._file)
        self.schema = self._metadata.schema.to_arrow_schema()
        self._begin, self._end = 0, self._metadata.num_rows

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self._end - self._begin)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows in their order."""
        import pyarrow.parquet as pq

        file = pq.ParquetFile(self._file, metadata=self._metadata)
        first = begin = 0
        groups: list[int] = []
        for group in range(self._metadata.num_row_groups):
            end = first + self._metadata.row_group(group).num_rows
            if first < self._end and end > self._begin:
                if not groups:
                    begin = first
                groups.append(group)
            first = end
        if not groups:
            return
        for batch in file.iter_batches(BATCH_ROWS, groups, self.schema.names):
            low, high = max(self._begin - begin, 0), min(self._end - begin, len(batch))
            begin += len(batch)
            if low < high:
                yield batch.slice(low, high - low).select(self.schema.names)

    def select(self, names: Sequence[str]) -> ParquetRows:
        """Return some columns."""
        some = copy(self)
        some.schema = pa.schema([self.schema.field(name) for name in names])
        return some

    def slice(self, begin: int, end: int) -> ParquetRows:
        """Return some rows."""
        some = copy(self)
        some._begin, some._end = min(self._begin + begin, self._end), min(self._begin + end, self._end)
        return some


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
