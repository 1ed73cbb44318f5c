from itertools import product
from math import comb

import numpy as np
import pytest
from naive import hamming as naive
from numpy.testing import assert_allclose, assert_array_equal
from raising import assert_raises

from lookalike.errors import ParameterError
from lookalike.theory.blocks import combinations_within
from lookalike.theory.weak_bits import (
    flip_probability,
    probed_share,
    weak_bit_recall,
)


def test_edges_of_the_share():
    every = sum(comb(9, i) for i in range(4))
    assert probed_share(1.0, 20, 1, 3) == probed_share(0.9, 9, every, 3) == 1.0 > probed_share(0.9, 9, every - 1, 3) > 0.999
    by_probes = [probed_share(0.95, 20, k, 3) for k in (1, 5, 23)]
    by_prefix = [probed_share(0.95, p, 5, 3) for p in (1, 16, 64)]
    assert by_probes == sorted(set(by_probes)) and by_prefix == sorted(set(by_prefix), reverse=True)
    assert_raises(ParameterError, "cosine", probed_share, 0.0, 20, 5, 3)


def test_recall_is_summed_over_all_ways_to_differ(rng):
    """Several sigmas a query; with all sets nothing is missed."""
    for (bits, prefix, radius), sigma in product([(12, 5, 3), (11, 3, 4), (10, 10, 2), (9, 1, 3)], [0.3, 0.8]):
        margins, most = rng.normal(0, 1, (3, bits)), combinations_within(prefix, radius)
        found, near = weak_bit_recall(margins, np.array([[sigma, 2 * sigma]] * 3), prefix, most + 2, radius)
        assert found.shape == (3, 2, most + 2) and near.shape == (3, 2)
        for several, alone in zip((found, near), weak_bit_recall(margins, 2 * sigma, prefix, most + 2, radius), strict=True):
            assert_allclose(several[:, 1], alone, rtol=1e-12)
        for row, own in enumerate(margins.tolist()):
            differs = flip_probability(own, sigma).tolist()
            for probes in sorted({1, 2, 3, most // 2, most - 1}):
                expected = naive.chance_probed(differs, own, prefix, radius, probes)
                assert (near[row, 0], found[row, 0, probes - 1]) == pytest.approx(expected, rel=1e-9)
        assert_array_equal(found[..., most - 1 :], np.stack([near] * 3, -1))
    assert_raises(
        ParameterError, "a prefix of 65 bits needs as many; there are 64", weak_bit_recall, np.ones((1, 64)), 0.1, 65, 5, 3
    )
