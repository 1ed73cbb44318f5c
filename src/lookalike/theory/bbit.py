"""b-bit minwise hashing: what the lowest b bits of minima tell of the resemblance (Li & König, WWW 2010).

Densities are r = f / D, sizes over the range of the permutation. Where the "permutation" is a 64-bit hash they are 0 for all
practical sets, whatever the universe the sets were drawn from.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ._check import Float, count, densities, fraction, resemblance_of, within
from .chance import chance_match


def constants(bits: ArrayLike, density_left: ArrayLike = 0.0, density_right: ArrayLike = 0.0) -> tuple[Float, Float]:
    """C1 and C2 of Theorem 1: the chance matches of both sides, weighted by the densities crosswise and straight.

    Parameters
    ----------
    bits : array_like of int in [1, 64]
    density_left, density_right : array_like of float in [0, 1]

    References
    ----------
    Li & König, WWW 2010, equations 6 and 7.
    """
    left, right = densities(density_left, density_right)
    a_left, a_right = chance_match(bits, left), chance_match(bits, right)
    total = left + right
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(total > 0.0, left / np.where(total > 0.0, total, 1.0), 0.5)
    return a_left * (1.0 - share) + a_right * share, a_left * share + a_right * (1.0 - share)


def match_probability(
    resemblance: ArrayLike, bits: ArrayLike, density_left: ArrayLike = 0.0, density_right: ArrayLike = 0.0
) -> Float:
    """Probability that the lowest b bits of two minima agree: C1 + (1 - C2) R (Theorem 1).

    Parameters
    ----------
    resemblance : array_like of float in [0, 1]
    bits : array_like of int in [1, 64]
    density_left, density_right : array_like of float in [0, 1]

    Raises
    ------
    ParameterError
        If an argument is out of range, or no sets of these densities have this resemblance.

    References
    ----------
    Li & König, WWW 2010, Theorem 1, equation 4. Exact for vanishing 1 / D; the error falls as about 0.5 / D.
    """
    r, left, right = resemblance_of(resemblance, density_left, density_right)
    c1, c2 = constants(bits, left, right)
    return c1 + (1.0 - c2) * r


def resemblance(
    match_share: ArrayLike, bits: ArrayLike, density_left: ArrayLike = 0.0, density_right: ArrayLike = 0.0
) -> Float:
    """Unbiased estimate of the resemblance from the share of matching slots: (E - C1) / (1 - C2); may be negative.

    Parameters
    ----------
    match_share : array_like of float in [0, 1]
    bits : array_like of int in [1, 64]
    density_left, density_right : array_like of float in [0, 1]

    References
    ----------
    Li & König, WWW 2010, equation 9.
    """
    c1, c2 = constants(bits, density_left, density_right)
    with np.errstate(divide="ignore", invalid="ignore"):
        return (fraction("match_share", match_share) - c1) / (1.0 - c2)


def variance(
    resemblance: ArrayLike,
    bits: ArrayLike,
    permutations: ArrayLike,
    density_left: ArrayLike = 0.0,
    density_right: ArrayLike = 0.0,
) -> Float:
    """Variance of that estimate from k permutations: E (1 - E) / (k (1 - C2)^2).

    Parameters
    ----------
    resemblance : array_like of float in [0, 1]
    bits : array_like of int in [1, 64]
    permutations : array_like of int >= 1
    density_left, density_right : array_like of float in [0, 1]

    References
    ----------
    Li & König, WWW 2010, equation 11.
    """
    e = match_probability(resemblance, bits, density_left, density_right)
    _, c2 = constants(bits, density_left, density_right)
    return e * (1.0 - e) / (count("permutations", permutations) * (1.0 - c2) ** 2)


def scheme_variance(slot_variance: ArrayLike, resemblance: ArrayLike, bits: ArrayLike, slots: ArrayLike) -> Float:
    """Variance of b-bit estimates on any scheme of ``slots`` slots whose own variance is known: Var + (1 - R) / (k (2^b - 1)).

    For sparse sets and bits taken from re-mixed slot values. Exact, since mismatching slots agree in their bits
    independently of everything else.

    Parameters
    ----------
    slot_variance : array_like of float >= 0
    resemblance : array_like of float in [0, 1]
    bits : array_like of int in [1, 64]
    slots : array_like of int >= 1

    References
    ----------
    Law of total variance: given which slots agree, the others match by chance, independently.
    """
    r, b = fraction("resemblance", resemblance), within("bits", bits, 1, 64)
    return within("slot_variance", slot_variance, 0.0, np.inf) + (1.0 - r) / (count("slots", slots) * (np.exp2(b) - 1.0))


def storage_factor(
    resemblance: ArrayLike, bits: ArrayLike, density_left: ArrayLike = 0.0, density_right: ArrayLike = 0.0
) -> Float:
    """B(b) = b k Var: bits stored times variance; the lower, the better a bit is used.

    Parameters
    ----------
    resemblance : array_like of float in [0, 1]
    bits : array_like of int in [1, 64]
    density_left, density_right : array_like of float in [0, 1]

    References
    ----------
    Li & König, WWW 2010, equation 12.
    """
    return np.asarray(bits, np.float64) * variance(resemblance, bits, 1, density_left, density_right)


def storage_ratio(
    bits_from: ArrayLike,
    bits_to: ArrayLike,
    resemblance: ArrayLike,
    density_left: ArrayLike = 0.0,
    density_right: ArrayLike = 0.0,
) -> Float:
    """B(bits_from) / B(bits_to): how many times less storage ``bits_to`` needs for the same variance.

    Parameters
    ----------
    bits_from, bits_to : array_like of int in [1, 64]
    resemblance : array_like of float in [0, 1)
        At 1 no variance is left; ``storage_ratio_limit`` is what the ratio tends to.
    density_left, density_right : array_like of float in [0, 1]

    References
    ----------
    Li & König, WWW 2010, Theorem 2, equations 13-15, and Table 1.
    """
    within("resemblance", resemblance, 0.0, 1.0, below=True)
    return storage_factor(resemblance, bits_from, density_left, density_right) / storage_factor(
        resemblance, bits_to, density_left, density_right
    )


def storage_ratio_limit(bits_from: ArrayLike, bits_to: ArrayLike, density: ArrayLike = 0.0) -> Float:
    """Limit of the storage ratio for R -> 1 at equal densities: (b1 / b2) (1 - A2) / (1 - A1).

    Parameters
    ----------
    bits_from, bits_to : array_like of int in [1, 64]
    density : array_like of float in [0, 1]

    References
    ----------
    Li & König, WWW 2010, Theorem 2, equation 14.
    """
    a_from, a_to = chance_match(bits_from, density), chance_match(bits_to, density)
    return np.asarray(bits_from, np.float64) / np.asarray(bits_to, np.float64) * (1.0 - a_to) / (1.0 - a_from)


def best_bits(resemblance: ArrayLike, bits: ArrayLike = (1, 2, 3, 4, 5, 6, 8, 16, 32), density: float = 0.0) -> Float:
    """Number of bits, of those given, with the least storage factor at a resemblance and equal densities.

    Parameters
    ----------
    resemblance : array_like of float in [0, 1]
    bits : array_like of int in [1, 64]
    density : float in [0, 1]

    References
    ----------
    Li & König, WWW 2010, section 2.3: the least B(b).
    """
    within("bits", bits, 1, 64)
    choices = np.atleast_1d(bits)
    r = fraction("resemblance", resemblance)
    factors = np.stack([storage_factor(r, int(b), density, density) for b in choices])
    return choices[np.argmin(factors, axis=0)]


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
    r = fraction("density", density)
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
    r = fraction("resemblance", resemblance)
    true, kept = fraction("density", density), fraction("stored", stored)
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
    return ((2.0 - fraction("stored", stored)) / (2.0 - fraction("density", density))) ** 2


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
    r = fraction("resemblance", resemblance)
    true, kept = fraction("density", density), fraction("stored", stored)
    spread = (1.0 - true + r) * (1.0 - r) * (4.0 - kept - true) / (2.0 - true) ** 2
    return np.abs(kept - true) * spread / count("permutations", permutations)
