"""Shares that were counted: how many of n trials succeeded, what error that leaves, and how likely a share is."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, lgamma, log, log1p

import numpy as np
from numpy.typing import ArrayLike

from ._check import Float, count, fraction, within
from .banding import binomial


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
    p = (n * fraction("matches / trials", share) + 2.0) / (n + 4.0)
    return np.where(n > 0.0, np.sqrt(p * (1.0 - p) / (n + 4.0)), np.nan)[()]


def upper_tail(matches: int, trials: int, probability: float) -> float:
    """P(X >= matches) of a binomial, in a time that grows with the root of the number of trials.

    Parameters
    ----------
    matches : int in [1, trials]
    trials : int >= 1
    probability : float in (0, 1)

    Returns
    -------
    float in [0, 1]

    Raises
    ------
    ParameterError
        If a number is out of range.

    References
    ----------
    I_p(matches, trials - matches + 1), the regularized incomplete beta function: NIST Digital Library of Mathematical
    Functions, 8.17.5, and 8.17.22 for its continued fraction.
    """
    k, n = int(count("matches", matches)), int(count("trials", trials))
    fraction("matches / trials", k / n)
    p = float(within("probability", probability, 0.0, 1.0, above=True, below=True))
    if p > (k + 1) / (n + 3):  # the fraction converges fast on one side: the other is the tail of what does not match
        return 1.0 - exp(_log_tail(n - k + 1, n, 1.0 - p)[0])
    return exp(_log_tail(k, n, p)[0])


def tail_probability(matches: int, trials: int, tail: float) -> float:
    """Success probability at which ``matches`` or more successes are as likely as ``tail``: ``upper_tail`` inverted.

    Parameters
    ----------
    matches : int in [1, trials]
    trials : int >= 1
    tail : float in (0, 0.5]

    Returns
    -------
    float in (0, 1)

    Raises
    ------
    ParameterError
        If a number is out of range.

    References
    ----------
    Newton's method for log(tail) as a function of log(p): it is increasing and concave, so that no step passes the root.
    """
    k, n = int(count("matches", matches)), int(count("trials", trials))
    fraction("matches / trials", k / n)
    wanted = log(within("tail", tail, 0.0, 0.5, above=True))
    if k == n:
        return exp(wanted / n)

    def step(p: float) -> float:
        log_tail, log_slope = _log_tail(k, n, p)
        return (wanted - log_tail) * exp(log_tail - log_slope)

    p = k / (n + 3)  # with k / n, the fraction would divide by 0 where both are large
    p *= exp(step(p))
    while (further := step(p)) > 1e-13:  # from below the root, until only rounding is left
        p *= exp(further)
    return p


def _log_tail(k: int, n: int, p: float) -> tuple[float, float]:
    """Return the logarithms of P(X >= k) and of its derivative with respect to log p; the fraction is evaluated as by Lentz."""
    b = n - k + 1
    log_slope = lgamma(n + 1) - lgamma(k) - lgamma(b) + k * log(p) + (n - k) * log1p(-p)
    above, below = 1.0, 1.0 / (1.0 - (n + 1) * p / (k + 1))
    fraction, m = below, 0
    while abs(above * below - 1.0) > 1e-14:
        m += 1
        for term in (m * (b - m) / (k + 2 * m - 1), -(k + m) * (n + 1 + m) / (k + 2 * m + 1)):
            part = term * p / (k + 2 * m)
            below, above = 1.0 / (1.0 + part * below), 1.0 + part / above
            fraction *= above * below
    return log_slope + log1p(-p) + log(fraction / k), log_slope


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
        law = np.convolve(law, binomial(int(count("trials", n)), float(fraction("probabilities", p))))
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
    p, least = float(fraction("resemblance", resemblance)), fraction("threshold", threshold)
    k = int(count("slots", slots))
    needed = int(np.argmax(np.arange(k + 1) / k >= least))
    if needed == 0 or p in (0.0, 1.0):
        return float(needed == 0 or p == 1.0)
    return upper_tail(needed, k, p)
