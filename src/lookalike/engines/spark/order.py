"""Keep order on a cluster: by the place in the inputs, or by columns that Spark sorts as numbers and bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ...text.texts import from_arrow_array
from ...values import Int64Array
from ...values.arrow import to_arrow, to_numpy
from ...values.tables import SOURCE_BITS
from ..engine import Batches
from .files import TableFiles, partition
from .tables import SparkTable, StoredTable, derived, of_frame

PLACED = pa.schema([("part", pa.int64()), ("index", pa.int64())])
_MOST = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Ranking:
    """How rows are ranked: references (below ``boundary``) by position; then by columns, ascending or, if ``-name``, not."""

    by: tuple[str, ...]
    boundary: int

    @property
    def keys(self) -> list[tuple[str, bool]]:
        """The columns to sort by, and whether they ascend."""
        found = [("__reference", True)]
        for name in self.by:
            column = name.removeprefix("-")
            found += [(f"__without_{column}", True), (column, column == name)]
        return found


def position_of(sizes: Int64Array, place: int) -> int:
    """Return the position of the document at a place in the inputs, of which there are the numbers of rows."""
    ends = np.cumsum(sizes)
    source = int(np.searchsorted(ends, place, side="right"))
    return (source << SOURCE_BITS) + place - int(ends[source] - sizes[source])


def ranked_by_sorting(rows: SparkTable, by: Sequence[str], boundary: int, schema: pa.Schema) -> SparkTable:
    """Add the order to rows that Spark sorts."""
    ranking = Ranking(tuple(by), boundary)
    keyed = pa.schema([*rows.schema, *key_fields(ranking.keys)])
    with_keys = rows.mapped(partial(with_ranking, ranking=ranking, schema=keyed), keyed)
    sorted_rows, before = sort_and_number(with_keys, ranking.keys, "ranked", rows.schema)
    return derived(sorted_rows, tuple(PLACED.names), partial(ordered, before=before), schema, "order")


def sort_and_number(
    rows: SparkTable, keys: Sequence[tuple[str, bool]], name: str, kept: pa.Schema
) -> tuple[StoredTable, Int64Array]:
    """Sort rows over all tasks and store some columns, task and index; also return how many rows all earlier tasks have."""
    names, ascending = zip(*keys, strict=True)
    frame = rows.frame.orderBy(*names, ascending=list(ascending))
    schema = pa.schema([*kept, *PLACED])
    indexed = of_frame(rows.engine, frame, kept).mapped(partial(number_rows, schema=schema), schema)
    files = rows.engine.write(indexed, name, adaptive=True)
    counts = np.zeros(1 + max(map(TableFiles.task_of, files.names), default=0), np.int64)
    for file, n in zip(files.names, files.counts, strict=True):
        counts[TableFiles.task_of(file)] = n
    return StoredTable(rows.engine, files, schema), np.cumsum(counts) - counts


def with_ranking(batches: Batches, ranking: Ranking, schema: pa.Schema) -> Batches:
    """Add the columns that rows are sorted by: values without bytes come last in either direction."""
    for batch in batches:
        made = {"__reference": np.minimum(to_numpy(batch.column("position")), ranking.boundary)}
        for name in ranking.by:
            column = batch.column(name.removeprefix("-"))
            made[f"__without_{name.removeprefix('-')}"] = _without(column)
        yield with_made(batch, made, schema)


def _without(column: pa.Array) -> Int64Array:
    """Tell which values have no bytes."""
    if not pa.types.is_large_binary(column.type):
        return np.zeros(len(column), np.int64)
    return np.asarray(np.diff(from_arrow_array(column).offsets) == 0, np.int64)


def frame_keys(rows: pa.Schema) -> list[tuple[str, bool]]:
    """The columns that documents of data frames are sorted by: which frame, the column given, ids."""
    given = [("__without", True), ("order_by", True)] if "order_by" in rows.names else []
    return [("__source", True), *given, ("__number", True), ("id", True)]


def with_frame_keys(batches: Batches, schema: pa.Schema) -> Batches:
    """Add the columns of ``frame_keys``; of ids that are integers the value, of others the largest."""
    for batch in batches:
        made = {"__source": to_numpy(batch.column("position")) >> SOURCE_BITS}
        if "__without" in schema.names:
            made["__without"] = _without(batch.column("order_by"))
        texts = to_numpy(batch.column("id_is_text"))
        whole = pa.compute.if_else(to_arrow(texts), pa.scalar("0", pa.large_string()), batch.column("id")).cast(pa.int64())
        made["__number"] = np.where(texts, _MOST, to_numpy(whole))
        yield with_made(batch, made, schema)


def with_made(batch: pa.RecordBatch, made: dict[str, Int64Array], schema: pa.Schema) -> pa.RecordBatch:
    """Return the columns of a schema: those that were made, and the others as they are."""
    columns = [to_arrow(made[field.name]) if field.name in made else batch.column(field.name) for field in schema]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def key_fields(keys: Sequence[tuple[str, bool]]) -> list[pa.Field]:
    return [pa.field(name, pa.int64()) for name, _ in keys if name.startswith("__")]


def number_rows(batches: Batches, schema: pa.Schema) -> Batches:
    """Add to each row the number of its task, and its index there."""
    part, index = partition(), 0
    for batch in batches:
        n = len(batch)
        columns = [*batch.columns, to_arrow(np.full(n, part, np.int64)), to_arrow(np.arange(index, index + n))]
        yield pa.RecordBatch.from_arrays(columns, schema=schema)
        index += n


def ordered(batches: Batches, before: Int64Array, schema: pa.Schema) -> Batches:
    """Add the order to rows that ``number_rows`` numbered; ``before`` are the rows of all earlier tasks, by task."""
    for batch in batches:
        order = before[to_numpy(batch.column("part"))] + to_numpy(batch.column("index"))
        yield with_made(batch, {"order": order}, schema)


def ordered_by_place(batches: Batches, schema: pa.Schema, sizes: Int64Array, n_references: int, backwards: bool) -> Batches:
    """Add the order to rows: the place among all inputs, of which the sizes are known; backwards, but for references."""
    before, total = np.cumsum(sizes) - sizes, int(sizes.sum())
    for batch in batches:
        positions = to_numpy(batch.column("position"))
        order = before[positions >> SOURCE_BITS] + (positions & ((1 << SOURCE_BITS) - 1))
        if backwards:
            order = np.where(order < n_references, order, n_references + total - 1 - order)
        yield with_made(batch, {"order": order}, schema)


def between(batches: Batches, schema: pa.Schema, begin: int, end: int) -> Batches:
    """Choose the rows from a position on, and below another."""
    for batch in batches:
        positions = to_numpy(batch.column("position"))
        yield batch.select(schema.names).filter(to_arrow((positions >= begin) & (positions < end)))


@dataclass(frozen=True, slots=True)
class Inputs:
    """How many inputs rows are of, at least: one more than the largest number of one."""

    combine = cast(np.ufunc, np.maximum)

    def start(self) -> NDArray[Any]:
        return np.zeros(1, np.int64)

    def add(self, total: NDArray[Any], batch: pa.RecordBatch) -> None:
        """Look at a batch: column position."""
        total[0] = max(int(total[0]), 1 + (int(to_numpy(batch.column("position")).max(initial=-1)) >> SOURCE_BITS))


def _of_both(one: NDArray[Any], other: NDArray[Any]) -> NDArray[Any]:
    return np.stack([one[0] + other[0], np.maximum(one[1], other[1]), one[2] + other[2]])


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many rows each of some inputs has; one more than the largest of them, which is the same if none is missing; bytes."""

    n: int
    combine = staticmethod(_of_both)

    def start(self) -> NDArray[Any]:
        return np.zeros((3, self.n), np.int64)

    def add(self, total: NDArray[Any], batch: pa.RecordBatch) -> None:
        """Count those of a batch: columns position, and bytes where there are any."""
        positions = to_numpy(batch.column("position"))
        total[0] += np.bincount(positions >> SOURCE_BITS, minlength=self.n)
        if "bytes" in batch.schema.names:
            np.add.at(total[2], positions >> SOURCE_BITS, to_numpy(batch.column("bytes")))
        np.maximum.at(total[1], positions >> SOURCE_BITS, 1 + (positions & ((1 << SOURCE_BITS) - 1)))
