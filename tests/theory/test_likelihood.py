"""Most likely estimates against the likelihood itself, maximized by brute force."""

from functools import partial

import numpy as np
import pytest
from scipy import optimize, stats

from lookalike.theory import likelihood, setsketch
from lookalike.theory.mixture import Part

PARTS = [
    [Part(slots=40, bits=1), Part(slots=30, bits=4)],
    [Part(slots=40, bits=2), Part(slots=60, combined=2)],
    [Part(slots=20, bits=1), Part(slots=50, combined=3), Part(slots=10, bits=8)],
]
DENSITIES = [(0.0, 0.0), (0.35, 0.25), (0.5, 0.5)]


def chance(bits, left, right):
    """C1 and C2 of Theorem 1, written out for densities above 0."""
    a = [2.0**-bits if r == 0 else r * (1 - r) ** (2**bits - 1) / (1 - (1 - r) ** 2**bits) for r in (left, right)]
    share = 0.5 if left + right == 0 else left / (left + right)
    return a[0] * (1 - share) + a[1] * share, a[0] * share + a[1] * (1 - share)


def match(part, r, left, right):
    """Probability that two slots of a part agree."""
    c1, c2 = chance(part.bits, left, right)
    e = c1 + (1 - c2) * r
    return e if part.combined == 1 else (1 + (2 * e - 1) ** part.combined) / 2


def log_likelihood(r, counts, parts, left, right):
    return sum(stats.binom.logpmf(x, p.slots, match(p, r, left, right)) for x, p in zip(counts, parts, strict=True))


def _unlikely(counts, parts, densities, r):
    return -log_likelihood(r, counts, parts, *densities)


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("densities", DENSITIES)
@pytest.mark.parametrize("true", [0.35, 0.5, 0.6])
def test_the_estimate_is_where_the_likelihood_is_highest(rng, parts, densities, true):
    c1, c2 = chance(1, *densities)
    low = max(0.0, (0.5 - c1) / (1 - c2)) if any(part.combined > 1 for part in parts) else 0.0  # below, combined bits mislead
    for _ in range(2):
        counts = [int(rng.binomial(p.slots, match(p, true, *densities))) for p in parts]
        highest = min(densities) / max(densities) if max(densities) else 1.0
        grid = np.linspace(low, highest, 2001)
        start = grid[np.argmax([log_likelihood(r, counts, parts, *densities) for r in grid[::20]]) * 20]
        ends = max(low, start - 0.05), min(highest, start + 0.05)
        unlikely = partial(_unlikely, counts, parts, densities)
        best = optimize.minimize_scalar(unlikely, bounds=ends, method="bounded", options={"xatol": 1e-9})
        assert likelihood.most_likely(counts, parts, *densities)[0] == pytest.approx(best.x, abs=2e-5)


@pytest.mark.parametrize(
    ("left", "right", "equal", "share"),
    [(40, 30, 60, 0.5), (100, 20, 30, 0.7), (10, 90, 100, 0.35), (0, 0, 9, 0.5), (30, 0, 60, 0.7)],
)
@pytest.mark.parametrize("base", [1.001, 1.2, 2.0])
def test_registers_tell_the_likeliest_resemblance(left, right, equal, share, base):
    """The multinomial of registers that are larger left, larger right and equal, on a grid."""
    top = min(share, 1 - share) / max(share, 1 - share)
    grid = np.linspace(0, top, 20_001)
    larger = [
        -np.log(1 - np.maximum(x, 0) * (base - 1) / base) / np.log(base)
        for x in (share - (1 - share) * grid, (1 - share) - share * grid)
    ]
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = [
            n * np.log(p) if n else 0.0 * p
            for n, p in ((left, larger[0]), (right, larger[1]), (equal, 1 - larger[0] - larger[1]))
        ]
    best = grid[np.nanargmax(np.where(np.isfinite(sum(terms)), sum(terms), -np.inf))]
    found = setsketch.most_likely_resemblance(left, right, left + right + equal, share, base)
    assert found == pytest.approx(best, abs=2e-4)


@pytest.mark.parametrize("base", [1.05, 2.0])
@pytest.mark.parametrize(("only_left", "only_right", "common"), [(3.0, 1.0, 2.0), (0.0, 4.0, 3.0)])
def test_order_of_registers(rng, base, only_left, only_right, common):
    """Registers are floors of logarithms of exponential minima; the offset of the floors is uniform where sets are large."""
    n = 400_000
    own, other, both = (rng.exponential(1 / max(size, 1e-12), n) for size in (only_left, only_right, common))
    offset = rng.random(n)
    registers = [np.floor(offset - np.log(np.minimum(mine, both)) / np.log(base)) for mine in (own, other)]
    total = only_left + only_right + 2 * common
    r = common / (only_left + only_right + common)
    expected = setsketch.order_probabilities(r, (only_left + common) / total, base)
    for found, p in zip(((registers[0] > registers[1]).mean(), (registers[1] > registers[0]).mean()), expected, strict=True):
        assert abs(found - p) < 4 * (max(p, 1e-6) * (1 - p) / n) ** 0.5


@pytest.mark.parametrize("base", [1.05, 1.5, 2.0])
def test_relative_error_of_a_cardinality(rng, base):
    """The sum of b^-K of m registers errs by a m-th of one register's variance; where floors begin is any place."""
    offset, smallest = rng.random(2_000_000), rng.exponential(1.0, 2_000_000)
    each = base ** (offset - np.floor(offset - np.log(smallest) / np.log(base)))
    assert setsketch.cardinality_relative_error(256, base) ** 2 == pytest.approx(each.var() / each.mean() ** 2 / 256, rel=0.01)


@pytest.mark.parametrize("base", [1.2, 2.0])
def test_cardinality_of_registers(rng, base):
    """Registers of a set of n elements: floors of 1 - log of minima of n exponentials of the rate."""
    size, rate, registers, n = 5000, 20.0, 256, 4000
    smallest = rng.exponential(1 / (rate * size), (n, registers))
    k = np.floor(1 - np.log(smallest) / np.log(base))
    found = setsketch.cardinality((base**-k).sum(1), registers, base, rate)
    error = setsketch.cardinality_relative_error(registers, base)
    mean_square = ((found / size - 1) ** 2).mean()
    assert abs(mean_square / error**2 - 1) < 4 * (2 / n) ** 0.5 + 12 / registers
