"""The most likely resemblance behind any mixture of slots: b bits, XORed bits, whole values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ._check import Float, densities
from .mixture import Part, Z, _bisect, _half_width, check_counts, curve, pooled_curve, rises_from


def _score(counts: Float, trials: Float, parts: Sequence[Part], r: Float, density_left: Float, density_right: Float) -> Float:
    """Score of matches counted in each part, at a resemblance."""
    total = np.zeros(counts.shape[:-1])
    for i, part in enumerate(parts):
        e, slope = curve(part, r, density_left, density_right)
        total = total + (counts[..., i] - trials[i] * e) * slope / np.maximum(e * (1.0 - e), 1e-300)
    return total


def _root(
    counts: Float, trials: Float, parts: Sequence[Part], ends: tuple[Float, Float], density_left: Float, density_right: Float
) -> Float:
    """Where the score changes its sign, or the end that it points to."""
    each = (np.broadcast_to(end, counts.shape[:-1]) for end in ends)
    return _bisect(lambda r: _score(counts, trials, parts, r, density_left, density_right) > 0.0, *each)


def highest(density_left: Float, density_right: Float) -> Float:
    """Return Rmax, min / max of two densities; 1 where both are 0.

    Parameters
    ----------
    density_left, density_right : float or ndarray of float64

    References
    ----------
    Sets of which one contains the other.
    """
    larger = np.maximum(density_left, density_right)
    return np.where(larger > 0.0, np.minimum(density_left, density_right) / np.where(larger > 0.0, larger, 1.0), 1.0)


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
    however few the slots. For one part of b-bit slots it is that of ``shares.share_error`` over 1 - C2. It is the information
    about the pooled share of matches, of which ``mixture.estimate`` makes the error: that about the resemblance vanishes
    where hardly more combined bits match than by chance.

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
    counts, trials = check_counts(matches, parts)
    both = densities(density_left, density_right)
    most = highest(*both)
    lowest = np.minimum(np.maximum(rises_from(parts, *both), 0.0), most)
    ends = lowest, most
    found = _root(counts, trials, parts, ends, *both)
    more = trials / trials.sum()
    trials = trials + 4.0 * more
    middle = _root(counts + 2.0 * more, trials, parts, ends, *both)
    share, slope = pooled_curve(parts, middle, *both)
    information = 0.0  # over the squared slope of the pooled share, which may vanish
    for n, part in zip(trials, parts, strict=True):
        e, its = curve(part, middle, *both)
        weight = np.divide(its, slope, out=np.ones(np.shape(slope)), where=slope != 0.0)
        information = information + n * weight**2 / (e * (1.0 - e))
    error = _half_width(found, share, information**-0.5, parts, *both)
    if any(part.combined == 1 for part in parts):
        with np.errstate(divide="ignore"):
            error = np.maximum(error, np.abs(information**-0.5 / slope))
    return found[()], np.minimum(error, np.maximum(found - lowest, most - found) / Z)[()]
