"""Mixtures of slots with different numbers of bits, or XORed ones: the share of all stored slots that match, and what it tells.

f-fractional bit minwise hashing (Li, König et al.), for slots of any kinds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..errors import ParameterError
from . import bbit, xor_bits
from ._check import Float, densities, fraction, resemblance_of

STEPS = 50  # bisections: to 2^-50 of the interval
Z = 1.96  # standard errors on either side of an interval of 95 %


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Slots of one kind.

    Parameters
    ----------
    slots : int >= 1
        How many there are.
    bits : int in [1, 64]
        Bits kept of each; with ``combined`` > 1 always 1.
    combined : int >= 1
        Number of permutations XORed into each slot.
    """

    slots: int
    bits: int = 1
    combined: int = 1

    def __post_init__(self) -> None:
        """Check the parameters."""
        if self.slots < 1 or not 1 <= self.bits <= 64 or self.combined < 1 or (self.combined > 1 and self.bits != 1):
            raise ParameterError(f"a part needs slots >= 1, bits in 1..64, and bits = 1 where slots are combined; not {self}")


def _bisect(rises: Callable[[Float], Float], low: Float, high: Float) -> Float:
    """Return where ``rises`` stops being true, by bisection; an end, where it does not between them."""
    begin, end = low, high
    for _ in range(STEPS):
        middle = (low + high) / 2.0
        more = rises(middle)
        low, high = np.where(more, middle, low), np.where(more, high, middle)
    return np.where(low == begin, begin, np.where(high == end, end, (low + high) / 2.0))


def check_shares(shares: Sequence[tuple[float, float]]) -> None:
    """Check that there are (bits, share), and that the shares sum to 1.

    Parameters
    ----------
    shares : sequence of (bits, share)

    Raises
    ------
    ParameterError
        If they do not.

    References
    ----------
    f-fractional bit minwise hashing, equations 13 and 39.
    """
    if not shares or not all(1 <= bits <= 64 and 0.0 <= share <= 1.0 for bits, share in shares):
        raise ParameterError("must be (bits in 1..64, share in [0, 1])", "parts", shares)
    if abs(sum(share for _, share in shares) - 1.0) > 1e-9:
        raise ParameterError(f"the shares of the parts must sum to 1; those of {shares} sum to {sum(s for _, s in shares)}")


def curve(
    part: Part, resemblance: ArrayLike, density_left: ArrayLike = 0.0, density_right: ArrayLike = 0.0
) -> tuple[Float, Float]:
    """Return (match probability, its slope by the resemblance) of a part's slots.

    Parameters
    ----------
    part : Part
    resemblance : array_like of float
        Any number: estimates may lie outside [0, 1].
    density_left, density_right : array_like of float in [0, 1]

    References
    ----------
    Li & König, WWW 2010, equations 4 and 23.
    """
    c1, c2 = bbit.constants(part.bits, density_left, density_right)
    e = c1 + (1.0 - c2) * np.asarray(resemblance, np.float64)
    if part.combined == 1:
        return e, np.broadcast_to(1.0 - c2, np.shape(e))
    rho = 2.0 * e - 1.0  # beyond 1 where a share is estimated to be above what the densities allow
    return (1.0 + rho**part.combined) / 2.0, part.combined * rho ** (part.combined - 1) * (1.0 - c2)


def pooled_curve(
    parts: Sequence[Part], resemblance: ArrayLike, density_left: ArrayLike = 0.0, density_right: ArrayLike = 0.0
) -> tuple[Float, Float]:
    """Return (expected share of all stored slots that match, its slope) at a resemblance.

    Parameters
    ----------
    parts : sequence of Part
    resemblance : array_like of float
        Any number, as for ``curve``.
    density_left, density_right : array_like of float in [0, 1]

    References
    ----------
    f-fractional bit minwise hashing, equations 11, 36 and 39.
    """
    curves = [(part.slots, *curve(part, resemblance, density_left, density_right)) for part in parts]
    total = sum(part.slots for part in parts)
    return sum(n * e for n, e, _ in curves) / total, sum(n * slope for n, _, slope in curves) / total


def rises_from(parts: Sequence[Part], density_left: ArrayLike = 0.0, density_right: ArrayLike = 0.0) -> Float:
    """Resemblance from which the pooled share of matches rises; below it, combined bits could stand for two resemblances.

    It is negative where whole slots outweigh the combined ones: for as many single bits as XORs of two, where single bits match
    with probability 1/4. XORs of odd numbers, which rise everywhere, are left out: beside whole slots and even ones the share
    rises from a little lower on.

    Parameters
    ----------
    parts : sequence of Part
    density_left, density_right : array_like of float in [0, 1]

    Returns
    -------
    float or ndarray of float64
        Minus infinity without combined bits.

    References
    ----------
    f-fractional bit minwise hashing, equation 37: its root is that of E >= 1/4.
    """
    densities(density_left, density_right)
    if all(part.combined == 1 for part in parts):
        return np.full(np.broadcast(density_left, density_right).shape, -np.inf)[()]
    c1, c2 = bbit.constants(1, density_left, density_right)
    whole: Float = np.zeros(np.shape(c2))  # slope of the whole slots' matches, by the correlation of single bits
    for part in parts:
        if part.combined == 1:
            whole = whole + part.slots * (1.0 - bbit.constants(part.bits, density_left, density_right)[1]) / (2.0 - 2.0 * c2)

    def rises(x: Float) -> Float:  # x: minus that correlation; odd powers rise everywhere
        return whole > sum(p.slots * p.combined / 2.0 * x ** (p.combined - 1) for p in parts if p.combined % 2 == 0)

    return ((1.0 - _bisect(rises, np.zeros(np.shape(c2)), np.ones(np.shape(c2))) - 2.0 * c1) / (2.0 - 2.0 * c2))[()]


def check_counts(matches: ArrayLike, parts: Sequence[Part]) -> tuple[Float, Float]:
    """Return matches and slots of each part as floats, checked against each other.

    Parameters
    ----------
    matches : array_like of int >= 0, shape (..., n_parts)
    parts : sequence of Part

    Returns
    -------
    (ndarray of float64, shape (..., n_parts); ndarray of float64, shape (n_parts,))

    Raises
    ------
    ParameterError
        If matches and parts do not fit each other.

    References
    ----------
    A check, no formula.
    """
    counts, trials = np.asarray(matches, np.float64), np.array([part.slots for part in parts], np.float64)
    if counts.shape[-1:] != (len(parts),) or not len(parts):
        raise ParameterError(f"matches must have one column for each of the {len(parts)} parts; got shape {counts.shape}")
    fraction("matches / slots", counts / trials)
    return counts, trials


def resemblance(
    match_share: ArrayLike, parts: Sequence[Part], density_left: ArrayLike = 0.0, density_right: ArrayLike = 0.0
) -> Float:
    """Estimate from the share of matches among all stored slots: the resemblance at which that share is expected.

    Without combined bits it is unbiased; with them it is biased by the root. A share below any that is expected gives the
    least resemblance.

    Parameters
    ----------
    match_share : array_like of float in [0, 1]
    parts : sequence of Part
        How many stored slots there are of each kind.
    density_left, density_right : array_like of float in [0, 1]

    References
    ----------
    f-fractional bit minwise hashing, equations 13, 30-32, 36-38, 41: one rule for all of them.
    """
    share = fraction("match_share", match_share)
    constants = [bbit.constants(part.bits, density_left, density_right) for part in parts]
    weights = [part.slots / sum(part.slots for part in parts) for part in parts]
    if all(part.combined == 1 for part in parts):
        c1, c2 = (sum(w * c[i] for w, c in zip(weights, constants, strict=True)) for i in (0, 1))
        return (share - c1) / (1.0 - c2)
    if len(parts) == 1:
        return xor_bits.resemblance(share, parts[0].combined, density_left, density_right)
    low = rises_from(parts, density_left, density_right)
    high = np.max([(1.0 - c1) / (1.0 - c2) for c1, c2 in constants], axis=0)  # where each of the parts matches for certain
    ends = np.broadcast_arrays(low, high, share)[:2]
    return _bisect(lambda r: pooled_curve(parts, r, density_left, density_right)[0] < share, *ends)[()]


def variance(
    resemblance: ArrayLike, parts: Sequence[Part], density_left: ArrayLike = 0.0, density_right: ArrayLike = 0.0
) -> Float:
    """Variance of the pooled estimate by the delta method: sum(n T (1 - T)) / (sum(n T'))^2 over parts of n slots.

    The papers print the square of a part's share where the share belongs (equations 17, 20 and 42), which halves the value for
    two equal parts: a part's share of matches rests on its own slots, not on all.

    Parameters
    ----------
    resemblance : array_like of float in [0, 1]
    parts : sequence of Part
    density_left, density_right : array_like of float in [0, 1]

    References
    ----------
    f-fractional bit minwise hashing, equations 17, 33 and 42, corrected, for any mixture; the paper has none of 3/4 bit.
    """
    r, left, right = resemblance_of(resemblance, density_left, density_right)
    curves = [(part.slots, *curve(part, r, left, right)) for part in parts]
    with np.errstate(divide="ignore"):
        return sum(n * t * (1.0 - t) for n, t, _ in curves) / sum(n * slope for n, _, slope in curves) ** 2


def least_variance(
    resemblance: ArrayLike, parts: Sequence[Part], density_left: ArrayLike = 0.0, density_right: ArrayLike = 0.0
) -> Float:
    """Cramér-Rao bound of the variance, 1 / sum(n T'^2 / (T (1 - T))): that of the most likely estimate of many slots.

    Parameters
    ----------
    resemblance : array_like of float in [0, 1]
    parts : sequence of Part
    density_left, density_right : array_like of float in [0, 1]

    References
    ----------
    Inverse of the Fisher information.
    """
    r, left, right = resemblance_of(resemblance, density_left, density_right)
    curves = [(part.slots, *curve(part, r, left, right)) for part in parts]
    with np.errstate(divide="ignore", invalid="ignore"):
        return 1.0 / sum(n * slope**2 / (t * (1.0 - t)) for n, t, slope in curves)


def storage_factor(
    resemblance: ArrayLike,
    parts: Sequence[Part],
    density_left: ArrayLike = 0.0,
    density_right: ArrayLike = 0.0,
    pooled: bool = True,
) -> Float:
    """F: bits stored times variance, f k Var for f bits a slot on average.

    With ``pooled=False``, under inverse-variance weights, 1 / F is the mean of 1 / B(b) of the parts weighted by the bits
    they hold: a mixture never uses a bit better than its better part.

    Parameters
    ----------
    resemblance : array_like of float in [0, 1]
    parts : sequence of Part
    density_left, density_right : array_like of float in [0, 1]
    pooled : bool
        Of the pooled estimate, or of the best one.

    References
    ----------
    f-fractional bit minwise hashing, equations 20 and 42, corrected.
    """
    which = variance if pooled else least_variance
    return sum(part.slots * part.bits for part in parts) * which(resemblance, parts, density_left, density_right)


def estimate(
    matches: ArrayLike, parts: Sequence[Part], density_left: ArrayLike = 0.0, density_right: ArrayLike = 0.0
) -> tuple[Float, Float]:
    """Pooled estimate of the resemblance, and its standard error, from matches counted in each part.

    The error is the wider half of what 1.96 standard errors of the pooled share come to, over 1.96; the share's error is
    that of ``shares.share_error``. Without combined bits this is the delta method. The root of combined bits is far from
    linear where few more match than by chance: there the delta method states a small fraction of the true error.

    Parameters
    ----------
    matches : array_like of int >= 0, shape (..., n_parts)
        Matching slots of each part.
    parts : sequence of Part
    density_left, density_right : array_like of float in [0, 1]
        Broadcast against ``matches.shape[:-1]``.

    Returns
    -------
    (float or ndarray of float64, likewise)
        Shape ``matches.shape[:-1]``.

    Raises
    ------
    ParameterError
        If matches and parts do not fit each other.

    References
    ----------
    f-fractional bit minwise hashing, equations 17, 33, 38; Agresti & Coull, The American Statistician 1998.
    """
    counts, trials = check_counts(matches, parts)
    total = trials.sum()
    found = resemblance(counts.sum(-1) / total, parts, density_left, density_right)
    more = trials / total  # two matches and two mismatches more, shared among the parts
    each = (counts + 2.0 * more) / (trials + 4.0 * more)
    error = np.sqrt((more * each * (1.0 - each)).sum(-1) / (total + 4.0))
    return found, _half_width(found, (each * more).sum(-1), error, parts, density_left, density_right)


def _half_width(
    found: Float, share: Float, error: Float, parts: Sequence[Part], density_left: ArrayLike, density_right: ArrayLike
) -> Float:
    """Return the error of an estimate by that of a pooled share: the wider half of its interval, of the estimate itself where
    it ends at the least resemblance of all."""
    if all(part.combined == 1 for part in parts):
        return error / pooled_curve(parts, 0.0, density_left, density_right)[1]
    least = resemblance(0.0, parts, density_left, density_right)
    lowest = pooled_curve(parts, least, density_left, density_right)[0]
    share = np.maximum(share, lowest)  # an interval that lies below what can be expected is of no width
    ends = np.maximum(share - Z * error, 0.0), share, np.minimum(share + Z * error, 1.0)
    low, middle, high = (resemblance(end, parts, density_left, density_right) for end in ends)
    return np.maximum(np.where(low > least, middle, found) - low, high - middle) / Z
