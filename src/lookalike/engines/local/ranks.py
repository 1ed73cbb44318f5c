"""The place of each document in keep order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ...values import Int64Array
from ...values.arrays import number_type
from ...values.arrow import to_numpy
from .columns import column_of
from .tables import Stored

LAST = np.iinfo(np.int64).max


def _values(rows: Stored, name: str) -> Int64Array:
    """Return numbers that are ordered like a column; bytes are ranked, and no bytes are a null, which comes last."""
    descending, name = name.startswith("-"), name.removeprefix("-")
    field = rows.schema.field(name)
    if pa.types.is_integer(field.type):
        values = rows.column(name)
        return -values if descending else values
    parts = [(rows.workspace.get(part), int(n)) for part, n in zip(rows.parts, np.diff(rows.starts), strict=True)]
    column = pa.chunked_array([column_of(field, arrays, 0, n) for arrays, n in parts], field.type)
    ranks = to_numpy(pc.rank(column, "ascending", tiebreaker="dense")).astype(np.int64)
    empty = np.concatenate([arrays[f"{name}.sizes"] == 0 for arrays, _ in parts])
    return np.where(empty, LAST, -ranks if descending else ranks)


def places(rows: Stored, by: Sequence[str], n_references: int) -> NDArray[Any] | None:
    """Return the order of each row: references first, as they came; then by the columns. None: the row's own number."""
    if list(by) == ["position"]:
        return None
    given = [name for name in by if name != "position" or name != by[-1]]  # rows are in the order of position as they are
    columns = [_values(rows, name)[n_references:] for name in given]
    sorted_rows = np.argsort(columns[0], kind="stable") if len(columns) == 1 else np.lexsort(columns[::-1])
    del columns
    order = np.arange(len(rows), dtype=number_type(len(rows)))
    order[n_references:][sorted_rows] = order[n_references:].copy()
    return order
