"""Make a row of each document that says what was decided about it: the last joins, as small steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..values import Int64Array
from ..values.tables import DECISIONS, SOURCE_BITS
from ._batches import Batches, batch_of, flags, ints, ints_or, starts_of

REASONS = ("kept", "reference", "exact", "near", "empty")
_KEPT, _REFERENCE, _EXACT, _NEAR, _EMPTY = range(len(REASONS))
SETTLED = pa.schema([("order", pa.int64()), ("keeper", pa.int64()), ("score", pa.float64()), ("reason", pa.string())])
TALLIES = pa.schema([("order", pa.int64()), ("n_exact", pa.int64()), ("n_duplicates", pa.int64())])
_ROW_MASK = (1 << SOURCE_BITS) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Settle:
    """What becomes of documents.

    Parameters
    ----------
    boundary : int
        Orders below it are references, which are kept.
    empty : {"keep", "drop"}, default "keep"
        What becomes of documents without a shingle.
    """

    boundary: int
    empty: str = "keep"


def settle(rows: Batches, settings: Settle) -> Batches:
    """Say of each document who is kept in its place, and why.

    A copy follows the first of its set: its reason is "exact" if that is kept, else "near", with the first's keeper and score.

    Parameters
    ----------
    rows : iterator of RecordBatch
        Columns order, empty, leader (null: it is no copy), keeper and score of its own standing (null: kept), leader_keeper and
        leader_score of its leader's.
    settings : Settle

    Yields
    ------
    RecordBatch
        Columns order, keeper (its own order if it is kept, null if it is dropped), score (1.0 for "exact"; null if it is kept
        or dropped) and reason.
    """
    for batch in rows:
        order, leader = ints(batch, "order"), ints_or(batch, "leader", -1)
        copy, reference = leader >= 0, ints(batch, "order") < settings.boundary
        standing = np.where(copy, ints_or(batch, "leader_keeper", -1), ints_or(batch, "keeper", -1))
        score = np.where(copy, _floats(batch, "leader_score"), _floats(batch, "score"))
        near = standing >= 0
        reason = np.where(near, _NEAR, np.where(copy, _EXACT, _KEPT))
        keeper = np.where(near, standing, np.where(copy, leader, order))
        score = np.where(near, score, 1.0)
        if settings.empty == "drop":
            reason[flags(batch, "empty")] = _EMPTY
        reason[reference], keeper[reference] = _REFERENCE, order[reference]
        scored = (reason == _EXACT) | (reason == _NEAR)
        yield batch_of(SETTLED, order, pa.array(keeper, mask=reason == _EMPTY), pa.array(score, mask=~scored), _named(reason))


def tally(rows: Batches) -> Batches:
    """Count the documents that each kept one stands for: its copies, and all that are removed for it.

    Parameters
    ----------
    rows : iterator of RecordBatch
        Columns order, keeper and reason; they meet by keeper. Those without a keeper are passed over.

    Yields
    ------
    RecordBatch
        Columns order (of the keeper), n_exact (those with the reason "exact") and n_duplicates (these and those with "near").
    """
    none = np.empty(0, np.int64)
    held = (none, none, none)
    for batch in rows:
        keepers = ints_or(batch, "keeper", -1)
        exact = pc.equal(batch.column("reason"), "exact").to_numpy(zero_copy_only=False)
        added = keepers, exact.astype(np.int64), (keepers != ints(batch, "order")).astype(np.int64)
        there = keepers >= 0
        keepers, exact, removed = (np.concatenate([old, new[there]]) for old, new in zip(held, added, strict=True))
        if not len(keepers):
            continue
        begins = np.flatnonzero(starts_of(keepers, None))
        counted = keepers[begins], np.add.reduceat(exact, begins), np.add.reduceat(removed, begins)
        yield batch_of(TALLIES, *(column[:-1] for column in counted))  # of the last one more may come
        held = (counted[0][-1:], counted[1][-1:], counted[2][-1:])
    if len(held[0]):
        yield batch_of(TALLIES, *held)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decide:
    """How decisions are told.

    Parameters
    ----------
    sources : tuple of str
        The name of each source, as given.
    boundary : int
        Orders below it are references.
    """

    sources: tuple[str, ...]
    boundary: int


def decided_schema(id_type: pa.DataType) -> pa.Schema:
    """Return the columns of decisions about documents whose ids are of a type."""
    fields = [field.with_type(id_type) if field.name in ("duplicate_of", "cluster") else field for field in DECISIONS]
    at = DECISIONS.get_field_index("bytes") + 1
    return pa.schema([*fields[:at], pa.field("id", id_type), *fields[at:]])


def decide(rows: Batches, settings: Decide) -> Batches:
    """Tell the decision about each document.

    Parameters
    ----------
    rows : iterator of RecordBatch
        Columns order, position, number, bytes, id; keeper, score and reason; keeper_position and keeper_id (null if there is no
        keeper); n_exact and n_duplicates (null: none).
    settings : Decide

    Yields
    ------
    RecordBatch
        DECISIONS with the column id. Null are duplicate_of, duplicate_source and duplicate_is_reference of a document that is
        kept or dropped, and cluster, the id of the keeper, of one that is dropped.
    """
    names = pa.array(settings.sources, pa.string())
    for batch in rows:
        schema = decided_schema(batch.schema.field("id").type)
        order, position, keeper = ints(batch, "order"), ints(batch, "position"), ints_or(batch, "keeper", -1)
        kept = keeper == order
        removed = ~kept & (keeper >= 0)
        of_keeper = pa.array(ints_or(batch, "keeper_position", 0) >> SOURCE_BITS, mask=~removed)
        ids, missing = batch.column("keeper_id"), pa.scalar(None, batch.schema.field("id").type)
        columns: dict[str, Any] = {
            "order": order,
            "position": position,
            "source": names.take(pa.array(position >> SOURCE_BITS)),
            "row": position & _ROW_MASK,
            "number": ints(batch, "number"),
            "bytes": ints(batch, "bytes"),
            "id": batch.column("id"),
            "kept": kept,
            "reason": batch.column("reason"),
            "keeper": batch.column("keeper"),
            "duplicate_of": pc.if_else(pa.array(removed), ids, missing),
            "duplicate_source": names.take(of_keeper),
            "duplicate_is_reference": pa.array(keeper < settings.boundary, mask=~removed),
            "resemblance": batch.column("score"),
            "cluster": ids,
            "n_exact": ints_or(batch, "n_exact", 0),
            "n_duplicates": ints_or(batch, "n_duplicates", 0),
        }
        yield batch_of(schema, *(columns[field.name] for field in schema))


def _floats(batch: pa.RecordBatch, name: str) -> NDArray[np.float64]:
    """Return a column of floats, null as nan."""
    return np.asarray(batch.column(name).to_numpy(zero_copy_only=False), np.float64)


def _named(reason: Int64Array) -> pa.Array:
    """Return the names of reasons."""
    return pa.array(REASONS, pa.string()).take(pa.array(reason))
