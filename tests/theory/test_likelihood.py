from functools import partial
from itertools import product

import numpy as np
import pytest
from scipy import optimize, stats

from lookalike.theory import likelihood
from lookalike.theory.mixture import Part

PARTS = [
    [Part(slots=40, bits=1), Part(slots=30, bits=4)],
    [Part(slots=40, bits=2), Part(slots=60, combined=2)],
    [Part(slots=20, bits=1), Part(slots=50, combined=3), Part(slots=10, bits=8)],
]
DENSITIES = [(0.0, 0.0), (0.35, 0.25), (0.5, 0.5)]


def chance(bits, left, right):
    a = [2.0**-bits if r == 0 else r * (1 - r) ** (2**bits - 1) / (1 - (1 - r) ** 2**bits) for r in (left, right)]
    share = 0.5 if left + right == 0 else left / (left + right)
    return a[0] * (1 - share) + a[1] * share, a[0] * share + a[1] * (1 - share)


def match(part, r, left, right):
    c1, c2 = chance(part.bits, left, right)
    e = c1 + (1 - c2) * r
    return e if part.combined == 1 else (1 + (2 * e - 1) ** part.combined) / 2


def matches(parts, r, left, right):
    return sum(part.slots * match(part, r, left, right) for part in parts)


def highest(left, right):
    return min(left, right) / max(left, right) if left + right else 1.0


def log_likelihood(r, counts, parts, left, right):
    return sum(stats.binom.logpmf(x, p.slots, match(p, r, left, right)) for x, p in zip(counts, parts, strict=True))


def test_the_estimate_is_where_the_likelihood_is_highest(rng):
    for parts, densities, true in product(PARTS, DENSITIES, [0.35, 0.5, 0.6]):
        c1, c2 = chance(1, *densities)
        combined = any(part.combined > 1 for part in parts)
        low, high = max(0.0, (0.5 - c1) / (1 - c2)) if combined else 0.0, highest(*densities)  # below, combined bits mislead
        for _ in range(2):
            counts = [int(rng.binomial(p.slots, match(p, true, *densities))) for p in parts]
            likely = partial(log_likelihood, counts=counts, parts=parts, left=densities[0], right=densities[1])
            grid = np.linspace(low, high, 101)
            start = grid[np.argmax(likely(grid))]
            ends = max(low, start - 0.05), min(high, start + 0.05)
            best = optimize.minimize_scalar(
                lambda r, likely=likely: -likely(r), bounds=ends, method="bounded", options={"xatol": 1e-9}
            )
            assert likelihood.most_likely(counts, parts, *densities)[0] == pytest.approx(best.x, abs=2e-5)
