"""Shingles that many documents have: in how many each comes, and texts that have them all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..kernels import filters
from ..methods.comparable import numbered
from ..text.shingle import Shingling
from ..text.texts import Texts, from_bytes
from ..values import Int64Array, UInt64Array, drop_repeats
from ..values.arrow import to_numpy
from .batches import Batches, batch_of, ints
from .sketch import hashes_of, texts_of
from .totals import Total

SEEN = pa.schema([("value", pa.int64())])
COUNTED = pa.schema([("value", pa.int64()), ("count", pa.int64()), ("text", pa.large_binary())])
CELL_BITS = 22
WINDOW_BYTES = 512
_NONE = np.empty(0, np.uint64)
_SHIFT = np.uint64(64 - CELL_BITS)
_CONTINUES = 0x80  # the upper two bits of a byte of UTF-8 that begins no character


def seen(rows: Batches, shingling: Shingling) -> Batches:
    """Yield the shingle hashes of each document, each once, and a 0 for each document; a hash of 0 is left out."""
    for _, values, offsets in _distinct(rows, shingling):
        marks = np.zeros(len(offsets) - 1, np.int64)
        yield batch_of(SEEN, np.concatenate([marks, values[values != 0].view(np.int64)]))


def _distinct(rows: Batches, shingling: Shingling) -> Iterator[tuple[Texts, UInt64Array, Int64Array]]:
    """Yield (texts, hashes, offsets) of some documents at a time that are not left out: of each its hashes, each once."""
    for batch in rows:
        if "skipped" in batch.schema.names:
            batch = batch.filter(pc.invert(batch["skipped"]))
        for begin, end in texts_of(batch).cut():
            piece = batch.slice(begin, end - begin)
            yield texts_of(piece), *drop_repeats(*hashes_of(piece, shingling, False))


def _add_cells(total: NDArray[Any], batch: pa.RecordBatch) -> None:
    """Count rows of SEEN."""
    values = ints(batch, "value").view(np.uint64)
    there = values != 0
    total[0, -1] += len(values) - int(there.sum())
    for counts, some in zip(total, _both(values[there]), strict=True):
        filters.count_members(some, _SHIFT, counts[:-1])


def _both(values: UInt64Array) -> tuple[UInt64Array, UInt64Array]:
    """Return hashes by whose upper bits cells are counted: as they are, and without these bits."""
    return values, values << np.uint64(CELL_BITS)


CELLS = Total(_add_cells, (2, (1 << CELL_BITS) + 1), dtype=np.int32)
"""How many documents have a shingle, or others of its cell: by the upper bits of hashes, and by the next ones; 34 MB. Last in
the first row is the number of documents."""


def flagged_in(counts: NDArray[Any], least: float) -> tuple[Int64Array, Int64Array]:
    """Return the cells that more than so many documents are in: of all shingles that as many have, and of few others."""
    return np.flatnonzero(counts[0, :-1] > least), np.flatnonzero(counts[1, :-1] > least)


def counted(rows: Batches, shingling: Shingling, cells: tuple[Int64Array, Int64Array]) -> Batches:
    """Count in how many documents the shingles of some cells come, and give texts that have them all, in rows of their own."""
    tally = Tally(shingling, cells)
    for texts, values, offsets in _distinct(rows, shingling):
        places = np.flatnonzero(tally.flagged(values))
        (numbers, _, n), *_ = numbered([(values[places], np.array([0, len(places)]))])
        firsts = places[np.flatnonzero(np.diff(np.maximum.accumulate(numbers), prepend=-1))]
        new = ~_among(values[firsts], tally.values)
        tally.add(values[firsts], np.bincount(numbers, minlength=n))
        documents = np.unique(np.searchsorted(offsets, firsts[new], side="right") - 1)
        some = [texts.row(row) for row in documents.tolist()]
        tally.cover([piece for text in some for piece in windows(text)])
        tally.cover(some)  # for what no piece has
    none = np.zeros(len(tally.texts), np.int64)
    yield batch_of(COUNTED, tally.values.view(np.int64), tally.counts, pa.nulls(len(tally.values), pa.large_binary()))
    yield batch_of(COUNTED, none, none, pa.array(tally.texts, pa.large_binary()))


class Tally:
    """In how many documents the shingles of some cells come, and texts that have them all."""

    def __init__(self, shingling: Shingling, cells: tuple[Int64Array, Int64Array]) -> None:
        self._shingling, self._flagged = shingling, np.zeros((2, 1 << CELL_BITS), np.bool_)
        for flags, some in zip(self._flagged, cells, strict=True):
            flags[some] = True
        self.values, self.counts, self.texts = np.empty(0, np.uint64), np.empty(0, np.int64), list[bytes]()
        self._covered = self.values

    def flagged(self, values: UInt64Array) -> NDArray[np.bool_]:
        """Tell which hashes are of the cells."""
        one, other = ((some >> _SHIFT).view(np.int64) for some in _both(values))
        return np.asarray(self._flagged[0][one] & self._flagged[1][other])

    def add(self, values: UInt64Array, counts: Int64Array) -> None:
        """Add counts of some shingles."""
        fresh = ~_among(values, self.values)
        if fresh.any():
            both = np.concatenate([self.values, values[fresh]])
            self.values, firsts = np.unique(both, return_index=True)
            self.counts = np.concatenate([self.counts, np.zeros(len(both) - len(self.counts), np.int64)])[firsts]
        np.add.at(self.counts, np.searchsorted(self.values, values), counts)

    def cover(self, texts: list[bytes]) -> None:
        """Hold those of some texts that have shingles of the cells which no held text has."""
        chosen, found = _covering(self._shingling, texts, self.flagged, self._covered)
        self.texts += chosen
        self._covered = np.union1d(self._covered, found)

    def take(self, batch: pa.RecordBatch) -> None:
        """Add rows of COUNTED."""
        texts = to_numpy(batch["text"].is_valid())
        self.add(ints(batch, "value")[~texts].view(np.uint64), ints(batch, "count")[~texts])
        self.cover(batch["text"].drop_null().to_pylist())

    def common(self, least: float) -> tuple[UInt64Array, Texts]:
        """Return the shingles that come in more than ``least`` documents, and texts that have them."""
        values = self.values[self.counts > least]
        return values, from_bytes(_covering(self._shingling, self.texts, partial(_among, ascending=values))[0])


def _among(values: UInt64Array, ascending: UInt64Array) -> NDArray[np.bool_]:
    """Tell which values are among others, which ascend."""
    if not len(ascending):
        return np.zeros(len(values), np.bool_)
    places = np.minimum(np.searchsorted(ascending, values), len(ascending) - 1)
    return np.asarray(ascending[places] == values)


def _covering(
    shingling: Shingling, texts: list[bytes], wanted: Callable[[UInt64Array], NDArray[np.bool_]], but: UInt64Array = _NONE
) -> tuple[list[bytes], UInt64Array]:
    """Choose texts that together have all wanted shingles of any of them, ``but`` some, which ascend; return them and these.

    For each shingle the text is chosen that has the most of them.
    """
    if not texts:
        return [], _NONE
    hashes, offsets = shingling.hashes(from_bytes(texts))
    places = np.flatnonzero(wanted(hashes))
    places = places[~_among(hashes[places], but)]
    values, rows = hashes[places], np.searchsorted(offsets, places, side="right") - 1
    order = np.lexsort((rows, -np.bincount(rows, minlength=len(texts))[rows], values))
    begins = np.ones(len(order), np.bool_)
    begins[1:] = values[order[1:]] != values[order[:-1]]
    firsts = order[begins]
    return [texts[row] for row in np.unique(rows[firsts]).tolist()], values[firsts]


def windows(text: bytes) -> list[bytes]:
    """Cut a text into pieces of which each but the first begins in the middle of the one before."""
    starts = [0, *range(WINDOW_BYTES // 2, max(1, len(text) - WINDOW_BYTES // 2), WINDOW_BYTES // 2)]
    return [text[_character(text, start) : _character(text, start + WINDOW_BYTES)] for start in starts]


def _character(text: bytes, place: int) -> int:
    """Return where the next character begins."""
    while place < len(text) and text[place] & 0xC0 == _CONTINUES:
        place += 1
    return place
