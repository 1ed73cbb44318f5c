"""Rows that say what was decided about each document, and which pairs match."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from ..inputs.ids import Labels
from ..inputs.overrides import ACTIONS
from ..methods.method import Method
from ..values import Int64Array
from ..values.arrow import strings, to_arrow, to_numpy
from ..values.tables import SOURCE_BITS
from .batches import Batches, batch_of, floats, ints, ints_or

POSITIONS = pa.schema([("left_position", pa.int64()), ("right_position", pa.int64())])
_ROW_MASK = (1 << SOURCE_BITS) - 1


def columns_needed(schema: pa.Schema) -> set[str]:
    """Return the columns of sketches that decisions are made of; those of the keeper begin with "keeper_"."""
    known = {
        "position": {"position"}, "row": {"position"}, "number": {"number"}, "bytes": {"bytes"},
        "source": {"position", "number"}, "id": {"position", "number", "id"},
        "duplicate_of": {"keeper_position", "keeper_number", "keeper_id"},
        "cluster": {"keeper_position", "keeper_number", "keeper_id"},
        "duplicate_source": {"keeper_position", "keeper_number"}, "distance": {"keys", "keeper_keys"},
    }  # fmt: skip
    return set().union(*(known.get(name, set()) for name in schema.names))


def decision_rows(rows: Batches, schema: pa.Schema, labels: Labels, method: Method, boundary: int) -> Batches:
    """Make the wanted columns of decisions: those of DECISIONS, id, leader, override, standard_error, distance.

    Labels say what documents are called, the method what scores are; orders below ``boundary`` are references.
    """
    for batch in rows:
        columns = [_column(name, batch, labels, method, boundary) for name in schema.names]
        yield batch_of(schema, *columns)


def _column(name: str, batch: pa.RecordBatch, labels: Labels, method: Method, boundary: int) -> Any:
    """Make one column of decisions."""
    order, keeper = ints(batch, "order"), ints_or(batch, "keeper", -1)
    kept = keeper == order
    gone = kept | (keeper < 0)
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
            return kept
        case "override":
            number = ints(batch, "override")
            return strings(ACTIONS).take(to_arrow((number < 0).astype(np.int64), number == 0))
        case "resemblance":
            return batch.column("score")
        case "duplicate_of" | "cluster":
            return labels.without(gone if name == "duplicate_of" else keeper < 0, labels.ids, *_called(batch, "keeper_"))
        case "duplicate_source":
            return labels.without(gone, labels.files, *_called(batch, "keeper_")[:2])
        case "duplicate_is_reference":
            return to_arrow(keeper < boundary, gone)
        case "n_exact" | "n_duplicates":
            return ints_or(batch, name, 0)
    distance = (
        distances(batch.column("keys"), batch.column("keeper_keys")) if name == "distance" else np.zeros(len(batch), np.int64)
    )
    return method.columns(np.nan_to_num(floats(batch, "score")), distance, gone)[name]


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
