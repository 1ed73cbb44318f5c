from itertools import product

import numpy as np
from naive import hamming as naive
from numpy.testing import assert_allclose

from lookalike import core
from lookalike.sketches import Shingles, SimHash, WeightedSets
from lookalike.theory import weak_bits


def test_fingerprints_equal_twin(rng):
    for bits in [32, 64, 96, 128, 256]:
        sizes = [0, 1, 2, 7, 8, 9, 16, 31, 64]
        values = rng.integers(0, 1 << 64, sum(sizes), dtype=np.uint64)
        weights = rng.random(sum(sizes)) + 0.1
        offsets = np.cumsum([0, *sizes])
        values = np.concatenate([np.sort(part) for part in np.split(values, offsets[1:-1])])
        plain = SimHash(bits=bits, seed=3, margins=True).sign(Shingles(values, offsets))
        weighted = SimHash(bits=bits, seed=3, margins=True).sign(WeightedSets(values, weights, offsets))
        for row in range(len(sizes)):
            part = slice(offsets[row], offsets[row + 1])
            for found, w in ((plain, np.ones(sizes[row])), (weighted, weights[part])):
                expected, margins = naive.simhash(values[part].tolist(), w.tolist(), bits, 3)
                assert sum(int(x) << (64 * i) for i, x in enumerate(found.words[row])) == expected
                assert_allclose(found.margins[row], margins, rtol=1e-6, atol=1e-6)


def test_each_set_of_flips_comes_once_in_order_of_cost_and_none_is_missing(rng):
    """As printed the thesis' rule leaves out 9 of 45 pairs of 10 bits. The theory has no masks."""
    for n, size in product([0, 1, 2, 5, 9, 14], [0, 1, 2, 3, 6]):
        costs = np.sort(rng.random(n))
        every = naive.flips_by_cost(costs.tolist(), min(size, n))
        masks = core.cheapest_flip_sets(costs, size, len(every) + 5)
        assert core.cheapest_flip_sets(costs, size, 40).tolist() == masks[:40].tolist()
        of_core = [tuple(i for i in range(n) if mask >> i & 1) for mask in masks.tolist()]
        for found in (of_core, weak_bits.cheapest_sets(costs, len(every) + 5, size)):
            assert found[0] == () and len(found) == len(every) and set(found) == {c for _, c in every}
            assert_allclose([costs[list(c)].sum() for c in found], [c for c, _ in every], atol=1e-12)
