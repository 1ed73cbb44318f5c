"""Probabilistic SimHash matching: one table, and the bits of the query that are likely to differ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..core import ascending_offsets, search_prefixes, weak_prefixes
from ..theory.blocks import combinations_within
from ..values import UInt64Array
from ..values.arrays import native, whole
from .fingerprints import QUERIES_AT_A_TIME, FingerprintIndex, Margins, PrefixTables, Search

MAX_PREFIX = 26


@dataclass(frozen=True, slots=True)
class WeakBits:
    """Which prefixes of ``count`` bits, the last ones, to probe for a query of ``bits`` bits: its own, and those with its
    weakest bits flipped."""

    bits: int
    count: int
    radius: int  # most bits flipped
    probes: int  # prefixes a query, its own included

    @classmethod
    def within(cls, bits: int, count: int, radius: int, probes: int | None) -> WeakBits:
        """Return at most so many probes of a radius; those that find every pair, where these are not more (None: anyway)."""
        every = combinations_within(count, radius)
        return cls(bits, count, radius, every if probes is None else min(probes, every))

    @property
    def first_bit(self) -> int:
        """Where the prefix begins."""
        return self.bits - self.count

    def prefixes(self, query: UInt64Array, margins: Margins, start: int, stop: int) -> NDArray[np.uint32]:
        """Return the prefixes of queries [start, stop), likeliest first: uint32 of shape (stop - start, probes)."""
        out = np.empty((stop - start, self.probes), np.uint32)
        for begin in range(start, stop, QUERIES_AT_A_TIME):
            some = slice(begin, min(begin + QUERIES_AT_A_TIME, stop))
            known = np.empty((0, 1), np.float32) if margins is None else native(margins[some], np.float32)
            part = out[begin - start : some.stop - start]
            weak_prefixes(query[some], known, self.first_bit, self.count, self.radius, part)
        return out

    def table(self, words: UInt64Array, ascending: bool = False) -> PrefixTables:
        """Sort fingerprints; of those that ascend as numbers, which are in order, offsets cover only prefixes that occur."""
        if not ascending:
            return PrefixTables.of(words, np.array([[0, self.first_bit, self.count]]))
        offsets, low = ascending_offsets(words, self.first_bit, self.count)
        return PrefixTables(words, np.empty(0, np.uint32), offsets, np.array([0, len(offsets)]), low)

    def search(
        self, table: PrefixTables, query: UInt64Array, wanted: Callable[[int, int], NDArray[np.uint32]],
        answered: NDArray[np.bool_] | None, self_join: bool = False,
    ) -> Search:  # fmt: skip
        """Return the search of queries for the prefixes that ``wanted(start, stop)`` names; with ``answered`` for one hit of
        each query that is not."""
        flags = np.zeros(0, np.bool_) if answered is None else answered
        return lambda start, stop: search_prefixes(
            query, wanted(start, stop), start, stop, table, self.radius, self_join, flags
        )


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
        k: buckets looked at, the query's own included. None: all within the radius, the thesis' exact search with one table.
    bits : int, optional

    Raises
    ------
    ParameterError
        If a parameter is out of its range, or fingerprints and margins are incompatible.

    Notes
    -----
    Memory: the fingerprints, sorted, their rows (4 bytes) and 2^p offsets (4 bytes). ``query`` is the thesis' PSM_A,
    ``first`` its PSM_F. Without margins bits are flipped in no useful order.

    References
    ----------
    Thesis on probabilistic SimHash matching, chapters IV and V; algorithm 2 replaced by a rule with one heap that yields each
    set once.

    Examples
    --------
    >>> import numpy as np
    >>> import lookalike as la
    >>> index = la.search.WeakBitIndex(radius=3, probes=None).add(np.array([0b0000, 0b0111, 0b11111], np.uint64))
    >>> index.query(np.array([0], np.uint64)).right.tolist(), index.first(np.array([0], np.uint64)).tolist()
    ([0, 1], [0])
    """

    def __init__(
        self, *, radius: int = 3, prefix_bits: int | None = None, probes: int | None = 23, bits: int | None = None
    ) -> None:
        super().__init__(radius=radius, bits=bits)
        self.prefix_bits: int | None = None if prefix_bits is None else whole("prefix_bits", prefix_bits, 1, MAX_PREFIX)
        self.probes: int | None = None if probes is None else whole("probes", probes, 1)

    def weak_bits(self, n: int) -> WeakBits:
        """Return what is probed among so many fingerprints.

        Parameters
        ----------
        n : int >= 0
        """
        bits = self.bits or 64
        numbered = max(1, min(MAX_PREFIX, int(max(n, 2) - 1).bit_length()))
        return WeakBits.within(bits, min(bits, self.prefix_bits or numbered), self.radius, self.probes)

    def _build(self) -> None:
        """Sort by the last bits."""
        self._weak = self.weak_bits(len(self))
        self._sorted = self._weak.table(self._stored)

    def _search(self, query: UInt64Array, margins: Margins, first_only: bool, self_join: bool) -> Search:
        answered = np.zeros(len(query), np.bool_) if first_only else None
        wanted = partial(self._weak.prefixes, query, margins)
        return self._weak.search(self._sorted, query, wanted, answered, self_join)
