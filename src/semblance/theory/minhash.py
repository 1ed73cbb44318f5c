"""Resemblance estimated from k independent permutations (Broder 1997; Li & König 2010, equations 1-3)."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

FloatArray = Any
"""A float, or a float64 array of the shape that the arguments broadcast to."""


def variance(resemblance: ArrayLike, permutations: ArrayLike) -> FloatArray:
    """Variance of the share of equal slots: R (1 - R) / k.

    Parameters
    ----------
    resemblance : array_like of float in [0, 1]
    permutations : array_like of int >= 1
        Number k of slots.

    Returns
    -------
    float or ndarray of float64

    References
    ----------
    Li & König, "b-Bit Minwise Hashing", WWW 2010, equation 3.
    """
    r = np.asarray(resemblance, np.float64)
    return r * (1.0 - r) / np.asarray(permutations, np.float64)


def standard_error(resemblance: ArrayLike, permutations: ArrayLike) -> FloatArray:
    """Square root of :func:`variance`, with the same parameters."""
    return np.sqrt(variance(resemblance, permutations))


def hamming_distance(resemblance: ArrayLike, size_left: ArrayLike, size_right: ArrayLike) -> FloatArray:
    """Size of the symmetric difference of two sets: (1 - R) / (1 + R) (f1 + f2).

    Parameters
    ----------
    resemblance : array_like of float in [0, 1]
    size_left, size_right : array_like of int >= 0

    Returns
    -------
    float or ndarray of float64

    References
    ----------
    Li & König, "b-Bit Minwise Hashing", WWW 2010, section 2.4, equation 18.
    """
    r = np.asarray(resemblance, np.float64)
    return (1.0 - r) / (1.0 + r) * (np.asarray(size_left, np.float64) + np.asarray(size_right, np.float64))


def containment(resemblance: ArrayLike, size_left: ArrayLike, size_right: ArrayLike) -> FloatArray:
    """Share of the left set that lies in the right one: (1 + f2 / f1) R / (1 + R).

    Parameters
    ----------
    resemblance : array_like of float in [0, 1]
    size_left : array_like of int >= 1
    size_right : array_like of int >= 0

    Returns
    -------
    float or ndarray of float64
    """
    r = np.asarray(resemblance, np.float64)
    return (1.0 + np.asarray(size_right, np.float64) / np.asarray(size_left, np.float64)) * r / (1.0 + r)
