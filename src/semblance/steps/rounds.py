"""Decide by rounds where bundles are too large to be walked, or an engine does not know them.

A document is KEPT or REMOVED once that is known, else OPEN; references are KEPT from the start. In a round, pairs of a KEPT and
an OPEN document are verified: an OPEN document that matches is REMOVED, and one that has no OPEN earlier partner and does not
match is KEPT. Pairs of two OPEN documents wait; all others are done with. Rounds are lazy: they compare only what the walk
compares too.

The first round only compares with references and keeps what has no earlier partner. A chain of matches takes one round per
link. So rounds end when a later one decides little: all waiting pairs are verified, and
``resolve`` streams the matches. Last, pairs of a KEPT and a REMOVED document are verified, so that all kept matches are known::

    waiting = pairs
    for turn in range(6):
        faced = join(join(waiting, states, "left"), states, "right")
        matches = verified(map(faced, facing, NOW))
        waiting = stored(map(faced, facing, LATER))
        removed = map(meet(matches, by="right"), flag, Flag(name="removed"))
        blocked = map(meet(waiting, by="right"), flag, Flag(name="blocked"))
        states = map(join(join(states, removed, "order", "left"), blocked, "order", "left"), advance)
        if turn > 0 and less than a tenth of what was open is decided: break
    faced = map(join(join(waiting, states, "left"), states, "right"), facing, ...)      # both filters once more
    matches = union(verified(NOW), verified(LATER))                                     # all matches of OPEN documents
    resolved = map(sorted by right, then left(matches), resolve)
    states = advance with removed = flags of resolved, and nothing blocked
    matches = verified(map(join(join(pairs, states, "left"), states, "right"), facing, LAST))
    standing = map(meet(matches, by="right", sort="left"), name)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ..kernels import walk as kernel
from ..values.arrow import to_numpy
from ..values.tables import KEPT, MATCHES, OPEN, PAIRS, REMOVED, STATES
from ._batches import Batches, batch_of, flags, ints, starts_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Facing:
    """Which pairs are wanted, by the states of both sides (OPEN, KEPT or REMOVED)."""

    left: int
    right: int


NOW = Facing(left=KEPT, right=OPEN)
LATER = Facing(left=OPEN, right=OPEN)
LAST = Facing(left=KEPT, right=REMOVED)


def facing(rows: Batches, settings: Facing) -> Batches:
    """Choose the pairs whose sides have certain states.

    Parameters
    ----------
    rows : iterator of RecordBatch
        PAIRS with left_state and right_state.
    settings : Facing

    Yields
    ------
    RecordBatch
        PAIRS, in the order of the rows.
    """
    for batch in rows:
        left, right = (to_numpy(batch.column(f"{side}_state")) for side in ("left", "right"))
        wanted = (left == settings.left) & (right == settings.right)
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
    """Give each document that is the right of some rows one row, with a true flag.

    Parameters
    ----------
    rows : iterator of RecordBatch
        PAIRS or MATCHES that meet by right.
    settings : Flag

    Yields
    ------
    RecordBatch
        Columns order and the flag.
    """
    before = None
    for batch in rows:
        if not len(batch):
            continue
        right = ints(batch, "right")
        orders = right[starts_of(right, before)]
        before = int(right[-1])
        yield batch_of(settings.schema, orders, np.ones(len(orders), np.bool_))


def advance(rows: Batches) -> Batches:
    """End a round: an OPEN document that is removed is REMOVED; one that is neither removed nor blocked is KEPT.

    Parameters
    ----------
    rows : iterator of RecordBatch
        STATES with the flags removed and, perhaps, blocked; null is false.

    Yields
    ------
    RecordBatch
        STATES.
    """
    for batch in rows:
        removed = flags(batch, "removed")
        blocked = flags(batch, "blocked") if "blocked" in batch.schema.names else np.zeros(len(batch), np.bool_)
        state = to_numpy(batch.column("state"))
        decided = np.where(removed, REMOVED, np.where(blocked, OPEN, KEPT))
        yield batch_of(STATES, ints(batch, "order"), np.where(state == OPEN, decided, state).astype(np.int8))


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolve:
    """Orders below ``boundary`` are references, which are never removed."""

    boundary: int = 0


def resolve(rows: Batches, settings: Resolve) -> Batches:
    """Choose the matches whose left is kept, from all matches among documents that are OPEN or KEPT.

    Parameters
    ----------
    rows : iterator of RecordBatch
        MATCHES as one stream, sorted by right, then by left. A bit for each order is held.
    settings : Resolve

    Yields
    ------
    RecordBatch
        MATCHES, in the order of the rows; a document is removed if and only if it is the right of one.
    """
    removed = np.zeros(1 << 10, np.uint8)
    for batch in rows:
        left, right = ints(batch, "left"), ints(batch, "right")
        wanted = int(right.max(initial=0)) >> 3
        if wanted >= len(removed):
            removed = np.concatenate([removed, np.zeros(max(wanted + 1, 2 * len(removed)) - len(removed), np.uint8)])
        kept = np.empty(len(left), np.bool_)
        kernel.resolve(left, right, settings.boundary, removed, kept)
        yield batch_of(MATCHES, left[kept], right[kept], to_numpy(batch.column("score"))[kept])
