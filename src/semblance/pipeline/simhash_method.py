"""Candidates by SimHash: fingerprints within a Hamming radius."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..methods import simhash
from ..methods.features import FingerprintRows
from ..search.banding import Candidates
from ..search.self_join import equal_rows, near_pairs, spread_pairs
from ..values import Int64Array, UInt32Array, UInt64Array


@dataclass(frozen=True, slots=True, kw_only=True)
class SimHashMethod(simhash.SimHashMethod):
    """SimHash with the search of a corpus."""

    max_bucket: int

    @property
    def estimation_slots(self) -> int:
        """Slots set aside for estimates: none."""
        return 0

    def keys(self, values: UInt64Array, offsets: Int64Array, groups: UInt64Array) -> tuple[UInt64Array, UInt32Array]:
        """Return (fingerprints, nothing) of documents."""
        words = self.sketch(values, offsets, groups).keys
        return words, np.empty((len(words), 0), np.uint32)

    def estimable(self, estimates: UInt64Array) -> FingerprintRows:  # type: ignore[override]
        """Make fingerprints ready for estimates."""
        return FingerprintRows.from_words(estimates, self.bits)

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
