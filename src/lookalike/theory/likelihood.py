"""The most likely resemblance behind any mixture of slots: b bits, XORed bits, whole values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ._check import Float, densities
from .mixture import Part, Z, _bisect, counted, curve, rises_from


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
    each = (np.broadcast_to(end, counts.shape[:-1]) for end in ends)
    return _bisect(lambda r: _score(counts, trials, parts, r, density_left, density_right)[0] > 0.0, *each)


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

    def fits(r: Float) -> Float:
        return most - _likelihood(counts, trials, parts, r, density_left, density_right) < Z * Z / 2.0

    return _bisect(fits, *(np.broadcast_to(end, counts.shape[:-1]) for end in ends))


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
    both = densities(density_left, density_right)
    larger = np.maximum(*both)
    highest = np.where(larger > 0.0, np.minimum(*both) / np.where(larger > 0.0, larger, 1.0), 1.0)
    lowest = np.minimum(np.maximum(rises_from(parts, *both), 0.0), highest)
    ends = lowest, highest
    found = _root(counts, trials, parts, ends, *both)
    more = trials / trials.sum()
    counts, trials = counts + 2.0 * more, trials + 4.0 * more
    middle = _root(counts, trials, parts, ends, *both)
    if any(part.combined > 1 for part in parts):
        reach = [_farthest(counts, trials, parts, (middle, end), *both) for end in ends]
        return found[()], (np.maximum(middle - reach[0], reach[1] - middle) / Z)[()]
    information = _score(counts, trials, parts, middle, *both)[1]
    with np.errstate(divide="ignore"):
        error = 1.0 / np.sqrt(information)
    return found[()], error[()]
