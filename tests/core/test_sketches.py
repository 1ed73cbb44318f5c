"""Sketch and band kernels equal their twins."""

from itertools import pairwise, product

import numpy as np
import pytest
from naive import families
from naive import sketches as naive

from lookalike import core
from lookalike.sketches import DartMinHash, FastSimilarity, MinHash, Shingles, WeightedSets


def shingles(rng, sizes):
    values = rng.integers(0, 1 << 64, sum(sizes), dtype=np.uint64)
    edges = np.array([0, 1, (1 << 64) - 1, 1 << 32, (1 << 32) - 1], np.uint64)
    values[: len(edges)] = edges[: len(values)]
    return Shingles(values, np.cumsum([0, *sizes]).astype(np.int64))


SIZES = [5, 0, 1, 2, 16, 17, 63, 64, 65, 700, 3000]


def test_fast_similarity_equals_twin(rng):
    for permutations, seed in product([1, 2, 63, 64, 65, 257], [0, 1, (1 << 64) - 1]):
        sets = shingles(rng, SIZES)
        signatures = FastSimilarity(permutations=permutations, seed=seed).sign(sets)
        assert signatures.values.dtype == np.uint32
        for row in range(len(sets)):
            assert signatures.values[row].tolist() == naive.fast_similarity(sets.row(row).tolist(), permutations, seed)


def test_minhash_equals_twin(rng):
    for permutations in [1, 63, 64, 65]:
        sets = shingles(rng, SIZES)
        signatures = MinHash(permutations=permutations, seed=9).sign(sets)
        for row in range(len(sets)):
            assert signatures.values[row].tolist() == naive.minhash(sets.row(row).tolist(), permutations, 9)


@pytest.mark.parametrize("scheme", [FastSimilarity, MinHash])
def test_union_is_the_smaller_of_each_slot(rng, scheme):
    left, right = (rng.integers(0, 1 << 64, n, dtype=np.uint64) for n in (40, 9))
    sets = ([*left], [0, 40]), ([*right], [0, 9]), ([*left, *right, *right], [0, 58])
    one, other, union = (scheme(permutations=48, seed=3).sign(Shingles(*some)) for some in sets)
    assert one.merge(other).values.tolist() == np.minimum(one.values, other.values).tolist() == union.values.tolist()


def test_long_texts_that_repeat_themselves(rng):
    """Few distinct shingles, many times over: the same slots as without repeats."""
    for distinct, size in product([1, 3, 40], [150, 200, 1000, 20_000]):
        values = rng.integers(0, 1 << 64, distinct, dtype=np.uint64)
        values[0] = 0
        many = np.resize(values, size)
        sets = Shingles(np.concatenate([values, many]), np.array([0, distinct, distinct + len(many)]))
        signed = FastSimilarity(permutations=64, seed=4).sign(sets).values
        assert signed[0].tolist() == signed[1].tolist() == naive.fast_similarity(values.tolist(), 64, 4)


@pytest.mark.parametrize("seed", [1, (1 << 64) - 1])
def test_darts_equal_twin(rng, seed):
    offsets = [0, 1, 3, 43]
    values, weights = rng.integers(0, 1 << 64, 43, dtype=np.uint64), rng.lognormal(0, 2, 43)
    sets = WeightedSets.from_arrays(values, weights, offsets)
    elements = list(zip(sets.values.tolist(), sets.weights.tolist(), strict=True))
    found = DartMinHash(permutations=16, seed=seed).sign(sets).values
    assert found.tolist() == [families.darts(dict(elements[begin:end]), 16, seed) for begin, end in pairwise(offsets)]


def test_a_number_between_0_and_1_is_neither():
    """Also for the key whose 53 bits are all set."""
    mask = (1 << 64) - 1
    key = mask
    for shift, factor in ((33, 0xC4CEB9FE1A85EC53), (33, 0xFF51AFD7ED558CCD), (33, 1)):
        key ^= key >> shift
        key = key * pow(factor, -1, 1 << 64) & mask
    key = (key - 0x9E3779B97F4A7C15) & mask
    assert 0 < core.uniform(key, 1) < 1
