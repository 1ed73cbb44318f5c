"""Pairs of sets for one permutation hashing."""

import numpy as np
from one_permutation.sets import estimates, hashed_pairs, random_places

import lookalike as la


def test_hashed_pairs_have_the_union_asked_for_and_resemble_by_half():
    shingles = hashed_pairs(np.random.default_rng(1), 4, 64)
    assert shingles.sizes.tolist() == [48] * 8
    for i in range(4):
        assert len(np.union1d(shingles.row(2 * i), shingles.row(2 * i + 1))) == 64
        assert shingles.resemblance(2 * i, 2 * i + 1) == 0.5


def test_random_places_are_of_permutations():
    n = 6000
    places, offsets = random_places(np.random.default_rng(2), n, 8, 3, 2, 1)
    rows = np.split(places, offsets[1:-1])
    assert [len(row) for row in rows[:4]] == [3, 2, 3, 2]
    assert all(
        len(set(left.tolist())) == 3 and len(set(left.tolist()) & set(right.tolist())) == 1
        for left, right in zip(rows[::2], rows[1::2], strict=True)
    )
    counts = np.bincount([int(row[0]) for row in rows[::2]], minlength=8)
    assert (np.abs(counts - n / 8) < 5 * (n * 7 / 64) ** 0.5).all(), "each place as often"


def test_estimates_pair_the_rows():
    signatures = la.PermutationBins(universe=8, permutations=4).bin_places([0, 5, 0, 5, 1, 7, 2, 7], [0, 2, 4, 6, 8])
    assert estimates(signatures).tolist() == [1.0, 1 / 3]
