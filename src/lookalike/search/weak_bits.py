"""Probabilistic SimHash matching: one table, and the bits of the query that are likely to differ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterError
from ..kernels import weak_bits as kernel
from ..kernels.hamming import bucket_offsets, prefixes
from ..kernels.scratch import Hits
from ..kernels.tables import Block
from ..theory.blocks import combinations_within
from ..values import Int64Array, UInt64Array
from .fingerprints import QUERIES_AT_A_TIME, QUERIES_IN_FLIGHT, FingerprintIndex, Margins, Search, sorted_by_prefix

MAX_PREFIX = 26


@dataclass(frozen=True, slots=True)
class WeakBits:
    """Which prefixes, ``count`` bits from ``first_bit`` on, to probe for a query: its own, and those with its weakest bits
    flipped."""

    first_bit: int
    count: int
    radius: int  # most bits flipped
    probes: int  # prefixes a query, its own included

    def prefixes(self, query: UInt64Array, margins: Margins, start: int, stop: int) -> NDArray[np.uint32]:
        """Return the prefixes of queries [start, stop), likeliest first: uint32 of shape (stop - start, probes)."""
        room = self.probes + self.radius + 2
        order, costs = np.empty(self.count, np.int64), np.empty(self.count, np.float64)
        heap = kernel.Heap(np.empty(room, np.float64), np.empty(room, np.uint64), np.empty(room, np.int64))
        flips, out = np.empty(self.probes, np.uint64), np.empty((stop - start, self.probes), np.uint32)
        for begin in range(start, stop, QUERIES_AT_A_TIME):
            some = slice(begin, min(begin + QUERIES_AT_A_TIME, stop))
            asked = query[some]
            known = np.empty((0, 1), np.float32) if margins is None else np.ascontiguousarray(margins[some], np.float32)
            kernel.weak_prefixes(
                asked, known, 0, len(asked), self.first_bit, self.count, self.radius, order, costs, heap, flips,
                out[begin - start :],
            )  # fmt: skip
        return out


@dataclass(frozen=True, slots=True, eq=False)
class SortedTable:
    """Fingerprints in the order of their prefixes, their rows, and where each prefix from ``low`` on begins."""

    words: UInt64Array
    rows: NDArray[np.uint32]
    offsets: NDArray[np.uint32]
    low: int

    @classmethod
    def of_sorted(cls, words: UInt64Array, rows: NDArray[np.uint32], first_bit: int, count: int) -> SortedTable:
        """Index fingerprints that are sorted already; offsets cover only the prefixes that occur."""
        prefix = np.empty(len(words), np.uint64)
        prefixes(words, 0, len(words), np.array([[first_bit, count]]), prefix)
        low, high = (int(prefix[0]), int(prefix[-1])) if len(words) else (0, 0)
        offsets = np.empty(high - low + 2, np.uint32)
        bucket_offsets(prefix, offsets, low)
        return cls(words, rows, offsets, low)

    def search(
        self, query: UInt64Array, wanted: Callable[[int, int], NDArray[np.uint32]], radius: int, first_only: bool,
        self_join: bool, answered: NDArray[np.bool_],
    ) -> Search:  # fmt: skip
        """Return the search of queries for the prefixes that ``wanted(start, stop)`` names."""
        table = kernel.SortedTable(self.words, self.rows, self.offsets, self.low)
        block = Block(np.empty(QUERIES_IN_FLIGHT, np.int64), np.empty(QUERIES_IN_FLIGHT, np.int64), answered)

        def search(start: int, stop: int, hits: Hits, compared: Int64Array) -> int:
            return int(
                kernel.search_prefixes(
                    query, wanted(start, stop), start, stop, table, radius, first_only, self_join, block, hits, compared
                )
            )

        return search


class WeakBitIndex(FingerprintIndex):
    """One sorted table, probed at the query's prefix and at those with its weakest bits flipped, likeliest first.

    Sets of at most ``radius`` bits are flipped in the order of their summed absolute margins: bits whose sums were near zero
    are the ones that differ between near-duplicates. With all sets, C(p, 0) + ... + C(p, radius) probes, the search is exact.

    Parameters
    ----------
    radius : int >= 0, default 3
    prefix_bits : int in [1, 26], optional
        p; default: about log2 of the number of fingerprints.
    probes : int >= 1 or None, default 23
        k: buckets looked at, the query's own included. None: all within the radius, which makes the search exact without
        margins: the thesis' search with one table.
    bits : int, optional

    Raises
    ------
    ParameterError
        If a parameter is out of its range, or fingerprints and margins are incompatible.

    Notes
    -----
    Memory: one table and 2^p offsets. ``query`` is the thesis' PSM_A, ``first`` its PSM_F. Without margins bits are
    flipped in no useful order.

    References
    ----------
    Thesis on probabilistic SimHash matching, chapters IV and V; algorithm 2 replaced by a rule with one heap that yields each
    set once.
    """

    def __init__(
        self, *, radius: int = 3, prefix_bits: int | None = None, probes: int | None = 23, bits: int | None = None
    ) -> None:
        super().__init__(radius=radius, bits=bits)
        if prefix_bits is not None and not 1 <= prefix_bits <= MAX_PREFIX:
            raise ParameterError(f"prefix_bits must be in 1..{MAX_PREFIX}; got {prefix_bits}")
        if probes is not None and probes < 1:
            raise ParameterError(f"probes must be at least 1; got {probes}")
        self.prefix_bits, self.probes = prefix_bits, probes

    def weak_bits(self, n: int) -> WeakBits:
        """Return what is probed among so many fingerprints.

        Parameters
        ----------
        n : int >= 0
        """
        bits = self.bits or 64
        count = min(bits, self.prefix_bits or max(1, min(MAX_PREFIX, int(max(n, 2) - 1).bit_length())))
        every = combinations_within(count, self.radius)
        return WeakBits(bits - count, count, self.radius, every if self.probes is None else min(self.probes, every))

    def _build(self) -> None:
        """Sort by the leading bits."""
        self._weak = self.weak_bits(len(self))
        rows, offsets = sorted_by_prefix(self._stored, ((self._weak.first_bit, self._weak.count),))
        self._table = SortedTable(self._stored[rows], rows, offsets, 0)

    def _search(self, query: UInt64Array, margins: Margins, first_only: bool, self_join: bool) -> Search:
        answered = np.zeros(len(query) if first_only else 0, np.bool_)
        wanted = partial(self._weak.prefixes, query, margins)
        return self._table.search(query, wanted, self.radius, first_only, self_join, answered)
