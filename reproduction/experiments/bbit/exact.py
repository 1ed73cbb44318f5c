"""The exact law of b bits, which Theorem 1 approximates, and the derivatives of A."""

from __future__ import annotations

from math import comb

import numpy as np
from numpy.typing import ArrayLike

from lookalike.errors import ParameterError
from lookalike.theory._check import Float, within
from lookalike.theory.chance import chance_match

_SMALL = 0.03
"""Below this 2^b r, differences of powers cancel, and a series of ``_TERMS`` terms is exact to the last digits."""
_TERMS = 8


def chance_match_slopes(bits: ArrayLike, density: ArrayLike = 0.0) -> tuple[Float, Float]:
    """Derivatives of ``chance_match``: (dA/db, dA/dr), b being taken as a real number; neither is ever positive.

    With n = 2^b and q = 1 - r: dA/db = n ln 2 r q^(n - 1) ln q / (1 - q^n)^2 and
    dA/dr = q^(n - 2) (1 - n r - q^n) / (1 - q^n)^2.

    Parameters
    ----------
    bits : array_like of float in [1, 64]
    density : array_like of float in [0, 1]

    Returns
    -------
    (float or ndarray of float64, the same)
        -2^-b ln 2 and -(2^b - 1) / 2^(b + 1) at density 0.

    References
    ----------
    Li & König, WWW 2010, appendix A; dA/db corrected: the printed one lacks the factor 2^b and has 1 - q^(n - 1) in place of
    q^(n - 1).
    """
    b, r = within("bits", bits, 1, 64), within("density", density, 0.0, 1.0)
    n = np.exp2(b)
    a = chance_match(b, r)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        log_rest = np.log1p(-r)
        missed = -np.expm1(n * log_rest)
        by_bits = np.where(a > 0.0, np.log(2.0) * a * n * log_rest / missed, 0.0)
        # (1 - n r - q^n) / (n r)^2 = -C(n, 2) / n^2 + C(n, 3) r / n^2 - ...
        term = np.broadcast_to(-(n - 1.0) / (2.0 * n), np.broadcast(n, r).shape)
        series = np.zeros_like(term)
        for k in range(2, 2 + _TERMS):
            series = series + term
            term = -term * (n - k) * r / (k + 1.0)
        direct = (missed - n * r) / (n * r) ** 2
        power = np.where(n > 2.0, np.exp((n - 2.0) * log_rest), 1.0)
        by_density = power * np.where(n * r < _SMALL, series, direct) * (n * r / missed) ** 2
    sparse, full = r <= 0.0, r >= 1.0
    by_bits = np.where(sparse, -np.log(2.0) / n, np.where(full, 0.0, by_bits))
    by_density = np.where(sparse, -(n - 1.0) / (2.0 * n), np.where(full, np.where(n > 2.0, 0.0, -1.0), by_density))
    return by_bits[()], by_density[()]


def exact_match_probability(universe: int, size_left: int, size_right: int, common: int, bits: int) -> float:
    """Probability that the lowest b bits of two minima agree under a random permutation of [0, D): no approximation.

    Parameters
    ----------
    universe : int >= 1
        D; the sum has D^2 / 2^b terms.
    size_left, size_right : int in [1, D]
    common : int
        Size of the intersection, such that the union fits the universe.
    bits : int in [1, 64]

    Raises
    ------
    ParameterError
        If the sizes do not fit each other and the universe.

    References
    ----------
    Li & König, WWW 2010, appendix A.
    """
    union = size_left + size_right - common
    if not (size_left >= 1 and size_right >= 1 and 0 <= common <= min(size_left, size_right) and union <= universe):
        raise ParameterError(
            f"no sets of sizes {size_left}, {size_right} with {common} in common lie in a universe of {universe}"
        )
    within("bits", bits, 1, 64)
    step = 1 << bits
    total = comb(universe, union)
    probability = common / union
    # The minimum of one set alone is at i, with the union's smallest; the other's first is at j > i.
    for own, other in ((size_left, size_right), (size_right, size_left)):
        alone = own - common
        if alone == 0:
            continue
        favourable = 0
        for i in range(universe):
            for j in range(i + step, universe - other + 1, step):
                # Position i belongs to the first set alone; the other set lies in [j, D) with its minimum at j; further
                # members of the first set alone lie anywhere above i.
                favourable += comb(universe - j - 1, other - 1) * comb(universe - i - 1 - other, alone - 1)
        probability += favourable / (total * comb(union, other))
    return probability
