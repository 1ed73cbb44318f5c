"""The searches of fingerprints that fit a memory and a recall, by what the models say that they cost."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import comb, floor

import numpy as np

from ..errors import ParameterError
from ..theory import hamming_costs, weak_bits
from ..theory.hamming_costs import DEFAULT
from .tables import layouts

SIGMA, SPREAD = 0.2, 1.0
BITS = 64
MAX_PREFIX, MOST_PROBES = 26, 200
MOST_FINGERPRINTS = 1 << 40


@dataclass(frozen=True, slots=True)
class Choice:
    """One way to search: the index to make, as Python, and what it finds and costs."""

    method: str
    recall: float  # for PSM by the model of margins, for tables of pairs whose differing bits fall anywhere alike
    memory: float  # bytes
    nanoseconds: float  # a query, by the cost model


def _describe(shape: list[tuple[int, int]]) -> str:
    """Say how many tables of how many bits and flips: ``3 x 21 bits, 1 flip``."""
    said = [f"{count} x {bits} bits" + (f", {flips} flips" if flips else "") for (bits, flips), count in Counter(shape).items()]
    return "; ".join(said)


def frontier(found: list[Choice]) -> list[Choice]:
    """Leave out what is not smaller by a tenth than another that is as fast; the fastest first."""
    out: list[Choice] = []
    for choice in sorted(found, key=lambda c: (c.nanoseconds, c.memory)):
        if not out or choice.memory < 0.9 * out[-1].memory:
            out.append(choice)
    return out


def choices(
    n: int, *, radius: int = 3, recall: float = 1.0, memory: float = float("inf"), sigma: float = SIGMA
) -> list[Choice]:
    """List the searches of n fingerprints of 64 bits that fit the memory and find the wanted share, the fastest first (thesis
    on PSM, chapter VI: z, x and the number of tables, p and k, within a memory s)."""
    if not 1 <= n <= MOST_FINGERPRINTS:
        raise ParameterError(f"n must be in 1..{MOST_FINGERPRINTS:,}; got {n:,}")
    if not 0.0 < recall <= 1.0:
        raise ParameterError(f"recall must be in (0, 1]; got {recall}")
    if not 0 <= radius < BITS:
        raise ParameterError(f"radius must be in 0..{BITS - 1}; got {radius}")
    if not 0.0 < sigma < float("inf"):
        raise ParameterError(f"sigma must be a positive number; got {sigma}")
    if not memory > 0.0:
        raise ParameterError(f"memory must be a positive number of bytes; got {memory}")
    out = [Choice(f"ExhaustiveHammingIndex(radius={radius})", 1.0, 8.0 * n, DEFAULT.scan * n)]
    tables = []
    for layout in layouts(n, BITS, radius, DEFAULT):
        if layout.recall >= recall - 1e-12 and layout.memory <= memory:
            said = "" if layout.recall > 1.0 - 1e-12 else f", recall={floor(1e4 * layout.recall) / 1e4}"
            name = f"HammingIndex(radius={radius}{said}, memory={layout.memory:.3g})"
            tables.append(Choice(f"{name}  # {_describe(layout.shape)}", layout.recall, layout.memory, layout.cost))
    out += frontier(tables)
    for blocks in range(radius + 1, radius + 5):
        for lead in range(1, blocks - radius + 1):
            if comb(blocks, lead) > 64 or blocks - lead != radius:
                continue
            cost = hamming_costs.manku_query(n, BITS, blocks, lead, DEFAULT)
            needed = hamming_costs.manku_memory(n, 1, blocks, lead)
            out.append(Choice(f"TableIndex(radius={radius}, blocks={blocks}, lead={lead})", 1.0, needed, cost))
    rng = np.random.default_rng(1)
    margins, sigmas = rng.normal(0, 1, (200, BITS)), sigma * np.exp(SPREAD * rng.normal(0, 1, 200))
    widest = max(1, min(MAX_PREFIX, int(max(n, 2) - 1).bit_length()))
    for prefix in range(max(1, widest - 2), widest + 1):
        found, near = weak_bits.weak_bit_recall(margins, sigmas, prefix, MOST_PROBES, radius)
        share = found.sum(0) / near.sum()
        if share[-1] >= recall:
            probes = int(np.argmax(share >= recall)) + 1
            cost = hamming_costs.weak_bits_query(n, prefix, probes, radius, DEFAULT)
            name = f"WeakBitIndex(radius={radius}, prefix_bits={prefix}, probes={probes})"
            needed = hamming_costs.weak_bits_memory(n, 1, prefix)
            out.append(Choice(name, float(share[probes - 1]), needed, cost))
    return sorted((c for c in out if c.memory <= memory and c.recall >= recall - 1e-12), key=lambda c: c.nanoseconds)
