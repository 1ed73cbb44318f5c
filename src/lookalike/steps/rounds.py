"""Decide by rounds where bundles are too large to be walked, or an engine does not know them.

A document is KEPT or REMOVED once that is known, else OPEN; references are KEPT from the start. In a round, pairs of a KEPT and
an OPEN document are verified: an OPEN document that matches is REMOVED, and one that has no OPEN earlier partner and does not
match is KEPT. Pairs of two OPEN documents wait; all others are done with. Rounds are lazy: they compare only what the walk
compares too.

The first round only compares with references and keeps what has no earlier partner. A chain of matches takes one round per
link. So rounds end when a later one decides little: all waiting pairs are verified, and ``resolve`` streams the matches. Last,
pairs of a KEPT and a REMOVED document that have not been verified yet are, so that all kept matches are known.
``recipes.rounds`` puts the steps together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..kernels import walk as kernel
from ..values.arrow import to_arrow, to_numpy
from ..values.tables import KEPT, MATCHES, OPEN, PAIRS, REMOVED, STATES
from .batches import Batches, batch_of, flags, ints, starts_of

FACED = pa.schema([*PAIRS, ("now", pa.bool_())])


def face(rows: Batches) -> Batches:
    """Choose the pairs that are to be compared now, of a KEPT and an OPEN document, and those that wait, of two OPEN ones."""
    for batch in rows:
        left, right = (to_numpy(batch.column(f"{side}_state")) for side in ("left", "right"))
        wanted = (left != REMOVED) & (right == OPEN)
        yield batch_of(FACED, ints(batch, "left")[wanted], ints(batch, "right")[wanted], (left == KEPT)[wanted])


@dataclass(frozen=True, slots=True, kw_only=True)
class Which:
    """Whether pairs are wanted that are to be compared now, or those that wait."""

    now: bool


def which(rows: Batches, settings: Which) -> Batches:
    """Choose from FACED the pairs that are to be compared now, or those that wait: PAIRS, in the order of the rows."""
    for batch in rows:
        wanted = flags(batch, "now") == settings.now
        yield batch_of(PAIRS, ints(batch, "left")[wanted], ints(batch, "right")[wanted])


@dataclass(frozen=True, slots=True)
class Faced:
    """How many pairs are to be compared now, and how many wait."""

    combine = cast(np.ufunc, np.add)

    def start(self) -> NDArray[Any]:
        """Return the numbers of no pairs."""
        return np.zeros(2, np.int64)

    def add(self, total: NDArray[Any], batch: pa.RecordBatch) -> None:
        """Count those of a batch: column now."""
        now = int(flags(batch, "now").sum())
        total += now, len(batch) - now


@dataclass(frozen=True, slots=True, kw_only=True)
class Last:
    """The turn in which all pairs that were left were verified."""

    turn: int


def not_verified(rows: Batches, settings: Last) -> Batches:
    """Choose the pairs of a KEPT and a REMOVED document that no round has verified.

    One has been if the removal was decided later than that the other is kept, or both in the last turn.
    """
    for batch in rows:
        left, left_turn, right, right_turn = (
            to_numpy(batch.column(name)) for name in ("left_state", "left_turn", "right_state", "right_turn")
        )
        verified = (left_turn < right_turn) | ((left_turn == settings.turn) & (right_turn == settings.turn))
        wanted = (left == KEPT) & (right == REMOVED) & ~verified
        yield batch_of(PAIRS, ints(batch, "left")[wanted], ints(batch, "right")[wanted])


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """The name of the column that a flag makes."""

    name: str

    @property
    def schema(self) -> pa.Schema:
        """The columns that come of it."""
        return pa.schema([("order", pa.int64()), (self.name, pa.bool_())])


def flag(rows: Batches, settings: Flag) -> Batches:
    """Give each document that is the right of some rows one row, with a true flag."""
    before = None
    for batch in rows:
        if not len(batch):
            continue
        right = ints(batch, "right")
        orders = right[starts_of(right, before)]
        before = int(right[-1])
        yield batch_of(settings.schema, orders, np.ones(len(orders), np.bool_))


@dataclass(frozen=True, slots=True, kw_only=True)
class Advance:
    """The number of the round that ends, from 1."""

    turn: int


def advance(rows: Batches, settings: Advance) -> Batches:
    """End a round: an OPEN document that is removed is REMOVED; one that is neither removed nor blocked is KEPT."""
    for batch in rows:
        none = np.zeros(len(batch), np.bool_)
        removed, blocked = (flags(batch, name) if name in batch.schema.names else none for name in ("removed", "blocked"))
        state, turn = (to_numpy(batch.column(name)) for name in ("state", "turn"))
        decided = np.where(removed, REMOVED, np.where(blocked, OPEN, KEPT))
        state, turn = np.where(state == OPEN, decided, state), np.where(state == OPEN, settings.turn, turn)
        yield batch_of(STATES, ints(batch, "order"), state.astype(np.int8), turn.astype(np.int8))


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolve:
    """Orders below ``boundary`` are references, which are never removed."""

    boundary: int = 0


def resolve(rows: Batches, settings: Resolve) -> Batches:
    """Choose the matches whose left is kept, from all matches among documents that are OPEN or KEPT."""
    removed = np.zeros(1 << 10, np.uint8)
    for batch in rows:
        left, right = ints(batch, "left"), ints(batch, "right")
        wanted = int(right.max(initial=0)) >> 3
        if wanted >= len(removed):
            removed = np.concatenate([removed, np.zeros(max(wanted + 1, 2 * len(removed)) - len(removed), np.uint8)])
        kept = np.empty(len(left), np.bool_)
        kernel.resolve(left, right, settings.boundary, removed, kept)
        yield batch_of(MATCHES, left[kept], right[kept], to_numpy(batch.column("score"))[kept])


@dataclass(frozen=True, slots=True, kw_only=True)
class Open:
    """Orders below ``boundary`` are references, which are kept."""

    boundary: int


def opened(rows: Iterator[pa.RecordBatch], settings: Open) -> Iterator[pa.RecordBatch]:
    """Give each document its first state."""
    for batch in rows:
        state = np.where(to_numpy(batch["order"]) < settings.boundary, KEPT, OPEN).astype(np.int8)
        turn = to_arrow(np.zeros(len(state), np.int8))
        yield pa.RecordBatch.from_arrays([batch["order"], to_arrow(state), turn], schema=STATES)


@dataclass(frozen=True, slots=True)
class Undecided:
    """The number of documents that are open."""

    combine = np.add

    def start(self) -> NDArray[Any]:
        """Return the number of no documents."""
        return np.zeros(1, np.int64)

    def add(self, total: NDArray[Any], batch: pa.RecordBatch) -> None:
        """Count those of a batch: column state."""
        total[0] += int((to_numpy(batch["state"]) == OPEN).sum())
