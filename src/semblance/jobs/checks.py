"""What must hold of ids and of the keep policy's column before anything is decided."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ..engines.engine import Engine, Table
from ..errors import InputDataError
from ..steps.repeated import REPEATED, Repeated, repeated
from ..steps.totals import Kinds
from ..values.arrow import to_numpy
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
    found: tuple[int, int] | None = None
    for batch in engine.map(rows, partial(repeated, settings=Repeated(boundary=boundary)), REPEATED).batches():
        again = to_numpy(batch["again"])
        first = int(np.argmin(again)) if len(again) else 0
        if len(again) and (found is None or again[first] < found[1]):
            found = int(batch["first"][first].as_py()), int(again[first])
    if found is not None:
        (one, _), (other, name) = (_row(sketches, splits, position, "id") for position in found)
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
    rows = [_row(sketches, splits, position, "priority") for position in positions]
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


def _row(sketches: Table, splits: Sequence[Any], position: int, name: str) -> tuple[str, Any]:
    """Return (where a row is, its value in a column)."""
    for batch in sketches.select(["position", "number", name]).batches():
        places = np.flatnonzero(to_numpy(batch["position"]) == position)
        if len(places):
            row = int(places[0])
            where = f"{splits[position >> SOURCE_BITS].name}, row {batch['number'][row].as_py()}"
            return where, batch[name][row].as_py()
    raise AssertionError(position)
