from itertools import product

import numpy as np
import pytest
from statistics_sets import estimated, pairs_of_sets
from theory.sampler import agrees

import lookalike as la
from lookalike.sketches import FastSimilarity, MinHash
from lookalike.theory import one_permutation


def test_unbiased_for_any_size(rng):
    for scheme, resemblance, union in product([MinHash, FastSimilarity], [0.1, 0.5, 0.8, 0.95], [20, 64, 400]):
        shingles, exact = pairs_of_sets(rng, 3000, union, resemblance)
        found = estimated(scheme(permutations=64, seed=5).sign(shingles))
        assert abs(found.mean() - exact) < 4 * (exact * (1 - exact) / 64 / len(found)) ** 0.5


def test_variance_of_minhash(rng):
    for union in (8, 32, 400):
        shingles, exact = pairs_of_sets(rng, 4000, union, 0.5)
        agrees(estimated(MinHash(permutations=128, seed=11).sign(shingles)), exact, exact * (1 - exact) / 128)


def test_variance_of_fast_similarity_is_that_of_the_simulation(rng):
    """Ratios to R (1 - R) / k at k = 64, R = .5 from an independent simulation of 3000 replicates; both sides err."""
    for union, ratio in {8: 0.523, 16: 0.502, 32: 0.508, 64: 0.516, 128: 0.620, 256: 0.793}.items():
        shingles, exact = pairs_of_sets(rng, 4000, union, 0.5)
        found = estimated(FastSimilarity(permutations=64, seed=2).sign(shingles))
        assert abs(found.var() * 64 / (exact * (1 - exact)) / ratio - 1) < 4 * (2 / 4000 + 2 / 3000) ** 0.5
        assert one_permutation.densified_variance(0.5, union, 64, "rounds") * 256 == pytest.approx(ratio, rel=0.09)


def test_neither_structured_keys_nor_seeds_bias(rng):
    """Consecutive integers in common, random ones apart: unmixed affine hashes err by +.023 here."""
    structured, exact = pairs_of_sets(rng, 600, 400, 0.5, structured=True)
    shingles, _ = pairs_of_sets(rng, 1, 300, exact)
    for scheme in (MinHash, FastSimilarity):
        found = estimated(scheme(permutations=128, seed=3).sign(structured))
        assert abs(found.mean() - exact) < 4 * (exact * (1 - exact) / 128 / 600) ** 0.5
        found = np.array([estimated(scheme(permutations=64, seed=s).sign(shingles))[0] for s in range(1500)])
        assert abs(found.mean() - exact) < 4 * (exact * (1 - exact) / 64 / 1500) ** 0.5
        assert found.std() > 0.6 * (exact * (1 - exact) / 64) ** 0.5


def test_order_of_words_matters():
    values = la.shingle(["a b a b a", "b a b a b", "a a b b a", "a b b a a", "b b a a b"]).values
    assert len(np.unique(values)) == 5
