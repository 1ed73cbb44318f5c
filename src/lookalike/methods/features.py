"""Feature counts and fingerprints of rows in the form in which cosines are measured or estimated from them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..kernels import resemblance as kernel
from ..kernels._scratch import FILLED, scratch
from ..kernels.resemblance import FINGERPRINTS, VECTORS, Rows
from ..theory import simhash
from ..values import Int64Array, UInt64Array
from .exact_sets import Packed, Pieces, pack_pieces


@dataclass(frozen=True, slots=True, eq=False)
class FeatureVectors:
    """Vectors of feature counts of some rows, over numbers given to their features by first appearance.

    Dot products and sums of squares are exact integers: up to 3 * 10^9 features a document.
    """

    rows: Rows

    @classmethod
    def from_pieces(cls, pieces: Pieces) -> FeatureVectors:
        """Count the features of rows of numbers that come in several pieces, each done with before the next comes."""
        return cls(pack_pieces(pieces, _pack, VECTORS))


@dataclass(frozen=True, slots=True, eq=False)
class FingerprintRows:
    """Fingerprints of some rows, for cosines estimated from their distance."""

    rows: Rows

    @classmethod
    def from_words(cls, words: UInt64Array, bits: int) -> FingerprintRows:
        """Take fingerprints of so many ``bits``, in words of 64."""
        n, width = words.shape
        flat = np.ascontiguousarray(words, np.uint64).ravel()
        scores = np.asarray(simhash.cosine(np.arange(64 * width + 1).clip(max=bits), bits), np.float64)
        offsets = np.arange(0, n * width + 1, width, dtype=np.int64)
        return cls(Rows(np.ones(n, np.int64), offsets, np.empty(0, np.int32), flat, scores, FINGERPRINTS))


def _pack(numbers: NDArray[np.int32], offsets: Int64Array, used: int) -> Packed:
    """Return (sums of squares, number of features a row, features, counts) of rows of numbers below ``used``."""
    n_rows = len(offsets) - 1
    seen = np.zeros(max(1, used), np.uint64)
    touched = np.empty(max(1, int(np.diff(offsets).max(initial=0))), np.int64)
    sizes, row_offsets = np.empty(n_rows, np.int64), np.empty(n_rows + 1, np.int64)
    columns, counts = scratch("blocks", len(numbers), np.int32, FILLED), scratch("words", len(numbers), np.uint64, FILLED)
    kernel.count_rows(numbers, offsets, seen, touched, sizes, row_offsets, columns, counts)
    n_features = int(row_offsets[-1])
    return sizes, np.diff(row_offsets), columns[:n_features].copy(), counts[:n_features].copy()
