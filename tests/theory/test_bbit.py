from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from theory.sampler import agrees, minima

from lookalike.theory import bbit, chance

DENSE = (0.570, 0.554, 0.771)  # OF and AND, Table 1
TABLE_1 = [
    ("KONG-HONG", 0.0145, 0.0143, 0.925, 15.5, 31.0), ("RIGHTS-RESERVED", 0.187, 0.172, 0.877, 16.6, 32.2),
    ("OF-AND", 0.570, 0.554, 0.771, 20.4, 40.8), ("GAMBIA-KIRIBATI", 0.0031, 0.0028, 0.712, 13.3, 26.6),
    ("UNITED-STATES", 0.062, 0.061, 0.591, 12.4, 24.8), ("SAN-FRANCISCO", 0.049, 0.025, 0.476, 10.7, 21.4),
    ("CREDIT-CARD", 0.046, 0.041, 0.285, 7.3, 14.6), ("TIME-JOB", 0.189, 0.05, 0.128, 4.3, 8.6),
    ("LOW-PAY", 0.045, 0.043, 0.112, 3.4, 6.8), ("A-TEST", 0.596, 0.035, 0.052, 3.1, 6.2),
]  # fmt: skip
RECOMPUTED = [15.49, 16.58, 20.42, 13.33, 12.36, 10.67, 7.35, 4.27, 3.36, 3.10]


def test_chance_matches_at_the_limits():
    for bits in (1, 2, 4, 8, 16, 32, 52):
        assert chance.chance_match(bits, 1e-18) == pytest.approx(2.0**-bits, rel=1e-12)
        assert chance.chance_match(bits, [0.0, 1.0]).tolist() == [2.0**-bits, 0.0]
    assert chance.chance_match(60, 0.3) == 0.0
    grid = np.linspace(1e-6, 0.9, 400)  # beyond, many bits underflow to 0
    for bits in (1, 2, 3, 8):
        assert (np.diff(chance.chance_match(bits, grid)) < 0).all()
        assert (chance.chance_match(bits, grid) > chance.chance_match(bits + 1, grid)).all()
    assert_allclose(chance.chance_match(1, grid), (1 - grid) / (2 - grid), rtol=1e-12)


def test_table_1():
    """The recomputed figure to the digit, the printed one within its rounding."""
    for row in range(10):
        name, left, right, r, printed, printed_64 = TABLE_1[row]
        found = bbit.storage_ratio(32, 1, r, left, right)
        assert found == pytest.approx(RECOMPUTED[row], abs=0.011) and abs(found - printed) < 0.06, name
        assert bbit.storage_ratio(64, 1, r, left, right) == pytest.approx(2 * found, rel=1e-6)
        if name == "RIGHTS-RESERVED":
            printed_64 = 33.2  # printed 32.2, which is not twice 16.6
        assert abs(2 * found - printed_64) < 0.12


def test_theorem_2():
    for density, (one, two) in product((1e-10, 0.1, 0.5, 0.9), ((64, 1), (32, 2), (4, 1))):
        r = np.linspace(max(0.01, 2 * density - 0.999), 0.999, 50)
        r = r[(2 * density) / (1 + r) <= 1]
        ratio = bbit.storage_ratio(one, two, r, density, density)
        a1, a2 = chance.chance_match(one, density), chance.chance_match(two, density)
        assert_allclose(ratio, one / two * (a1 * (1 - r) + r) / (a2 * (1 - r) + r) * (1 - a2) / (1 - a1), rtol=1e-9)
        assert (np.diff(ratio) > 0).all(), "increasing in R"
        limit = bbit.storage_ratio_limit(one, two, density)
        assert bbit.storage_ratio(one, two, 1 - 1e-9, density, density) == pytest.approx(limit, rel=1e-6)
    assert bbit.storage_ratio(64, 1, 0.5) == pytest.approx(64 / 3)


def test_crossovers_of_the_number_of_bits():
    """The papers' cut-off R < .4 is 1/3 for sparse sets; 2 against 3 bits at 5/21, 3 against 4 at 17/105."""
    for at, fewer, more in ((1 / 3, 1, 2), (5 / 21, 2, 3), (17 / 105, 3, 4)):
        assert bbit.storage_ratio(fewer, more, at - 1e-4) > 1 > bbit.storage_ratio(fewer, more, at + 1e-4)
    assert bbit.storage_ratio(1, 2, 0.39) < 1, "the printed cut-off"
    assert bbit.best_bits([0.1, 0.2, 0.3, 0.5]).tolist() == [5, 3, 2, 1]


def test_estimate_is_unbiased_with_the_stated_variance(rng):
    n, k = 4000, 50
    for left, right, r in [(1e-6, 1e-6, 0.5), DENSE, (0.596, 0.035, 0.052), (0.3, 0.3, 0.9)]:
        z_left, z_right = minima(rng, r, left, right, (n, k))
        for bits in (1, 2, 3, 8):
            share = ((z_left ^ z_right) & ((1 << bits) - 1) == 0).mean(1)
            agrees(bbit.resemblance(share, bits, left, right), r, bbit.variance(r, bits, k, left, right))


def test_variance_tends_to_that_of_whole_values():
    assert bbit.variance(0.4, 64, 10) == pytest.approx(0.4 * 0.6 / 10)
    assert bbit.scheme_variance(0.4 * 0.6 / 10, 0.4, 3, 10) == pytest.approx(bbit.variance(0.4, 3, 10), rel=1e-12)


def test_bias_and_variance_of_estimates_at_other_densities():
    """The estimate is linear in the share of matches, whose law has the true densities."""
    k = 200
    for (true, kept), r in product([(0.3, 0.25), (0.5, 0.59), (0.02, 0.0), (0.7, 0.75)], [0.6, 0.9]):
        e = bbit.match_probability(r, 1, true, true)
        assert bbit.quantization_bias(r, true, kept) == pytest.approx(bbit.resemblance(e, 1, kept, kept) - r, abs=1e-12)
        slopes = [float(bbit.resemblance(1.0, 1, d, d) - bbit.resemblance(0.0, 1, d, d)) for d in (kept, true)]
        assert bbit.quantization_variance_ratio(true, kept) == pytest.approx((slopes[0] / slopes[1]) ** 2)
        stored, plain = (float(e * (1 - e)) / k * slope**2 for slope in slopes)
        assert bbit.variance(r, 1, k, true, true) == pytest.approx(plain)
        assert bbit.quantization_variance_difference(r, true, kept, k) == pytest.approx(abs(stored - plain))


def test_levels_are_the_middles_of_equal_steps():
    density = np.linspace(0, 1, 5001)
    for levels in [1, 2, 16, 256]:
        found = bbit.quantized(density, levels)
        assert {*found.tolist()} == {*((np.arange(levels) + 0.5) / levels).tolist()}
        assert np.abs(found - density).max() <= 0.5 / levels + 1e-12


def test_exponent_of_the_chance_match():
    """2^b - 1, not 2 b, which agrees for small b only."""
    r = 0.2
    assert chance.chance_match(4, r) == pytest.approx(r * (1 - r) ** 15 / (1 - (1 - r) ** 16))
