"""Probabilistic SimHash matching: which bits of a query are likely to differ, and what share of pairs their flips find.

Buckets are numbered by a prefix of p bits of the ``fingerprints`` stored; a query looks into k of them, its ``probes``.
"""

from __future__ import annotations

from functools import lru_cache
from heapq import heappop, heappush
from math import erfc, sqrt

import numpy as np
from numpy.typing import ArrayLike

from ..errors import ParameterError
from ._check import Float, within
from .blocks import combinations_within

_erfc = np.vectorize(erfc, otypes=[np.float64])
_AT_A_TIME = 1 << 18  # numbers in an array


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
        The query's sums; the prefix is made of the last ``prefix_bits`` of the bits.
    sigma : float > 0, or array_like of float, shape (n,) or (n, s)
        Standard deviation of the difference of the sums of near-duplicates; or s of them for each query.
    prefix_bits, probes, radius : int
        p, k, h.

    Returns
    -------
    found : ndarray of float64, shape (n, probes), or (n, s, probes)
        Probability that the distance is 1 to h and the pair is found with 1, 2, ..., k probes.
    near : ndarray of float64, shape (n,) or (n, s)
        Probability that the distance is 1 to h. The recall over pairs is ``found.sum(0) / near.sum()``.

    Raises
    ------
    ParameterError
        If the prefix has more bits than there are.

    Notes
    -----
    Bits are taken to differ independently, bit j with probability q_j = Phi(-|W_j| / sigma). A pair is found if just the bits
    of the prefix that differ are among the sets flipped: the probability that i of them differ, and are no set flipped, is
    multiplied with that of the rest of the bits, for all numbers of bits that make 1 to h together.

    References
    ----------
    Thesis on PSM, equations 4.4 and 4.6; 4.6 is the probability that a set differs, whatever else does. Exactly that set
    differs with probability prod_B q / (1 - q) times prod (1 - q).
    """
    sums, given = np.abs(np.asarray(margins, np.float64)), np.asarray(sigma, np.float64)
    n, bits = sums.shape
    if prefix_bits > bits:
        raise ParameterError(f"a prefix of {prefix_bits} bits needs as many; there are {bits}")
    each = given if given.ndim == 2 else np.broadcast_to(given, n)[:, None]
    found, near = np.empty((*each.shape, probes)), np.empty(each.shape)
    rows = max(1, _AT_A_TIME // (each.shape[1] * probes * (radius + 1)))
    for begin in range(0, n, rows):
        some = slice(begin, begin + rows)
        found[some], near[some] = _recalls(sums[some], each[some], prefix_bits, probes, radius)
    return (found, near) if given.ndim == 2 else (found[:, 0], near[:, 0])


def _recalls(sums: Float, sigma: Float, prefix_bits: int, probes: int, radius: int) -> tuple[Float, Float]:
    """What ``weak_bit_recall`` returns, for |W| of shape (n, bits) and sigma of shape (n, s)."""
    differs = flip_probability(sums[:, None], sigma[:, :, None])
    rest, mine = np.split(differs, [sums.shape[1] - prefix_bits], -1)
    missed = _missed(sums[:, sums.shape[1] - prefix_bits :], mine, probes, radius)[:, :, 1:]
    near = _counts(differs, radius)[..., 1:].sum(-1)
    few = np.cumsum(_counts(rest, radius), -1)[..., ::-1]  # of the rest at most h - i differ, for i = 0, ..., h
    found = near[..., None] - np.einsum("nski,nsi->nsk", missed, few)  # the first probe misses none that is equal
    found[..., combinations_within(prefix_bits, radius) - 1 :] = near[..., None]
    return np.clip(found, 0.0, near[..., None]), near


def _missed(sums: Float, differs: Float, probes: int, radius: int) -> Float:
    """Probability that 0, 1, ..., h bits of the prefix differ and make none of the sets flipped, with 0, 1, ..., k probes:
    shape (n, s, k + 1, h + 1)."""
    order = np.argsort(sums, axis=1, kind="stable")
    members = likely_sets(sums.shape[1], max(probes, 1), radius)
    costs = np.take_along_axis(sums, order, 1) @ members.T
    chosen = np.argsort(costs, axis=1, kind="stable")[:, :probes]
    q = np.clip(np.take_along_axis(differs, order[:, None], 2), 1e-300, None)
    chance = np.take_along_axis(np.log(q / (1.0 - q)) @ members.T, chosen[:, None], 2) + np.log1p(-q).sum(2, keepdims=True)
    sizes = members.sum(1)[chosen]
    out = np.zeros((*q.shape[:2], probes + 1, radius + 1))
    flipped = np.exp(chance)[..., None] * (sizes[:, None, :, None] == np.arange(radius + 1))
    np.cumsum(flipped, axis=2, out=out[:, :, 1 : 1 + flipped.shape[2]])
    out[:, :, 1 + flipped.shape[2] :] = out[:, :, [flipped.shape[2]]]
    return np.clip(_counts(q, radius)[:, :, None] - out, 0.0, None)


@lru_cache(64)
def likely_sets(prefix_bits: int, count: int, radius: int) -> Float:
    """The sets that can be among the cheapest so many whatever the costs are: 0 or 1 for each place, of ascending cost.

    A set is no cheaper than those whose members can be matched with lower places of its own, and so has to have fewer of these
    than ``count``.
    """
    found: list[tuple[int, ...]] = [()]
    waiting: list[tuple[int, ...]] = [(last,) for last in range(min(prefix_bits, count - 1))] if radius else []
    while waiting:
        chosen = waiting.pop()
        if _cheaper(chosen) > count:
            continue
        found.append(chosen)
        if len(chosen) < radius:
            waiting += [(*chosen, place) for place in range(chosen[-1])]
    out = np.zeros((len(found), prefix_bits))
    for row, places in enumerate(sorted(found, key=lambda places: (len(places), places))):
        out[row, list(places)] = 1.0
    return out


def _cheaper(chosen: tuple[int, ...]) -> int:
    """Number of sets of at most as many places, each no higher than that of the chosen set (descending) in its turn, or it."""
    total, ways = 1, [1] * (chosen[0] + 1)  # of sets whose lowest place is 0, 1, ...
    for i, most in enumerate(chosen):
        ways = [sum(ways[place + 1 :]) for place in range(most + 1)] if i else ways
        total += sum(ways)
    return total


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
    if c == 1.0 or probes >= combinations_within(prefix_bits, radius):
        return 1.0
    sums = np.random.default_rng(1).standard_normal((max(64, min(1024, 32_768 // probes)), bits))
    sigma = sqrt(1.0 - c * c) / c
    found, near = weak_bit_recall(sums, sigma, prefix_bits, probes, radius)
    equal = np.prod(1.0 - flip_probability(sums, sigma), axis=1)
    return float((found[:, -1] + equal).sum() / (near + equal).sum())


def _counts(probability: Float, most: int) -> Float:
    """Probability that 0, 1, ..., most of independent events happen, whose probabilities are along the last axis."""
    out = np.zeros((*probability.shape[:-1], most + 1))
    out[..., 0] = 1.0
    for q in np.moveaxis(probability, -1, 0)[..., None]:
        out[..., 1:] = out[..., 1:] * (1.0 - q) + out[..., :-1] * q
        out[..., :1] *= 1.0 - q
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
