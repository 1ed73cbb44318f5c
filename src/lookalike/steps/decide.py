"""What becomes of each document: who is kept in its place, and why; and rows that say it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..inputs.ids import Labels
from ..inputs.overrides import ACTIONS
from ..methods.method import Method
from ..values import Int64Array
from ..values.arrow import string, strings, to_arrow, to_numpy
from ..values.tables import COLUMN, SOURCE_BITS
from .batches import Batches, batch_of, flags, floats, ints, ints_or
from .groups import REASONS, STAY, named

_KEPT, _REFERENCE, _EXACT, _NEAR, _EMPTY, _SKIPPED, _OVERRIDE = range(7)  # of ``REASONS``
_SPARED, _KEY = REASONS.index("spared"), REASONS.index("key")
SETTLED = pa.schema([("order", pa.int64()), ("keeper", pa.int64()), ("score", pa.float64()), ("reason", pa.string())])
POSITIONS = pa.schema([("left_position", pa.int64()), ("right_position", pa.int64())])
_ROW_MASK = (1 << SOURCE_BITS) - 1
_SETTLING = ("empty", "skipped", "leader", "by_key", "keeper", "score", "leader_keeper", "leader_score", "spared")


def decided_schema(rows: pa.Schema) -> pa.Schema:
    """Return the columns that come of rows with some more columns than those that ``settle`` needs."""
    passed = [field for field in rows if field.name not in _SETTLING]
    return pa.schema([*passed, *(field for field in SETTLED if field.name != "order")])


def apply_rules(rows: Batches, boundary: int, empty: str = "keep") -> Batches:
    """Say of each document who is kept in its place, and why.

    A copy follows the first of its set: its reason is "exact" if that is kept, else "near", with the first's keeper and score.
    One that is removed by its key follows who represents it, or the first of that one's set, without a score.
    Overrides come last, and change no other document; of those that are removed by hand nobody is a copy, or near.
    Documents that are ``spared`` stay beside the kept one of their group.
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
        if "by_key" in batch.schema.names:
            reason[flags(batch, "by_key")] = _KEY
        if empty == "drop":
            reason[flags(batch, "empty")] = _EMPTY
        if "override" in batch.schema.names:
            override = ints(batch, "override")
            reason[override > 0], reason[override < 0] = _KEPT, _OVERRIDE
            keeper = np.where(override > 0, order, keeper)
        reason[reference], keeper[reference] = _REFERENCE, order[reference]
        if "skipped" in batch.schema.names:
            reason[flags(batch, "skipped")] = _SKIPPED
        if "spared" in batch.schema.names:
            reason[ints_or(batch, "spared", 0) > 0] = _SPARED
        scored = (reason == _EXACT) | (reason == _NEAR)
        nobody = (reason == _EMPTY) | (reason == _SKIPPED) | (reason == _OVERRIDE)
        made = [to_arrow(keeper, nobody), to_arrow(score, ~scored), named(reason)]
        passed = [batch.column(name) for name in batch.schema.names if name not in _SETTLING]
        yield pa.RecordBatch.from_arrays([*passed, *made], schema=decided_schema(batch.schema))


def columns_needed(schema: pa.Schema) -> set[str]:
    """Return the columns of sketches that decisions are made of; those of the keeper begin with "keeper_"."""
    known = {
        "position": {"position"}, "row": {"position"}, "number": {"number"}, "bytes": {"bytes"},
        "source": {"position", "number"}, "id": {"position", "number", "id"},
        "duplicate_of": {"keeper_position", "keeper_number", "keeper_id"},
        "cluster": {"keeper_position", "keeper_number", "keeper_id"},
        "duplicate_source": {"keeper_position", "keeper_number"}, "distance": {"keys", "keeper_keys"},
    }  # fmt: skip
    return set().union(*(known.get(name, {name} if name.startswith(COLUMN) else set()) for name in schema.names))


def decision_rows(rows: Batches, schema: pa.Schema, labels: Labels, method: Method, boundary: int) -> Batches:
    """Make the wanted columns of decisions: those of DECISIONS, id, leader, override, standard_error, distance.

    Labels say what documents are called, the method what scores are; orders below ``boundary`` are references.
    """
    for batch in rows:
        yield batch_of(schema, *(_column(name, batch, labels, method, boundary) for name in schema.names))


def _column(name: str, batch: pa.RecordBatch, labels: Labels, method: Method, boundary: int) -> Any:
    """Make one column of decisions."""
    order, keeper = ints(batch, "order"), ints_or(batch, "keeper", -1)
    if name.startswith(COLUMN):
        texts = batch.column(name)
        nothing, null = strings(["", None], texts.type)
        return pc.if_else(pc.equal(texts, nothing), null, texts)
    match name:
        case "order" | "position" | "number" | "bytes" | "reason" | "keeper":
            return batch.column(name)
        case "leader":
            leader = ints_or(batch, "leader", -1)
            return np.where(leader < 0, order, leader)
        case "row":
            return ints(batch, "position") & _ROW_MASK
        case "source":
            return labels.files(ints(batch, "position"), ints(batch, "number"))
        case "id":
            return labels.ids(*_called(batch, ""))
        case "kept":
            return pc.is_in(batch.column("reason"), STAY)
        case "override":
            number = ints(batch, "override")
            return strings(ACTIONS).take(to_arrow((number < 0).astype(np.int64), number == 0))
        case "resemblance":
            return batch.column("score")
        case "cluster":
            return labels.without(keeper < 0, labels.ids, *_called(batch, "keeper_"))
        case "duplicate_of" | "duplicate_source" | "duplicate_is_reference":
            stays = (keeper == order) | (keeper < 0) | to_numpy(pc.equal(batch.column("reason"), string("spared")))
            if name == "duplicate_of":
                return labels.without(stays, labels.ids, *_called(batch, "keeper_"))
            if name == "duplicate_source":
                return labels.without(stays, labels.files, *_called(batch, "keeper_")[:2])
            return to_arrow(keeper < boundary, stays)
        case "n_exact" | "n_duplicates" | "n_sources":
            return ints_or(batch, name, 0)
    distance = (
        distances(batch.column("keys"), batch.column("keeper_keys")) if name == "distance" else np.zeros(len(batch), np.int64)
    )
    return method.columns(np.nan_to_num(floats(batch, "score")), distance, to_numpy(batch.column("score").is_null()))[name]


def _called(batch: pa.RecordBatch, prefix: str) -> tuple[Int64Array, Int64Array, pa.Array | None]:
    """Return position, number and, if there is one, id of documents or of their keepers."""
    name = f"{prefix}id"
    given = batch.column(name) if name in batch.schema.names else None
    return ints_or(batch, f"{prefix}position", 0), ints_or(batch, f"{prefix}number", 0), given


def distances(one: pa.Array, other: pa.Array) -> Int64Array:
    """Return the bits in which the fingerprints of documents and of others differ; 0 where one has none."""
    words = []
    for column in (one, other):
        width = column.type.list_size
        inside = column.values.slice(column.offset * width, len(column) * width)
        values = to_numpy(inside, 0).view(np.uint64)  # a null list has any values
        words.append((values.reshape(-1, width), to_numpy(column.is_null())))
    (own, no_own), (others, no_others) = words
    found = np.bitwise_count(own ^ others).sum(1).astype(np.int64)
    return np.where(no_own | no_others, 0, found)


def pair_rows(rows: Batches, schema: pa.Schema, labels: Labels, method: Method, boundary: int) -> Batches:
    """Make rows of pairs; the document that comes first in the input is on the left.

    The columns are left and right (orders), left_id, right_id, left_is_reference, resemblance and, perhaps, standard_error,
    distance and POSITIONS. Labels say what documents are called, the method what scores are; orders below ``boundary`` are
    references.
    """
    for batch in rows:
        swapped = ints(batch, "left_position") > ints(batch, "right_position")
        own = to_arrow(~swapped)

        def side(which: str, name: str, own: pa.Array = own, batch: pa.RecordBatch = batch) -> pa.Array:
            """A column of the document that comes first, or second, in the input."""
            one, other = ("left", "right") if which == "left" else ("right", "left")
            return pa.compute.if_else(own, batch.column(f"{one}{name}"), batch.column(f"{other}{name}"))

        score = to_numpy(batch.column("score"))
        named, fingerprints = ("left_id" in batch.schema.names), ("left_keys" in batch.schema.names)
        distance = np.zeros(len(batch), np.int64)
        if fingerprints:
            distance = distances(batch.column("left_keys"), batch.column("right_keys"))
        columns: dict[str, Any] = {which: side(which, "") for which in ("left", "right")}
        for which in ("left", "right"):
            columns[f"{which}_position"] = side(which, "_position")
            numbers = to_numpy(side(which, "_number"))
            given = side(which, "_id") if named else None
            columns[f"{which}_id"] = labels.ids(to_numpy(columns[f"{which}_position"]), numbers, given)
        columns["left_is_reference"] = to_arrow(to_numpy(columns["left"]) < boundary)
        columns |= method.columns(score, distance, np.zeros(len(score), np.bool_))
        columns["resemblance"] = score
        yield batch_of(schema, *(columns[name] for name in schema.names))
