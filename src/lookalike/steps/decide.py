"""What becomes of each document: who is kept in its place, and why; rows that say it; how many documents are in each group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..inputs.ids import Labels, as_utf8
from ..inputs.overrides import ACTIONS
from ..methods.method import Method
from ..values import Int64Array
from ..values.arrow import nulled, string, strings, to_arrow, to_numpy
from ..values.tables import COLUMN, SOURCE_BITS
from .batches import Batches, batch_of, flags, floats, ints, ints_or, starts_of

REASONS = (
    "kept", "reference", "exact", "near", "empty", "skipped", "override", "spared", "key",
)  # fmt: skip
_KEPT, _REFERENCE, _EXACT, _NEAR, _EMPTY, _SKIPPED, _OVERRIDE = range(7)  # of ``REASONS``
_SPARED, _KEY = REASONS.index("spared"), REASONS.index("key")
SETTLED = pa.schema([("order", pa.int64()), ("keeper", pa.int64()), ("score", pa.float64()), ("reason", pa.string())])
POSITIONS = pa.schema([("left_position", pa.int64()), ("right_position", pa.int64())])
_SETTLING = ("empty", "skipped", "leader", "by_key", "keeper", "score", "leader_keeper", "leader_score", "spared")
STAY = strings(["kept", "reference", "spared"])
REMOVED_DOCUMENTS = pa.schema([("order", pa.int64()), ("keeper", pa.int64())])
GROUP_COUNTS = pa.schema([(name, pa.int64()) for name in ("order", "n_exact", "n_duplicates", "n_sources")])
SPARED = pa.schema([("order", pa.int64()), ("spared", pa.int64())])
VALUES = pa.schema([("column", pa.int64()), ("value", pa.large_string()), ("documents", pa.int64()), ("removed", pa.int64())])
CONTRIBUTIONS = pa.schema(
    [(name, pa.int64()) for name in ("order", "keeper", "origin", "documents", "n_exact", "n_duplicates")]
)
SHARES = pa.schema([field for field in CONTRIBUTIONS if field.name != "origin"])
ROW_CONTRIBUTIONS = pa.schema([("order", pa.int64()), ("place", pa.int64()), *list(SHARES)[2:]])
SOURCE_CONTRIBUTIONS = pa.schema([("place", pa.int64()), ("source", pa.large_string()), *list(SHARES)[2:]])
_ROW_MASK = (1 << SOURCE_BITS) - 1
_DOCUMENT = 1 << 62  # is added to the position of a file that is a document: others count from 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceKey:
    """What documents' sources are: values of a column, or else their files."""

    column: str | None
    documents: tuple[bool, ...]  # of each input, whether its files are a document each

    @property
    def needed(self) -> str:
        """The column of sketches that sources are told by."""
        return "position" if self.column is None else COLUMN + self.column

    def of(self, batch: pa.RecordBatch) -> Int64Array:
        """Return a number for the source of each document; those of a column are hashes."""
        if self.column is None:
            position = ints(batch, "position")
            source = position >> SOURCE_BITS
            apart = np.array(self.documents, np.bool_)[source]
            return np.where(apart, position + _DOCUMENT, source)
        found = batch.column(self.needed).dictionary_encode()
        return np.asarray(number_texts(found.dictionary.to_pylist())[to_numpy(found.indices)], np.int64)

    def names(self, batch: pa.RecordBatch, labels: Labels) -> pa.Array:
        """Return what the source of each document is called, null where a column names none."""
        if self.column is not None:
            return _null_if_empty(batch.column(self.needed))
        found, places = np.unique(self.of(batch), return_inverse=True)
        return strings([_input_name(labels, origin) for origin in found.tolist()], pa.large_string()).take(to_arrow(places))


def _input_name(labels: Labels, origin: int) -> str:
    """Return the name of an input, or of a file that is a document."""
    if origin < _DOCUMENT:
        return as_utf8(labels.splits[origin].name)
    source, row = divmod(origin - _DOCUMENT, 1 << SOURCE_BITS)
    return as_utf8(labels.splits[source].label(row + 1))


def number_texts(values: list[str]) -> Int64Array:
    """Return the number of each text: 63 bits of a hash."""
    from hashlib import blake2b  # here, for what is not needed to start

    words = [int.from_bytes(blake2b(value.encode(), digest_size=8).digest(), "little") >> 1 for value in values]
    return np.array(words, np.int64)


def choose_removed(rows: Batches) -> Batches:
    """Choose the documents that another one stands for by their texts."""
    for batch in rows:
        orders, keepers = ints(batch, "order"), ints_or(batch, "keeper", -1)
        gone = (keepers >= 0) & (keepers != orders) & ~_of_reason(batch, "key")
        yield batch_of(REMOVED_DOCUMENTS, orders[gone], keepers[gone])


def spare_first(rows: Batches, at_most: int) -> Batches:
    """Choose, of the documents that are removed for each kept one, the first in keep order: ``at_most`` stay."""
    before, seen = -1, 0
    for batch in rows:
        keepers = ints(batch, "keeper")
        if not len(keepers):
            continue
        begins = np.flatnonzero(starts_of(keepers, before))
        place = np.arange(len(keepers))
        rank = place - np.concatenate([[-seen], begins])[np.searchsorted(begins, place, side="right")]
        before, seen = int(keepers[-1]), int(rank[-1]) + 1
        some = ints(batch, "order")[rank < at_most - 1]
        yield batch_of(SPARED, some, np.ones(len(some), np.int64))


def list_contributions(rows: Batches, origins: SourceKey | None, boundary: int = 0) -> Batches:
    """Say of each document (orders from ``boundary`` on) whose group it joins, and as what it counts there; without
    ``origins``, only of those that are removed."""
    for batch in rows:
        order, keeper = ints(batch, "order"), ints_or(batch, "keeper", -1)
        exact, by_key, spared = (_of_reason(batch, name) for name in ("exact", "key", "spared"))
        gone = (keeper >= 0) & (keeper != order) & ~spared
        there = gone if origins is None else (keeper >= 0) & (order >= boundary)
        origin = np.zeros(len(order), np.int64) if origins is None else origins.of(batch)
        counted = (flag[there].astype(np.int64) for flag in (~by_key, exact & gone, gone))
        yield batch_of(CONTRIBUTIONS, order[there], keeper[there], origin[there], *counted)


def _of_reason(batch: pa.RecordBatch, reason: str) -> NDArray[np.bool_]:
    return to_numpy(pc.equal(batch.column("reason"), string(reason)))


def add_contributions(rows: Batches) -> Batches:
    """Add up what the documents of each source count in each group, and name the first of them (``order``): of its documents,
    or, where all of that source are removed by their keys, of these."""
    names = ("keeper", "origin", "order", *SHARES.names[2:])
    held = [np.empty(0, np.int64)] * len(names)  # of the last group, more of which may come
    for batch in rows:
        some = [np.concatenate([old, ints(batch, name)]) for old, name in zip(held, names, strict=True)]
        if not len(some[0]):
            continue
        order = np.lexsort((some[2], some[3] == 0, some[1], some[0]))
        keeper, origin, first, *counts = (column[order] for column in some)
        begins = np.flatnonzero(starts_of(keeper, None) | starts_of(origin, None))
        found = [keeper[begins], origin[begins], first[begins], *(np.add.reduceat(column, begins) for column in counts)]
        more = found[0] == some[0][-1]  # not the largest: groups come in any order
        held, found = [column[more] for column in found], [column[~more] for column in found]
        yield batch_of(SHARES, found[2], found[0], *found[3:])
    yield batch_of(SHARES, held[2], held[0], *held[3:])


def count_groups(rows: Batches) -> Batches:
    """Count the documents that each kept one stands for, its copies and all that are removed for it, and their sources."""
    for batch in add_contributions(rows):
        keeper, documents, *removed = (ints(batch, name) for name in SHARES.names[1:])
        begins = np.flatnonzero(starts_of(keeper, None))
        counts = (np.add.reduceat(column, begins) for column in (*removed, (documents > 0).astype(np.int64)))
        yield batch_of(GROUP_COUNTS, keeper[begins], *counts)


def add_row_numbers(rows: Batches, starts: Int64Array) -> Batches:
    """Number the kept document of each group among those of all inputs, which begin at ``starts``."""
    for batch in rows:
        position = ints(batch, "keeper_position")
        place = starts[position >> SOURCE_BITS] + (position & _ROW_MASK)
        yield batch_of(
            ROW_CONTRIBUTIONS,
            ints(batch, "order"),
            place,
            *(batch.column(name) for name in ROW_CONTRIBUTIONS.names[2:]),
        )


def add_source_names(rows: Batches, origins: SourceKey, labels: Labels) -> Batches:
    """Name the source of each row."""
    for batch in rows:
        counts = (batch.column(name) for name in SOURCE_CONTRIBUTIONS.names[2:])
        yield batch_of(SOURCE_CONTRIBUTIONS, batch.column("place"), origins.names(batch, labels), *counts)


def reason_names(reason: Int64Array) -> pa.Array:
    return strings(REASONS).take(to_arrow(reason))


def count_by_value(rows: Batches, columns: Sequence[str]) -> Batches:
    """Count documents, and those removed, by the values of columns, some rows at a time; references are not counted."""
    aside = strings(["reference", "skipped"])
    for batch in rows:
        own = batch.filter(pc.invert(pc.is_in(batch.column("reason"), aside)))
        for number, name in enumerate(columns):
            values = own.column(name).dictionary_encode("encode")  # null is a value
            place, n = to_numpy(values.indices), len(values.dictionary)
            counts = [np.bincount(some, minlength=n) for some in (place, place[~flags(own, "kept")])]
            yield batch_of(VALUES, np.full(n, number), values.dictionary, *counts)


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
        made = [to_arrow(keeper, nobody), to_arrow(score, ~scored), reason_names(reason)]
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


def _null_if_empty(texts: pa.Array) -> pa.Array:
    return nulled(texts, to_numpy(pc.binary_length(texts), 1) == 0)


def _column(name: str, batch: pa.RecordBatch, labels: Labels, method: Method, boundary: int) -> Any:
    """Make one column of decisions."""
    order, keeper = ints(batch, "order"), ints_or(batch, "keeper", -1)
    if name.startswith(COLUMN):
        return _null_if_empty(batch.column(name))
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
