"""Less than a bit a permutation: one stored bit is the XOR of the lowest bits of several minima (Li & König, section 5.3).

m permutations are ``combined`` into each of n stored bits, the ``samples``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..errors import ParameterError
from . import bbit
from ._check import Float, count, fraction


def _rho(resemblance: ArrayLike, density_left: ArrayLike, density_right: ArrayLike) -> Float:
    """2 E_1 - 1, the correlation of the lowest bits; must not be negative for the estimates to be defined."""
    rho = 2.0 * bbit.match_probability(resemblance, 1, density_left, density_right) - 1.0
    if np.any(rho < 0.0):
        raise ParameterError(
            f"combined bits need E >= 1/2, that is R >= r / 2 at equal densities r; resemblance {resemblance!r} at densities "
            f"{density_left!r}, {density_right!r} is below: store single bits"
        )
    return rho


def least_resemblance(density_left: ArrayLike, density_right: ArrayLike) -> Float:
    """Resemblance from which combined bits tell resemblances apart, (1/2 - C1) / (1 - C2): half the density if both are equal.

    Parameters
    ----------
    density_left, density_right : array_like of float in [0, 1]

    Returns
    -------
    float or ndarray of float64
        0 for vanishing densities.

    References
    ----------
    Li & König, WWW 2010, Theorem 1, solved for E = 1/2.
    """
    c1, c2 = bbit.constants(1, density_left, density_right)
    return np.where(c2 < 0.5, np.maximum(0.5 - c1, 0.0) / (1.0 - c2), 0.0)[()]


def match_probability(
    resemblance: ArrayLike, combined: ArrayLike, density_left: ArrayLike = 0.0, density_right: ArrayLike = 0.0
) -> Float:
    """T: probability that two XORed bits agree, (1 + (2 E - 1)^m) / 2 with m bits combined in each.

    Parameters
    ----------
    resemblance : array_like of float in [0, 1]
    combined : array_like of int >= 1
        Number m of permutations behind each stored bit; it need not be a power of two.
    density_left, density_right : array_like of float in [0, 1]

    References
    ----------
    Li & König, WWW 2010, equation 23; f-fractional bit minwise hashing, equation 27.
    """
    rho = 2.0 * bbit.match_probability(resemblance, 1, density_left, density_right) - 1.0
    return (1.0 + rho ** count("combined", combined)) / 2.0


def resemblance(
    match_share: ArrayLike, combined: ArrayLike, density_left: ArrayLike = 0.0, density_right: ArrayLike = 0.0
) -> Float:
    """Estimate from the share T of matching XORed bits: (max(2 T - 1, 0)^(1/m) + 1 - 2 C1) / (2 - 2 C2).

    Biased, for all that the paper says: the root is not linear. See ``bias``. The paper's equations 29, 30 and 32 print
    C2 for C1 in the numerator; the two differ for dense sets of different sizes.

    Parameters
    ----------
    match_share : array_like of float in [0, 1]
    combined : array_like of int >= 1
    density_left, density_right : array_like of float in [0, 1]

    References
    ----------
    Li & König, WWW 2010, equation 25; f-fractional bit minwise hashing, equations 30-32, corrected.
    """
    c1, c2 = bbit.constants(1, density_left, density_right)
    rho = np.maximum(2.0 * fraction("match_share", match_share) - 1.0, 0.0) ** (1.0 / count("combined", combined))
    return (rho + 1.0 - 2.0 * c1) / (2.0 - 2.0 * c2)


def least_usable(
    combined: ArrayLike, samples: ArrayLike, density_left: ArrayLike = 0.0, density_right: ArrayLike = 0.0
) -> Float:
    """Resemblance from which that estimate is of use: where 2 T - 1 is four standard errors of chance, 4 / sqrt(n).

    From there on its bias is at most an eighth of its standard error (to second order); below, the root makes much of chance:
    sets with nothing in common seem to have n^(-1/2m) in common.

    Parameters
    ----------
    combined : array_like of int >= 1
    samples : array_like of int >= 1
        Number n of stored bits.
    density_left, density_right : array_like of float in [0, 1]

    References
    ----------
    Second-order expansion of ``resemblance``.
    """
    return resemblance(np.minimum(0.5 + 2.0 / np.sqrt(count("samples", samples)), 1.0), combined, density_left, density_right)


_estimate = resemblance


def variance(
    resemblance: ArrayLike,
    combined: ArrayLike,
    samples: ArrayLike,
    density_left: ArrayLike = 0.0,
    density_right: ArrayLike = 0.0,
) -> Float:
    """Variance of that estimate, by the delta method: (1 - rho^2m) / (4 n m^2 (1 - C2)^2 rho^(2m-2)), rho = 2 E - 1.

    Parameters
    ----------
    resemblance : array_like of float in [0, 1]
    combined : array_like of int >= 1
    samples : array_like of int >= 1
        Number n of stored bits; m n permutations are computed.
    density_left, density_right : array_like of float in [0, 1]

    Raises
    ------
    ParameterError
        If the probability E of matching single bits is below 1/2, where the estimate converges to a wrong value.

    References
    ----------
    Li & König, WWW 2010, equations 26 and 27; f-fractional bit minwise hashing, equation 33.
    """
    rho, m = _rho(resemblance, density_left, density_right), count("combined", combined)
    _, c2 = bbit.constants(1, density_left, density_right)
    with np.errstate(divide="ignore"):
        spread = (1.0 - rho ** (2.0 * m)) / rho ** (2.0 * m - 2.0)
    return spread / (4.0 * count("samples", samples) * m**2 * (1.0 - c2) ** 2)


def bias(
    resemblance: ArrayLike,
    combined: ArrayLike,
    samples: ArrayLike,
    density_left: ArrayLike = 0.0,
    density_right: ArrayLike = 0.0,
) -> Float:
    """Second-order bias of that estimate: half the second derivative of the root times the variance of T.

    For m = 2: -(2 T - 1)^(-3/2) T (1 - T) / (4 n (1 - C2)).

    Parameters
    ----------
    resemblance : array_like of float in [0, 1]
    combined, samples : array_like of int >= 1
    density_left, density_right : array_like of float in [0, 1]

    References
    ----------
    Second-order expansion of ``resemblance``.
    """
    rho, m = _rho(resemblance, density_left, density_right), count("combined", combined)
    _, c2 = bbit.constants(1, density_left, density_right)
    t = (1.0 + rho**m) / 2.0
    curvature = (1.0 / m) * (1.0 / m - 1.0) * rho ** (1.0 - 2.0 * m) * 4.0 / (2.0 - 2.0 * c2)
    return 0.5 * curvature * t * (1.0 - t) / count("samples", samples)


def mean_squared_error(
    resemblance: float, combined: int, samples: int, density_left: float = 0.0, density_right: float = 0.0
) -> float:
    """Mean squared error of that estimate by the binomial law of the matches, bias included: no approximation.

    Above ``variance`` for few samples at a high resemblance: there the root is far from linear.

    Parameters
    ----------
    resemblance : float in [0, 1]
    combined, samples : int >= 1
    density_left, density_right : float in [0, 1]

    Notes
    -----
    Time: one step for each number of matches within 40 standard deviations of the mean.

    References
    ----------
    Expectation over Bin(n, T); Li & König, WWW 2010, equations 23 and 25.
    """
    t = float(match_probability(resemblance, combined, density_left, density_right))
    n = int(count("samples", samples))
    reach = 40.0 * (n * t * (1.0 - t)) ** 0.5 + 40.0
    x = np.arange(max(0, int(n * t - reach)), min(n, int(n * t + reach)) + 1)
    if t == 1.0:
        return 0.0
    log_steps = np.log((n - x[:-1]) / (x[:-1] + 1.0)) + np.log(t / (1.0 - t))
    log_p = np.concatenate([[0.0], np.cumsum(log_steps)])
    p = np.exp(log_p - log_p.max())
    found = _estimate(x / n, combined, density_left, density_right)
    return float(np.sum(p * (found - resemblance) ** 2) / p.sum())


def best_combined(resemblance: ArrayLike, most: int = 4096) -> Float:
    """Number of permutations to combine that gives the least variance per stored bit: about 0.797 / (1 - R), sparse sets.

    Parameters
    ----------
    resemblance : array_like of float in [0, 1]
    most : int >= 1
        The most that is tried.

    References
    ----------
    Li & König, WWW 2010, equations 23-27, combine two and 2^n bits; the least variance over any number of them.
    """
    r = fraction("resemblance", resemblance)
    choices = np.arange(1, int(count("most", most)) + 1)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        spread = variance(np.minimum(r, 1 - 1e-12)[..., None], choices, 1)
    return choices[np.argmin(np.where(np.isfinite(spread), spread, np.inf), axis=-1)]
