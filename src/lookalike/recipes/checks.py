"""What must hold of ids, of overrides and of the keep policy's column before anything is decided."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ..engines.engine import Engine, Table
from ..errors import InputDataError, RowError
from ..files.places import digest_of
from ..formats.split import Split
from ..inputs.overrides import Override, Overrides
from ..inputs.read import ReadOptions
from ..steps.ids import EARLIEST, REPEATED, at_positions, repeated
from ..steps.override import named_documents
from ..steps.totals import kinds
from ..values.cells import UNORDERED, kind_of
from ..values.tables import SOURCE_BITS, priority_name

NAMED = 3  # ids that a message names


def named_row(splits: Sequence[Split], error: RowError) -> InputDataError:
    """Return the error of a row with the name of its input."""
    return InputDataError(error.reason, splits[error.position >> SOURCE_BITS].name, error.row)


def check_ids(engine: Engine, sketches: Table, splits: Sequence[Split], reading: ReadOptions) -> None:
    """Refuse an id that comes twice among the inputs, or among the references."""
    rows = engine.group_by(sketches.select(["id", "position"]), "id", "position")
    again = engine.map(rows, partial(repeated, boundary=reading.boundary, unnamed=reading.unnamed), REPEATED)
    found = engine.aggregate(again, EARLIEST).tolist()
    if found[1] < np.iinfo(np.int64).max:
        (one, _), (other, name) = (_row(engine, sketches, splits, position, "id") for position in found)
        raise InputDataError(
            f'the id {name!r} appears twice: {one} and {other}; ids must be unique (1 and "1" are the same id): '
            "name another column, or none"
        )


def check_kinds(engine: Engine, sketches: Table, splits: Sequence[Split], reading: ReadOptions) -> None:
    """Refuse values of the keep policy's columns that have no order among each other."""
    for place, priority in enumerate(reading.priorities):
        if not priority.listed:
            _check_kinds(engine, sketches, splits, priority.column, priority_name(place))


def _check_kinds(engine: Engine, sketches: Table, splits: Sequence[Split], column: str, name: str) -> None:
    firsts = engine.aggregate(sketches.select(["position", name]), kinds(name))
    met = np.flatnonzero(firsts < np.iinfo(np.int64).max)
    positions = np.sort(firsts[met])[:2].tolist()
    if not positions:
        return
    rows = [_row(engine, sketches, splits, position, name) for position in positions]
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


def check_overrides(
    engine: Engine, sketches: Table, splits: Sequence[Split], overrides: Overrides, reading: ReadOptions
) -> None:  # fmt: skip
    """Refuse an override that names no document, or one of a file that is not what it was."""
    entries = overrides.entries
    last, first = engine.aggregate(sketches.select(["position", "override"]), named_documents(len(entries)))
    nobody = np.flatnonzero(last < 0).tolist()
    if nobody:
        some = ", ".join(f"{entries[i].id!r:.200} ({overrides.place(entries[i])})" for i in nobody[:NAMED])
        more = f" and {len(nobody) - NAMED:,} more" if len(nobody) > NAMED else ""
        references = "; reference documents cannot be overridden" if reading.n_references else ""
        raise InputDataError(f"no document has the id {some}{more}{references}")
    twice = np.flatnonzero(last != -first)
    if len(twice):
        entry = entries[twice[0]]
        raise InputDataError(
            f"two documents have the id {entry.id!r:.200}; name a column of ids: --id (id=)", **overrides.at(entry)
        )
    if reading.id_of(reading.n_references) is None:
        of_split: dict[int, list[Override]] = {}
        for entry, position in zip(entries, last.tolist(), strict=True):
            of_split.setdefault(position >> SOURCE_BITS, []).append(entry)
        for number, some_entries in of_split.items():
            _check_digest(splits[number], some_entries, overrides)


def _check_digest(split: Split, entries: Sequence[Override], overrides: Overrides) -> None:
    """Refuse overrides by default ids that were made for another version of an input."""
    found = digest_of(split.places)
    for entry in entries:
        if found is not None and not entry.digests:
            raise InputDataError(
                f"{entry.id!r:.200} is made from file and row; the override needs sha256, the "
                f"digest of its input ({split.name}: {found})",
                **overrides.at(entry),
            )
        for digest in entry.digests:
            if digest != found:
                raise InputDataError(
                    f"{entry.id!r:.200} is for an input with the SHA-256 digest {digest}; "
                    f"{split.name} has {found or 'none, because it is not a file'}: its rows can be different now",
                    **overrides.at(entry),
                )


def _row(engine: Engine, sketches: Table, splits: Sequence[Split], position: int, name: str) -> tuple[str, Any]:
    """Return (where a row is, its value in a column)."""
    columns = sketches.select(["position", "number", name])
    chosen = engine.map(columns, partial(at_positions, positions=(position,)), columns.schema)
    (row,) = (row for batch in chosen.batches() for row in batch.to_pylist())
    return f"{splits[position >> SOURCE_BITS].name}, row {row['number']}", row[name]
