"""Reference documents in memory, whole or cut into passages: which of them a document contains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core import find_values, index_values, invert_passages, match_passages
from ..errors import ParameterError
from ..values import Float64Array, Int64Array, UInt64Array, drop_repeats
from ..values.arrays import concatenate_columns, expand_counts

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
        rows, tokens, numbers = concatenate_columns((one.rows, one.tokens, one.numbers) for one in parts)
        order = np.lexsort((numbers, tokens, rows))
        return cls(rows[order], tokens[order], numbers[order])


NO_HITS = Hits(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int32))


class Lists(NamedTuple):
    """An inverted list: ``lists[offsets[i]:offsets[i + 1]]`` are the passages that have shingle i, gone through up to
    ``scanned[i]``; passages after that match no row by such shingles alone, of which they have ``hidden``. Passage
    i has the distinct shingles ``members[bounds[i]:bounds[i + 1]]``."""

    offsets: Int64Array
    lists: NDArray[np.int32]
    scanned: Int64Array
    hidden: Int64Array
    bounds: Int64Array
    members: NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Passages:
    """Passages of reference documents, of so many distinct shingles each, as an inverted list of these.

    Shingles that many passages have, of a template perhaps, are not gone through for passages that cannot match by these alone:
    a passage of s shingles matches where s times the threshold are common, or more, whatever the measure is. ``index``: a table
    of their hashes, the number of each, and the factor by which it is looked up, that of the process that made it.
    """

    document: Int64Array
    start: Int64Array
    sizes: Int64Array
    index: tuple[UInt64Array, NDArray[np.int32], int]
    lists: Lists

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
        document, place = expand_counts(counts)
        start = np.minimum(place * step, last[document])
        size = length[document] if width is None else np.minimum(width, length[document])
        total = int(size.sum())
        if total > MAX_ENTRIES:
            raise ParameterError(
                f"the reference documents have {total:,} shingles (with passages, half of each passage counts twice); at most "
                f"{MAX_ENTRIES:,} fit: divide the reference documents, or use longer passages"
            )
        which, place = expand_counts(size)
        flat = values if width is None else values[(offsets[document] + start)[which] + place]
        del which, place
        index, shingles, distinct = index_values(flat)
        del flat
        lists, listed, bounds, members = invert_passages(shingles, size, distinct)
        sizes = np.diff(bounds)
        hiding = _hide(lists, listed, sizes, threshold)
        return cls(document, start, sizes, index, Lists(lists, listed, *hiding, bounds, members))

    def find(self, values: UInt64Array, offsets: Int64Array, tokens: Int64Array | None = None) -> Hits:
        """Return the shingles of rows of values, in the order of their tokens, that passages have. ``tokens``: which ones
        values begin with; ``offsets`` are then those of tokens."""
        places, numbers = find_values(values, self.index)
        if not len(places):
            return NO_HITS
        at = places if tokens is None else tokens[places]
        rows = np.searchsorted(offsets, at, side="right") - 1
        return Hits(rows, at - offsets[rows], numbers)

    def match(
        self, hits: Hits, n: int, threshold: float, covers: int = 0
    ) -> tuple[Int64Array, Int64Array, Int64Array, NDArray[np.bool_], NDArray[np.bool_]]:
        """Return (row, passage, common shingles) of all matches of ``n`` rows; which hits a match has; and which are the first
        of a shingle in a row, but none of a match of ``covers`` common shingles or more. A match has ``threshold`` times the
        shingles of the passage, or more."""
        *matches, needed, outside = match_passages(hits.bounds(n), hits.numbers, self.lists, threshold, covers)
        return *matches, needed.view(np.bool_), outside.view(np.bool_)

    def resembling(
        self, values: UInt64Array, offsets: Int64Array, threshold: float
    ) -> tuple[Int64Array, Int64Array, Float64Array]:
        """Return (row, passage, resemblance) of the matches of rows of values."""
        rows, passages, score, _ = self._match_rows(values, offsets, threshold)
        reached = score >= threshold
        return rows[reached], passages[reached], score[reached]

    def containing(
        self, values: UInt64Array, offsets: Int64Array, threshold: float, floor: float
    ) -> tuple[Int64Array, Int64Array, Float64Array]:
        """Return (row, passage, share of the passage's shingles in the row) of the matches of rows of values; those of less
        resemblance than ``floor`` are none."""
        rows, passages, score, share = self._match_rows(values, offsets, threshold)
        alike = score >= floor
        return rows[alike], passages[alike], share[alike]

    def _match_rows(
        self, values: UInt64Array, offsets: Int64Array, threshold: float
    ) -> tuple[Int64Array, Int64Array, Float64Array, Float64Array]:
        """Return (row, passage, resemblance, containment) of the matches of rows of values."""
        values, offsets = drop_repeats(values, offsets)
        rows, passages, both, *_ = self.match(self.find(values, offsets), len(offsets) - 1, threshold)
        sizes = self.sizes[passages]
        return rows, passages, both / (np.diff(offsets)[rows] + sizes - both), both / sizes

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
    which, place = expand_counts(length[long])
    scanned, owner, places = bounds[1:].copy(), long[which], bounds[long][which] + place
    hidden = np.bincount(lists[places], minlength=len(sizes))
    hidden[hidden >= threshold * sizes * (1 - 1e-12)] = 0
    gone = hidden[lists[places]] > 0
    lists[places] = lists[places][np.lexsort((gone, owner))]
    scanned[long] -= np.bincount(owner[gone], minlength=len(length))[long]
    return scanned, hidden
