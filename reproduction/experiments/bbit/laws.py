"""Theorem 1 and what follows from it, computed without its closed forms: by enumeration, from the exact law, by series.

Nothing here calls ``lookalike.theory``, which is checked against these functions.
"""

from __future__ import annotations

from decimal import Decimal, getcontext
from functools import lru_cache
from itertools import permutations

import numpy as np

DIGITS = 50
getcontext().prec = DIGITS
STEP = Decimal("1e-15")


@lru_cache(maxsize=1)
def _orders(universe: int) -> np.ndarray:
    return np.array(list(permutations(range(universe))), np.int64)


def enumerated(universe: int, size_left: int, size_right: int, common: int, bits: int) -> tuple[int, int]:
    """Return (permutations of [0, universe) under which the lowest bits of two minima agree, all permutations)."""
    left, right = slice(0, size_left), slice(size_left - common, size_left - common + size_right)
    orders = _orders(universe)
    apart = orders[:, left].min(1) ^ orders[:, right].min(1)
    return int((apart & ((1 << bits) - 1) == 0).sum()), len(orders)


def later_matches(universe: int, bits: int) -> np.ndarray:
    """Return g[f2, f]: probability that set 2 comes after the first of the union, and agrees with it in the lowest bits.

    By the exact law of appendix A for a permutation of [0, D): the first of the union, of f members, is at i and outside of
    set 2, of f2 members, whose first is at j > i, with probability f2 (f - f2) / (D (D - f2)) u(i) v(j),
    u(i) = prod_{t < i} (D - f - t) / (D - f2 - 1 - t) and v(j) = prod_{t < j} (D - f2 - t) / (D - 1 - t).
    """
    step = 1 << bits
    out = np.zeros((universe + 1, universe + 1))
    t = np.arange(universe - 1)
    for f2 in range(1, universe):
        v = np.concatenate([[1.0], np.cumprod(np.maximum(universe - f2 - t, 0) / (universe - 1 - t))])
        later = np.concatenate([v, np.zeros(step)])
        for j in range(universe - 1, -1, -1):
            later[j] += later[j + step] if j + step < universe else 0.0
        f = np.arange(f2 + 1, universe + 1)[:, None]
        rest = universe - f2 - 1 - t
        u = np.where(rest > 0, np.maximum(universe - f - t, 0) / np.maximum(rest, 1), 0.0)
        u = np.concatenate([np.ones((len(f), 1)), np.cumprod(u, axis=1)], axis=1)
        tail = np.concatenate([later[step:universe], np.zeros(min(step, universe))])
        out[f2, f2 + 1 :] = f2 * (f[:, 0] - f2) / (universe * (universe - f2)) * (u @ tail)
    return out


def exact(later: np.ndarray, size_left: np.ndarray, size_right: np.ndarray, common: np.ndarray) -> np.ndarray:
    """Return probabilities that the lowest bits agree, from ``later_matches`` and sizes."""
    union = size_left + size_right - common
    return common / union + later[size_right, union] + later[size_left, union]


def triples(universe: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return all (f1, f2, a) with 1 <= f1 <= f2 and a union within the universe."""
    parts = []
    for f1 in range(1, universe + 1):
        f2, a = np.meshgrid(np.arange(f1, universe + 1), np.arange(f1 + 1), indexing="ij")
        fits = f1 + f2 - a <= universe
        parts.append(np.stack([np.full(int(fits.sum()), f1), f2[fits], a[fits]]))
    f1, f2, a = np.concatenate(parts, axis=1)
    return f1, f2, a


def chance(bits: int, density: float) -> float:
    """Return A as the sum that it stands for: r (1 - r)^(m 2^b - 1) over m = 1, 2, ..."""
    if density >= 1.0:
        return 0.0
    terms = int(np.ceil(45.0 / (-np.log1p(-density) * 2.0**bits))) + 1
    m = np.arange(1, terms + 1)
    return float(density * np.exp((m * 2.0**bits - 1) * np.log1p(-density)).sum())


def match(bits: int, resemblance: float, left: float, right: float) -> float:
    """Return the match probability of sets of a large universe: R, and either set later by a multiple of 2^b.

    Appendix A, before the constants C1 and C2 are introduced.
    """
    common = resemblance / (1 + resemblance) * (left + right)
    union = left + right - common
    return resemblance + chance(bits, left) * (right - common) / union + chance(bits, right) * (left - common) / union


def variance(bits: int | None, resemblance: float, left: float, right: float) -> float:
    """Return k Var of the estimate that inverts ``match`` at fixed densities; of the share of equal minima without ``bits``."""
    if bits is None:
        return resemblance * (1 - resemblance)
    e, low = match(bits, resemblance, left, right), match(bits, 0.0, left, right)
    slope = (e - low) / resemblance  # the match probability is linear in the resemblance
    return e * (1 - e) / slope**2


def precise_chance(bits: Decimal, density: Decimal) -> Decimal:
    """Return A in fifty digits, for a real number of bits."""
    n, q = Decimal(2) ** bits, 1 - density
    return density * q ** (n - 1) / (1 - q**n)


def slopes(bits: float, density: float) -> tuple[float, float]:
    """Return (dA/db, dA/dr) by central differences in fifty digits, which err by 1e-30."""
    b, r = Decimal(bits), Decimal(density)
    by_bits = (precise_chance(b + STEP, r) - precise_chance(b - STEP, r)) / (2 * STEP)
    by_density = (precise_chance(b, r + STEP) - precise_chance(b, r - STEP)) / (2 * STEP)
    return float(by_bits), float(by_density)


def printed_slope(bits: float, density: float) -> float:
    """Return dA/db as it is printed in appendix A."""
    n, q = 2.0**bits, 1 - density
    logs = np.log(q) * np.log(2) * density
    return float((q ** (n - 1) * logs * (1 - q**n) + q**n * logs * (1 - q ** (n - 1))) / (1 - q**n) ** 2)
