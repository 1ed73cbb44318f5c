"""Mixtures of slots with different numbers of bits (f-fractional bit minwise hashing; Li, König et al.).

``parts`` are (bits, share): kinds of slots, whose shares sum to 1.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ..errors import ParameterError
from . import bbit
from ._check import Float, count, within

Parts = Sequence[tuple[int, float]]


def check_parts(parts: Parts) -> None:
    """Raise ParameterError unless the parts are (bits, share) with shares that sum to 1.

    Parameters
    ----------
    parts : sequence of (bits, share)

    Raises
    ------
    ParameterError
        If they are not.

    References
    ----------
    "f-Fractional Bit Minwise Hashing", equations 13 and 39: shares sum to 1.
    """
    try:
        whole = bool(parts) and all(1 <= bits <= 64 and 0.0 <= share <= 1.0 for bits, share in parts)
    except (TypeError, ValueError):
        whole = False
    if not whole:
        raise ParameterError(f"parts must be (bits in 1..64, share in [0, 1]); got {parts!r}")
    if abs(sum(share for _, share in parts) - 1.0) > 1e-9:
        raise ParameterError(f"the shares of the parts must sum to 1; those of {parts} sum to {sum(s for _, s in parts)}")


def mean_bits(parts: Parts) -> float:
    """f: bits a slot, on average.

    Parameters
    ----------
    parts : sequence of (bits, share)

    References
    ----------
    "f-Fractional Bit Minwise Hashing", equations 13 and 39.
    """
    check_parts(parts)
    return sum(bits * share for bits, share in parts)


def _terms(
    resemblance: ArrayLike, parts: Parts, density_left: ArrayLike, density_right: ArrayLike
) -> list[tuple[float, Float, Float]]:
    """(share, match probability E, slope 1 - C2) of each part."""
    check_parts(parts)
    return [
        (
            share,
            bbit.match_probability(resemblance, bits, density_left, density_right),
            1.0 - bbit.constants(bits, density_left, density_right)[1],
        )
        for bits, share in parts
        if share > 0.0
    ]


def match_probability(
    resemblance: ArrayLike, parts: Parts, density_left: ArrayLike = 0.0, density_right: ArrayLike = 0.0
) -> Float:
    """Expected share of matching slots over all parts.

    Parameters
    ----------
    resemblance : array_like of float in [0, 1]
    parts : sequence of (bits, share)
    density_left, density_right : array_like of float in [0, 1]

    References
    ----------
    f-fractional bit minwise hashing, equations 11 and 39.
    """
    return sum(w * e for w, e, _ in _terms(resemblance, parts, density_left, density_right))


def resemblance(match_share: ArrayLike, parts: Parts, density_left: ArrayLike = 0.0, density_right: ArrayLike = 0.0) -> Float:
    """Pooled estimate from the share of matching slots over all parts; unbiased.

    Parameters
    ----------
    match_share : array_like of float in [0, 1]
    parts : sequence of (bits, share)
    density_left, density_right : array_like of float in [0, 1]

    References
    ----------
    f-fractional bit minwise hashing, equations 13-16 and 40.
    """
    check_parts(parts)
    constants = [(share, *bbit.constants(bits, density_left, density_right)) for bits, share in parts]
    c1, c2 = (sum(c[0] * c[i] for c in constants) for i in (1, 2))
    return (within("match_share", match_share, 0.0, 1.0) - c1) / (1.0 - c2)


def variance(
    resemblance: ArrayLike,
    parts: Parts,
    permutations: ArrayLike,
    density_left: ArrayLike = 0.0,
    density_right: ArrayLike = 0.0,
) -> Float:
    """Variance of the pooled estimate: sum(w E (1 - E)) / (k (1 - sum(w C2))^2).

    The papers print w^2 for w in the numerator (equations 17, 20 and 42), which halves the value for two equal parts:
    a part's share of matches rests on w k slots, not on k. ``tests`` hold both against simulation.

    Parameters
    ----------
    resemblance : array_like of float in [0, 1]
    parts : sequence of (bits, share)
    permutations : array_like of int >= 1
        Number k of slots over all parts.
    density_left, density_right : array_like of float in [0, 1]

    References
    ----------
    f-fractional bit minwise hashing, equations 17, 20, 42, corrected.
    """
    terms = _terms(resemblance, parts, density_left, density_right)
    spread = sum(w * e * (1.0 - e) for w, e, _ in terms)
    return spread / (count("permutations", permutations) * sum(w * slope for w, _, slope in terms) ** 2)


def random_assignment_variance(resemblance: ArrayLike, parts: Parts, permutations: ArrayLike) -> Float:
    """Variance if each slot draws its number of bits at random: E (1 - E) of the mixture; larger than a fixed assignment.

    Parameters
    ----------
    resemblance : array_like of float in [0, 1]
    parts : sequence of (bits, share)
    permutations : array_like of int >= 1

    References
    ----------
    A binomial share of the mixture's probability; what "f-Fractional Bit Minwise Hashing" would be with kinds drawn at random.
    """
    terms = _terms(resemblance, parts, 0.0, 0.0)
    e = sum(w * e for w, e, _ in terms)
    return e * (1.0 - e) / (count("permutations", permutations) * sum(w * slope for w, _, slope in terms) ** 2)


def best_variance(
    resemblance: ArrayLike,
    parts: Parts,
    permutations: ArrayLike,
    density_left: ArrayLike = 0.0,
    density_right: ArrayLike = 0.0,
) -> Float:
    """Variance with inverse-variance weights, the Cramér-Rao bound: 1 / sum(w k (1 - C2)^2 / (E (1 - E))).

    Never above ``variance``; reached by the maximum-likelihood estimate.

    Parameters
    ----------
    resemblance : array_like of float in [0, 1]
    parts : sequence of (bits, share)
    permutations : array_like of int >= 1
    density_left, density_right : array_like of float in [0, 1]

    References
    ----------
    Inverse of the Fisher information; "f-Fractional Bit Minwise Hashing" gives the pooled estimate only.
    """
    terms = _terms(resemblance, parts, density_left, density_right)
    with np.errstate(divide="ignore"):
        information = sum(w * slope**2 / (e * (1.0 - e)) for w, e, slope in terms)
        return 1.0 / (count("permutations", permutations) * information)


def storage_factor(
    resemblance: ArrayLike,
    parts: Parts,
    density_left: ArrayLike = 0.0,
    density_right: ArrayLike = 0.0,
    pooled: bool = True,
) -> Float:
    """F = f k Var: bits stored times variance.

    With ``pooled=False``, under inverse-variance weights, 1 / F is the mean of 1 / B(b) of the parts weighted by the bits
    they hold: a mixture never uses a bit better than its better part. What it gives is finer steps of storage.

    Parameters
    ----------
    resemblance : array_like of float in [0, 1]
    parts : sequence of (bits, share)
    density_left, density_right : array_like of float in [0, 1]
    pooled : bool
        Of the pooled estimate, or of the best one.

    References
    ----------
    f-fractional bit minwise hashing, equations 20 and 42, corrected.
    """
    which = variance if pooled else best_variance
    return mean_bits(parts) * which(resemblance, parts, 1, density_left, density_right)
