"""The searches of fingerprints that fit a memory and a recall, by what the models say that they cost."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import comb, floor, log2

import numpy as np

from ..errors import ParameterError
from ..theory import hamming_costs, weak_bits
from ..theory.blocks import combinations_within
from ..theory.hamming_costs import DEFAULT
from ..values import Float64Array
from ..values.arrays import number, share, whole
from .tables import layouts

SIGMA, SPREAD = 0.2, 1.0
BITS = 64
MAX_PREFIX, MOST_PROBES = 26, 200
DRAWS, CAUTION = 1000, 2.0  # margins; standard errors by which a recall must exceed the one wanted
MOST_FINGERPRINTS = 1 << 40


@dataclass(frozen=True, slots=True)
class Choice:
    """One way to search fingerprints.

    Parameters
    ----------
    method : str
        The index to make, as Python.
    recall : float in (0, 1]
        Share of near pairs that it finds: for weak bits by the model of margins, for tables of pairs whose differing bits fall
        anywhere alike.
    memory : float
        Bytes.
    nanoseconds : float
        Of a query, by the cost model.
    error : float, default 0
        Standard error of the recall, where it is a mean over draws.
    """

    method: str
    recall: float
    memory: float
    nanoseconds: float
    error: float = 0.0


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
    """List the searches of 64-bit fingerprints that fit a memory and a recall, the fastest first, by a model of a 2.6 GHz core.

    Thesis on PSM, chapter VI: z, x and the number of tables, p and k, within a memory s.

    Parameters
    ----------
    n : int >= 1
        How many fingerprints are searched.
    radius : int in [0, 63], default 3
        How many of the bits can differ.
    recall : float in (0, 1], default 1
        Share of pairs that must be found.
    memory : float > 0, optional
        Bytes that a search may take.
    sigma : float > 0, default 0.2
        Median difference of the sums behind the bits of near-duplicates, in standard deviations.

    Returns
    -------
    list of Choice

    Raises
    ------
    ParameterError
        If a parameter is out of its range.
    """
    n, radius = whole("n", n, 1, MOST_FINGERPRINTS), whole("radius", radius, 0, BITS - 1)
    recall = share("recall", recall)
    if not 0.0 < number("sigma", sigma, "a positive number") < float("inf"):
        raise ParameterError("must be a positive number", "sigma", sigma)
    if not number("memory", memory, "a positive number of bytes") > 0.0:
        raise ParameterError("must be a positive number of bytes", "memory", memory)
    out = [Choice(f"ExhaustiveHammingIndex(radius={radius})", 1.0, 8.0 * n, DEFAULT.scan * n)]
    tables = []
    for layout in layouts(1 << round(log2(n)), BITS, radius, DEFAULT):  # as the index chooses
        needed = hamming_costs.layout_memory(n, 1, layout.shape)
        if layout.recall >= recall - 1e-12 and needed <= memory:
            said = "" if layout.recall > 1.0 - 1e-12 else f", recall={floor(1e4 * layout.recall) / 1e4}"
            name = f"HammingIndex(radius={radius}{said}, memory={1.006 * layout.memory:.3g})"
            cost = hamming_costs.layout_query(n, layout.shape, DEFAULT)
            tables.append(Choice(name, layout.recall, needed, cost))
    out += frontier(tables)
    for lead in range(1, 5):
        blocks = radius + lead
        if comb(blocks, lead) <= 64:
            cost = hamming_costs.manku_query(n, BITS, blocks, lead, DEFAULT)
            needed = hamming_costs.manku_memory(n, 1, blocks, lead)
            out.append(Choice(f"TableIndex(radius={radius}, blocks={blocks}, lead={lead})", 1.0, needed, cost))
    out += _probing(n, radius, recall, memory, sigma)
    return sorted((c for c in out if c.memory <= memory and c.recall >= recall - 1e-12), key=lambda c: c.nanoseconds)


def _probing(n: int, radius: int, recall: float, memory: float, sigma: float) -> list[Choice]:
    """List the searches by weak bits, of prefixes about as long as number the fingerprints. Each has the
    fewest probes whose recall is no less than the one wanted by ``CAUTION`` standard errors of what is known of it."""
    out = []
    widest = min(MAX_PREFIX, max(1, int(max(n, 2) - 1).bit_length()))
    for prefix in range(max(1, widest - 2), widest + 1):
        needed = hamming_costs.weak_bits_memory(n, 1, prefix)
        if needed > memory:
            continue
        share, error = recalls(sigma, prefix, radius)
        enough = np.flatnonzero(share - CAUTION * error >= recall)
        if len(enough):
            probes = int(enough[0]) + 1
            name = f"WeakBitIndex(radius={radius}, prefix_bits={prefix}, probes={probes})"
            cost = hamming_costs.weak_bits_query(n, prefix, probes, radius, DEFAULT)
            out.append(Choice(name, float(share[probes - 1]), needed, cost, float(error[probes - 1])))
    return out


@lru_cache(32)
def recalls(sigma: float, prefix: int, radius: int, draws: int = DRAWS, seed: int = 1) -> tuple[Float64Array, Float64Array]:
    """Recall with 1, 2, ... probes, and its standard error, over queries of normal margins and near-duplicates whose sigmas are
    log-normal, of this median and of ``SPREAD``.

    Margins are drawn, the same for all searches; over sigmas it is summed by the trapezoidal rule. Recall is a ratio of means
    over the draws, and its error that of the mean of (found - recall near).
    """
    x = np.arange(-4.5, 4.51, 0.75)
    margins, weights = np.random.default_rng(seed).normal(0, 1, (draws, BITS)), np.exp(-(x**2) / 2)
    sigmas = np.broadcast_to(sigma * np.exp(SPREAD * x), (draws, len(x)))
    every = combinations_within(prefix, radius)
    most = min(MOST_PROBES, every)
    found, near = weak_bits.weak_bit_recall(margins, sigmas, prefix, most, radius)
    found, near = np.einsum("nsk,s->nk", found, weights), near @ weights
    if not near.sum():
        return np.zeros(most), np.zeros(most)
    share = found.sum(0) / near.sum()
    error = np.sqrt(((found - share * near[:, None]) ** 2).sum(0)) / near.sum()
    if most == every:
        share[-1], error[-1] = 1.0, 0.0  # but for rounding
    return share, error
