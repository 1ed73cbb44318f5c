"""What a result decided about a document, and why, as values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputDataError
from .members import Members, Numbers, names_like, rows_named
from .result import Result
from .rows import rows_at

_PLACES = ("id", "source", "row", "number", "bytes")
_TOLD = ["position", *_PLACES, "kept", "reason", "keeper"]
Row = dict[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Explanation:
    """What is known of a document: what was decided about it and about others, by their rows."""

    row: int
    known: dict[int, Row]
    keeper: int | None  # the row of the kept document, of one that was removed for it
    members: Members | None  # those that were removed for it, of one that is kept

    def to_dict(self, result: Result, top: int) -> Row:
        """Return all of it but texts."""
        told = self.known[self.row]
        scores = {name: told[column] for column, name in result.score_names.items()} if told["keeper"] is not None else {}
        found = {name: told[name] for name in (*_PLACES, "kept", "reason", "override") if name in told} | scores
        if self.keeper is not None:
            kept = self.known[self.keeper]
            found["keeper"] = {name: kept[name] for name in _PLACES} | {"is_reference": kept["reason"] == "reference"}
        if self.members is not None:
            found |= {"n_exact": self.members.n_exact, "n_duplicates": len(self.members.rows)}
            some = [self.known[other] for other in self.members.rows[:top].tolist()]
            key = result.score_names["resemblance"]
            found["least_alike"] = [{"id": other["id"], key: other["resemblance"]} for other in some]
        return found


def explain(result: Result, id: str, top: int, name: str) -> Iterator[Explanation]:
    """Yield what is known of the documents of an id, that of the inputs before a reference; ``name`` is the result's.

    Raises
    ------
    InputDataError
        If there is none; the message has similar ids.
    """
    decisions = result.rows()
    rows = rows_named(decisions, id)
    if not rows:
        like = names_like(decisions, id)
        said = f"; similar ids: {', '.join(like)}" if like else ""
        raise InputDataError(f"no document has the id {id}{said}", name)
    numbers = Numbers(decisions)
    for row in reversed(rows):
        told = _rows(result, [row])[row]
        members = numbers.members([row])[0] if numbers.keeper[row] == row else None
        keeper = None if members is not None or told["keeper"] is None else int(numbers.keeper[row])
        others = [keeper] if keeper is not None else members.rows[:top].tolist() if members is not None else []
        yield Explanation(row, {row: told} | _rows(result, others), keeper, members)


def _rows(result: Result, rows: list[int]) -> dict[int, Row]:
    """Return what was decided about some documents."""
    names = [name for name in (*_TOLD, "override", *result.score_names) if name in result.rows().schema.names]
    told = rows_at(result.rows(names), np.array(rows, np.int64))
    return dict(zip(rows, told.to_pylist(), strict=True))
