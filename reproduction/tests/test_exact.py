"""The exact law against enumeration, and Theorem 1 against it; derivatives of the chance match against differences in fifty digits, the misprinted one too."""

from decimal import Decimal, getcontext
from itertools import permutations as orders
from math import log

import pytest
from bbit.exact import chance_match_slopes, exact_match_probability

import lookalike as la
from lookalike.theory import bbit

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
    by_bits, by_density = chance_match_slopes(bits, density)
    assert by_bits == pytest.approx(difference("bits", bits, density), rel=1e-11, abs=1e-300)
    assert by_density == pytest.approx(difference("density", bits, density), rel=1e-11, abs=1e-300)


@pytest.mark.excludes
def test_printed_derivative_in_bits_is_wrong():
    """E9: r = 0.1, b = 2: -0.180064, and not -0.026460."""
    r, n = 0.1, 4
    q = 1 - r
    printed = (r * q ** (n - 1) * log(q) * log(2) * (1 - q**n) + q**n * log(q) * log(2) * r * (1 - q ** (n - 1))) / (
        1 - q**n
    ) ** 2
    assert printed == pytest.approx(-0.026460, abs=5e-7)
    assert chance_match_slopes(2, r)[0] == pytest.approx(-0.180064, abs=5e-7)


def test_derivatives_at_the_ends():
    """At density 0 the limits of both; at 1 only one bit still falls: A = (1 - r) / (2 - r)."""
    by_bits, by_density = chance_match_slopes([1, 2, 64], 0.0)
    assert by_bits.tolist() == pytest.approx([-log(2) / 2, -log(2) / 4, -log(2) * 2.0**-64])
    assert by_density.tolist() == pytest.approx([-1 / 4, -3 / 8, -1 / 2])
    by_bits, by_density = chance_match_slopes([1, 2, 3, 64], 1.0)
    assert by_bits.tolist() == [0.0] * 4
    assert by_density.tolist() == [-1.0, 0.0, 0.0, 0.0]
    assert chance_match_slopes(64, 1e-25) == pytest.approx(chance_match_slopes(64, 0.0), rel=1e-5)
    assert chance_match_slopes(60, 0.3) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("size_left", "size_right", "common"), [(2, 3, 1), (3, 3, 0), (4, 4, 2), (1, 5, 1), (5, 5, 5), (2, 2, 1)]
)
@pytest.mark.parametrize("bits", [1, 2, 3])
def test_exact_law_equals_enumeration(size_left, size_right, common, bits):
    """All 40,320 permutations of a universe of 8: equality of counts."""
    universe = 8
    left, right = range(size_left), range(size_left - common, size_left - common + size_right)
    mask = (1 << bits) - 1
    agree = [(min(p[i] for i in left) ^ min(p[i] for i in right)) & mask == 0 for p in orders(range(universe))]
    found = exact_match_probability(universe, size_left, size_right, common, bits)
    assert found == pytest.approx(sum(agree) / len(agree), abs=1e-12)


@pytest.mark.parametrize("universe", [50, 100, 200])
@pytest.mark.parametrize("bits", [1, 2, 3, 4])
def test_theorem_1_errs_by_about_half_over_the_universe(universe, bits):
    for share_left, share_right, overlap in ((0.1, 0.1, 0.5), (0.3, 0.2, 0.5), (0.5, 0.5, 0.8), (0.04, 0.4, 1.0)):
        left, right = int(share_left * universe), int(share_right * universe)
        common = int(overlap * min(left, right))
        exact = exact_match_probability(universe, left, right, common, bits)
        r = common / (left + right - common)
        assert abs(bbit.match_probability(r, bits, left / universe, right / universe) - exact) <= 0.55 / universe


def test_exact_law_of_sets_that_fill_the_universe():
    """Of two members one is the first: single ones are told apart by their last bit. A set equals itself."""
    assert exact_match_probability(2, 1, 1, 0, 1) == 0.0
    assert exact_match_probability(4, 4, 4, 4, 1) == 1.0
    with pytest.raises(la.errors.ParameterError):
        exact_match_probability(5, 4, 4, 1, 1)
