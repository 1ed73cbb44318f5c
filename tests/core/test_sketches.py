from itertools import pairwise, product

import numpy as np
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


def test_slots_equal_twins(rng):
    for permutations, seed in [(1, 0), (2, 1), (63, (1 << 64) - 1), (64, 0), (65, 9), (257, 1)]:
        sets = shingles(rng, SIZES)
        for scheme, twin in ((FastSimilarity, naive.fast_similarity), (MinHash, naive.minhash)):
            found = scheme(permutations=permutations, seed=seed).sign(sets).values
            assert found.dtype == np.uint32
            assert found.tolist() == [twin(sets.row(row).tolist(), permutations, seed) for row in range(len(sets))]


def test_long_texts_that_repeat_themselves(rng):
    for distinct, size in product([1, 3, 40], [150, 200, 1000, 20_000]):
        values = rng.integers(0, 1 << 64, distinct, dtype=np.uint64)
        values[0] = 0
        many = np.resize(values, size)
        sets = Shingles(np.concatenate([values, many]), np.array([0, distinct, distinct + len(many)]))
        signed = FastSimilarity(permutations=64, seed=4).sign(sets).values
        assert signed[0].tolist() == signed[1].tolist() == naive.fast_similarity(values.tolist(), 64, 4)


def test_darts_equal_twin(rng):
    offsets, values = [0, 1, 3, 43], rng.integers(0, 1 << 64, 43, dtype=np.uint64)
    sets = WeightedSets.from_arrays(values, rng.lognormal(0, 2, 43), offsets)
    elements = list(zip(sets.values.tolist(), sets.weights.tolist(), strict=True))
    for seed in (1, (1 << 64) - 1):
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
