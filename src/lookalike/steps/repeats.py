"""Repeated units of texts: keys that may come twice are counted, proposed, met and judged; marks become ranges of bytes.

A unit that was proposed has a number: those of the documents before it, in their order, and of those before it in its document.

==========  ===============================================================================================================
KEYS        key: of each unit
PROPOSED    position, number, bytes, whole (lines or words of the text), n (units that may come twice), units (as UNIT),
            [id], [id_is_text], [skipped]
ROWS        key, second, unit (number)
REPEATED    first (number of the first unit that is equal to some others), count, documents, removed (numbers, 8 bytes each)
==========  ===============================================================================================================
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..core import count_keys, mark_numbers, mix_keys
from ..errors import EncodingError
from ..text.texts import Texts, from_arrow_array
from ..text.units import BARE, UNIT, Lines, Units
from ..values import Int64Array, UInt64Array
from ..values.arrow import to_arrow
from .batches import Batches, batch_of, check_tokens, extend_batch, gather, ints, row_error, starts_of
from .totals import Total

_LOW = np.uint64(0xFFFFFFFF)
_S32 = np.uint64(32)
_SAMPLED = np.uint64(16)
_ROW_BITS = 40
KEYS = pa.schema([("key", pa.int64())])
ROWS = pa.schema([("key", pa.int64()), ("second", pa.int64()), ("unit", pa.int64())])
REPEATED = pa.schema([(name, pa.int64()) for name in ("first", "count", "documents")] + [("removed", pa.large_binary())])
HEAVY = np.dtype([("key", np.int64), ("second", np.int64), ("n", np.int64)])
STATS = np.dtype([("first", np.int64), ("count", np.int64), ("documents", np.int64)])
OUTCOMES = pa.schema([*((name, pa.int64()) for name in ("order", "runs", "size", "bytes")), ("emptied", pa.bool_())])
_KEPT = ("position", "number", "id", "id_is_text", "skipped")


def proposed_schema(documents: pa.Schema) -> pa.Schema:
    """Return the columns of documents with the units that may come twice."""
    kept = [documents.field(name) for name in _KEPT if name in documents.names]
    numbers = [pa.field(name, pa.int64()) for name in ("bytes", "whole", "n")]
    return pa.schema([*kept, *numbers, pa.field("units", pa.large_binary())])


def _texts(rows: Batches, strict: bool, units: Units, most: int) -> Iterator[tuple[pa.RecordBatch, Texts]]:
    """Yield some documents at a time, and their texts; with ``strict`` invalid UTF-8 is an error.

    So is a text of more lines than half of the ``most``, or of four times as many words, which take less memory.
    """
    for batch in rows:
        texts = from_arrow_array(batch.column("text"))
        for begin, end in texts.cut():
            piece, some = batch.slice(begin, end - begin), texts.slice(begin, end)
            check_tokens(piece, some, *(("line", most // 2) if isinstance(units, Lines) else ("word", 4 * most)))
            try:
                if strict:
                    some.check()
            except EncodingError as error:
                raise row_error(piece, error) from None
            yield piece, some


def hash_units(rows: Batches, *, units: Units, strict: bool, most: int = 1 << 60) -> Batches:
    """Turn documents into the keys of their units."""
    for piece, texts in _texts(rows, strict, units, most):
        yield batch_of(KEYS, units.keys(texts, ints(piece, "position")).view(np.int64))


def propose(rows: Batches, *, units: Units, table: UInt64Array, strict: bool, most: int = 1 << 60) -> Batches:
    """Turn documents into what they consist of, with the units that may come twice."""
    for piece, texts in _texts(rows, strict, units, most):
        found = units.find(texts, ints(piece, "position"), table)
        counts = np.diff(found.bounds)
        made = {"bytes": to_arrow(np.diff(texts.offsets)), "whole": to_arrow(found.wholes), "n": to_arrow(counts)}
        made["units"] = Texts(found.units.view(np.uint8), found.units.itemsize * found.bounds).column()
        yield extend_batch(piece, made, proposed_schema(piece.schema))


def _add_keys(total: NDArray[Any], batch: pa.RecordBatch) -> None:
    count_keys(ints(batch, "key").view(np.uint64), total)


def _both_counts(one: NDArray[Any], other: NDArray[Any]) -> NDArray[Any]:
    return np.asarray((one | other) | ((one & other & _LOW) << _S32))


def key_counts(n_words: int) -> Total:
    """Which keys may come twice: a table of so many words, a power of two, for ``Units.find``."""
    return Total(_add_keys, n_words, dtype=np.uint64, combine=_both_counts)


def units_of(batch: pa.RecordBatch) -> NDArray[Any]:
    """Return the units of all documents of a batch, one after the other: UNIT, or BARE."""
    texts = from_arrow_array(batch.column("units"))
    kind = BARE if 0 < texts.n_bytes == BARE.itemsize * int(ints(batch, "n").sum()) else UNIT
    return np.frombuffer(texts.content, kind)


def numbers_of(batch: pa.RecordBatch, starts: Int64Array) -> Int64Array:
    """Return the number of each unit of some documents, by the number of the first of each order."""
    counts = ints(batch, "n")
    before = np.cumsum(counts) - counts
    return np.repeat(starts[ints(batch, "order")] - before, counts) + np.arange(int(counts.sum()))


def list_units(rows: Batches, *, starts: Int64Array) -> Batches:
    """Turn documents into rows of their units: ROWS."""
    for batch in rows:
        units = units_of(batch)
        open = units["key"] | units["second"] != 0
        keys = (units[name][open].view(np.int64) for name in ("key", "second"))
        yield batch_of(ROWS, *keys, numbers_of(batch, starts)[open])


@dataclass(frozen=True)
class Rule:
    """Which of some equal units go: all but the first, or all of more than so many. ``starts`` tells documents apart."""

    over: int | None
    starts: Int64Array

    def goes(self, units: Int64Array, first: Int64Array, count: Int64Array) -> NDArray[np.bool_]:
        """Tell which units go, by the first that is equal to each, and how many are."""
        return units != first if self.over is None else count > self.over

    def document(self, units: Int64Array) -> Int64Array:
        """Return the order of the document that each unit is in."""
        return np.searchsorted(self.starts, units, "right") - 1


def judge(rows: Batches, *, rule: Rule) -> Batches:
    """Turn rows that met by key, sorted by unit, into a row for each set of equal units: REPEATED."""
    for batch in gather(rows, lambda some: np.ones(len(some), np.int64), "key"):
        key, second, unit = (ints(batch, name) for name in ROWS.names)
        if ((key[1:] == key[:-1]) & (second[1:] != second[:-1])).any():  # two units of one first key
            order = np.lexsort((unit, second, key))
            key, second, unit = key[order], second[order], unit[order]
        fresh = starts_of(key, None) | starts_of(second, None)
        sizes = np.diff(np.append(np.flatnonzero(fresh), len(fresh)))
        several = np.repeat(sizes > 1, sizes)
        fresh, unit, sizes = fresh[several], unit[several], sizes[sizes > 1]
        begins = np.flatnonzero(fresh)
        firsts = unit[begins]
        goes = rule.goes(unit, np.repeat(firsts, sizes), np.repeat(sizes, sizes))
        documents = np.add.reduceat(fresh | starts_of(rule.document(unit), None), begins, dtype=np.int64)
        yield _repeated(firsts, sizes, documents, unit[goes], np.add.reduceat(goes, begins, dtype=np.int64))


def _repeated(
    firsts: Int64Array, counts: Int64Array, documents: Int64Array, removed: Int64Array, n: Int64Array
) -> pa.RecordBatch:  # fmt: skip
    bounds = np.concatenate([[0], 8 * np.cumsum(n)])
    return batch_of(REPEATED, firsts, counts, documents, Texts(removed.view(np.uint8), bounds).column())


def _add_heavy(total: NDArray[Any], batch: pa.RecordBatch) -> None:
    key, second, unit = (ints(batch, name) for name in ROWS.names)
    chosen = mix_keys((unit + second).view(np.uint64)) % _SAMPLED == 0  # ``second`` is known to nobody
    rows = np.ones(int(chosen.sum()), HEAVY)
    rows["key"], rows["second"] = key[chosen], second[chosen]
    total[:] = _both_heavy(total, rows)


def _both_heavy(one: NDArray[Any], other: NDArray[Any]) -> NDArray[Any]:
    """Put counts together, and take from all what the first that there is no room for has."""
    both = np.concatenate([one[one["n"] > 0], other[other["n"] > 0]])
    both = both[np.lexsort((both["second"], both["key"]))]
    begins = np.flatnonzero(starts_of(both["key"], None) | starts_of(both["second"], None))
    merged = both[begins]
    merged["n"] = np.add.reduceat(both["n"], begins) if len(begins) else 0
    found = np.zeros(len(one), HEAVY)
    if len(merged) > len(one):
        merged = merged[np.argsort(-merged["n"], kind="stable")]
        merged["n"] -= merged["n"][len(one)]
        merged = merged[: len(one)]
    found[: len(merged)] = merged
    return found


def frequent(n: int) -> Total:
    """Keys, at most ``n``, among them those that clearly more than one in ``n`` rows have, by a sample of one row in 16.

    Agarwal et al., "Mergeable summaries", 2012: a count is too small by no more than the rows of the sample divided by ``n``.
    """
    return Total(_add_heavy, n, fill=0, dtype=HEAVY, combine=_both_heavy)


@dataclass(frozen=True)
class Frequent:
    """Keys that very many units have, sorted: what is known of each is added up, for these would be too many to meet."""

    keys: NDArray[Any]
    rule: Rule

    def _places(self, key: Int64Array, second: Int64Array) -> Int64Array:
        """Return for each unit which of the keys it has, or -1."""
        place = np.minimum(np.searchsorted(self.keys["key"], key), len(self.keys) - 1)
        return np.where((self.keys["key"][place] == key) & (self.keys["second"][place] == second), place, -1)

    def _units(self, batch: pa.RecordBatch) -> tuple[Int64Array, Int64Array]:
        """Return (key, number) of the units of documents that have one."""
        units = units_of(batch)
        place = self._places(*(np.ascontiguousarray(units[name]).view(np.int64) for name in ("key", "second")))
        return place[place >= 0], numbers_of(batch, self.rule.starts)[place >= 0]

    def others(self, rows: Batches) -> Batches:
        """Yield the rows, ROWS, that have other keys."""
        for batch in rows:
            yield batch.filter(to_arrow(self._places(ints(batch, "key"), ints(batch, "second")) < 0))

    @property
    def totals(self) -> Total:
        """What there is of each key in documents: STATS."""
        none = np.zeros(len(self.keys), STATS)
        none["first"] = np.iinfo(np.int64).max
        return Total(self._add, len(none), none, STATS, _both_stats)

    def _add(self, total: NDArray[Any], batch: pa.RecordBatch) -> None:
        place, unit = self._units(batch)
        pairs = np.unique(np.stack([place, self.rule.document(unit)], 1), axis=0)
        np.minimum.at(total["first"], place, unit)
        total["count"] += np.bincount(place, minlength=len(total))
        total["documents"] += np.bincount(pairs[:, 0], minlength=len(total))

    def judge(self, rows: Batches, *, totals: NDArray[Any]) -> Batches:
        """Turn documents into rows that name removed units alone, without a count: REPEATED."""
        for batch in rows:
            place, unit = self._units(batch)
            goes = unit[self.rule.goes(unit, totals["first"][place], totals["count"][place])]
            none = np.zeros(1, np.int64)
            yield _repeated(none, none, none, goes, np.array([len(goes)]))

    def repeated_units(self, totals: NDArray[Any]) -> pa.Table:
        """Return a row for each key that several units have, without what is removed: REPEATED."""
        some = totals[totals["count"] > 1]
        first, count, documents = (np.ascontiguousarray(some[name]) for name in ("first", "count", "documents"))
        none = np.zeros(0, np.int64)
        return pa.Table.from_batches([_repeated(first, count, documents, none, np.zeros_like(first))])


def _both_stats(one: NDArray[Any], other: NDArray[Any]) -> NDArray[Any]:
    found = one.copy()
    found["first"] = np.minimum(one["first"], other["first"])
    for name in ("count", "documents"):
        found[name] += other[name]
    return found


def _mark(total: NDArray[Any], batch: pa.RecordBatch) -> None:
    texts = from_arrow_array(batch.column("removed"))
    mark_numbers(np.frombuffer(texts.content, np.int64), total)


def marks(n: int) -> Total:
    """Bits of removed units, of so many."""
    return Total(_mark, (n + 7) // 8, dtype=np.uint8, combine=np.bitwise_or)


class Runs(NamedTuple):
    """Runs of removed units: the row of the document that each is in, its bytes there, and how many numbers it takes."""

    row: Int64Array
    begin: Int64Array
    end: Int64Array
    size: Int64Array


@dataclass(frozen=True)
class Marks:
    """Which units are removed, a bit for each, beside those of which that is known."""

    bits: NDArray[np.uint8]
    starts: Int64Array

    def runs(self, batch: pa.RecordBatch) -> Runs:
        """Return the runs of removed units of some documents, in the order of these rows."""
        unit, units = numbers_of(batch, self.starts), units_of(batch)
        known = units["key"] | units["second"] == 0
        chosen = np.flatnonzero(known | ((self.bits[unit >> 3] >> (unit & 7).astype(np.uint8)) & 1 != 0))
        row, units = np.repeat(np.arange(len(batch)), ints(batch, "n"))[chosen], units[chosen]
        number = units["number"] + (row << _ROW_BITS)  # ascending: those of a row are below those of the next
        after = np.maximum.accumulate(number + units["size"])
        fresh = starts_of(row, None)
        fresh[1:] |= number[1:] > after[:-1]
        last = np.append(fresh[1:], True)[: len(fresh)]
        end = np.maximum.accumulate(units["end"] + (row << _ROW_BITS)) - (row << _ROW_BITS)
        return Runs(row[fresh], units["begin"][fresh], end[last], after[last] - number[fresh])

    def ranges(self, batch: pa.RecordBatch) -> pa.Array:
        """Return the ranges of bytes that are removed of each document: begin, end, begin, end, ..."""
        runs = self.runs(batch)
        bounds = 2 * np.searchsorted(runs.row, np.arange(len(batch) + 1))
        flat = np.stack([runs.begin, runs.end], 1).reshape(-1)
        return pa.ListArray.from_arrays(to_arrow(bounds.astype(np.int32)), to_arrow(flat))

    def count(self, rows: Batches) -> Batches:
        """Turn documents into what is removed of each: OUTCOMES."""
        for batch in rows:
            runs, n = self.runs(batch), len(batch)
            size = np.bincount(runs.row, runs.size, n).astype(np.int64)
            n_bytes = np.bincount(runs.row, runs.end - runs.begin, n).astype(np.int64)
            emptied = (size > 0) & (size == ints(batch, "whole"))
            yield batch_of(OUTCOMES, ints(batch, "order"), np.bincount(runs.row, minlength=n), size, n_bytes, emptied)
