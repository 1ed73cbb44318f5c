"""Densities stored in a few bits: what they do to an estimate, from the law of its matches."""

import numpy as np
import pytest

from lookalike.theory import bbit, quantization


@pytest.mark.parametrize(("true", "kept"), [(0.3, 0.25), (0.5, 0.59), (0.02, 0.0), (0.7, 0.75)])
@pytest.mark.parametrize("r", [0.6, 0.9])
def test_bias_and_variance_of_estimates_at_other_densities(true, kept, r):
    """The estimate is linear in the share of matches, whose law has the true densities."""
    mean = bbit.resemblance(bbit.match_probability(r, 1, true, true), 1, kept, kept)
    assert quantization.quantization_bias(r, true, kept) == pytest.approx(mean - r, abs=1e-12)
    slopes = [float(bbit.resemblance(1.0, 1, d, d) - bbit.resemblance(0.0, 1, d, d)) for d in (kept, true)]
    assert quantization.quantization_variance_ratio(true, kept) == pytest.approx((slopes[0] / slopes[1]) ** 2)


@pytest.mark.parametrize("levels", [1, 2, 16, 256])
def test_levels_are_the_middles_of_equal_steps(levels):
    middles = (np.arange(levels) + 0.5) / levels
    density = np.linspace(0, 1, 5001)
    found = quantization.quantized(density, levels)
    assert {*found.tolist()} == {*middles.tolist()}
    assert np.abs(found - density).max() <= 0.5 / levels + 1e-12
    assert quantization.quantized(1.0, levels) == middles[-1]
