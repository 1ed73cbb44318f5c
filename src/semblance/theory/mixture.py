"""The most likely resemblance behind any mixture of slots: b bits, XORed bits, whole values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..errors import ParameterError
from . import bbit
from ._check import Float


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


def _curve(part: Part, r: Float, density_left: float, density_right: float) -> tuple[Float, Float]:
    """(match probability, its slope) of a part at a resemblance."""
    c1, c2 = bbit.constants(part.bits, density_left, density_right)
    e = c1 + (1.0 - c2) * r
    if part.combined == 1:
        return e, np.broadcast_to(1.0 - c2, np.shape(e))
    rho = 2.0 * e - 1.0
    return (1.0 + rho**part.combined) / 2.0, part.combined * rho ** (part.combined - 1) * (1.0 - c2)


def most_likely(
    matches: ArrayLike,
    parts: Sequence[Part],
    density_left: float = 0.0,
    density_right: float = 0.0,
) -> tuple[Float, Float]:
    """Maximum-likelihood estimate of the resemblance, and its standard error, from matches counted in each part.

    The estimate solves score(R) = sum(k (E^ - E) E' / (E (1 - E))) = 0 on [Rmin, Rmax], Rmin being 0 but for XORed bits of
    dense sets, which tell nothing apart where single bits match with a probability below 1/2; the error is that of the
    information there. It attains the Cramér-Rao bound, which no fixed weighting of parts does at all resemblances.

    Parameters
    ----------
    matches : array_like of int, shape (..., n_parts)
        Matching slots of each part.
    parts : sequence of Part
    density_left, density_right : float in [0, 1]

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
    Product of binomial likelihoods, one for each part; error from the Fisher information.
    """
    counts = np.asarray(matches, np.float64)
    if counts.shape[-1:] != (len(parts),):
        raise ParameterError(f"matches must have one column for each of the {len(parts)} parts; shape {counts.shape}")
    shares = [counts[..., i] / part.slots for i, part in enumerate(parts)]
    larger = max(density_left, density_right)
    highest = min(density_left, density_right) / larger if larger > 0 else 1.0

    def score(r: Float) -> tuple[Float, Float]:
        total, information = np.zeros(counts.shape[:-1]), np.zeros(counts.shape[:-1])
        for share, part in zip(shares, parts, strict=True):
            e, slope = _curve(part, r, density_left, density_right)
            spread = np.maximum(e * (1.0 - e), 1e-300)
            total = total + part.slots * (share - e) * slope / spread
            information = information + part.slots * slope**2 / spread
        return total, information

    # XORed bits tell resemblances apart only where single bits match with probability 1/2 or more.
    c1, c2 = bbit.constants(1, density_left, density_right)
    lowest = max(0.0, float((0.5 - c1) / (1.0 - c2))) if any(part.combined > 1 for part in parts) else 0.0
    low, high = np.full(counts.shape[:-1], lowest), np.full(counts.shape[:-1], highest)
    for _ in range(50):
        middle = (low + high) / 2.0
        up = score(middle)[0] > 0.0
        low, high = np.where(up, middle, low), np.where(up, high, middle)
    found = np.where(low == lowest, lowest, np.where(high == highest, highest, (low + high) / 2.0))
    with np.errstate(divide="ignore"):
        error = 1.0 / np.sqrt(score(found)[1])
    return found[()], error[()]
