"""The tables that a result is made of: rows in batches, held or made when they are asked for, and some of them chosen."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..core import mix_keys
from ..engines.engine import Table
from ..formats.frames import LazyRows
from ..hashing import derive
from ..methods.method import Method
from ..settings.settings import Settings, count_columns
from ..values import Int64Array
from ..values.arrow import string, to_arrow, to_numpy
from ..values.tables import COLUMN, DECISIONS

if TYPE_CHECKING:
    import polars

Rows = Table
"""Rows of a result, which are made or read when they are asked for."""
BATCH_ROWS = 1 << 17
TOGETHER = 64  # rows between two that are fetched in one go
_COUNTS = {"n_sources": pa.int64()}
_KINDS = {"distance": pa.int64(), "standard_error": pa.float64()}


class Tabular:
    """A result that other libraries take for its main table: ``polars.DataFrame(result)``, ``from result`` in DuckDB."""

    _main: ClassVar[str]  # the attribute that is the table

    def _table(self) -> pa.Table:
        """Return the main table."""
        return getattr(self, self._main)

    def to_pandas(self) -> Any:
        """Return the main table as a data frame of pandas."""
        return self._table().to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """Return the main table as a data frame of polars."""
        import polars  # here, for what is not needed to start

        return polars.DataFrame(self._table())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Hand over the main table, as Arrow's protocol says."""
        return self._table().__arrow_c_stream__(requested_schema)


def second_columns(method: Method) -> list[pa.Field]:
    """Return the columns that stand beside scores."""
    return [pa.field(name, _KINDS[name]) for name in method.added[1:]]


def decisions_schema(kind: pa.DataType, second: Sequence[pa.Field], leaders: bool, settings: Settings) -> pa.Schema:
    """Return the columns of decisions: DECISIONS with ids of a kind, and what a job adds to them."""
    fields = []
    for field in DECISIONS:
        fields.append(field.with_type(kind) if field.name in ("duplicate_of", "cluster") else field)
        if field.name == "bytes":
            fields.append(pa.field("id", kind))
        if field.name == "resemblance":
            fields += second
    if leaders:
        fields.append(pa.field("leader", pa.int64()))
    if settings.overrides is not None:
        fields.append(pa.field("override", pa.string()))
    fields += [pa.field(name, kind) for name, kind in _COUNTS.items() if name in count_columns(settings)]
    return pa.schema([*fields, *(pa.field(COLUMN + name, pa.large_string()) for name in settings.carried)])


def pairs_schema(kind: pa.DataType, second: Sequence[pa.Field]) -> pa.Schema:
    """Return the columns of pairs with ids of a kind."""
    ends = [pa.field(name, pa.int64()) for name in ("left", "right")]
    ids = [pa.field(name, kind) for name in ("left_id", "right_id")]
    return pa.schema([*ends, *ids, pa.field("left_is_reference", pa.bool_()), pa.field("resemblance", pa.float64()), *second])


class TableRows:
    """Rows of an Arrow table."""

    def __init__(self, table: pa.Table) -> None:
        self.table, self.schema = table, table.schema

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows in their order."""
        yield from self.table.to_batches(BATCH_ROWS)

    def select(self, names: Sequence[str]) -> TableRows:
        """Return some columns."""
        return TableRows(self.table.select(list(names)))

    def slice(self, begin: int, end: int) -> TableRows:
        """Return some rows."""
        return TableRows(self.table.slice(begin, end - begin))


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


class DeferredRows:
    """Rows brought here when first asked for by ``fetch``, which must not hold this object, or its files stay as long."""

    def __init__(self, schema: pa.Schema, fetch: Callable[[], Rows] | None = None) -> None:
        self.schema, self._fetch = schema, fetch

    def collected(self) -> Rows:
        """Bring the rows."""
        assert self._fetch is not None
        return self._fetch()

    @cached_property
    def _own_rows(self) -> Rows:
        return self.collected()

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows in their order."""
        return self._own_rows.batches()

    def select(self, names: Sequence[str]) -> Rows:
        """Return some columns."""
        return self._own_rows.select(names)

    def slice(self, begin: int, end: int) -> Rows:
        """Return some rows."""
        return self._own_rows.slice(begin, end)


def spill_to_parquet(batches: Iterable[pa.RecordBatch], schema: pa.Schema, by: str) -> ParquetRows:
    """Put sorted batches, which come in any order, into that of a column of numbers, by way of temporary files."""
    from tempfile import TemporaryDirectory  # here, for what is not needed to start

    import pyarrow.parquet as pq

    with TemporaryDirectory(prefix="lookalike-") as folder:
        firsts = []
        with pa.OSFile(f"{folder}/batches", "wb") as stream, pa.ipc.new_file(stream, schema) as writer:
            for batch in batches:
                if len(batch):
                    firsts.append(batch[by][0].as_py())
                    writer.write_batch(batch)
        with (
            pa.memory_map(f"{folder}/batches") as stream,
            pq.ParquetWriter(f"{folder}/rows", schema, compression="zstd") as table,
        ):
            held = pa.ipc.open_file(stream)
            for number in np.argsort(firsts).tolist():
                table.write_batch(held.get_batch(number))
        return ParquetRows(f"{folder}/rows")


def collect(rows: Rows | LazyRows) -> pa.Table:
    """Return all rows as an Arrow table."""
    return pa.Table.from_batches(rows.batches(), rows.schema)


def numbered_batches(rows: Rows, names: Sequence[str]) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Yield the batches of some columns, each with the number of its first row."""
    first = 0
    for batch in rows.select(names).batches():
        yield first, batch
        first += len(batch)


def matching_rows(rows: Rows, wanted: Callable[[pa.RecordBatch], pa.Array]) -> pa.Table:
    """Return the rows for which a function of a batch says true, as an Arrow table; the others are not held."""
    return pa.Table.from_batches((batch.filter(wanted(batch)) for batch in rows.batches()), rows.schema)


def not_skipped(reasons: Rows) -> NDArray[np.bool_]:
    """Return a mask of documents by their reasons: those that were read, not left out."""
    return np.concatenate([np.empty(0, np.bool_), *(~of_reason(batch, "skipped") for batch in reasons.batches())])


class SmallestN:
    """The rows of the ``n`` lowest values among all that are added; of equal values the first ones."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.values: NDArray[np.generic] = np.empty(0)
        self.rows = np.empty(0, np.int64)

    def add(self, values: NDArray[np.generic], rows: Int64Array) -> None:
        """Take more rows into account."""
        both = np.concatenate([self.values.astype(values.dtype), values])
        least = np.argsort(both, kind="stable")[: self.n]
        self.values, self.rows = both[least], np.concatenate([self.rows, rows])[least]


class RandomSample:
    """``n`` rows at random, all equally likely: the lowest hashes of row and seed, independent between purposes."""

    def __init__(self, n: int, seed: int, purpose: str) -> None:
        self._lowest, self._word = SmallestN(n), derive(seed, purpose, 1)
        self.total = 0

    def add(self, rows: Int64Array) -> None:
        """Take more rows into account."""
        self.total += len(rows)
        self._lowest.add(mix_keys(mix_keys(rows.astype(np.uint64)) ^ self._word[0]), rows)

    @property
    def rows(self) -> Int64Array:
        """The rows drawn, in their order."""
        return np.sort(self._lowest.rows)

    @property
    def in_turn(self) -> Int64Array:
        """The rows in the order in which they were drawn: a smaller draw has the first of them."""
        return self._lowest.rows


def of_reason(batch: pa.RecordBatch | pa.Table, *reasons: str) -> NDArray[np.bool_]:
    """Tell for which rows of decisions the reason is one of some."""
    column = batch.column("reason")
    found = np.zeros(len(batch), np.bool_)
    for reason in reasons:
        found |= to_numpy(pc.equal(column, string(reason)))
    return found


def least_alike(decisions: Rows, n: int) -> SmallestN:
    """Find the removed near-duplicates with the lowest scores."""
    lowest = SmallestN(n)
    for first, batch in numbered_batches(decisions, ["reason", "resemblance"]):
        near = np.flatnonzero(of_reason(batch, "near"))
        lowest.add(to_numpy(batch.column("resemblance"))[near], first + near)
    return lowest


def drawn(decisions: Rows, n: int, seed: int, purpose: str, reasons: Sequence[str]) -> RandomSample:
    """Draw rows whose reason is one of some."""
    draw = RandomSample(n, seed, purpose)
    for first, batch in numbered_batches(decisions, ["reason"]):
        draw.add(first + np.flatnonzero(of_reason(batch, *reasons)))
    return draw


def rows_at(rows: Rows, places: Int64Array) -> pa.Table:
    """Return the rows at some places, in the order of the places."""
    wanted = np.unique(places)
    parts, begin = [], 0
    while begin < len(wanted):
        end = begin + 1
        while end < len(wanted) and wanted[end] - wanted[end - 1] <= TOGETHER:
            end += 1
        some = collect(rows.slice(int(wanted[begin]), int(wanted[end - 1]) + 1))
        parts.append(some.take(to_arrow(wanted[begin:end] - wanted[begin])))
        begin = end
    if not parts:
        return collect(rows.slice(0, 0))
    return pa.concat_tables(parts).take(to_arrow(np.searchsorted(wanted, places))).combine_chunks()
