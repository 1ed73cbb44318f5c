"""The most likely resemblance behind any mixture of slots: b bits, XORed bits, whole values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..errors import ParameterError
from . import bbit
from ._check import Float, resemblance_of, within

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
    within("density_left", density_left, 0.0, 1.0)
    within("density_right", density_right, 0.0, 1.0)
    if all(part.combined == 1 for part in parts):
        return np.full(np.broadcast(density_left, density_right).shape, -np.inf)[()]
    c1, c2 = bbit.constants(1, density_left, density_right)
    whole: Float = np.zeros(np.shape(c2))  # slope of the whole slots' matches, by the correlation of single bits
    for part in parts:
        if part.combined == 1:
            whole = whole + part.slots * (1.0 - bbit.constants(part.bits, density_left, density_right)[1]) / (2.0 - 2.0 * c2)
    low, high = np.zeros(np.shape(c2)), np.ones(np.shape(c2))  # of minus that correlation; odd powers rise everywhere
    for _ in range(STEPS):
        x = (low + high) / 2.0
        fall = sum(p.slots * p.combined / 2.0 * x ** (p.combined - 1) for p in parts if p.combined % 2 == 0)
        rises = whole > fall
        low, high = np.where(rises, x, low), np.where(rises, high, x)
    return ((1.0 - low - 2.0 * c1) / (2.0 - 2.0 * c2))[()]


def counted(matches: ArrayLike, parts: Sequence[Part]) -> tuple[Float, Float]:
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
    within("matches / slots", counts / trials, 0.0, 1.0)
    return counts, trials


def _score(
    counts: Float, trials: Float, parts: Sequence[Part], r: Float, density_left: Float, density_right: Float
) -> tuple[Float, Float]:
    """(score, Fisher information) of matches counted in each part, at a resemblance."""
    total, information = np.zeros(counts.shape[:-1]), np.zeros(counts.shape[:-1])
    for i, part in enumerate(parts):
        e, slope = curve(part, r, density_left, density_right)
        spread = np.maximum(e * (1.0 - e), 1e-300)
        total = total + (counts[..., i] - trials[i] * e) * slope / spread
        information = information + trials[i] * slope**2 / spread
    return total, information


def _root(
    counts: Float, trials: Float, parts: Sequence[Part], ends: tuple[Float, Float], density_left: Float, density_right: Float
) -> Float:
    """Where the score changes its sign, or the end that it points to."""
    low, high = (np.broadcast_to(end, counts.shape[:-1]) for end in ends)
    for _ in range(STEPS):
        middle = (low + high) / 2.0
        up = _score(counts, trials, parts, middle, density_left, density_right)[0] > 0.0
        low, high = np.where(up, middle, low), np.where(up, high, middle)
    return np.where(low == ends[0], ends[0], np.where(high == ends[1], ends[1], (low + high) / 2.0))


def _likelihood(counts: Float, trials: Float, parts: Sequence[Part], r: Float, left: Float, right: Float) -> Float:
    """Logarithm of the likelihood of a resemblance, but for a constant."""
    total: Float = np.zeros(counts.shape[:-1])
    for i, part in enumerate(parts):
        e = np.clip(curve(part, r, left, right)[0], 1e-300, 1.0 - 1e-16)
        total = total + counts[..., i] * np.log(e) + (trials[i] - counts[..., i]) * np.log1p(-e)
    return total


def _farthest(
    counts: Float, trials: Float, parts: Sequence[Part], ends: tuple[Float, Float], density_left: Float, density_right: Float
) -> Float:
    """The resemblance on the way from the most likely one to an end at which the likelihood ratio rejects it."""
    most = _likelihood(counts, trials, parts, ends[0], density_left, density_right)
    near, far = (np.broadcast_to(end, counts.shape[:-1]) for end in ends)
    for _ in range(STEPS):
        middle = (near + far) / 2.0
        fits = most - _likelihood(counts, trials, parts, middle, density_left, density_right) < Z * Z / 2.0
        near, far = np.where(fits, middle, near), np.where(fits, far, middle)
    return (near + far) / 2.0


def most_likely(
    matches: ArrayLike,
    parts: Sequence[Part],
    density_left: ArrayLike = 0.0,
    density_right: ArrayLike = 0.0,
) -> tuple[Float, Float]:
    """Maximum-likelihood estimate of the resemblance, and its standard error, from matches counted in each part.

    The estimate solves score(R) = sum(k (E^ - E) E' / (E (1 - E))) = 0 on [Rmin, Rmax], Rmin being 0 but for XORed bits of
    dense sets, which tell nothing apart where single bits match with a probability below 1/2. It attains the Cramér-Rao
    bound, which no fixed weighting of parts does at all resemblances. The error is that of the information at the estimate
    that two matches and two mismatches more, shared among the parts, would give: at R = 1 itself the information is infinite
    however few the slots. For one part of b-bit slots it is that of ``shares.share_error`` over 1 - C2. With combined bits it
    is the wider half of the interval that the likelihood ratio gives at 1.96 errors, over 1.96: their information vanishes
    where hardly more match than by chance, and says nothing of the error there.

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
    Product of binomial likelihoods, one for each part; error from the Fisher information; Agresti & Coull, The American
    Statistician 1998, for the added matches.
    """
    counts, trials = counted(matches, parts)
    densities = within("density_left", density_left, 0.0, 1.0), within("density_right", density_right, 0.0, 1.0)
    larger = np.maximum(*densities)
    highest = np.where(larger > 0.0, np.minimum(*densities) / np.where(larger > 0.0, larger, 1.0), 1.0)
    lowest = np.minimum(np.maximum(rises_from(parts, *densities), 0.0), highest)
    ends = lowest, highest
    found = _root(counts, trials, parts, ends, *densities)
    more = trials / trials.sum()
    counts, trials = counts + 2.0 * more, trials + 4.0 * more
    middle = _root(counts, trials, parts, ends, *densities)
    if any(part.combined > 1 for part in parts):
        reach = [_farthest(counts, trials, parts, (middle, end), *densities) for end in ends]
        return found[()], (np.maximum(middle - reach[0], reach[1] - middle) / Z)[()]
    information = _score(counts, trials, parts, middle, *densities)[1]
    with np.errstate(divide="ignore"):
        error = 1.0 / np.sqrt(information)
    return found[()], error[()]


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
