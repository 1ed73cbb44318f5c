"""Probabilistic SimHash matching: a table or a few, and the bits of the query that are likely to differ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterError
from ..kernels import weak_bits as kernel
from ..kernels.hamming import bucket_offsets, prefixes
from ..kernels.scratch import Hits
from ..kernels.tables import Block
from ..theory.weak_bits import exact_probes
from ..values import Int64Array, UInt64Array
from ..values.arrays import whole
from .fingerprints import QUERIES_AT_A_TIME, QUERIES_IN_FLIGHT, FingerprintIndex, Margins, Search, sorted_by_prefix

MAX_PREFIX, MOST_TABLES = 26, 8


@dataclass(frozen=True, slots=True)
class WeakBits:
    """Which prefixes of ``count`` bits to probe for a query of ``bits`` bits: its own in each table, and those with its weakest
    bits flipped. The last bits make the first table's prefix, those before the last bits // tables the next one's."""

    bits: int
    count: int
    radius: int  # most bits flipped
    probes: int  # prefixes a query in all tables, its own included
    tables: int = 1

    @classmethod
    def within(cls, bits: int, count: int, radius: int, probes: int | None, tables: int = 1) -> WeakBits:
        """Return at most so many probes of a radius; those that find every pair, where these are not more (None: anyway)."""
        every = exact_probes(count, radius, tables)
        if probes is None or probes >= every:
            return cls(bits, count, radius // tables, every, tables)
        return cls(bits, count, radius, probes, tables)

    @property
    def first_bits(self) -> list[int]:
        """Where the prefix of each table begins."""
        return [self.bits - table * (self.bits // self.tables) - self.count for table in range(self.tables)]

    def prefixes(self, query: UInt64Array, margins: Margins, start: int, stop: int) -> NDArray[np.uint32]:
        """Return the prefixes of queries [start, stop), likeliest first, tables taking turns: uint32 of shape (stop - start,
        probes)."""
        most = -(-self.probes // self.tables)
        room = most + self.radius + 2
        flipped = max(1, min(self.count, most - 1))
        order, costs = np.empty(flipped, np.int64), np.empty(flipped, np.float64)
        heap = kernel.Heap(np.empty(room, np.float64), np.empty(room, np.uint64), np.empty(room, np.int64))
        out = np.empty((stop - start, self.probes), np.uint32)
        for begin in range(start, stop, QUERIES_AT_A_TIME):
            some = slice(begin, min(begin + QUERIES_AT_A_TIME, stop))
            asked = query[some]
            known = np.empty((0, 1), np.float32) if margins is None else np.ascontiguousarray(margins[some], np.float32)
            for table, first_bit in enumerate(self.first_bits[: self.probes]):
                mine = out[begin - start : some.stop - start, table :: self.tables]
                written = mine if mine.flags.c_contiguous else np.empty(mine.shape, np.uint32)
                kernel.weak_prefixes(
                    asked, known, 0, len(asked), first_bit, self.count, self.radius, order, costs, heap,
                    np.empty(mine.shape[1], np.uint64), written,
                )  # fmt: skip
                if written is not mine:
                    mine[:] = written
        return out


@dataclass(frozen=True, slots=True, eq=False)
class SortedTables:
    """Fingerprints in the order of their prefixes in each table, their rows, and where each prefix begins."""

    arrays: kernel.SortedTables

    @classmethod
    def of(cls, words: UInt64Array, weak: WeakBits, ascending: bool = False) -> SortedTables:
        """Sort fingerprints; those that ascend as numbers are in the order of the first table, of whose prefixes offsets cover
        only those that occur."""
        tables, rows, offsets, lows = [], [], [], np.zeros(weak.tables, np.int64)
        for table, first_bit in enumerate(weak.first_bits):
            if ascending and table == 0:
                order, begins, lows[0] = _offsets_of_ascending(words, first_bit, weak.count)
            else:
                order, begins = sorted_by_prefix(words, ((first_bit, weak.count),))
            tables.append(words if ascending and table == 0 else words[order])
            rows.append(order)
            offsets.append(begins)
        begin_at, firsts = np.cumsum([0, *map(len, offsets)]), np.array(weak.first_bits)
        joined = _together(tables), _together(rows), np.concatenate(offsets)
        return cls(kernel.SortedTables(*joined, begin_at, lows, firsts, weak.count))

    def search(
        self, query: UInt64Array, wanted: Callable[[int, int], NDArray[np.uint32]], radius: int, first_only: bool,
        self_join: bool, answered: NDArray[np.bool_],
    ) -> Search:  # fmt: skip
        """Return the search of queries for the prefixes that ``wanted(start, stop)`` names."""
        block = Block(np.empty(QUERIES_IN_FLIGHT, np.int64), np.empty(QUERIES_IN_FLIGHT, np.int64), answered)

        def search(start: int, stop: int, hits: Hits, compared: Int64Array) -> int:
            return int(
                kernel.search_prefixes(
                    query, wanted(start, stop), start, stop, self.arrays, radius, first_only, self_join, block, hits, compared
                )
            )

        return search


def _together(arrays: list[Any]) -> Any:
    """Arrays of tables as one, without a copy of a single one."""
    return arrays[0][None] if len(arrays) == 1 else np.stack(arrays)


def _offsets_of_ascending(words: UInt64Array, first_bit: int, count: int) -> tuple[Any, Any, int]:
    """Return (rows, offsets of the prefixes that occur, the lowest of them) of fingerprints that are sorted already."""
    prefix = np.empty(len(words), np.uint64)
    prefixes(words, 0, len(words), np.array([[first_bit, count]]), prefix)
    low, high = (int(prefix[0]), int(prefix[-1])) if len(words) else (0, 0)
    offsets = np.empty(high - low + 2, np.uint32)
    bucket_offsets(prefix, offsets, low)
    return np.arange(len(words), dtype=np.uint32), offsets, low


class WeakBitIndex(FingerprintIndex):
    """One sorted table, probed at the query's prefix and at those with its weakest bits flipped, likeliest first; or a few.

    Sets of at most ``radius`` bits are flipped in the order of their summed absolute margins: bits whose sums were near zero
    are the ones that differ between near-duplicates. With all sets, C(p, 0) + ... + C(p, radius) probes, the search is exact.

    Several tables are sorted by prefixes that have no bit in common, and take turns with the probes. A pair is missed only if
    all miss it: two tables need about a third of the probes that one needs for a recall of 0.99. With all sets of radius // m
    bits in each of m tables the search is exact, for one of them has no more differing bits.

    Parameters
    ----------
    radius : int >= 0, default 3
    prefix_bits : int in [1, 26], optional
        p; default: about log2 of the number of fingerprints. At most bits // tables are taken.
    probes : int >= 1 or None, default 23
        k: buckets looked at in all tables, the query's own included, at least one for each. None: as many as make the search
        exact without margins; of one table all within the radius, the thesis' search with one table.
    bits : int, optional
    tables : int in [1, 8], default 1
        m.

    Raises
    ------
    ParameterError
        If a parameter is out of its range, or fingerprints and margins are incompatible.

    Notes
    -----
    Memory: each table has the fingerprints, their rows (4 bytes) and 2^p offsets (4 bytes). ``query`` is the thesis' PSM_A,
    ``first`` its PSM_F. Without margins bits are flipped in no useful order.

    References
    ----------
    Thesis on probabilistic SimHash matching, chapters IV and V; algorithm 2 replaced by a rule with one heap that yields each
    set once. Several tables: Norouzi, Punjani & Fleet, "Fast search in Hamming space with multi-index hashing", CVPR 2012, who
    flip all bits alike.

    Examples
    --------
    >>> import numpy as np
    >>> import lookalike as la
    >>> index = la.WeakBitIndex(radius=3, probes=None, tables=2).add(np.array([0b0000, 0b0111, 0b11111], np.uint64))
    >>> index.query(np.array([0], np.uint64)).right.tolist()
    [0, 1]
    """

    def __init__(
        self,
        *,
        radius: int = 3,
        prefix_bits: int | None = None,
        probes: int | None = 23,
        bits: int | None = None,
        tables: int = 1,
    ) -> None:
        super().__init__(radius=radius, bits=bits)
        self.prefix_bits = None if prefix_bits is None else whole("prefix_bits", prefix_bits, 1, MAX_PREFIX)
        self.tables = whole("tables", tables, 1, MOST_TABLES)
        self.probes = None if probes is None else whole("probes", probes, 0)
        if self.probes is not None and self.probes < self.tables:
            raise ParameterError(f"probes must be at least {self.tables}, one for each table; got {probes}")

    def weak_bits(self, n: int) -> WeakBits:
        """Return what is probed among so many fingerprints.

        Parameters
        ----------
        n : int >= 0

        Raises
        ------
        ParameterError
            If there are more tables than bits.
        """
        bits = self.bits or 64
        if self.tables > bits:
            raise ParameterError(
                f"fingerprints of {bits} bits have prefixes for {bits} tables at most; got {self.tables} tables"
            )
        numbered = max(1, min(MAX_PREFIX, int(max(n, 2) - 1).bit_length()))
        return WeakBits.within(
            bits, min(bits // self.tables, self.prefix_bits or numbered), self.radius, self.probes, self.tables
        )

    def _build(self) -> None:
        """Sort by the bits of each table."""
        self._weak = self.weak_bits(len(self))
        self._sorted = SortedTables.of(self._stored, self._weak)

    def _search(self, query: UInt64Array, margins: Margins, first_only: bool, self_join: bool) -> Search:
        answered = np.zeros(len(query) if first_only else 0, np.bool_)
        wanted = partial(self._weak.prefixes, query, margins)
        return self._sorted.search(query, wanted, self.radius, first_only, self_join, answered)
