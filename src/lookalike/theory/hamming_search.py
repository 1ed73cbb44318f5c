"""Search within a Hamming radius: how many tables, probes and comparisons, and what share of pairs is found."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

import numpy as np

from ._check import Float
from .blocks import STEINER, block_candidates, block_sizes, block_tables, join_candidates, join_designs
from .weak_bits import cheapest_sets, flip_probability, probed_share, table_equivalents, weak_bit_candidates, weak_bit_recall

__all__ = [
    "STEINER",
    "block_candidates",
    "block_sizes",
    "block_tables",
    "cheapest_sets",
    "combinations_within",
    "flip_probability",
    "found_share",
    "join_candidates",
    "join_designs",
    "probed_share",
    "probes",
    "table_equivalents",
    "weak_bit_candidates",
    "weak_bit_recall",
]


def probes(prefix_bits: int, flips: int) -> int:
    """Buckets within ``flips`` bits of a prefix: sum of C(p, i).

    Parameters
    ----------
    prefix_bits : int
    flips : int >= 0

    References
    ----------
    Thesis on PSM, chapter IV.
    """
    return sum(comb(prefix_bits, i) for i in range(flips + 1))


def combinations_within(prefix_bits: int, radius: int) -> int:
    """Sets of at most ``radius`` of the prefix bits, the empty one included: as many probes make the search exact.

    With 26 bits and radius 3: 2,952; the thesis counts 2,951 without the empty one.

    Parameters
    ----------
    prefix_bits : int
    radius : int >= 0

    References
    ----------
    Thesis on PSM, chapter IV.
    """
    return probes(prefix_bits, radius)


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
