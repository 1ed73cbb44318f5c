from itertools import product

import numpy as np
import pytest
from theory.sampler import mean_and_variance

from lookalike.theory import bbit, xor_bits

DENSITIES = [(0.0, 0.0), (0.6, 0.45)]


def test_single_bits_match_by_half_at_the_least_resemblance():
    for densities in [(0.5, 0.5), (0.6, 0.45), (0.2, 0.6), (0.9, 0.7)]:
        least = xor_bits.least_resemblance(*densities)
        c1, c2 = bbit.constants(1, *densities)
        assert 0.0 < least < 1.0 and c1 + (1 - c2) * least == pytest.approx(0.5)
        assert xor_bits.least_resemblance(0.0, 0.0) == 0.0
        if densities[0] == densities[1]:
            assert least == pytest.approx(densities[0] / 2)


def test_mean_squared_error_is_that_of_the_law():
    kinds = [(1, 7), (2, 9), (3, 40), (2, 1), (2, 64), (8, 20), (16, 500)]
    for (densities, r), (combined, samples) in product([*product(DENSITIES, (0.3, 0.7)), (DENSITIES[0], 0.95)], kinds):
        t = float(xor_bits.match_probability(r, combined, *densities))
        values = xor_bits.resemblance(np.arange(samples + 1) / samples, combined, *densities)
        mean, variance = mean_and_variance(values, samples, t)
        found = xor_bits.mean_squared_error(r, combined, samples, *densities)
        assert found == pytest.approx(variance + (mean - r) ** 2, rel=1e-9)


def test_mean_squared_error_of_many_samples_is_the_variance():
    """The sum runs over the numbers of matches that occur; where it begins and ends is not seen."""
    for r in (0.5, 0.99):
        assert xor_bits.mean_squared_error(r, 2, 400_000) == pytest.approx(xor_bits.variance(r, 2, 400_000), rel=1e-3)
    assert xor_bits.mean_squared_error(1.0, 2, 10) == 0.0
