"""The two ways to find and measure near-duplicates: shingle sets by MinHash, feature vectors by SimHash.

A method turns the shingle hashes of documents into keys, keys into candidates, and pairs of documents into scores; all
other steps are the same for both.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..kernels import banding as banding_kernel
from ..planner import Plan
from ..search import HammingIndex
from ..search.banding import Candidates, find_candidates
from ..sketches import FastSimilarity, SimHash
from ..theory import banding, minhash, simhash
from ..values import Float64Array, Int64Array, Shingles, UInt32Array, UInt64Array
from .sets import RowSets

Pieces = Iterable[tuple[UInt64Array, Int64Array]]


class Comparable(Protocol):
    """Rows whose pairs can be scored."""

    def compare(self, left: Int64Array, right: Int64Array, threshold: float) -> Float64Array:
        """Return the score of each pair, or -1 where it cannot reach the threshold."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class MinHashMethod:
    """Resemblance of shingle sets; candidates share a band."""

    plan: Plan
    seed: int
    exact: bool
    max_bucket: int
    name: str = "minhash"
    score: str = "resemblance"

    @property
    def n_keys(self) -> int:
        """64-bit words kept of each document for the search."""
        return self.plan.bands

    @property
    def added(self) -> tuple[str, ...]:
        """Names of the columns that state scores."""
        return ("resemblance",) if self.exact else ("estimated_resemblance", "standard_error")

    def keys(self, values: UInt64Array, offsets: Int64Array, groups: UInt64Array) -> tuple[UInt64Array, UInt32Array]:
        """Return (band keys, slots set aside for estimates) of documents."""
        slots = FastSimilarity(permutations=self.plan.permutations, seed=self.seed).sign_values(values, offsets)
        keys = np.empty((len(slots), self.plan.bands), np.uint64)
        banding_kernel.band_keys(slots, groups, self.plan.bands, self.plan.rows, keys)
        return keys, slots[:, slots.shape[1] - self.plan.estimation_slots :].copy()

    def candidates(
        self, keys: UInt64Array, groups: UInt64Array, n_reference: int, every_pair: bool, max_pairs: int | None, threads: int
    ) -> Candidates:
        """Return the pairs that share a bucket; buckets are large beyond ``max_bucket`` unless every pair is wanted."""
        max_bucket = None if every_pair else self.max_bucket
        return find_candidates(keys, max_bucket=max_bucket, n_reference=n_reference, max_pairs=max_pairs, threads=threads)

    def comparable(self, pieces: Pieces) -> RowSets:
        """Make shingle sets ready for exact comparison."""
        return RowSets.from_pieces(pieces)

    def estimable(self, slots: UInt32Array, keys: UInt64Array) -> RowSets:
        """Make sketches ready for estimates."""
        return RowSets.from_signatures(slots)

    def columns(self, score: Float64Array, distance: Int64Array, missing: NDArray[np.bool_]) -> dict[str, pa.Array]:
        """Return the columns that state scores, null where ``missing``: measured, or estimated with the standard error."""
        if self.exact:
            return {"resemblance": pa.array(score, mask=missing)}
        error = minhash.standard_error(np.clip(score, 0, 1), self.plan.estimation_slots)
        return {"estimated_resemblance": pa.array(score, mask=missing), "standard_error": pa.array(error, mask=missing)}

    def recall(self, threshold: float, bands_left_out: int = 0) -> float:
        """Probability that a pair at the threshold is found."""
        bands = self.plan.bands - bands_left_out
        return float(banding.candidate_probability(threshold, bands, self.plan.rows)) if bands else 0.0

    def describe(self) -> str:
        """Say how candidates are found."""
        return f"{self.plan.bands} bands of {self.plan.rows} rows"


@dataclass(frozen=True, slots=True, eq=False)
class FeatureVectors:
    """Unit vectors of feature counts."""

    matrix: Any

    def compare(self, left: Int64Array, right: Int64Array, threshold: float) -> Float64Array:
        """Return the cosine of each pair."""
        out = np.empty(len(left))
        for begin in range(0, len(left), 4096):
            part = slice(begin, begin + 4096)
            out[part] = self.matrix[left[part]].multiply(self.matrix[right[part]]).sum(1)
        return np.minimum(out, 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class FingerprintRows:
    """Fingerprints, for cosines estimated from their distance."""

    words: UInt64Array
    bits: int

    def compare(self, left: Int64Array, right: Int64Array, threshold: float) -> Float64Array:
        """Return the estimated cosine of each pair."""
        distance = np.bitwise_count(self.words[left] ^ self.words[right]).sum(1)
        return np.asarray(simhash.cosine(distance, self.bits), np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class SimHashMethod:
    """Cosine of feature counts; candidates have fingerprints within a Hamming radius."""

    radius: int
    seed: int
    exact: bool
    bits: int = 64
    name: str = "simhash"
    score: str = "cosine"

    @property
    def n_keys(self) -> int:
        """64-bit words kept of each document for the search."""
        return (self.bits + 63) // 64

    @property
    def added(self) -> tuple[str, ...]:
        """Names of the columns that state scores."""
        return ("cosine" if self.exact else "estimated_cosine", "distance")

    def keys(self, values: UInt64Array, offsets: Int64Array, groups: UInt64Array) -> tuple[UInt64Array, UInt32Array]:
        """Return (fingerprints, nothing) of documents; a feature weighs as often as it occurs."""
        prints = SimHash(bits=self.bits, seed=self.seed).sign(Shingles(values, offsets))
        return prints.words, np.empty((len(prints), 0), np.uint32)

    def candidates(
        self, keys: UInt64Array, groups: UInt64Array, n_reference: int, every_pair: bool, max_pairs: int | None, threads: int
    ) -> Candidates:
        """Return the pairs within the radius, of equal groups, not both reference documents."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components

        found = HammingIndex(radius=self.radius, bits=self.bits).add(keys).pairs()
        wanted = (found.right >= n_reference) & (groups[found.left] == groups[found.right])
        left, right = found.left[wanted][:max_pairs], found.right[wanted][:max_pairs]
        n = len(keys)
        graph = csr_array((np.ones(len(left), np.bool_), (left, right)), (n, n))
        labels = connected_components(graph, directed=False)[1]
        first = np.full(n, n, np.int64)
        np.minimum.at(first, labels, np.arange(n))
        none = np.empty(0, np.int64)
        return Candidates(left, right, np.zeros(1, np.int64), none, none, first[labels], len(left) < int(wanted.sum()))

    def comparable(self, pieces: Pieces) -> FeatureVectors:
        """Make vectors of feature counts ready for exact comparison."""
        from scipy.sparse import csr_array

        parts = [(values.copy(), np.diff(offsets)) for values, offsets in pieces]
        values = np.concatenate([p[0] for p in parts])
        bounds = np.concatenate([[0], np.cumsum(np.concatenate([p[1] for p in parts]))])
        names, columns = np.unique(values, return_inverse=True)
        matrix = csr_array((np.ones(len(values)), columns, bounds), (len(bounds) - 1, len(names)))
        matrix.sum_duplicates()
        lengths = np.sqrt(matrix.multiply(matrix).sum(1))
        matrix.data /= np.repeat(lengths, np.diff(matrix.indptr))
        return FeatureVectors(matrix)

    def estimable(self, slots: UInt32Array, keys: UInt64Array) -> FingerprintRows:
        """Make fingerprints ready for estimates."""
        return FingerprintRows(keys, self.bits)

    def columns(self, score: Float64Array, distance: Int64Array, missing: NDArray[np.bool_]) -> dict[str, pa.Array]:
        """Return the columns that state scores, null where ``missing``: the cosine, measured or estimated, and the distance."""
        return dict(zip(self.added, (pa.array(score, mask=missing), pa.array(distance, mask=missing)), strict=True))

    def recall(self, threshold: float, bands_left_out: int = 0) -> float:
        """Probability that a pair whose cosine is the threshold lies within the radius."""
        return float(simhash.within_radius(threshold, self.radius, self.bits))

    def describe(self) -> str:
        """Say how candidates are found."""
        return f"within {self.radius} of {self.bits} bits"


Method = MinHashMethod | SimHashMethod
