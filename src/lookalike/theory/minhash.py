"""Resemblance of sets, and its estimate from k independent permutations (Broder 1997; Li & König 2010)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..errors import ParameterError
from ._check import Float, count, fraction
from .shares import tail_probability


def resemblance(common: ArrayLike, size_left: ArrayLike, size_right: ArrayLike) -> Float:
    """Common members over all members, a / (f1 + f2 - a); nan where both sets are empty.

    Parameters
    ----------
    common, size_left, size_right : array_like of int >= 0

    Raises
    ------
    ParameterError
        If more members are common than the smaller set has.

    References
    ----------
    Li & König, "b-Bit Minwise Hashing", WWW 2010, section 1.
    """
    a, left, right = count("common", common, 0), count("size_left", size_left, 0), count("size_right", size_right, 0)
    if np.any(a > np.minimum(left, right)):
        raise ParameterError(f"common must be at most the smaller size; got {common!r} of {size_left!r} and {size_right!r}")
    with np.errstate(invalid="ignore"):
        return a / (left + right - a)


def intersection(resemblance: ArrayLike, size_left: ArrayLike, size_right: ArrayLike) -> Float:
    """Number of common members, R (f1 + f2) / (1 + R).

    Parameters
    ----------
    resemblance : array_like of float in [0, 1]
    size_left, size_right : array_like of int >= 0

    References
    ----------
    Report on minwise, b-bit and one-permutation hashing, equation 11.
    """
    r = fraction("resemblance", resemblance)
    return r / (1.0 + r) * (count("size_left", size_left, 0) + count("size_right", size_right, 0))


def variance(resemblance: ArrayLike, permutations: ArrayLike) -> Float:
    """Variance of the share of equal slots: R (1 - R) / k.

    Parameters
    ----------
    resemblance : array_like of float in [0, 1]
    permutations : array_like of int >= 1
        Number k of slots.

    References
    ----------
    Li & König, "b-Bit Minwise Hashing", WWW 2010, equation 3.
    """
    r = fraction("resemblance", resemblance)
    return r * (1.0 - r) / count("permutations", permutations)


def standard_error(resemblance: ArrayLike, permutations: ArrayLike) -> Float:
    """Square root of ``variance``, with the same parameters.

    Parameters
    ----------
    resemblance : array_like of float in [0, 1]
    permutations : array_like of int >= 1

    References
    ----------
    Li & König, WWW 2010, equation 3.
    """
    return np.sqrt(variance(resemblance, permutations))


def exact_interval(matches: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Clopper and Pearson's interval of a share: the binomial inverted, right for any share and number.

    Parameters
    ----------
    matches : int in [0, trials]
    trials : int >= 1
    confidence : float in (0, 1)

    Returns
    -------
    (float, float)
        Covers the share with at least the confidence asked for. For b-bit slots apply
        ``lookalike.theory.bbit.resemblance`` to both ends.

    Raises
    ------
    ParameterError
        If the confidence lies outside (0, 1), or there are more matches than trials.

    References
    ----------
    Clopper & Pearson, "The use of confidence or fiducial limits", Biometrika 1934.
    """
    if not 0 <= matches <= trials or trials < 1:
        raise ParameterError(f"matches must be in 0..trials, and trials at least 1; got {matches} of {trials}")
    if not 0.0 < confidence < 1.0:
        raise ParameterError("must be strictly between 0 and 1", "confidence", confidence)
    tail = (1.0 - confidence) / 2.0
    low = tail_probability(matches, trials, tail) if matches else 0.0
    return low, (1.0 - tail_probability(trials - matches, trials, tail) if matches < trials else 1.0)


def _check_feasible(resemblance: Float, left: Float, right: Float) -> None:
    if np.any(resemblance * np.maximum(left, right) > np.minimum(left, right) * (1.0 + 1e-9)):
        raise ParameterError(
            f"sets of sizes {left} and {right} resemble each other by the smaller over the larger at most; got {resemblance}"
        )


def containment(resemblance: ArrayLike, size_left: ArrayLike, size_right: ArrayLike) -> Float:
    """Share of the left set that lies in the right one: (1 + f2 / f1) R / (1 + R).

    Parameters
    ----------
    resemblance : array_like of float in [0, 1]
    size_left : array_like of int >= 1
    size_right : array_like of int >= 0

    Raises
    ------
    ParameterError
        If sets of these sizes cannot have this resemblance.

    References
    ----------
    |A & B| = R (f1 + f2) / (1 + R), over f1.
    """
    left = count("size_left", size_left)
    _check_feasible(fraction("resemblance", resemblance), left, count("size_right", size_right, 0))
    return intersection(resemblance, size_left, size_right) / left
