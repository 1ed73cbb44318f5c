"""Densities stored in a few bits: what rounding them does to the estimates of ``bbit``."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ._check import Float, count, within


def quantized(density: ArrayLike, levels: int) -> Float:
    """Density rounded to the middle of one of ``levels`` equal steps, as it is stored in log2(levels) bits.

    Parameters
    ----------
    density : array_like of float in [0, 1]
    levels : int >= 1

    References
    ----------
    Li & König, WWW 2010, section 5.2.
    """
    r = within("density", density, 0.0, 1.0)
    count("levels", levels)
    return (np.minimum(np.floor(r * levels), levels - 1) + 0.5) / levels


def quantization_bias(resemblance: ArrayLike, density: ArrayLike, stored: ArrayLike) -> Float:
    """Bias of the 1-bit estimate if both densities are ``stored`` instead of ``density``: (r' - r) (1 - R) / (2 - r).

    Parameters
    ----------
    resemblance, density, stored : array_like of float in [0, 1]

    References
    ----------
    Li & König, WWW 2010, section 5.2.
    """
    r = within("resemblance", resemblance, 0.0, 1.0)
    true, kept = within("density", density, 0.0, 1.0), within("stored", stored, 0.0, 1.0)
    return (kept - true) * (1.0 - r) / (2.0 - true)


def quantization_variance_ratio(density: ArrayLike, stored: ArrayLike) -> Float:
    """Factor by which the same mistake changes the variance: (2 - r')^2 / (2 - r)^2.

    Parameters
    ----------
    density, stored : array_like of float in [0, 1]

    References
    ----------
    Li & König, WWW 2010, section 5.2.
    """
    return ((2.0 - within("stored", stored, 0.0, 1.0)) / (2.0 - within("density", density, 0.0, 1.0))) ** 2


def quantization_variance_difference(
    resemblance: ArrayLike, density: ArrayLike, stored: ArrayLike, permutations: ArrayLike
) -> Float:
    """How far the same mistake moves the variance: |r' - r| (1 - r + R) (1 - R) (4 - r' - r) / (k (2 - r)^2).

    Parameters
    ----------
    resemblance, density, stored : array_like of float in [0, 1]
    permutations : array_like of int >= 1

    References
    ----------
    Li & König, WWW 2010, section 5.2.
    """
    r = within("resemblance", resemblance, 0.0, 1.0)
    true, kept = within("density", density, 0.0, 1.0), within("stored", stored, 0.0, 1.0)
    spread = (1.0 - true + r) * (1.0 - r) * (4.0 - kept - true) / (2.0 - true) ** 2
    return np.abs(kept - true) * spread / count("permutations", permutations)
