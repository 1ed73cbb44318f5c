"""Groups: a kept document and all that are removed for it; how many they are, from how many sources, and which of them stay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..inputs.ids import Labels, as_utf8
from ..values import Int64Array
from ..values.arrow import string, strings, to_arrow, to_numpy
from ..values.tables import COLUMN, SOURCE_BITS
from .batches import Batches, batch_of, flags, ints, ints_or, starts_of

REASONS = (
    "kept", "reference", "exact", "near", "empty", "skipped", "override", "spared", "key",
)  # fmt: skip
STAY = strings(["kept", "reference", "spared"])
REMOVED_DOCUMENTS = pa.schema([("order", pa.int64()), ("keeper", pa.int64()), ("exact", pa.bool_()), ("by_key", pa.bool_())])
TALLIES = pa.schema([("order", pa.int64()), ("n_exact", pa.int64()), ("n_duplicates", pa.int64())])
SPARED = pa.schema([("order", pa.int64()), ("spared", pa.int64())])
SOURCES = pa.schema([("order", pa.int64()), ("n_sources", pa.int64())])
VALUES = pa.schema([("column", pa.int64()), ("value", pa.large_string()), ("documents", pa.int64()), ("removed", pa.int64())])
DOCUMENT_SOURCES = pa.schema([("order", pa.int64()), ("keeper", pa.int64()), ("origin", pa.int64())])
CONTRIBUTIONS = pa.schema([*DOCUMENT_SOURCES, ("documents", pa.int64()), ("n_exact", pa.int64()), ("n_duplicates", pa.int64())])
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
        return np.asarray(numbered(found.dictionary.to_pylist())[to_numpy(found.indices)], np.int64)

    def names(self, batch: pa.RecordBatch, labels: Labels) -> pa.Array:
        """Return what the source of each document is called, null where a column names none."""
        if self.column is not None:
            nothing, null = strings(["", None], pa.large_string())
            return pc.if_else(pc.equal(batch.column(self.needed), nothing), null, batch.column(self.needed))
        found, places = np.unique(self.of(batch), return_inverse=True)
        return strings([_input_name(labels, origin) for origin in found.tolist()], pa.large_string()).take(to_arrow(places))


def _input_name(labels: Labels, origin: int) -> str:
    """Return the name of an input, or of a file that is a document."""
    if origin < _DOCUMENT:
        return as_utf8(labels.splits[origin].name)
    source, row = divmod(origin - _DOCUMENT, 1 << SOURCE_BITS)
    return as_utf8(labels.splits[source].label(row + 1))


def numbered(values: list[str]) -> Int64Array:
    """Return the number of each text: 63 bits of a hash."""
    from hashlib import blake2b  # here, for what is not needed to start

    words = [int.from_bytes(blake2b(value.encode(), digest_size=8).digest(), "little") >> 1 for value in values]
    return np.array(words, np.int64)


def choose_removed(rows: Batches) -> Batches:
    """Choose the documents that another one stands for."""
    for batch in rows:
        orders, keepers = ints(batch, "order"), ints_or(batch, "keeper", -1)
        gone = (keepers >= 0) & (keepers != orders)
        exact, by_key = (to_numpy(pc.equal(batch.column("reason"), string(name))) for name in ("exact", "key"))
        yield batch_of(REMOVED_DOCUMENTS, orders[gone], keepers[gone], exact[gone], by_key[gone])


def tally(rows: Batches) -> Batches:
    """Count the documents that each kept one stands for: its copies, and all that are removed for it."""
    held = [np.empty(0, np.int64)] * 3
    for batch in rows:
        added = ints(batch, "keeper"), flags(batch, "exact").astype(np.int64), np.ones(len(batch), np.int64)
        keepers, *numbers = (np.concatenate([old, new]) for old, new in zip(held, added, strict=True))
        if not len(keepers):
            continue
        begins = np.flatnonzero(starts_of(keepers, None))
        counted = [keepers[begins], *(np.add.reduceat(some, begins) for some in numbers)]
        yield batch_of(TALLIES, *(column[:-1] for column in counted))  # of the last one more may come
        held = [column[-1:] for column in counted]
    if len(held[0]):
        yield batch_of(TALLIES, *held)


def spare_first(rows: Batches, at_most: int) -> Batches:
    """Choose, of the documents that are removed by text for each kept one, the first in keep order: ``at_most`` stay."""
    before, seen = -1, 0
    for batch in rows:
        batch = batch.filter(pc.invert(batch.column("by_key")))
        keepers = ints(batch, "keeper")
        if not len(keepers):
            continue
        begins = np.flatnonzero(starts_of(keepers, before))
        place = np.arange(len(keepers))
        rank = place - np.concatenate([[-seen], begins])[np.searchsorted(begins, place, side="right")]
        before, seen = int(keepers[-1]), int(rank[-1]) + 1
        some = ints(batch, "order")[rank < at_most - 1]
        yield batch_of(SPARED, some, np.ones(len(some), np.int64))


def name_sources(rows: Batches, origins: SourceKey) -> Batches:
    """Name the source of each document that is in a group, the kept one included."""
    for batch in rows:
        keepers = ints_or(batch, "keeper", -1)
        there = (keepers >= 0) & ~to_numpy(pc.equal(batch.column("reason"), string("key")))
        yield batch_of(DOCUMENT_SOURCES, ints(batch, "order")[there], keepers[there], origins.of(batch)[there])


def count_sources(rows: Batches) -> Batches:
    """Count the different sources of each group."""
    held = [np.empty(0, np.int64)] * 2  # of the last group, more of which may come: keeper, source
    for batch in rows:
        added = ints(batch, "keeper"), ints(batch, "origin")
        some = [np.concatenate([old, new]) for old, new in zip(held, added, strict=True)]
        if not len(some[0]):
            continue
        by_source = np.lexsort((some[1], some[0]))
        keeper, origin = (column[by_source] for column in some)
        begins = starts_of(keeper, None) | starts_of(origin, None)
        found = [keeper[begins], origin[begins]]
        more = found[0] == some[0][-1]  # not the largest: groups come in any order
        yield _counted(found[0][~more])
        held = [column[more] for column in found]
    yield _counted(held[0])


def _counted(keeper: Int64Array) -> pa.RecordBatch:
    """Return the number of sources of whole groups, of which there is a row for each source."""
    begins = np.flatnonzero(starts_of(keeper, None))
    return batch_of(SOURCES, keeper[begins], np.diff(begins, append=len(keeper)))


def list_contributions(rows: Batches, origins: SourceKey, boundary: int) -> Batches:
    """Say of each document of a job (orders from ``boundary`` on) whose group it joins, and as what it counts there."""
    for batch in rows:
        order, keeper = ints(batch, "order"), ints_or(batch, "keeper", -1)
        exact, by_key = (to_numpy(pc.equal(batch.column("reason"), string(name))) for name in ("exact", "key"))
        there, gone = (keeper >= 0) & (order >= boundary), keeper != order
        if "spared" in batch.schema.names:
            gone &= ints_or(batch, "spared", 0) == 0
        counted = (flag[there].astype(np.int64) for flag in (~by_key, exact & gone, gone))
        yield batch_of(CONTRIBUTIONS, order[there], keeper[there], origins.of(batch)[there], *counted)


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
        more = found[0] == some[0][-1]
        held, found = [column[more] for column in found], [column[~more] for column in found]
        yield batch_of(SHARES, found[2], found[0], *found[3:])
    yield batch_of(SHARES, held[2], held[0], *held[3:])


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


def with_spared(rows: Batches) -> Batches:
    """Change the reasons of documents that are spared."""
    exact, near, spared = map(REASONS.index, ("exact", "near", "spared"))
    for batch in rows:
        reason = np.array(to_numpy(pc.index_in(batch.column("reason"), strings(REASONS))), np.int64)
        reason[(ints_or(batch, "spared", 0) > 0) & np.isin(reason, (exact, near))] = spared
        scored = np.isin(reason, (exact, near))
        score = to_arrow(to_numpy(batch.column("score"), 0.0), ~scored)
        changed = {"reason": named(reason), "score": score}
        columns = [changed.get(name, batch.column(name)) for name in batch.schema.names]
        yield pa.RecordBatch.from_arrays(columns, schema=batch.schema)


def named(reason: Int64Array) -> pa.Array:
    """Return the names of reasons."""
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
