"""Probabilistic SimHash matching: which bits of a query are likely to differ, and what share of pairs their flips find.

Buckets are numbered by a prefix of p bits of the ``fingerprints`` stored; a query looks into k of them, its ``probes``.
"""

from __future__ import annotations

from functools import lru_cache
from heapq import heappop, heappush
from math import comb, erfc, sqrt

import numpy as np
from numpy.typing import ArrayLike

from ._check import Float, within

_erfc = np.vectorize(erfc, otypes=[np.float64])


def flip_probability(margin: ArrayLike, sigma: ArrayLike) -> Float:
    """Probability that a near-duplicate's bit differs where the query's sum is ``margin``: Phi(-|W| / sigma).

    The sum of the other document differs by a normal amount of standard deviation sigma.

    Parameters
    ----------
    margin : array_like of float
        W, the weighted sum of a bit.
    sigma : array_like of float > 0

    References
    ----------
    Thesis on PSM, equations 4.3 and 4.4. Its (4.5), 1 - |W| / ||W||, is no probability, but orders bits alike.
    """
    return 0.5 * _erfc(np.abs(np.asarray(margin, np.float64)) / np.asarray(sigma, np.float64) / sqrt(2.0))


def weak_bit_recall(margins: ArrayLike, sigma: ArrayLike, prefix_bits: int, probes: int, radius: int) -> tuple[Float, Float]:
    """Probability that a near-duplicate is at distance 1 to h and found by probabilistic matching, for each query's margins.

    Parameters
    ----------
    margins : array_like of float, shape (n, bits)
        The query's sums; the prefix is made of the last ``prefix_bits`` bits.
    sigma : float > 0, or array_like of float, shape (n,)
        Standard deviation of the difference of the sums of near-duplicates.
    prefix_bits, probes, radius : int
        p, k, h.

    Returns
    -------
    found : ndarray of float64, shape (n, probes)
        Probability that the distance is 1 to h and the pair is found with 1, 2, ..., k probes.
    near : ndarray of float64, shape (n,)
        Probability that the distance is 1 to h. The recall over pairs is ``found.sum(0) / near.sum()``.

    Notes
    -----
    Bits are taken to differ independently, bit j with probability q_j = Phi(-|W_j| / sigma). A pair is found if just the
    prefix bits that differ are among the k sets flipped, and few enough of the rest differ.

    References
    ----------
    Thesis on PSM, equations 4.4 and 4.6; 4.6 is the probability that a set differs, whatever else does. Exactly that set
    differs with probability prod_B q / (1 - q) times prod (1 - q).
    """
    sums = np.abs(np.asarray(margins, np.float64))
    differs = flip_probability(sums, np.broadcast_to(np.asarray(sigma, np.float64), len(sums))[:, None])
    first = sums.shape[1] - prefix_bits
    found, near = np.zeros((len(sums), probes)), _counts(differs, radius)[:, 1:].sum(1)
    rests = _counts(differs[:, :first], radius)
    for row, (q, rest, few) in enumerate(zip(differs, rests, np.cumsum(rests, 1), strict=True)):
        order = first + np.argsort(sums[row, first:], kind="stable")
        odds, none = q[order] / (1.0 - q[order]), float(np.prod(1.0 - q[first:]))
        for k, chosen in enumerate(cheapest_sets(sums[row, order], probes, radius)):
            share = few[radius - len(chosen)] if chosen else few[radius] - rest[0]  # equal ones are not asked for
            found[row, k] = none * float(np.prod(odds[list(chosen)])) * float(share)
    return np.cumsum(found, 1), near


@lru_cache(64)
def probed_share(cosine: float, prefix_bits: int, probes: int, radius: int, bits: int = 64) -> float:
    """Share of near-duplicates within the radius that probing the weakest bits finds, at a cosine, by the model of margins.

    Parameters
    ----------
    cosine : float in (0, 1]
        Of the query and the near-duplicate.
    prefix_bits, probes, radius : int
        p, k, h.
    bits : int, default 64

    Returns
    -------
    float
        Distance 0 included, which the first probe finds.

    Notes
    -----
    The sums of a query are independent and normal, and those of the near-duplicate correlate with them as the cosine says:
    given a sum w of standard deviation 1, the other's is normal with mean cosine w and variance 1 - cosine^2, so that the bit
    differs with probability Phi(-|w| cosine / sqrt(1 - cosine^2)). Its mean over w is angle / pi, as ``simhash`` has it. The
    mean over queries is that of 1,024 drawn once, fewer where there are many probes: its standard error is below 0.01.

    References
    ----------
    Thesis on PSM, equations 4.3, 4.4 and 4.6, and 2.3 for the distribution of the sums.
    """
    c = float(within("cosine", cosine, 0.0, 1.0, above=True))
    if c == 1.0 or probes >= sum(comb(prefix_bits, i) for i in range(radius + 1)):
        return 1.0
    sums = np.random.default_rng(1).standard_normal((max(64, min(1024, 32_768 // probes)), bits))
    sigma = sqrt(1.0 - c * c) / c
    found, near = weak_bit_recall(sums, sigma, prefix_bits, probes, radius)
    equal = np.prod(1.0 - flip_probability(sums, sigma), axis=1)
    return float((found[:, -1] + equal).sum() / (near + equal).sum())


def _counts(probability: Float, most: int) -> Float:
    """Probability, for each row, that 0, 1, ..., most of independent events happen."""
    out = np.zeros((len(probability), most + 1))
    out[:, 0] = 1.0
    for q in probability.T[:, :, None]:
        out[:, 1:] = out[:, 1:] * (1.0 - q) + out[:, :-1] * q
        out[:, :1] *= 1.0 - q
    return out


def cheapest_sets(costs: Float, count: int, most: int) -> list[tuple[int, ...]]:
    """The cheapest sets of at most ``most`` numbers by summed cost, the empty one first.

    Parameters
    ----------
    costs : ndarray of float, ascending, >= 0
    count : int
        Sets to return, where there are so many.
    most : int

    Returns
    -------
    list of tuples of int

    References
    ----------
    In place of the thesis' algorithm 2, whose rule as printed leaves sets out: one heap, in which a set is followed by that
    with its last member moved on, and by that with the next one added.
    """
    sets: list[tuple[int, ...]] = [()]
    heap: list[tuple[float, tuple[int, ...]]] = [(float(costs[0]), (0,))] if len(costs) and most else []
    while heap and len(sets) < count:
        cost, chosen = heappop(heap)
        sets.append(chosen)
        last = chosen[-1]
        if last + 1 < len(costs):
            step = float(costs[last + 1])
            heappush(heap, (cost + step - float(costs[last]), (*chosen[:-1], last + 1)))
            if len(chosen) < most:
                heappush(heap, (cost + step, (*chosen, last + 1)))
    return sets[:count]


def weak_bit_candidates(fingerprints: float, prefix_bits: int, probes: int) -> float:
    """Expected comparisons of a query that probes so many buckets: k 2^(d - p) for 2^d uniform fingerprints.

    Parameters
    ----------
    fingerprints : float
    prefix_bits : int
    probes : int >= 1

    References
    ----------
    Thesis on PSM, equation 6.21.
    """
    return probes * fingerprints / 2.0**prefix_bits


def table_equivalents(fingerprints: float, prefix_bits: int) -> float:
    """Memory of one sorted table and its 2^p offsets in tables: 1 + 2^(p - d).

    Parameters
    ----------
    fingerprints : float
    prefix_bits : int

    References
    ----------
    Thesis on PSM, equation 7.6.
    """
    return 1.0 + 2.0**prefix_bits / fingerprints
