"""What becomes of each document: who is kept in its place, and why; and how many each kept one stands for."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..values import Int64Array
from ..values.arrow import string, strings, to_arrow, to_numpy
from .batches import Batches, batch_of, flags, floats, ints, ints_or, starts_of

REASONS = ("kept", "reference", "exact", "near", "empty", "skipped", "override")
_KEPT, _REFERENCE, _EXACT, _NEAR, _EMPTY, _SKIPPED, _OVERRIDE = range(len(REASONS))
SETTLED = pa.schema([("order", pa.int64()), ("keeper", pa.int64()), ("score", pa.float64()), ("reason", pa.string())])
REMOVED = pa.schema([("order", pa.int64()), ("keeper", pa.int64()), ("exact", pa.bool_())])
TALLIES = pa.schema([("order", pa.int64()), ("n_exact", pa.int64()), ("n_duplicates", pa.int64())])
_SETTLING = ("empty", "skipped", "leader", "keeper", "score", "leader_keeper", "leader_score")


def settled_schema(rows: pa.Schema) -> pa.Schema:
    """Return the columns that come of rows with some more columns than those that ``settle`` needs."""
    passed = [field for field in rows if field.name not in _SETTLING]
    return pa.schema([*passed, *(field for field in SETTLED if field.name != "order")])


def settle(rows: Batches, boundary: int, empty: str = "keep") -> Batches:
    """Say of each document who is kept in its place, and why.

    A copy follows the first of its set: its reason is "exact" if that is kept, else "near", with the first's keeper and score.
    Overrides come last, and change no other document; of those that are removed by hand nobody is a copy, or near.
    Orders below ``boundary`` are references, which are kept; ``empty`` says what becomes of documents without a shingle.
    """
    for batch in rows:
        order, leader = ints(batch, "order"), ints_or(batch, "leader", -1)
        copy, reference = leader >= 0, ints(batch, "order") < boundary
        standing = np.where(copy, ints_or(batch, "leader_keeper", -1), ints_or(batch, "keeper", -1))
        score = np.where(copy, floats(batch, "leader_score"), floats(batch, "score"))
        near = standing >= 0
        reason = np.where(near, _NEAR, np.where(copy, _EXACT, _KEPT))
        keeper = np.where(near, standing, np.where(copy, leader, order))
        score = np.where(near, score, 1.0)
        if empty == "drop":
            reason[flags(batch, "empty")] = _EMPTY
        if "override" in batch.schema.names:
            override = ints(batch, "override")
            reason[override > 0], reason[override < 0] = _KEPT, _OVERRIDE
            keeper = np.where(override > 0, order, keeper)
        reason[reference], keeper[reference] = _REFERENCE, order[reference]
        if "skipped" in batch.schema.names:
            reason[flags(batch, "skipped")] = _SKIPPED
        scored = (reason == _EXACT) | (reason == _NEAR)
        nobody = (reason == _EMPTY) | (reason == _SKIPPED) | (reason == _OVERRIDE)
        made = [to_arrow(keeper, nobody), to_arrow(score, ~scored), _named(reason)]
        passed = [batch.column(name) for name in batch.schema.names if name not in _SETTLING]
        yield pa.RecordBatch.from_arrays([*passed, *made], schema=settled_schema(batch.schema))


def removed(rows: Batches) -> Batches:
    """Choose the documents that another one stands for."""
    for batch in rows:
        orders, keepers = ints(batch, "order"), ints_or(batch, "keeper", -1)
        gone = (keepers >= 0) & (keepers != orders)
        exact = to_numpy(pc.equal(batch.column("reason"), string("exact")))
        yield batch_of(REMOVED, orders[gone], keepers[gone], exact[gone])


def tally(rows: Batches) -> Batches:
    """Count the documents that each kept one stands for: its copies, and all that are removed for it."""
    none = np.empty(0, np.int64)
    held = (none, none, none)
    for batch in rows:
        added = ints(batch, "keeper"), flags(batch, "exact").astype(np.int64), np.ones(len(batch), np.int64)
        keepers, exact, all_of_them = (np.concatenate([old, new]) for old, new in zip(held, added, strict=True))
        if not len(keepers):
            continue
        begins = np.flatnonzero(starts_of(keepers, None))
        counted = keepers[begins], np.add.reduceat(exact, begins), np.add.reduceat(all_of_them, begins)
        yield batch_of(TALLIES, *(column[:-1] for column in counted))  # of the last one more may come
        held = (counted[0][-1:], counted[1][-1:], counted[2][-1:])
    if len(held[0]):
        yield batch_of(TALLIES, *held)


def _named(reason: Int64Array) -> pa.Array:
    """Return the names of reasons."""
    return strings(REASONS).take(to_arrow(reason))
