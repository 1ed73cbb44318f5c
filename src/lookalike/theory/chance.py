"""Matches by chance: how often b bits of two different minima agree."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ._check import Float, fraction, within


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
    b, r = within("bits", bits, 1, 64), fraction("density", density)
    n = np.exp2(b)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        log_rest = np.log1p(-r)
        a = r * np.exp((n - 1.0) * log_rest) / -np.expm1(n * log_rest)
    return np.where(r <= 0.0, 1.0 / n, np.where(r >= 1.0, 0.0, a))[()]
