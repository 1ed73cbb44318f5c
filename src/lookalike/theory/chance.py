"""Matches by chance: how often b bits of two different minima agree, and how fast that falls in b and in the density."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ._check import Float, within

_SMALL = 0.03
"""Below this 2^b r, differences of powers cancel, and a series of ``_TERMS`` terms is exact to the last digits."""
_TERMS = 8


def chance_match(bits: ArrayLike, density: ArrayLike = 0.0) -> Float:
    """A: probability that b bits of a further minimum agree by chance, r (1 - r)^(2^b - 1) / (1 - (1 - r)^(2^b)).

    Parameters
    ----------
    bits : array_like of int in [1, 64]
    density : array_like of float in [0, 1]

    Returns
    -------
    float or ndarray of float64
        2^-b at density 0, 0 at density 1; falls in both.

    References
    ----------
    Li & König, WWW 2010, equations 5-8.
    """
    b, r = within("bits", bits, 1, 64), within("density", density, 0.0, 1.0)
    n = np.exp2(b)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        log_rest = np.log1p(-r)
        a = r * np.exp((n - 1.0) * log_rest) / -np.expm1(n * log_rest)
    return np.where(r <= 0.0, 1.0 / n, np.where(r >= 1.0, 0.0, a))[()]


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
