"""The most likely resemblance behind any mixture of slots: b bits, XORed bits, whole values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..errors import ParameterError
from . import bbit
from ._check import Float, within
from .xor_bits import least_resemblance


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


def _curve(part: Part, r: Float, density_left: Float, density_right: Float) -> tuple[Float, Float]:
    """(match probability, its slope) of a part at a resemblance."""
    c1, c2 = bbit.constants(part.bits, density_left, density_right)
    e = c1 + (1.0 - c2) * r
    if part.combined == 1:
        return e, np.broadcast_to(1.0 - c2, np.shape(e))
    rho = 2.0 * e - 1.0
    return (1.0 + rho**part.combined) / 2.0, part.combined * rho ** (part.combined - 1) * (1.0 - c2)


def _score(
    counts: Float, trials: Float, parts: Sequence[Part], r: Float, density_left: Float, density_right: Float
) -> tuple[Float, Float]:
    """(score, Fisher information) of matches counted in each part, at a resemblance."""
    total, information = np.zeros(counts.shape[:-1]), np.zeros(counts.shape[:-1])
    for i, part in enumerate(parts):
        e, slope = _curve(part, r, density_left, density_right)
        spread = np.maximum(e * (1.0 - e), 1e-300)
        total = total + (counts[..., i] - trials[i] * e) * slope / spread
        information = information + trials[i] * slope**2 / spread
    return total, information


def _root(
    counts: Float, trials: Float, parts: Sequence[Part], ends: tuple[Float, Float], density_left: Float, density_right: Float
) -> Float:
    """Where the score changes its sign, or the end that it points to."""
    low, high = (np.broadcast_to(end, counts.shape[:-1]) for end in ends)
    for _ in range(50):
        middle = (low + high) / 2.0
        up = _score(counts, trials, parts, middle, density_left, density_right)[0] > 0.0
        low, high = np.where(up, middle, low), np.where(up, high, middle)
    return np.where(low == ends[0], ends[0], np.where(high == ends[1], ends[1], (low + high) / 2.0))


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
    however few the slots. For one part of b-bit slots it is that of ``shares.share_error`` over 1 - C2.

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
    counts, trials = np.asarray(matches, np.float64), np.array([part.slots for part in parts], np.float64)
    if counts.shape[-1:] != (len(parts),) or not len(parts):
        raise ParameterError(f"matches must have one column for each of the {len(parts)} parts; got shape {counts.shape}")
    within("matches / slots", counts / trials, 0.0, 1.0)
    densities = within("density_left", density_left, 0.0, 1.0), within("density_right", density_right, 0.0, 1.0)
    larger = np.maximum(*densities)
    highest = np.where(larger > 0.0, np.minimum(*densities) / np.where(larger > 0.0, larger, 1.0), 1.0)
    # XORed bits tell resemblances apart only where single bits match with probability 1/2 or more.
    combining = any(part.combined > 1 for part in parts)
    lowest = np.minimum(least_resemblance(*densities), highest) if combining else np.zeros_like(highest)
    ends = lowest, highest
    found = _root(counts, trials, parts, ends, *densities)
    more = trials / trials.sum()
    counts, trials = counts + 2.0 * more, trials + 4.0 * more
    information = _score(counts, trials, parts, _root(counts, trials, parts, ends, *densities), *densities)[1]
    with np.errstate(divide="ignore"):
        error = 1.0 / np.sqrt(information)
    return found[()], error[()]
