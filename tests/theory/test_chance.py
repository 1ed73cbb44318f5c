"""Derivatives of the chance match against differences in fifty digits, the misprinted one too."""

from decimal import Decimal, getcontext
from math import log

import pytest

from lookalike.theory import chance

STEP = Decimal("1e-15")


def exact(bits, density):
    """A in fifty digits: r q^(n - 1) / (1 - q^n)."""
    n, q = Decimal(2) ** bits, 1 - density
    return density * q ** (n - 1) / (1 - q**n)


def difference(along, bits, density):
    """Central difference of A along one argument; it errs by about 1e-30."""
    getcontext().prec = 50
    b, r = Decimal(bits), Decimal(density)
    if along == "bits":
        return float((exact(b + STEP, r) - exact(b - STEP, r)) / (2 * STEP))
    return float((exact(b, r + STEP) - exact(b, r - STEP)) / (2 * STEP))


@pytest.mark.parametrize("bits", [1, 1.1, 2, 3, 4, 8, 12])
@pytest.mark.parametrize("density", [1e-6, 1e-4, 0.0074, 0.0076, 0.01, 0.1, 0.3, 0.554, 0.9])
def test_derivatives_are_those_of_differences(bits, density):
    by_bits, by_density = chance.chance_match_slopes(bits, density)
    assert by_bits == pytest.approx(difference("bits", bits, density), rel=1e-11, abs=1e-300)
    assert by_density == pytest.approx(difference("density", bits, density), rel=1e-11, abs=1e-300)


def test_printed_derivative_in_bits_is_wrong():
    """E9: r = 0.1, b = 2: -0.180064, and not -0.026460."""
    r, n = 0.1, 4
    q = 1 - r
    printed = (r * q ** (n - 1) * log(q) * log(2) * (1 - q**n) + q**n * log(q) * log(2) * r * (1 - q ** (n - 1))) / (
        1 - q**n
    ) ** 2
    assert printed == pytest.approx(-0.026460, abs=5e-7)
    assert chance.chance_match_slopes(2, r)[0] == pytest.approx(-0.180064, abs=5e-7)


def test_derivatives_at_the_ends():
    """At density 0 the limits of both; at 1 only one bit still falls: A = (1 - r) / (2 - r)."""
    by_bits, by_density = chance.chance_match_slopes([1, 2, 64], 0.0)
    assert by_bits.tolist() == pytest.approx([-log(2) / 2, -log(2) / 4, -log(2) * 2.0**-64])
    assert by_density.tolist() == pytest.approx([-1 / 4, -3 / 8, -1 / 2])
    by_bits, by_density = chance.chance_match_slopes([1, 2, 3, 64], 1.0)
    assert by_bits.tolist() == [0.0] * 4
    assert by_density.tolist() == [-1.0, 0.0, 0.0, 0.0]
    assert chance.chance_match_slopes(64, 1e-25) == pytest.approx(chance.chance_match_slopes(64, 0.0), rel=1e-5)
    assert chance.chance_match_slopes(60, 0.3) == (0.0, 0.0)
