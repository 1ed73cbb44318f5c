"""Blocks of bits that must agree, or nearly: how many tables and probes they need, what those find, and how much they compare.

Of z ``blocks``, x lead, and must agree; ``fingerprints`` are stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb

import numpy as np

from ..errors import ParameterError
from ._check import Float, within


def block_sizes(bits: int, blocks: int | Sequence[int]) -> list[int]:
    """Sizes of blocks: those given, or as equal as can be, the larger ones first.

    Parameters
    ----------
    bits : int >= 1
    blocks : int in [1, bits], or their widths

    Raises
    ------
    ParameterError
        If there are fewer bits than blocks, or no block; or widths below 1, or that do not add up to ``bits``.

    References
    ----------
    Thesis on PSM, equations 6.1 and 6.2: blocks of any size; 6.3: blocks of similar size.
    """
    if isinstance(blocks, Sequence):
        if min(blocks, default=0) < 1 or sum(blocks) != bits:
            raise ParameterError(
                f"widths of blocks must be at least 1 and add up to {bits} bits; got {', '.join(map(str, blocks))}"
            )
        return list(blocks)
    if not 1 <= blocks <= bits:
        raise ParameterError(f"must be in 1..{bits}", "blocks", blocks)
    return [bits // blocks + (i < bits % blocks) for i in range(blocks)]


def block_tables(blocks: int, lead: int, radius: int) -> int:
    """Number of tables of ``lead`` of ``blocks`` blocks, all combinations: C(z, x); exact if z - x >= h.

    Parameters
    ----------
    blocks : int in [1, bits]
    lead : int in [1, blocks)
    radius : int >= 0

    Raises
    ------
    ParameterError
        If ``lead`` is out of range, or fewer blocks than the radius do not lead.

    References
    ----------
    Thesis on PSM, equations 6.1-6.3; combinations, not permutations, of blocks.
    """
    if not 1 <= lead < blocks:
        raise ParameterError(f"must be in 1..{blocks - 1}", "lead", lead)
    if blocks - lead < radius:
        raise ParameterError(
            f"{lead} of {blocks} blocks leave {blocks - lead} for differing bits; radius {radius} needs as many or more"
        )
    return comb(blocks, lead)


def block_candidates(fingerprints: float, bits: int, blocks: int | Sequence[int], lead: int) -> float:
    """Expected comparisons of a query over all tables, for uniform fingerprints: sum of n 2^-(bits led).

    Parameters
    ----------
    fingerprints : float
    bits : int >= 1
    blocks : int in [1, bits], or their widths
    lead : int in [1, blocks)

    References
    ----------
    Thesis on PSM, equation 6.6, summed over all tables with the sizes that their blocks have.
    """
    sizes = np.array(block_sizes(bits, blocks))
    within("lead", lead, 1, len(sizes), below=True)
    return float(sum(fingerprints * 2.0 ** -sizes[list(c)].sum() for c in combinations(range(len(sizes)), lead)))


Design = tuple[int, tuple[tuple[int, ...], ...]]  # blocks, and the choices of them of which one must agree

# The words of weight 4 of the extended Hamming code [8, 4, 4], a Steiner system S(3, 4, 8): any three of eight blocks lie in
# exactly one of these complements, so three differing bits leave at least one of these fours of blocks untouched.
STEINER = tuple(
    tuple(place for place in range(8) if word >> place & 1)
    for word in range(256)
    if word.bit_count() == 4 and all((word & check).bit_count() % 2 == 0 for check in (0xFF, 0x0F, 0x33, 0x55))
)


def join_designs(bits: int, radius: int, most: int = 220) -> list[Design]:
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
        radius 3 the 14 of a Steiner system on eight blocks, in place of Manku's 56 on as many or 20 on six, if there are
        eight bits.

    Raises
    ------
    ParameterError
        If the radius is negative or not below the bits.

    References
    ----------
    All combinations: Thesis on PSM, equations 6.1-6.3. Eight blocks: the Steiner system S(3, 4, 8).
    """
    if not 0 <= radius < bits:
        raise ParameterError(f"must be in 0..{bits - 1} for fingerprints of {bits} bits", "radius", radius)
    designs: list[Design] = [(1, ((),))]
    for blocks in range(radius + 1, min(bits, 2 * radius + 8) + 1):
        if comb(blocks, radius) <= most:
            designs.append((blocks, tuple(combinations(range(blocks), blocks - radius))))
    if radius <= 3 and bits >= 8:
        designs.append((8, STEINER))
    return designs


def join_candidates(fingerprints: float, bits: int, blocks: int, choices: Sequence[tuple[int, ...]]) -> float:
    """Expected pairs compared in a self-join of uniform fingerprints: n^2 / 2 times the sum of 2^-(bits that must agree).

    Parameters
    ----------
    fingerprints : float
    bits : int >= 1
    blocks : int in [1, bits]
    choices : sequence of tuples of blocks that must agree

    References
    ----------
    Linearity of expectation over pairs and choices.
    """
    sizes = np.array(block_sizes(bits, blocks))
    return float(fingerprints**2 / 2.0 * sum(2.0 ** -float(sizes[list(choice)].sum()) for choice in choices))


def combinations_within(prefix_bits: int, flips: int) -> int:
    """Sets of at most ``flips`` of the prefix bits, the empty one included, sum of C(p, i): as many probes make a search exact.

    With 26 bits and 3 flips: 2,952; the thesis counts 2,951 without the empty one.

    Parameters
    ----------
    prefix_bits : int
    flips : int >= 0

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

    Raises
    ------
    ParameterError
        If prefixes have more bits.

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
    if rest < 0:
        raise ParameterError(f"must be of at most {bits} bits together, as prefixes have none in common", "tables", tables)
    missed = times(missed, [comb(rest, j) for j in range(min(rest, distance) + 1)])
    return 1.0 - float(missed[distance]) / comb(bits, distance)
