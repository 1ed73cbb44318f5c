import numpy as np
from naive import families as naive
from naive.hashing import derive

from lookalike import hashing
from lookalike.sketches import PermutationMinHash

KEYS = [0, 1, 2, 255, 256, 65535, 65536, (1 << 32) - 1, 1 << 32, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, 0x123456789ABCDEF0]
N = hashing.ROUNDS


def check(universe, keys):
    places = hashing.Permutation(universe=universe, seed=3).apply(np.array(keys, np.uint64)).tolist()
    rounds = derive(3, "permutation", N)
    assert places[:50] == [naive.permute(key, universe, rounds) for key in keys[:50]] and len({*places}) == len(keys)


def test_permutations_permute():
    for universe in [1, 2, 3, 4, 5, 63, 64, 65, 1000, 70_000]:
        check(universe, range(universe))


def test_permutation_of_all_64_bit_integers():
    check(1 << 64, KEYS)


def test_least_images_of_sets_equal_twin():
    keys = derive(3, "permutations", 5 * N)
    for universe in [1 << 64, 1, 7, 1000]:
        sets = [sorted({*some}) for some in ([], [0], [0, universe // 2], range(0, universe, universe // 9 + 1))]
        scheme = PermutationMinHash(universe=universe, permutations=5, seed=3)
        found = scheme.sign_sets(np.array([x for some in sets for x in some], np.uint64), np.cumsum([0, *map(len, sets)]))
        assert found.values.tolist() == [
            [
                min((naive.permute(x, universe, keys[i : i + N]) for x in some), default=(1 << 64) - 1)
                for i in range(0, 5 * N, N)
            ]
            for some in sets
        ]
