"""What must hold of ids and of the keep policy's column before anything is decided."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ..engines.engine import Engine, Table
from ..errors import InputDataError
from ..steps.chosen import Positions, at_positions
from ..steps.repeated import REPEATED, Earliest, Repeated, repeated
from ..steps.totals import Kinds
from ..values.cells import UNORDERED, kind_of
from ..values.tables import SOURCE_BITS


def check_ids(engine: Engine, sketches: Table, splits: Sequence[Any], boundary: int) -> None:
    """Refuse an id that comes twice among the inputs, or among the references.

    Raises
    ------
    InputDataError
        If one does; the message names the rows.
    """
    rows = engine.meet(sketches.select(["id", "position"]), "id", "position")
    again = engine.map(rows, partial(repeated, settings=Repeated(boundary=boundary)), REPEATED)
    found = engine.fold(again, Earliest()).tolist()
    if found[1] < np.iinfo(np.int64).max:
        (one, _), (other, name) = (_row(engine, sketches, splits, position, "id") for position in found)
        raise InputDataError(
            f'the id {name!r} appears twice: {one} and {other}; ids must be unique (1 and "1" are the same id): '
            "name another column, or none"
        )


def check_kinds(engine: Engine, sketches: Table, splits: Sequence[Any], column: str) -> None:
    """Refuse values of the keep policy's column that have no order among each other.

    Raises
    ------
    InputDataError
        If there are some; the message names the rows.
    """
    firsts = engine.fold(sketches.select(["position", "priority"]), Kinds())
    met = np.flatnonzero(firsts < np.iinfo(np.int64).max)
    positions = np.sort(firsts[met])[:2].tolist()
    if not positions:
        return
    rows = [_row(engine, sketches, splits, position, "priority") for position in positions]
    holds = [f"{kind_of(value)} ({place})" for place, value in rows]
    if rows[0][1][0] in UNORDERED:
        raise InputDataError(
            f"keep: column {column!r} holds {holds[0]}, which has no order; name a column of numbers, times or text"
        )
    if len(holds) > 1:
        raise InputDataError(
            f"keep: column {column!r} holds {holds[0]} and {holds[1]}: values of different kinds have no order; "
            "convert one of them, or name another column"
        )


def _row(engine: Engine, sketches: Table, splits: Sequence[Any], position: int, name: str) -> tuple[str, Any]:
    """Return (where a row is, its value in a column)."""
    columns = sketches.select(["position", "number", name])
    chosen = engine.map(columns, partial(at_positions, settings=Positions(positions=(position,))), columns.schema)
    (row,) = (row for batch in chosen.batches() for row in batch.to_pylist())
    return f"{splits[position >> SOURCE_BITS].name}, row {row['number']}", row[name]
