"""The index of SpotSigs finds what comparing everything finds."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from fingerprints.spot_index import boundaries, pairs_sharing, similar_pairs


def collection(seed):
    """Sets of many sizes, near-duplicates among them, with a few values that most of them hold."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(40):
        base = rng.choice(400, int(rng.integers(1, 60)), replace=False)
        for _ in range(3):
            kept = base[rng.random(len(base)) < 0.9]
            rows.append(np.unique(np.concatenate([kept, rng.choice(400, 2), np.arange(400, 400 + rng.integers(0, 4))])))
    return [*rows, np.zeros(0, np.int64)]


def resembling(rows, threshold):
    sets = [set(row.tolist()) for row in rows]
    return [
        [a, b]
        for a, b in combinations(range(len(sets)), 2)
        if sets[a] & sets[b] and len(sets[a] & sets[b]) / len(sets[a] | sets[b]) >= threshold
    ]


@pytest.mark.parametrize("threshold", [0.1, 0.44, 0.5, 0.8, 1.0])
@pytest.mark.parametrize("rarest_first", [True, False])
def test_it_finds_exactly_the_pairs_of_exact_comparison(threshold, rarest_first):
    for seed in range(3):
        rows = collection(seed)
        found, _ = similar_pairs(rows, threshold, rarest_first=rarest_first)
        assert found.tolist() == resembling(rows, threshold)


def test_bounds_and_order_spare_comparisons():
    rows = collection(0)
    rarest, commonest = (similar_pairs(rows, 0.7, rarest_first=first)[1] for first in (True, False))
    assert len(resembling(rows, 0.7)) <= rarest.compared < commonest.compared < pairs_sharing(rows)


@pytest.mark.parametrize("threshold", [0.1, 0.44, 0.7, 0.9, 1.0])
def test_partitions_two_apart_cannot_match_and_are_no_longer_than_that_needs(threshold):
    begins = boundaries(5000, threshold)
    assert begins[0] == 1 and begins[-1] > 5000
    for first, second in pairwise(begins):
        longest_before = first - 1
        assert longest_before / second < threshold
        assert second == first + 1 or longest_before / (second - 1) >= threshold


def test_pairs_that_share_a_value():
    assert pairs_sharing([np.array([1, 2]), np.array([2, 1]), np.array([3]), np.array([3, 1])]) == 4
