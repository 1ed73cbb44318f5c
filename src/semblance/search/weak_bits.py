"""Probabilistic SimHash matching: one table, and the bits of the query that are likely to differ."""

from __future__ import annotations

import numpy as np

from ..errors import ParameterError
from ..kernels import hamming as kernel
from ..theory import hamming_search as theory
from ..values import Int64Array, UInt64Array
from ._fingerprints import FingerprintIndex, Margins, Search, sorted_by_prefix


class WeakBitIndex(FingerprintIndex):
    """One sorted table, probed at the query's prefix and at those with its weakest bits flipped, likeliest first.

    Sets of at most ``radius`` bits are flipped in the order of their summed absolute margins: bits whose sums were near zero
    are the ones that differ between near-duplicates. With all sets, C(p, 0) + ... + C(p, radius) probes, the search is exact.

    Parameters
    ----------
    radius : int >= 0, default 3
    prefix_bits : int in [1, 26], optional
        p; default: about log2 of the number of fingerprints.
    probes : int >= 1, default 23
        k: buckets looked at, the query's own included.
    bits : int, optional

    Raises
    ------
    ParameterError
        If a parameter is out of its range, or fingerprints and margins do not fit.

    Notes
    -----
    Memory: one table and 2^p offsets. :meth:`query` is the thesis' PSM_A, :meth:`first` its PSM_F. Without margins bits are
    flipped in no useful order.

    References
    ----------
    Thesis on probabilistic SimHash matching, chapters IV and V; algorithm 2 replaced by a rule with one heap that yields each
    set once.
    """

    def __init__(self, *, radius: int = 3, prefix_bits: int | None = None, probes: int = 23, bits: int | None = None) -> None:
        super().__init__(radius=radius, bits=bits)
        if prefix_bits is not None and not 1 <= prefix_bits <= 26:
            raise ParameterError(f"prefix_bits must lie in 1..26; {prefix_bits} was given")
        if probes < 1:
            raise ParameterError(f"probes must be at least 1; {probes} was given")
        self.prefix_bits, self.probes = prefix_bits, probes

    def _build(self) -> None:
        """Sort by the leading bits."""
        words, bits = self._stored, self.bits or 64
        wanted = self.prefix_bits or max(1, min(26, int(max(len(words), 2) - 1).bit_length()))
        self._count = min(wanted, bits)
        self._start = bits - self._count
        self._table, self._rows, self._offsets = sorted_by_prefix(words, self._start, self._count)

    def _search(self, query: UInt64Array, margins: Margins, first_only: bool, self_join: bool) -> Search:
        count = self._count
        probes = min(self.probes, theory.combinations_within(count, self.radius))
        known = np.empty((0, self.bits or 64), np.float32) if margins is None else np.ascontiguousarray(margins, np.float32)
        room = probes + self.radius + 2
        scratch = (
            np.empty(count, np.int64), np.empty(count, np.float64), np.empty(room, np.float64), np.empty(room, np.uint64),
            np.empty(room, np.int64), np.empty(probes, np.uint64),
        )  # fmt: skip

        def search(start: int, stop: int, left: Int64Array, right: Int64Array, found: Int64Array, compared: Int64Array) -> int:
            return int(
                kernel.search_weak_bits(query, known, start, stop, self._table, self._rows, self._offsets, self._start, count,
                                        probes, self.radius, first_only, self_join, *scratch, left, right, found, compared)
            )  # fmt: skip

        return search
