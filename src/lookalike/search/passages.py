"""Reference documents in memory, whole or cut into passages: which of them a document contains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterError
from ..kernels import overlap as kernel
from ..kernels.scratch import room_for, scratch, spread
from ..values import Float64Array, Int64Array, UInt64Array, drop_repeats

LONG = 64  # passages that share a shingle and are gone through whatever else they have
MAX_ENTRIES = (1 << 31) - 1  # places in the inverted list have 32 bits


@dataclass(frozen=True, slots=True, eq=False)
class Hits:
    """Shingles of documents that passages have, by row and the token that they begin with."""

    rows: Int64Array
    tokens: Int64Array
    numbers: NDArray[np.int32]

    def bounds(self, n: int) -> Int64Array:
        """Return where the hits of each of ``n`` rows begin, and the end."""
        return np.searchsorted(self.rows, np.arange(n + 1))

    def some(self, chosen: NDArray[np.bool_]) -> Hits:
        """Return those that are marked."""
        return Hits(self.rows[chosen], self.tokens[chosen], self.numbers[chosen])

    @classmethod
    def together(cls, parts: Sequence[Hits]) -> Hits:
        """Return all hits of several, in order."""
        parts = [one for one in parts if len(one.rows)] or parts[:1]
        if len(parts) == 1:
            return parts[0]
        rows, tokens, numbers = (
            np.concatenate([getattr(one, name) for one in parts]) for name in ("rows", "tokens", "numbers")
        )
        order = np.lexsort((numbers, tokens, rows))
        return cls(rows[order], tokens[order], numbers[order])


NO_HITS = Hits(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int32))


@dataclass(frozen=True, slots=True, eq=False)
class Passages:
    """Passages of reference documents, as an inverted list of their shingles.

    Shingles that many passages have, of a template perhaps, are not gone through for passages that cannot match by these alone:
    a passage of s shingles matches where s times the threshold are common, or more, whatever the measure is. The table is
    looked up by the ``factor`` of the process that made it, in any process.
    """

    document: Int64Array
    start: Int64Array
    lists: kernel.Passages

    @property
    def sizes(self) -> Int64Array:
        """How many distinct shingles each passage has."""
        return self.lists.sizes

    @property
    def n_shingles(self) -> int:
        """How many distinct shingles all have."""
        return len(self.lists.scanned)

    @classmethod
    def of(cls, values: UInt64Array, offsets: Int64Array, width: int | None, threshold: float = 0.0) -> Passages:
        """Cut rows of shingle hashes, in their order, into passages of ``width`` shingles, each half in the next.
        ``threshold``: the lowest that ``match`` is asked for."""
        length = np.diff(offsets)
        width = None if width is None else min(width, max(1, int(length.max(initial=1))))
        last = np.maximum(0, length - (length if width is None else width))
        step = max(1, (width or 0) // 2)
        counts = np.where(length > 0, -(-last // step) + 1, 0)
        document = np.repeat(np.arange(len(length)), counts)
        start = np.minimum(_within(counts) * step, last[document])
        size = length[document] if width is None else np.minimum(width, length[document])
        total = int(size.sum())
        if total > MAX_ENTRIES:
            raise ParameterError(
                f"the reference documents have {total:,} shingles (with passages, half of each passage counts twice); at most "
                f"{MAX_ENTRIES:,} fit: divide the reference documents, or use longer passages"
            )
        number = np.repeat(np.arange(len(size), dtype=np.int32), size)
        flat = values if width is None else values[np.repeat(offsets[document] + start, size) + _within(size)]
        table = np.zeros(1 << max(4, (2 * total).bit_length()), np.uint64)
        numbers, shingle = np.zeros(len(table), np.int32), np.empty(total, np.int32)
        factor = spread()
        distinct = kernel.fill_table(flat, factor, table, numbers, shingle)
        del flat
        last, lists, sizes = np.full(distinct, -1, np.int32), np.zeros(distinct + 1, np.int64), np.zeros(len(size), np.int64)
        kernel.count_lists(shingle, number, last, sizes, lists[1:])
        np.cumsum(lists, out=lists)
        bounds = np.concatenate([[0], np.cumsum(sizes)])
        listed, members = np.empty(lists[-1], np.int32), np.empty(bounds[-1], np.int32)
        last.fill(-1)
        kernel.fill_lists(shingle, number, last, lists[:-1].copy(), listed, members)
        hiding = _hide(lists, listed, sizes, threshold)
        return cls(document, start, kernel.Passages(table, numbers, lists, listed, *hiding, sizes, bounds, members, factor))

    def find(self, values: UInt64Array, offsets: Int64Array, tokens: Int64Array | None = None) -> Hits:
        """Return the shingles of rows of values, in the order of their tokens, that passages have. ``tokens``: which ones
        values begin with; ``offsets`` are then those of tokens."""
        places, numbers = scratch("places", len(values), np.int64), scratch("numbers", len(values), np.int32)
        n = kernel.find_values(values, self.lists.table, self.lists.numbers, self.lists.spread, places, numbers)
        if not n:
            return NO_HITS
        at = places[:n] if tokens is None else tokens[places[:n]]
        rows = np.searchsorted(offsets, at, side="right") - 1
        return Hits(rows, at - offsets[rows], numbers[:n].copy())

    def match(
        self, hits: Hits, n: int, threshold: float, covers: int = 0
    ) -> tuple[Int64Array, Int64Array, Int64Array, NDArray[np.bool_], NDArray[np.bool_]]:
        """Return (row, passage, common shingles) of all matches of ``n`` rows; which hits a match has; and which are the first
        of a shingle in a row, but none of a match of ``covers`` common shingles or more. A match has ``threshold`` times the
        shingles of the passage, or more."""
        counts = kernel.Counts(
            np.zeros(len(self.sizes), np.int64), np.empty(len(self.sizes), np.int64), np.empty(len(hits.rows), np.int64),
            np.zeros(self.n_shingles, np.int64),
        )  # fmt: skip
        found, bounds = room_for(len(self.sizes) + 4096), hits.bounds(n)
        needed, outside = np.zeros((2, len(hits.rows)), np.bool_)
        parts, row = [[np.empty(0, np.int64)] * 3], 0
        while row < n and len(hits.rows):
            row, count = kernel.match_rows(
                bounds, hits.numbers, self.lists, threshold, covers, counts, row, found, needed, outside
            )
            parts.append([array[:count].copy() for array in found])
        rows, passages, both = (np.concatenate(column) for column in zip(*parts, strict=True))
        return rows, passages, both, needed, outside

    def resembling(
        self, values: UInt64Array, offsets: Int64Array, threshold: float
    ) -> tuple[Int64Array, Int64Array, Float64Array]:
        """Return (row, passage, resemblance) of the matches of rows of values."""
        values, offsets = drop_repeats(values, offsets)
        rows, passages, both, *_ = self.match(self.find(values, offsets), len(offsets) - 1, threshold)
        score = both / (np.diff(offsets)[rows] + self.sizes[passages] - both)
        reached = score >= threshold
        return rows[reached], passages[reached], score[reached]

    def containing(
        self, values: UInt64Array, offsets: Int64Array, threshold: float, floor: float
    ) -> tuple[Int64Array, Int64Array, Float64Array]:
        """Return (row, passage, share of the passage's shingles in the row) of the matches of rows of values; those of less
        resemblance than ``floor`` are none."""
        values, offsets = drop_repeats(values, offsets)
        rows, passages, both, *_ = self.match(self.find(values, offsets), len(offsets) - 1, threshold)
        alike = both / (np.diff(offsets)[rows] + self.sizes[passages] - both) >= floor
        return rows[alike], passages[alike], (both / self.sizes[passages])[alike]

    def best(self, rows: Int64Array, passages: Int64Array, score: Float64Array, other: Float64Array) -> Int64Array:
        """Return the places of the best passage of each pair of documents, by score and other score, best first."""
        document = self.document[passages]
        order = np.lexsort((passages, -other, -score, document, rows))
        first = np.ones(len(order), np.bool_)
        first[1:] = (np.diff(rows[order]) != 0) | (np.diff(document[order]) != 0)
        order = order[first]
        return order[np.lexsort((document[order], -other[order], -score[order], rows[order]))]


def _hide(bounds: Int64Array, lists: NDArray[np.int32], sizes: Int64Array, threshold: float) -> tuple[Int64Array, Int64Array]:
    """Put passages that cannot match by long lists alone to their ends; return (where these begin, shingles hidden there)."""
    length = np.diff(bounds)
    long = np.flatnonzero(length > LONG)
    scanned, owner = bounds[1:].copy(), np.repeat(long, length[long])
    places = np.repeat(bounds[long], length[long]) + _within(length[long])
    hidden = np.bincount(lists[places], minlength=len(sizes))
    hidden[hidden >= threshold * sizes * (1 - 1e-12)] = 0
    gone = hidden[lists[places]] > 0
    lists[places] = lists[places][np.lexsort((gone, owner))]
    scanned[long] -= np.bincount(owner[gone], minlength=len(length))[long]
    return scanned, hidden


def _within(counts: Int64Array) -> Int64Array:
    """Return 0, 1, ... up to each count, one run after the other."""
    ends = np.cumsum(counts)
    return np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - counts, counts)
