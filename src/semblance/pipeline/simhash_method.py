"""Near-duplicates by SimHash: fingerprints within a Hamming radius, measured by the cosine of their feature counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..kernels import cosine as kernel
from ..search.candidates import Candidates
from ..search.self_join import equal_rows, near_pairs, spread_pairs
from ..sketches import SimHash
from ..theory import simhash
from ..values import Float64Array, Int64Array, Shingles, UInt32Array, UInt64Array
from ..values.weighted import count_repeats
from .methods import Pieces


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


@dataclass(frozen=True, slots=True, kw_only=True)
class SimHashMethod:
    """Cosine of feature counts; candidates have fingerprints within a Hamming radius."""

    radius: int
    seed: int
    verify: str
    max_bucket: int
    bits: int = 64
    name: str = "simhash"
    score: str = "cosine"

    @property
    def exact(self) -> bool:
        """Whether cosines are measured."""
        return self.verify == "exact"

    @property
    def n_keys(self) -> int:
        """64-bit words kept of each document for the search."""
        return (self.bits + 63) // 64

    @property
    def estimation_slots(self) -> int:
        """Slots set aside for estimates: none."""
        return 0

    def plan_dict(self) -> dict[str, Any]:
        """Return no plan: fingerprints need none."""
        return {}

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
        """Return the pairs within the radius, of equal groups, not both reference documents.

        Documents of equal fingerprints, and those of two fingerprints within the radius, are large buckets where they are
        many, unless every pair is wanted.
        """
        words = keys if len(groups) == 0 or (groups == groups[0]).all() else np.column_stack([keys, groups])
        order, bounds = equal_rows(words)
        limit = None if n_reference else max_pairs  # pairs of reference documents do not count
        left, right, _, _ = near_pairs(words[order[bounds[:-1]]], self.bits, self.radius, limit=limit, threads=threads)
        buckets: list[Int64Array] = []
        cut = False
        if every_pair:
            at_most = None if limit is None else limit + 1
            left, right, _ = spread_pairs(order, bounds, left, right, at_most)
        elif not self.exact:
            left, right = _first_pairs(order, bounds, left, right)
        else:
            left, right, buckets = _pairs_and_buckets(order, bounds, left, right, self.max_bucket)
        wanted = right >= n_reference
        left, right = left[wanted], right[wanted]
        if max_pairs is not None:
            cut = len(left) > max_pairs
            left, right = left[:max_pairs], right[:max_pairs]
        bucket_offsets = np.cumsum([0, *map(len, buckets)])
        members = np.concatenate([np.empty(0, np.int64), *buckets])
        firsts = np.repeat([bucket[0] for bucket in buckets], np.diff(bucket_offsets)).astype(np.int64)
        roots = _roots(len(keys), np.concatenate([left, firsts]), np.concatenate([right, members]))
        return Candidates(left, right, bucket_offsets, members, np.arange(len(buckets)), roots, cut)

    def comparable(self, pieces: Pieces) -> FeatureVectors:
        """Make vectors of feature counts ready for exact comparison."""
        return FeatureVectors.from_pieces(pieces)

    def estimable(self, sketches: UInt64Array) -> FingerprintRows:
        """Make fingerprints ready for estimates."""
        return FingerprintRows(sketches, self.bits)

    def columns(self, score: Float64Array, distance: Int64Array, missing: NDArray[np.bool_]) -> dict[str, pa.Array]:
        """Return the columns that state scores, null where ``missing``: the cosine, measured or estimated, and the distance."""
        return dict(zip(self.added, (pa.array(score, mask=missing), pa.array(distance, mask=missing)), strict=True))

    def recall(self, threshold: float, bands_left_out: int = 0) -> float:
        """Probability that a pair whose cosine is the threshold is found: its fingerprints are within the radius.

        Where estimates decide, also within the distance at which the estimated cosine reaches the threshold.
        """
        radius = self.radius
        if self.verify == "sketch":
            enough = simhash.cosine(np.arange(radius + 1), self.bits) >= threshold
            if not enough.any():
                return 0.0
            radius = int(np.flatnonzero(enough)[-1])
        return float(simhash.within_radius(threshold, radius, self.bits))

    def describe(self) -> str:
        """Say how candidates are found."""
        return f"within {self.radius} of {self.bits} bits"


def _roots(n: int, left: Int64Array, right: Int64Array) -> Int64Array:
    """Return for each row the smallest one that it is connected with."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    graph = csr_array((np.ones(len(left), np.bool_), (left, right)), (n, n))
    labels = connected_components(graph, directed=False)[1]
    first = np.full(n, n, np.int64)
    np.minimum.at(first, labels, np.arange(n))
    return np.asarray(first[labels], np.int64)


def _first_pairs(order: Int64Array, bounds: Int64Array, left: Int64Array, right: Int64Array) -> tuple[Int64Array, Int64Array]:
    """Turn pairs of groups into pairs of rows of which one is the first of its group.

    That is enough for a walk by estimates: rows of equal fingerprints match alike, so that only the first can be kept, or
    stand for others where all are kept.
    """
    firsts, sizes = order[bounds[:-1]], np.diff(bounds)
    others = np.delete(order, bounds[:-1])
    parts = [(np.repeat(firsts, sizes - 1), others)]
    for first_of, all_of, skipped in ((left, right, 0), (right, left, 1)):
        count = sizes[all_of] - skipped
        place = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
        parts.append((np.repeat(firsts[first_of], count), order[np.repeat(bounds[all_of] + skipped, count) + place]))
    a, b = (np.concatenate(side) for side in zip(*parts, strict=True))
    return np.minimum(a, b), np.maximum(a, b)


def _pairs_and_buckets(
    order: Int64Array, bounds: Int64Array, left: Int64Array, right: Int64Array, max_bucket: int
) -> tuple[Int64Array, Int64Array, list[Int64Array]]:
    """Turn pairs of groups into pairs of rows, and into buckets of rows where those would be many.

    All rows of a bucket are within the radius of each other: they are those of one fingerprint or of two.
    """
    sizes = np.diff(bounds)
    many = (sizes[left] * sizes[right] > max_bucket**2) & (np.minimum(sizes[left], sizes[right]) > 1)
    large = np.flatnonzero(sizes > max_bucket)
    buckets = [order[bounds[g] : bounds[g + 1]] for g in large.tolist()]
    for a, b in zip(left[many].tolist(), right[many].tolist(), strict=True):
        buckets.append(np.sort(np.concatenate([order[bounds[g] : bounds[g + 1]] for g in (a, b)])))
    a, b, _ = spread_pairs(order, bounds, left[~many], right[~many], apart=sizes > max_bucket)
    return a, b, buckets
