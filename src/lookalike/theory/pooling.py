"""The share of all stored slots that match, in any mixture of them: b bits, XORed bits; and the resemblance behind it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from . import bbit, xor_bits
from ._check import Float, resemblance_of, within
from .mixture import STEPS, Part, Z, counted, curve, rises_from


def _pooled_curve(parts: Sequence[Part], r: Float, density_left: Float, density_right: Float) -> tuple[Float, Float]:
    """(share of all stored slots that match, its slope) at a resemblance."""
    curves = [(part.slots, *curve(part, r, density_left, density_right)) for part in parts]
    total = sum(part.slots for part in parts)
    return sum(n * e for n, e, _ in curves) / total, sum(n * slope for n, _, slope in curves) / total


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
    share = within("match_share", match_share, 0.0, 1.0)
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
    low, high = ends
    for _ in range(STEPS):
        middle = (low + high) / 2.0
        below = _pooled_curve(parts, middle, density_left, density_right)[0] < share
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.where(low == ends[0], ends[0], np.where(high == ends[1], ends[1], (low + high) / 2.0))[()]


def variance(
    resemblance: ArrayLike, parts: Sequence[Part], density_left: ArrayLike = 0.0, density_right: ArrayLike = 0.0
) -> Float:
    """Variance of the pooled estimate by the delta method: sum(n T (1 - T)) / (sum(n T'))^2 over parts of n slots.

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
    counts, trials = counted(matches, parts)
    total = trials.sum()
    found = resemblance(counts.sum(-1) / total, parts, density_left, density_right)
    more = trials / total  # two matches and two mismatches more, shared among the parts
    each = (counts + 2.0 * more) / (trials + 4.0 * more)
    share, reach = (each * more).sum(-1), Z * np.sqrt((more * each * (1.0 - each)).sum(-1) / (total + 4.0))
    if all(part.combined == 1 for part in parts):
        return found, reach / Z / _pooled_curve(parts, 0.0, density_left, density_right)[1]
    ends = np.maximum(share - reach, 0.0), share, np.minimum(share + reach, 1.0)
    low, middle, high = (resemblance(end, parts, density_left, density_right) for end in ends)
    return found, np.maximum(middle - low, high - middle) / Z
