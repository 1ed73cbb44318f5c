"""Documents as vectors of feature counts, or as fingerprints of such vectors, and their cosines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..kernels import cosine as kernel
from ..theory import simhash
from ..values import Float64Array, Int64Array, UInt64Array
from ..values.weighted import count_repeats
from .method import Pieces


@dataclass(frozen=True, slots=True, eq=False)
class FeatureVectors:
    """Unit vectors of feature counts: for each row the features, ascending, and their weights."""

    offsets: Int64Array
    columns: UInt64Array
    weights: Float64Array

    @classmethod
    def from_pieces(cls, pieces: Pieces) -> FeatureVectors:
        """Count the features of rows that come in several pieces."""
        parts = [count_repeats(values, offsets) for values, offsets in pieces]
        sizes = np.concatenate([np.diff(part[2]) for part in parts])
        counts = np.concatenate([part[1] for part in parts])
        lengths = np.sqrt(np.bincount(np.repeat(np.arange(len(sizes)), sizes), counts.astype(np.float64) ** 2, len(sizes)))
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        return cls(offsets, np.concatenate([part[0] for part in parts]), counts / np.repeat(lengths, sizes))

    def compare(self, left: Int64Array, right: Int64Array, threshold: float) -> Float64Array:
        """Return the cosine of each pair."""
        out = np.empty(len(left))
        kernel.compare_vectors(left, right, self.offsets, self.columns, self.weights, out)
        return out

    def for_walk(self) -> tuple[Any, ...]:
        """Return what the walk compares rows by: nothing of sets, and the vectors."""
        return np.ones(len(self.offsets) - 1, np.int64), self.offsets, self.columns, np.empty(0, np.uint64), self.weights, 0


@dataclass(frozen=True, slots=True, eq=False)
class FingerprintRows:
    """Fingerprints, for cosines estimated from their distance."""

    words: UInt64Array
    bits: int

    def compare(self, left: Int64Array, right: Int64Array, threshold: float) -> Float64Array:
        """Return the estimated cosine of each pair."""
        distance = np.bitwise_count(self.words[left] ^ self.words[right]).sum(1)
        return np.asarray(simhash.cosine(distance, self.bits), np.float64)

    def for_walk(self) -> tuple[Any, ...]:
        """Estimates need no comparison on the walk: candidates come without large buckets."""
        raise NotImplementedError("fingerprints are not compared on the walk")
