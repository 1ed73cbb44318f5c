"""Decide by rounds where bundles are too large to be walked, or an engine does not know them.

A document is KEPT or REMOVED once that is known, else OPEN; references are KEPT from the start. In a round, pairs of a KEPT and
an OPEN document are verified: an OPEN document that matches is REMOVED, and one that has no OPEN earlier partner and does not
match is KEPT. Pairs of two OPEN documents wait; all others are done with. Rounds are lazy: they compare only what the walk
compares too.

The first round only compares with references and keeps what has no earlier partner. A chain of matches takes one round per
link. So rounds end when a later one decides little: all waiting pairs are verified, and ``resolve`` streams the matches. Last,
pairs of a KEPT and a REMOVED document that have not been verified yet are, so that all kept matches are known.
``recipes.decide`` puts the steps together.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..core import Resolver
from ..values.arrow import to_numpy
from ..values.tables import KEPT, MATCHES, OPEN, PAIRS, REMOVED, STATES
from .batches import Batches, batch_of, flags, ints, starts_of
from .totals import Total

CLASSIFIED_PAIRS = pa.schema([*PAIRS, ("now", pa.bool_())])


def classify_pairs(rows: Batches) -> Batches:
    """Choose the pairs that are to be compared now, of a KEPT and an OPEN document, and those that wait, of two OPEN ones."""
    for batch in rows:
        left, right = (to_numpy(batch.column(f"{side}_state")) for side in ("left", "right"))
        wanted = (left != REMOVED) & (right == OPEN)
        yield batch_of(CLASSIFIED_PAIRS, ints(batch, "left")[wanted], ints(batch, "right")[wanted], (left == KEPT)[wanted])


def pairs_of_class(rows: Batches, now: bool) -> Batches:
    """Choose from CLASSIFIED_PAIRS those to be compared now, or those that wait: PAIRS, in the order of the rows."""
    for batch in rows:
        wanted = flags(batch, "now") == now
        yield batch_of(PAIRS, ints(batch, "left")[wanted], ints(batch, "right")[wanted])


def _add_faced(total: NDArray[Any], batch: pa.RecordBatch) -> None:
    """Count the pairs of a batch: column now."""
    now = int(flags(batch, "now").sum())
    total += now, len(batch) - now


PAIRS_NOW_AND_LATER = Total(_add_faced, 2)
"""How many pairs are to be compared now, and how many wait."""


def not_verified(rows: Batches, last: int) -> Batches:
    """Choose the pairs of a KEPT and a REMOVED document that no round has verified.

    One has been if the removal was decided later than that the other is kept, or both in turn ``last``, when all pairs that
    were left were verified.
    """
    for batch in rows:
        left, left_turn, right, right_turn = (
            to_numpy(batch.column(name)) for name in ("left_state", "left_turn", "right_state", "right_turn")
        )
        verified = (left_turn < right_turn) | ((left_turn == last) & (right_turn == last))
        wanted = (left == KEPT) & (right == REMOVED) & ~verified
        yield batch_of(PAIRS, ints(batch, "left")[wanted], ints(batch, "right")[wanted])


def flag_schema(name: str) -> pa.Schema:
    """Return the columns that come of a flag of some name."""
    return pa.schema([("order", pa.int64()), (name, pa.bool_())])


def flag_documents(rows: Batches, name: str) -> Batches:
    """Give each document that is the right of some rows one row, with a true flag."""
    schema = flag_schema(name)
    before = None
    for batch in rows:
        if not len(batch):
            continue
        right = ints(batch, "right")
        orders = right[starts_of(right, before)]
        before = int(right[-1])
        yield batch_of(schema, orders, np.ones(len(orders), np.bool_))


def advance(rows: Batches, turn: int) -> Batches:
    """End a round, the first is 1: an OPEN document that is removed is REMOVED; one neither removed nor blocked is KEPT."""
    for batch in rows:
        none = np.zeros(len(batch), np.bool_)
        removed, blocked = (flags(batch, name) if name in batch.schema.names else none for name in ("removed", "blocked"))
        state, since = (to_numpy(batch.column(name)) for name in ("state", "turn"))
        decided = np.where(removed, REMOVED, np.where(blocked, OPEN, KEPT))
        state, since = np.where(state == OPEN, decided, state), np.where(state == OPEN, turn, since)
        yield batch_of(STATES, ints(batch, "order"), state.astype(np.int8), since.astype(np.int8))


def resolve(rows: Batches, boundary: int = 0) -> Batches:
    """Choose the matches whose left is kept, from all matches among documents that are OPEN or KEPT.

    Orders below ``boundary`` are references, which are never removed.
    """
    resolver = Resolver(boundary)
    for batch in rows:
        left, right = ints(batch, "left"), ints(batch, "right")
        kept = resolver.resolve(left, right).view(np.bool_)
        yield batch_of(MATCHES, left[kept], right[kept], to_numpy(batch.column("score"))[kept])


def first_states(rows: Batches, boundary: int) -> Batches:
    """Give each document its first state: orders below ``boundary`` are references, which are kept."""
    for batch in rows:
        state = np.where(ints(batch, "order") < boundary, KEPT, OPEN).astype(np.int8)
        yield batch_of(STATES, batch.column("order"), state, np.zeros(len(state), np.int8))


def _add_open(total: NDArray[Any], batch: pa.RecordBatch) -> None:
    """Count the documents of a batch that are open: column state."""
    total += int((to_numpy(batch["state"]) == OPEN).sum())


OPEN_DOCUMENTS = Total(_add_open)
