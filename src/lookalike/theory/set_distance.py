"""Hamming distance of sets: from resemblance, and by sampling coordinates (Li & König 2010, section 4)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..errors import ParameterError
from . import bbit
from ._check import Float, count, fraction, resemblance_of, within


def distance(resemblance: ArrayLike, size_left: ArrayLike, size_right: ArrayLike) -> Float:
    """Size of the symmetric difference, H = (1 - R) / (1 + R) (f1 + f2).

    Parameters
    ----------
    resemblance : array_like of float in [0, 1]
        Estimates below 0 are to be raised to 0 first: the formula has a pole at -1.
    size_left, size_right : array_like of int >= 0

    References
    ----------
    Li & König, WWW 2010, equation 18; report, equation 12.
    """
    r = fraction("resemblance", resemblance)
    return (1.0 - r) / (1.0 + r) * (count("size_left", size_left, 0) + count("size_right", size_right, 0))


def resemblance(distance: ArrayLike, size_left: ArrayLike, size_right: ArrayLike) -> Float:
    """Resemblance of two sets of a Hamming distance: (f1 + f2 - H) / (f1 + f2 + H); nan where both are empty.

    Parameters
    ----------
    distance : array_like of float >= 0
    size_left, size_right : array_like of int >= 0

    Raises
    ------
    ParameterError
        If the distance is above the sum of both sizes.

    References
    ----------
    Li & König, WWW 2010, equation 18, solved for R.
    """
    total, h = count("size_left", size_left, 0) + count("size_right", size_right, 0), within("distance", distance, 0.0, np.inf)
    if np.any(h > total):
        raise ParameterError(f"must be at most the sum of both sizes, {total}", "distance", distance)
    with np.errstate(invalid="ignore"):
        return (total - h) / (total + h)


def variance(resemblance: ArrayLike, resemblance_variance: ArrayLike, total_size: ArrayLike) -> Float:
    """Variance of the distance computed from an estimated resemblance: Var(R) 4 (f1 + f2)^2 / (1 + R)^4.

    By the delta method: right to first order in 1 / k.

    Parameters
    ----------
    resemblance : array_like of float in [0, 1]
    resemblance_variance : array_like of float >= 0
    total_size : array_like of int >= 0

    References
    ----------
    Li & König, WWW 2010, equation 19.
    """
    r = fraction("resemblance", resemblance)
    spread, total = within("resemblance_variance", resemblance_variance, 0.0, np.inf), count("total_size", total_size, 0)
    return spread * 4.0 * total**2 / (1.0 + r) ** 4


def bias(resemblance: ArrayLike, resemblance_variance: ArrayLike, total_size: ArrayLike) -> Float:
    """Second-order bias of that distance, which the paper leaves out: 2 (f1 + f2) Var(R) / (1 + R)^3.

    Parameters
    ----------
    resemblance : array_like of float in [0, 1]
    resemblance_variance : array_like of float >= 0
    total_size : array_like of int >= 0

    References
    ----------
    Second-order expansion of Li & König, WWW 2010, equation 18.
    """
    r = fraction("resemblance", resemblance)
    spread, total = within("resemblance_variance", resemblance_variance, 0.0, np.inf), count("total_size", total_size, 0)
    return 2.0 * total * spread / (1.0 + r) ** 3


def sampling_estimate(differing: ArrayLike, universe: ArrayLike, samples: ArrayLike) -> Float:
    """Distance from ``samples`` coordinates of which some differ: D / k times their number.

    Parameters
    ----------
    differing : array_like of int >= 0
    universe, samples : array_like of int >= 1

    References
    ----------
    Li & König, WWW 2010, equation 16.
    """
    found, k = count("differing", differing, 0), count("samples", samples)
    fraction("differing / samples", found / k)
    return found * count("universe", universe) / k


def sampling_variance(distance: ArrayLike, universe: ArrayLike, samples: ArrayLike, replacement: bool = True) -> Float:
    """Variance of that estimate: D^2 / k (H / D - H^2 / D^2), times (D - k) / (D - 1) without replacement.

    Parameters
    ----------
    distance : array_like of float >= 0
    universe, samples : array_like of int >= 1
    replacement : bool
        Whether coordinates are drawn with replacement.

    References
    ----------
    Li & König, WWW 2010, equation 17.
    """
    h, d, k = within("distance", distance, 0.0, np.inf), count("universe", universe), count("samples", samples)
    fraction("distance / universe", h / d)
    if not replacement:
        fraction("samples / universe", k / d)
    factor = 1.0 if replacement else (d - k) / np.maximum(d - 1.0, 1.0)
    return d**2 / k * (h / d - (h / d) ** 2) * factor


def _shares(resemblance: ArrayLike, density_left: ArrayLike, density_right: ArrayLike) -> tuple[Float, Float, Float]:
    r, left, right = resemblance_of(resemblance, density_left, density_right)
    return r, left + right, (1.0 - r) / (1.0 + r) * (left + right)


def sampling_ratio(resemblance: ArrayLike, bits: ArrayLike, density_left: ArrayLike, density_right: ArrayLike) -> Float:
    """W_b: variance of coordinate sampling over ``bits`` times that of b-bit hashing, at equal numbers of samples.

    Above 1 b-bit hashing is the better per bit stored.

    Parameters
    ----------
    resemblance : array_like of float in [0, 1]
    bits : array_like of int in [1, 64]
    density_left, density_right : array_like of float in [0, 1]

    References
    ----------
    Li & König, WWW 2010, equation 20.
    """
    r, total, share = _shares(resemblance, density_left, density_right)
    from_bits = bbit.variance(r, bits, 1, density_left, density_right) * 4.0 * total**2 / (1.0 + r) ** 4
    return share * (1.0 - share) / (np.asarray(bits, np.float64) * from_bits)


def sparse_sampling_ratio(
    resemblance: ArrayLike, bits: ArrayLike, density_left: ArrayLike, density_right: ArrayLike, index_bits: float = 64.0
) -> Float:
    """G_b: the same where sampling stores only the coordinates that are set, ``index_bits`` each.

    Parameters
    ----------
    resemblance : array_like of float in [0, 1]
    bits : array_like of int in [1, 64]
    density_left, density_right : array_like of float in [0, 1]
    index_bits : float > 0

    References
    ----------
    Li & König, WWW 2010, equation 20 and Theorem 3.
    """
    total = np.asarray(density_left, np.float64) + np.asarray(density_right, np.float64)
    size = within("index_bits", index_bits, 0.0, np.inf, above=True)
    return sampling_ratio(resemblance, bits, density_left, density_right) * size * total / 2.0


def sparse_sampling_ratio_limit(resemblance: ArrayLike, bits: ArrayLike, index_bits: float = 64.0) -> Float:
    """G_b for vanishing densities: (index_bits / 8) / b (1 + R)^3 (1 - A) / (A + (1 - A) R) with A = 2^-b.

    Its limits R -> 0 and R -> 1 are those of Theorem 3, 8 (2^b - 1) / b and 64 (2^b - 1) / (b 2^b).

    Parameters
    ----------
    resemblance : array_like of float in [0, 1]
    bits : array_like of int in [1, 64]
    index_bits : float > 0

    References
    ----------
    ``sparse_sampling_ratio`` for r -> 0; at R = 1 it is Li & König, WWW 2010, equation 22.
    """
    r = fraction("resemblance", resemblance)
    b, size = within("bits", bits, 1, 64), within("index_bits", index_bits, 0.0, np.inf, above=True)
    a = 2.0**-b
    return size / 8.0 / b * (1.0 + r) ** 3 * (1.0 - a) / (a + (1.0 - a) * r)
