"""Shares that were counted: how many of n trials succeeded, what error that leaves, and how likely a share is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ._check import Float, count, within


def share_error(matches: ArrayLike, trials: ArrayLike) -> Float:
    """Standard error of a counted share: sqrt(p (1 - p) / (n + 4)) at p = (matches + 2) / (n + 4).

    The plain formula, sqrt(R (1 - R) / k) at the observed share, is 0 if all slots match or none does, although the true
    resemblance can differ from 1 by about 3 / k. Two matches and two mismatches more keep the interval of 1.96 standard
    errors at its level there; at other shares the difference is below 2 / n of the error for n trials.

    Parameters
    ----------
    matches : array_like of float in [0, trials]
    trials : array_like of float >= 0

    Returns
    -------
    float or ndarray of float64
        Above 0; nan where there is no trial.

    References
    ----------
    Agresti & Coull, "Approximate is better than 'exact' for interval estimation of binomial proportions", The American
    Statistician 1998.
    """
    n = count("trials", trials, 0)
    share = np.divide(np.where(n > 0.0, matches, 0.0), n, out=np.zeros(np.broadcast(matches, n).shape), where=n > 0.0)
    p = (n * within("matches / trials", share, 0.0, 1.0) + 2.0) / (n + 4.0)
    return np.where(n > 0.0, np.sqrt(p * (1.0 - p) / (n + 4.0)), np.nan)[()]


def upper_tail(matches: int, trials: int, probability: float) -> float:
    """P(X >= matches) of a binomial, summed in logarithms.

    Parameters
    ----------
    matches : int in [1, trials]
    trials : int >= 1
    probability : float in (0, 1)

    References
    ----------
    The binomial distribution.
    """
    k, n = int(count("matches", matches)), int(count("trials", trials))
    within("matches / trials", k / n, 0.0, 1.0)
    within("probability", probability, 0.0, 1.0, above=True, below=True)
    log_factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + 1)))])
    i = np.arange(k, n + 1)
    log_terms = log_factorial[n] - log_factorial[i] - log_factorial[n - i]
    log_terms = log_terms + i * np.log(probability) + (n - i) * np.log1p(-probability)
    top = log_terms.max()
    return float(np.exp(top) * np.exp(log_terms - top).sum())


def _chances(trials: int, probability: float) -> Float:
    """Return the probabilities of 0 to ``trials`` successes."""
    i = np.arange(trials + 1)
    if probability in (0.0, 1.0):
        return (i == trials * probability).astype(np.float64)
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, trials + 1)))])
    return np.exp(logs[-1] - logs - logs[::-1] + i * np.log(probability) + (trials - i) * np.log1p(-probability))


def upper_tail_of_sum(matches: int, trials: Sequence[int], probabilities: Sequence[float]) -> float:
    """P(X1 + X2 + ... >= matches) of independent binomials: what matches in parts of several kinds.

    Parameters
    ----------
    matches : int
    trials : sequence of int
        Of each part, 1 or more.
    probabilities : sequence of float
        As many, in [0, 1].

    References
    ----------
    The convolution of binomial distributions.
    """
    law = np.ones(1)
    for n, p in zip(trials, probabilities, strict=True):
        law = np.convolve(law, _chances(int(count("trials", n)), float(within("probabilities", p, 0.0, 1.0))))
    return float(law[max(0, matches) :].sum())


def reach_probability(resemblance: float, threshold: float, slots: int) -> float:
    """Probability that the share of equal slots reaches a threshold: P(Bin(k, R) >= m), m / k the least share that does.

    About a half at R = threshold: an estimate is as likely below as above.

    Parameters
    ----------
    resemblance : float in [0, 1]
    threshold : float in [0, 1]
    slots : int >= 1
        Number k of independent slots.

    References
    ----------
    Independent slots agree with probability R each (Broder 1997): their number is binomial.
    """
    p, least = float(within("resemblance", resemblance, 0.0, 1.0)), within("threshold", threshold, 0.0, 1.0)
    k = int(count("slots", slots))
    needed = int(np.argmax(np.arange(k + 1) / k >= least))
    if needed == 0 or p in (0.0, 1.0):
        return float(needed == 0 or p == 1.0)
    return upper_tail(needed, k, p)
