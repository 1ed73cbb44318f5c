"""Banding: documents that agree in all rows of a band become candidates; how many codes these share, and what crowds find."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._check import Float, count, fraction, within

CODE_VALUES = 16
LEVEL = 1e-4


def candidate_probability(resemblance: ArrayLike, bands: ArrayLike, rows: ArrayLike) -> Float:
    """Probability that two documents share at least one of ``bands`` bands: 1 - (1 - R^rows)^bands.

    Parameters
    ----------
    resemblance : array_like of float in [0, 1]
    bands, rows : array_like of int >= 1

    Returns
    -------
    float or ndarray of float64
        In [0, 1]; rises with the resemblance.

    References
    ----------
    Leskovec, Rajaraman & Ullman, "Mining of Massive Datasets", section 3.4.2.
    """
    band = fraction("resemblance", resemblance) ** count("rows", rows)
    with np.errstate(divide="ignore"):
        return -np.expm1(count("bands", bands) * np.log1p(-band))


def bands_for_recall(threshold: ArrayLike, recall: ArrayLike, rows: ArrayLike) -> Float:
    """Least number of bands with which a pair at the threshold becomes a candidate with probability ``recall``.

    Parameters
    ----------
    threshold : array_like of float in (0, 1]
    recall : array_like of float in (0, 1)
    rows : array_like of int >= 1

    Returns
    -------
    int or ndarray of float64
        At least 1; infinite where ``threshold ** rows`` vanishes.

    References
    ----------
    Inverse of ``candidate_probability``: ln(1 - recall) / ln(1 - R^rows), rounded up.
    """
    t, wanted = within("threshold", threshold, 0.0, 1.0, above=True), within("recall", recall, 0.0, 1.0, above=True, below=True)
    with np.errstate(divide="ignore", over="ignore"):
        miss = np.log1p(-(t ** count("rows", rows)))
        needed = np.log1p(-wanted) / miss
    return np.maximum(1.0, np.ceil(needed - 1e-9))


def mean_candidate_probability(threshold: float, bands: int, rows: int, points: int = 301) -> float:
    """Mean of the candidate probability over resemblances uniform in [0, threshold], by the trapezoid rule.

    Parameters
    ----------
    threshold : float in (0, 1]
    bands, rows : int >= 1
    points : int >= 2
        Points of the rule.

    Returns
    -------
    float in [0, 1]

    References
    ----------
    Integral of ``candidate_probability`` over [0, threshold], divided by the threshold.
    """
    within("threshold", threshold, 0.0, 1.0, above=True)
    grid = np.linspace(0.0, threshold, int(count("points", points, 2)))
    return float(np.trapezoid(candidate_probability(grid, bands, rows), grid) / threshold)


def binomial(trials: int, probability: float) -> NDArray[np.float64]:
    """Probabilities of 0, 1, ..., ``trials`` successes in so many independent trials.

    Parameters
    ----------
    trials : int >= 0
    probability : float in [0, 1]
        Of a success.

    Returns
    -------
    ndarray of float64, shape (trials + 1,)

    References
    ----------
    C(n, i) p^i (1 - p)^(n - i), by logarithms of factorials.
    """
    n, p = int(count("trials", trials, 0)), float(fraction("probability", probability))
    terms = np.zeros(n + 1)
    if p in (0.0, 1.0):
        terms[n if p else 0] = 1.0
        return terms
    i = np.arange(n + 1)
    log_factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + 1)))])
    terms[:] = np.exp(log_factorial[n] - log_factorial - log_factorial[::-1] + i * np.log(p) + (n - i) * np.log1p(-p))
    return terms


def least_agreeing(bands: int, rows: int, threshold: float, recall: float, plan_recall: float | None = None) -> int:
    """Number of 4-bit codes in which a pair must agree, so low that hardly a pair at the threshold has fewer.

    The largest L with P(X < L) <= level, for X binomial of ``bands * rows`` trials of probability t + (1 - t) / 16: slots agree
    with probability t, and the codes of different values by chance.

    Parameters
    ----------
    bands, rows : int >= 1
    threshold : float in (0, 1]
        Resemblance t.
    recall : float in (0, 1)
        Recall that was asked for. The level is a tenth of the misses that it allows, and at most what the plan has above it,
        so that the pairs lost here leave the recall as promised.
    plan_recall : float in [0, 1], optional
        Recall of the plan; None if bands and rows were given, which promises none: the level is then 0.0001.

    Returns
    -------
    int in [0, bands * rows]

    References
    ----------
    Codes of b bits agree with probability R + (1 - R) / 2^b: Li & König, "b-Bit Minwise Hashing", WWW 2010.
    """
    n = int(count("bands", bands)) * int(count("rows", rows))
    t = float(within("threshold", threshold, 0.0, 1.0, above=True))
    asked = float(within("recall", recall, 0.0, 1.0, above=True, below=True))
    level = LEVEL
    if plan_recall is not None:
        level = min((1.0 - asked) / 10.0, float(fraction("plan_recall", plan_recall)) - asked)
    p = t + (1.0 - t) / CODE_VALUES
    if p >= 1.0:
        return n
    return int(np.searchsorted(np.cumsum(binomial(n, p)), level, side="right")) if level > 0.0 else 0


def crowded_recall(own: ArrayLike, crowded: ArrayLike, resemblance: float, chosen: int = 16) -> NDArray[np.float64]:
    """Probability that a document is paired with another one of some resemblance R, by its buckets, crowds and rare codes.

    1 - S (1 - q (1 - C)), with S = prod(1 - p_band) over the bands in which its bucket is small, C the same over its crowds.
    p_band is the product of its slots' probabilities of agreement: c = min((1 + R) / 2, k R / (k - o)) for a slot with a common
    value, y = x k / o for one of the document's o own values of k, where x = max(0, R - (1 - o / k) c) is what common slots
    leave of R.
    q = 1 - (1 - y)^min(o, chosen) is the probability that the pair shares a rare code.

    Parameters
    ----------
    own : array_like of bool, shape (documents, bands, rows)
        Slots whose code no other crowded document has, or that are within the document's budget.
    crowded : array_like of bool, shape (documents, bands)
        Bands in which the document's bucket is a crowd; to take a small bucket for a crowd makes the result smaller.
    resemblance : float in [0, 1]
    chosen : int >= 1
        Rare codes that a document holds at most.

    Returns
    -------
    ndarray of float64, shape (documents,)
        In [0, 1]. Without crowds, and all slots being own, the candidate probability of banding.

    Notes
    -----
    A model: slots agree independently. Simulated pairs of common boilerplate were found more often than it says.

    References
    ----------
    Broder, "On the resemblance and containment of documents", 1997: of two sets of one size a minimum of the first is in the
    second with probability 2 R / (1 + R), and slots agree with R, so that those of such minima agree with (1 + R) / 2.
    """
    mine, crowds = np.asarray(own, np.bool_), np.asarray(crowded, np.bool_)
    r = float(fraction("resemblance", resemblance))
    k = mine.shape[1] * mine.shape[2]
    o = mine.sum((1, 2))
    common = np.minimum((1.0 + r) / 2.0, k * r / np.maximum(k - o, 1))  # common slots alone agree in no more than R of all
    y = np.minimum(1.0, np.maximum(0.0, r - (1.0 - o / k) * common) * k / np.maximum(o, 1))
    missed = 1.0 - np.where(mine, y[:, None, None], common[:, None, None]).prod(2)
    small_missed, crowds_missed = (np.where(which, missed, 1.0).prod(1) for which in (~crowds, crowds))
    q = 1.0 - (1.0 - y) ** np.minimum(o, count("chosen", chosen))
    found: NDArray[np.float64] = 1.0 - small_missed * (1.0 - q * (1.0 - crowds_missed))
    return found
