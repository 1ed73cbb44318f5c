"""The index of fingerprints that compares all: the oracle of the others."""

from __future__ import annotations

from ..kernels.hamming import search_all
from ..kernels.hits import Hits
from ..values import Int64Array, UInt64Array
from ._fingerprints import FingerprintIndex, Margins, Search


class ExhaustiveHammingIndex(FingerprintIndex):
    """Every fingerprint is compared: exact, and about 1e9 comparisons a second. For checks of the others.

    Parameters
    ----------
    radius : int >= 0
    bits : int, optional
    """

    def _search(self, query: UInt64Array, margins: Margins, first_only: bool, self_join: bool) -> Search:
        stored = self._stored

        def search(start: int, stop: int, hits: Hits, compared: Int64Array) -> int:
            compared[0] += (stop - start) * len(stored)
            return int(search_all(query, start, stop, stored, self.radius, first_only, self_join, hits))

        return search
