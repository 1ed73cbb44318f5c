"""Permutations equal Python's big integers, and permute."""

import numpy as np
from naive import families as naive
from naive.hashing import derive

from lookalike import hashing
from lookalike.sketches import PermutationMinHash

KEYS = [0, 1, 2, 255, 256, 65535, 65536, (1 << 32) - 1, 1 << 32, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, 0x123456789ABCDEF0]


def test_permutations_permute():
    for universe in [1, 2, 3, 4, 5, 63, 64, 65, 1000, 70_000]:
        places = hashing.Permutation(universe=universe, seed=3).apply(np.arange(universe))
        assert sorted(places.tolist()) == list(range(universe))
        rounds = derive(3, "permutation", hashing.ROUNDS)
        assert places[:50].tolist() == [naive.permute(k, universe, rounds) for k in range(min(50, universe))]


def test_permutation_of_all_64_bit_integers():
    keys = np.array(KEYS, np.uint64)
    places = hashing.Permutation(universe=1 << 64, seed=5).apply(keys)
    rounds = derive(5, "permutation", hashing.ROUNDS)
    assert places.tolist() == [naive.permute(k, 1 << 64, rounds) for k in KEYS]
    assert len(set(places.tolist())) == len(KEYS)


def test_least_images_of_sets_equal_twin():
    for universe in [1 << 64, 1, 7, 1000]:
        k, sets = 5, [[], [0], [0, universe // 2], list(range(0, universe, universe // 9 + 1))]
        sets = [sorted(set(some)) for some in sets]
        scheme = PermutationMinHash(universe=universe, permutations=k, seed=3)
        found = scheme.sign_sets(
            np.array([x for some in sets for x in some], np.uint64), np.cumsum([0, *map(len, sets)])
        ).values
        n = hashing.ROUNDS
        keys = derive(3, "permutations", n * k)
        rounds = [keys[n * j : n * (j + 1)] for j in range(k)]
        images = [[[naive.permute(x, universe, some_rounds) for x in some] for some_rounds in rounds] for some in sets]
        assert found.tolist() == [[min(of_one, default=(1 << 64) - 1) for of_one in row] for row in images]
