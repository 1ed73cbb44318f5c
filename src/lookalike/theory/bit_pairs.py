"""Pairs of lowest bits of minima: what they tell of dense sets whose sizes are known, beside being equal."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._check import Float, count, resemblance_of, within


def probabilities(resemblance: float, bits: int, density_left: float, density_right: float) -> NDArray[np.float64]:
    """Probability of each pair of lowest bits of minima of dense sets, float64 of shape (2^b, 2^b): row by left bits.

    Parameters
    ----------
    resemblance : float in [0, 1]
    bits : int in [1, 8]
    density_left, density_right : float in (0, 1]

    Returns
    -------
    ndarray of float64, shape (2^b, 2^b)

    Raises
    ------
    ParameterError
        If there are no such sets, or a density is 0: all pairs of unequal minima are then equally likely.

    References
    ----------
    Li & König, WWW 2010, appendix A, summed over places equal in their lowest b bits, for large universes.
    """
    common, left, right = _densities(resemblance, density_left, density_right)
    return _bit_law(common, left, right, int(within("bits", bits, 1, 8))).real


def variance(
    resemblance: float, bits: int, density_left: float, density_right: float, permutations: int, grouped: bool = True
) -> float:
    """Variance of the most likely resemblance from pairs of the lowest b bits of minima of dense sets, for large k.

    Parameters
    ----------
    resemblance : float in [0, 1]
    bits : int in [1, 8]
    density_left, density_right : float in (0, 1]
    permutations : int >= 1
    grouped : bool, default True
        Whether pairs are only counted as equal, smaller left, smaller right; otherwise each of 4^b pairs is.

    Returns
    -------
    float

    Raises
    ------
    ParameterError
        If there are no such sets, or a density is 0: what bits tell but for their equality vanishes with the density.

    References
    ----------
    Li & König 2011: the inverse of the Fisher information of ``probabilities``.
    """
    common, left, right = _densities(resemblance, density_left, density_right)
    p = _bit_law(common + 1e-20j, left, right, int(within("bits", bits, 1, 8)))  # its imaginary part is the slope, exactly
    if grouped:
        p = np.array([np.trace(p), np.triu(p, 1).sum(), np.tril(p, -1).sum()])
    some = p.real > 1e-15
    slope = p.imag[some] * 1e20 * (left + right) / (1.0 + resemblance) ** 2
    return float(1.0 / (count("permutations", permutations) * (slope**2 / p.real[some]).sum()))


def _densities(resemblance: float, density_left: float, density_right: float) -> tuple[Float, Float, Float]:
    """Return the density of the intersection and those of the sets."""
    left, right = (
        within(name, d, 0.0, 1.0, above=True) for name, d in (("density_left", density_left), ("density_right", density_right))
    )
    r, left, right = resemblance_of(resemblance, left, right)
    return r * (left + right) / (1.0 + r), left, right


def _bit_law(common: Any, left: Float, right: Float, bits: int) -> NDArray[np.complex128]:
    """Return the probabilities for a density of the intersection, which may be complex."""
    step = 1 << bits
    codes = np.arange(step)
    neither = 1.0 - (left + right - common)
    first = neither**codes / (1.0 - neither**step)
    after = (codes[None, :] - codes[:, None] - 1) % step
    later = [density * (1.0 - density) ** after / (1.0 - (1.0 - density) ** step) for density in (right, left)]
    law = (left - common) * first[:, None] * later[0] + ((right - common) * first[:, None] * later[1]).T
    return np.asarray(law + np.diag(common * first), np.complex128)
