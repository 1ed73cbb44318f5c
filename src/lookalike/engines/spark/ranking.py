"""Columns by which Spark sorts rows, made so that it needs to know nothing but the order of numbers and of bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ...text.texts import from_arrow_array
from ...values import Int64Array
from ...values.arrow import to_arrow, to_numpy
from ...values.tables import SOURCE_BITS
from ..engine import Batches

_MOST = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Ranking:
    """How rows are ranked: references first, by position; then by columns, each ascending or, as ``-name``, descending.

    Parameters
    ----------
    boundary : int
        The position of the first row that is no reference.
    """

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


def with_ranking(batches: Batches, ranking: Ranking, schema: pa.Schema) -> Batches:
    """Add the columns that rows are sorted by: values without bytes come last in either direction."""
    for batch in batches:
        made = {"__reference": np.minimum(to_numpy(batch.column("position")), ranking.boundary)}
        for name in ranking.by:
            column = batch.column(name.removeprefix("-"))
            made[f"__without_{name.removeprefix('-')}"] = _without(column)
        yield _with(batch, made, schema)


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
        yield _with(batch, made, schema)


def _with(batch: pa.RecordBatch, made: dict[str, Int64Array], schema: pa.Schema) -> pa.RecordBatch:
    columns = [to_arrow(made[field.name]) if field.name in made else batch.column(field.name) for field in schema]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def key_fields(keys: Sequence[tuple[str, bool]]) -> list[pa.Field]:
    """The columns that are made for sorting."""
    return [pa.field(name, pa.int64()) for name, _ in keys if name.startswith("__")]
