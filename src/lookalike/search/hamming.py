"""The index of fingerprints that chooses its own tables."""

from __future__ import annotations

from math import log2

import numpy as np

from ..core import find_roots
from ..errors import ParameterError
from ..theory.hamming_costs import DEFAULT
from ..values import Int64Array, Pairs, UInt64Array
from ..values.arrays import concatenate_columns, number, share, whole
from .fingerprints import ExhaustiveHammingIndex, FingerprintIndex, Growing, Hits, Margins, Values, collect
from .self_join import equal_rows, near_pairs, spread_pairs
from .tables import BlockTables, Layout, choose_layout

BYTES_EACH, LEAST_MEMORY = 64.0, 2.0**28
SCANNED = 2048  # so few fingerprints are compared one by one


class HammingIndex(FingerprintIndex):
    """Finds fingerprints within a radius, by the tables that a model of the machine says are fastest.

    Each table is sorted by a block of bits, or several; a query looks where its own block, and those one or two bits away,
    are. By the pigeonhole principle enough tables and flips find every pair: two tables with one flip each are exact at
    radius 3, and so are ten tables of two of five blocks without flips.

    Parameters
    ----------
    radius : int >= 0, default 3
        Bits, inclusive.
    recall : float in (0, 1], default 1.0
        Share of pairs at the radius that must be found, if all bits are equally likely to differ. 1 is exact.
    memory : float > 0, optional
        Bytes that may be used; more tables can be faster, and where none fit, all fingerprints are compared. Default: 64 a
        fingerprint and word, at least 256 MB.
    bits : int, optional

    Raises
    ------
    ParameterError
        If a parameter is out of its range, or fingerprints are incompatible.

    Notes
    -----
    Memory: 8 bytes a fingerprint of 64 bits, 12 more for each table, and its offsets (4 bytes each). Fingerprints added
    later form segments that merge as they grow, so that adding costs a logarithmic number of sorts.

    References
    ----------
    Norouzi, Punjani & Fleet, "Fast search in Hamming space with multi-index hashing", CVPR 2012; Manku et al., WWW 2007.

    Examples
    --------
    >>> import numpy as np
    >>> import lookalike as la
    >>> index = la.search.HammingIndex(radius=3).add(np.array([0b0000, 0b0111, 0b11111], np.uint64))
    >>> index.query(np.array([0], np.uint64)).right.tolist()
    [0, 1]
    """

    compared: int

    def __init__(self, *, radius: int = 3, recall: float = 1.0, memory: float | None = None, bits: int | None = None) -> None:
        super().__init__(radius=radius, bits=bits)
        if memory is not None and number("memory", memory, "a positive number") <= 0:
            raise ParameterError("must be positive", "memory", memory)
        self.memory = memory
        self.recall: float = share("recall", recall)
        self._segments: tuple[tuple[int, FingerprintIndex], ...] = ()  # replaced, never changed: searches go through it
        self._founders = Growing()
        self._distinct: HammingIndex | None = None
        self._distinct_rows = Growing()

    @property
    def layout(self) -> Layout | None:
        """Tables of the largest segment; None while all fingerprints are scanned."""
        with self._turn:
            self._prepare()
        largest = max(self._segments, key=lambda s: len(s[1]), default=(0, None))[1]
        return largest.layout if isinstance(largest, BlockTables) else None

    def _build(self) -> None:
        """Build segments for the fingerprints added since; the last ones merge while they are not larger than the new."""
        words, begin, segments = self._stored, self._built, self._segments
        while segments and len(segments[-1][1]) <= max(SCANNED, len(words) - begin):
            begin, segments = segments[-1][0], segments[:-1]
        bits, size = self.bits or 64, len(words) - begin
        layout = None
        if size > SCANNED:
            memory = self.memory or max(BYTES_EACH * words.shape[1] * (1 << round(log2(size))), LEAST_MEMORY)
            layout = choose_layout(round(log2(size)), bits, self.radius, self.recall, memory, DEFAULT)
        if layout is None:
            segment: FingerprintIndex = ExhaustiveHammingIndex(radius=self.radius, bits=bits).add(words[begin:])
        else:
            segment = BlockTables(words[begin:], radius=self.radius, bits=bits, layout=layout)
        self._segments = (*segments, (begin, segment))

    def _run(self, query: UInt64Array, margins: Margins, first_only: bool, self_join: bool) -> Hits:
        with self._turn:
            self._prepare()
            segments = self._segments
        parts, open_rows = [], np.arange(len(query))
        for begin, segment in segments:
            asked = query[open_rows] if len(open_rows) < len(query) else query
            left, right, distance, compared = collect(segment._search(asked, None, first_only, False), len(asked))
            with self._turn:
                self.compared += compared
            parts.append((open_rows[left], right + begin, distance))
            if first_only:
                open_rows = np.delete(open_rows, left)
        left, right, distance = concatenate_columns(parts)
        if len(parts) > 1:
            order = np.lexsort((right, left))
            left, right, distance = left[order], right[order], distance[order]
        return left, right, distance

    def pairs(self, limit: int | None = None) -> Pairs:
        """Find all pairs of stored fingerprints within the radius of each other, each once, ``left < right``.

        Parameters
        ----------
        limit : int >= 1, optional
            Return no more pairs: n equal fingerprints make n (n - 1) / 2.

        Returns
        -------
        Pairs
            With ``distance``, ascending. Exact whatever the index's recall.

        Raises
        ------
        ParameterError
            If the limit is below 1.
        """
        limit = None if limit is None else whole("limit", limit, 1)
        words = self._stored
        order, bounds = equal_rows(words)
        distinct = words[order[bounds[:-1]]]
        left, right, distance, compared = near_pairs(distinct, self.bits or 64, self.radius, limit=limit)
        left, right, source = spread_pairs(order, bounds, left, right, limit)
        distance = np.append(distance, 0)[source]  # -1: the pairs of equal ones
        with self._turn:
            self.compared += compared
        by_row = np.lexsort((right, left))
        return Pairs(left[by_row], right[by_row], len(words), None, distance[by_row])

    def assign(self, values: Values) -> Int64Array:
        """Cluster a stream: each fingerprint joins the cluster of the nearest one within the radius, or founds its own.

        Parameters
        ----------
        values : Fingerprints, or uint64 of shape (n,) or (n, words)
            In the order of arrival; they are added to the index.

        Returns
        -------
        ndarray of int64, shape (n,)
            For each the row of the founder of its cluster; its own row if it founds one. Ties go to the earlier row.
        """
        with self._turn:
            return self._assign(values)

    def _assign(self, values: Values) -> Int64Array:
        words, first_row = self._words(values, True), len(self)
        clustered = len(self._founders)
        if clustered < first_row:  # rows that were only added found clusters of their own
            self._founders.append(np.arange(clustered, first_row))
            self._note_distinct(self._stored[clustered:], np.arange(clustered, first_row))
        order, bounds = equal_rows(words)
        firsts = order[bounds[:-1]]  # of each set of equal ones; the others are nearest to it
        left, right, distance, _ = near_pairs(words[firsts], self.bits or 64, self.radius)
        left, right = firsts[left], firsts[right]
        left, right = first_row + np.minimum(left, right), np.maximum(left, right)
        if self._distinct is not None:
            earlier = self._distinct.query(words[firsts])
            assert earlier.distance is not None
            left = np.concatenate([left, self._distinct_rows.rows[earlier.right]])
            right = np.concatenate([right, firsts[earlier.left]])
            distance = np.concatenate([distance, earlier.distance])
        nearest = np.empty(len(words), np.int64)
        nearest[order] = first_row + np.repeat(firsts, np.diff(bounds))
        best = np.lexsort((-left, -distance, right))  # of each right the nearest, then earliest, comes last and is written last
        nearest[right[best]] = left[best]
        parents = np.where(nearest < first_row, np.arange(len(words)), nearest - first_row)
        find_roots(parents)
        founders = first_row + parents
        old = nearest[parents] < first_row
        founders[old] = self._founders.rows[nearest[parents[old]]] if old.any() else 0
        known = np.zeros(len(words), np.bool_)
        known[right[distance == 0]] = True
        self.add(values)
        self._founders.append(founders)
        fresh = firsts[~known[firsts]]
        self._note_distinct(words[fresh], first_row + fresh)
        return founders

    def _note_distinct(self, words: UInt64Array, rows: Int64Array) -> None:
        """Remember fingerprints and their rows for the clustering of a stream; equal ones once."""
        order, bounds = equal_rows(words)
        firsts = order[bounds[:-1]]
        if self._distinct is None:
            self._distinct = HammingIndex(radius=self.radius, bits=self.bits, recall=self.recall, memory=self.memory)
        self._distinct.add(words[firsts])
        self._distinct_rows.append(rows[firsts])
