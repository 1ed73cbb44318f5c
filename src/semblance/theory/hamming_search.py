"""Search within a Hamming radius: how many tables, probes and comparisons, and what share of pairs is found."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from itertools import combinations
from math import comb, erfc, sqrt

import numpy as np
from numpy.typing import ArrayLike

from ..errors import ParameterError
from ._check import Float

_erfc = np.vectorize(erfc, otypes=[np.float64])


def block_sizes(bits: int, blocks: int) -> list[int]:
    """Sizes of blocks as equal as can be, the larger ones first.

    Parameters
    ----------
    bits : int >= 1
    blocks : int in [1, bits]

    Returns
    -------
    list of int

    Raises
    ------
    ParameterError
        If there are fewer bits than blocks, or no block.

    References
    ----------
    Thesis on PSM, equation 6.3: blocks of similar size.
    """
    if not 1 <= blocks <= bits:
        raise ParameterError(f"blocks must lie in 1..{bits}; {blocks} was given")
    return [bits // blocks + (i < bits % blocks) for i in range(blocks)]


def block_tables(blocks: int, lead: int, radius: int) -> int:
    """Number of tables of ``lead`` of ``blocks`` blocks, all combinations: C(z, x); exact if z - x >= h.

    Parameters
    ----------
    blocks : int in [1, bits]
    lead : int in [1, blocks)
        Blocks that lead, and must agree.
    radius : int >= 0

    Returns
    -------
    int

    Raises
    ------
    ParameterError
        If the blocks that do not lead are fewer than the radius.

    References
    ----------
    Thesis on PSM, equations 6.1-6.3; combinations, not permutations, of blocks.
    """
    if not 1 <= lead < blocks or blocks - lead < radius:
        raise ParameterError(
            f"{lead} of {blocks} blocks leave {blocks - lead} for differing bits; radius {radius} needs as many or more"
        )
    return comb(blocks, lead)


def block_candidates(fingerprints: float, bits: int, blocks: int, lead: int) -> float:
    """Expected comparisons of a query over all tables, for uniform fingerprints: sum of n 2^-(bits led).

    Parameters
    ----------
    fingerprints : float
        Fingerprints stored.
    bits : int >= 1
    blocks : int in [1, bits]
    lead : int in [1, blocks)
        Blocks that lead, and must agree.

    Returns
    -------
    float

    References
    ----------
    Thesis on PSM, equation 6.6, summed over all tables with the sizes that their blocks have.
    """
    sizes = np.array(block_sizes(bits, blocks))
    return float(sum(fingerprints * 2.0 ** -sizes[list(c)].sum() for c in combinations(range(blocks), lead)))


# The words of weight 4 of the extended Hamming code [8, 4, 4], a Steiner system S(3, 4, 8): any three of eight blocks lie in
# exactly one of these complements, so three differing bits leave at least one of these fours of blocks untouched.
STEINER = tuple(
    tuple(place for place in range(8) if word >> place & 1)
    for word in range(256)
    if word.bit_count() == 4 and all((word & check).bit_count() % 2 == 0 for check in (0xFF, 0x0F, 0x33, 0x55))
)


def join_designs(bits: int, radius: int, most: int = 220) -> list[tuple[int, tuple[tuple[int, ...], ...]]]:
    """Ways to choose blocks so that fingerprints within the radius agree in all blocks of at least one choice.

    Parameters
    ----------
    bits : int
    radius : int in [0, bits)
    most : int
        Choices, that is tables, to allow.

    Returns
    -------
    list of (number of blocks, choices of blocks)
        One choice of no block, which compares all with all; all C(z, z - radius) choices of Manku's tables; and up to
        radius 3 the 14 of a Steiner system on eight blocks, in place of Manku's 56 on as many or 20 on six.

    Raises
    ------
    ParameterError
        If the radius is negative or not below the bits.

    References
    ----------
    All combinations: Thesis on PSM, equations 6.1-6.3. Eight blocks: the Steiner system S(3, 4, 8).
    """
    if not 0 <= radius < bits:
        raise ParameterError(f"radius must lie in 0..{bits - 1} for fingerprints of {bits} bits; {radius} was given")
    designs: list[tuple[int, tuple[tuple[int, ...], ...]]] = [(1, ((),))]
    for blocks in range(radius + 1, min(bits, 2 * radius + 8) + 1):
        if comb(blocks, radius) <= most:
            designs.append((blocks, tuple(combinations(range(blocks), blocks - radius))))
    if radius <= 3:
        designs.append((8, STEINER))
    return designs


def join_candidates(fingerprints: float, bits: int, blocks: int, choices: Sequence[tuple[int, ...]]) -> float:
    """Expected pairs compared in a self-join of uniform fingerprints: n^2 / 2 times the sum of 2^-(bits that must agree).

    Parameters
    ----------
    fingerprints : float
        Fingerprints stored.
    bits : int >= 1
    blocks : int in [1, bits]
    choices : sequence of tuples of blocks that must agree

    Returns
    -------
    float

    References
    ----------
    Linearity of expectation over pairs and choices.
    """
    sizes = np.array(block_sizes(bits, blocks))
    return float(fingerprints**2 / 2.0 * sum(2.0 ** -float(sizes[list(choice)].sum()) for choice in choices))


def probes(prefix_bits: int, flips: int) -> int:
    """Buckets within ``flips`` bits of a prefix: sum of C(p, i).

    Parameters
    ----------
    prefix_bits : int
        Bits of the prefix that buckets are numbered by.
    flips : int >= 0

    Returns
    -------
    int

    References
    ----------
    Thesis on PSM, chapter IV.
    """
    return sum(comb(prefix_bits, i) for i in range(flips + 1))


def found_share(bits: int, distance: int, tables: Sequence[tuple[int, int]]) -> float:
    """Share of pairs at a distance that some table finds, if all sets of differing bits are equally likely.

    Parameters
    ----------
    bits : int
        f.
    distance : int
        Number of differing bits.
    tables : sequence of (prefix bits, flips)
        Prefixes of different tables have no bit in common. A table finds a pair if at most ``flips`` of its prefix bits differ.

    Returns
    -------
    float in [0, 1]

    References
    ----------
    Counting: how many of the C(bits, distance) sets put at most ``flips`` bits into some table's prefix.
    """
    missed = np.zeros(distance + 1, dtype=object)
    missed[0] = 1
    rest = bits

    def times(a: Float, b: list[int]) -> Float:
        out = np.zeros(distance + 1, dtype=object)
        for i, x in enumerate(a):
            for j, y in enumerate(b):
                if i + j <= distance:
                    out[i + j] += x * y
        return out

    for prefix, flips in tables:
        missed = times(missed, [comb(prefix, j) if j > flips else 0 for j in range(min(prefix, distance) + 1)])
        rest -= prefix
    missed = times(missed, [comb(rest, j) for j in range(min(rest, distance) + 1)])
    return 1.0 - float(missed[distance]) / comb(bits, distance)


def flip_probability(margin: ArrayLike, sigma: ArrayLike) -> Float:
    """Probability that a near-duplicate's bit differs where the query's sum is ``margin``: Phi(-|W| / sigma).

    The sum of the other document differs by a normal amount of standard deviation sigma.

    Parameters
    ----------
    margin : array_like of float
        W, the weighted sum of a bit.
    sigma : array_like of float > 0

    Returns
    -------
    float or ndarray of float64

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
    found, near = np.zeros((len(sums), probes)), np.empty(len(sums))
    for row, q in enumerate(differs):
        rest = _counts(q[:first], radius)
        within = np.cumsum(rest)
        near[row] = float(_counts(q, radius)[1:].sum())
        order = first + np.argsort(sums[row, first:], kind="stable")
        odds, none = q[order] / (1.0 - q[order]), float(np.prod(1.0 - q[first:]))
        for k, chosen in enumerate(cheapest_sets(sums[row, order], probes, radius)):
            share = within[radius - len(chosen)] if chosen else within[radius] - rest[0]  # equal ones are not asked for
            found[row, k] = none * float(np.prod(odds[list(chosen)])) * float(share)
    return np.cumsum(found, 1), near


def _counts(probability: Float, most: int) -> Float:
    """Probability that 0, 1, ..., most of independent events happen."""
    out = np.zeros(most + 1)
    out[0] = 1.0
    for q in probability:
        out[1:] = out[1:] * (1.0 - q) + out[:-1] * q
        out[0] *= 1.0 - q
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


def combinations_within(prefix_bits: int, radius: int) -> int:
    """Sets of at most ``radius`` of the prefix bits, the empty one included: as many probes make the search exact.

    With 26 bits and radius 3: 2,952; the thesis counts 2,951 without the empty one.

    Parameters
    ----------
    prefix_bits : int
        Bits of the prefix that buckets are numbered by.
    radius : int >= 0

    Returns
    -------
    int

    References
    ----------
    Thesis on PSM, chapter IV.
    """
    return probes(prefix_bits, radius)


def weak_bit_candidates(fingerprints: float, prefix_bits: int, probes: int) -> float:
    """Expected comparisons of a query that probes so many buckets: k 2^(d - p) for 2^d uniform fingerprints.

    Parameters
    ----------
    fingerprints : float
        Fingerprints stored.
    prefix_bits : int
        Bits of the prefix that buckets are numbered by.
    probes : int >= 1
        Buckets looked into.

    Returns
    -------
    float

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
        Fingerprints stored.
    prefix_bits : int
        Bits of the prefix that buckets are numbered by.

    Returns
    -------
    float

    References
    ----------
    Thesis on PSM, equation 7.6.
    """
    return 1.0 + 2.0**prefix_bits / fingerprints
