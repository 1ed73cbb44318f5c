"""Estimates from XORed bits: exact expectations over the laws of their counts, and minima of dense sets of unlike sizes."""

import numpy as np
import pytest
from theory.sampler import mean_and_variance
from theory.test_likelihood import match

from lookalike.theory import bbit, xor_bits
from lookalike.theory.mixture import Part

UNLIKE = [(0.0, 0.0), (0.6, 0.45), (0.3, 0.4)]


@pytest.mark.parametrize("densities", UNLIKE)
@pytest.mark.parametrize(("r", "combined"), [(0.6, 2), (0.7, 3), (0.45, 1)])
def test_variance_and_bias_to_first_order(densities, r, combined):
    """With many samples what the expansions leave out is far below a hundredth."""
    n = 50_000
    t = float(xor_bits.match_probability(r, combined, *densities))
    assert t == pytest.approx(match(Part(slots=1, combined=combined), r, *densities), rel=1e-12)
    mean, variance = mean_and_variance(xor_bits.resemblance(np.arange(n + 1) / n, combined, *densities), n, t)
    assert variance == pytest.approx(xor_bits.variance(r, combined, n, *densities), rel=5e-3)
    assert mean - r == pytest.approx(xor_bits.bias(r, combined, n, *densities), rel=5e-3, abs=1e-12)


def test_single_bits_match_by_half_at_the_least_resemblance():
    for densities in [(0.5, 0.5), (0.6, 0.45), (0.2, 0.6), (0.9, 0.7)]:
        least = xor_bits.least_resemblance(*densities)
        c1, c2 = bbit.constants(1, *densities)
        assert 0.0 < least < 1.0 and c1 + (1 - c2) * least == pytest.approx(0.5)
        assert xor_bits.least_resemblance(0.0, 0.0) == 0.0
        if densities[0] == densities[1]:
            assert least == pytest.approx(densities[0] / 2)


@pytest.mark.parametrize(("densities", "r"), [*zip(UNLIKE[:2] * 2, (0.3, 0.3, 0.7, 0.7), strict=True), (UNLIKE[0], 0.95)])
@pytest.mark.parametrize(("combined", "samples"), [(1, 7), (2, 9), (3, 40), (2, 1), (2, 64), (8, 20), (16, 500)])
def test_mean_squared_error_is_that_of_the_law(densities, combined, samples, r):
    t = float(xor_bits.match_probability(r, combined, *densities))
    values = xor_bits.resemblance(np.arange(samples + 1) / samples, combined, *densities)
    mean, variance = mean_and_variance(values, samples, t)
    found = xor_bits.mean_squared_error(r, combined, samples, *densities)
    assert found == pytest.approx(variance + (mean - r) ** 2, rel=1e-9)


@pytest.mark.parametrize("r", [0.5, 0.99])
def test_mean_squared_error_of_many_samples_is_the_variance(r):
    """The sum runs over the numbers of matches that occur; where it begins and ends is not seen."""
    n = 400_000
    assert xor_bits.mean_squared_error(r, 2, n) == pytest.approx(xor_bits.variance(r, 2, n), rel=1e-3)
    assert xor_bits.mean_squared_error(1.0, 2, 10) == 0.0
