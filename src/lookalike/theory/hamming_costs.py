"""What searches of fingerprints cost in time and memory, from constants of the machine: the thesis' chapter VI, corrected.

The thesis counts the steps of Manku's tables (6.10-6.15) and of probabilistic matching (6.16-6.20) with unknown constants.
Here they have names, and are measured (``make bench-hamming``). Bisection looks for the first match, in log2 n steps whatever
the prefix (6.10). Corrected: the tables of a batch multiply the computing, not the reading (6.15); a batch of queries also pays
for each bucket it looks up (6.19). Added: the price of a random access, which on today's machines is most of a query.

Of all functions: ``n`` fingerprints (float) of ``bits`` (int), in so many 64-bit ``words``, are stored, or read from a file by
a batch of ``queries`` (float); ``tables`` are a sequence of (prefix bits, flips); of Manku's, ``lead`` of ``blocks`` blocks
must agree; of probabilistic matching, buckets are numbered by ``prefix_bits``, and so many ``probes`` look into them. ``costs``
are the nanoseconds of each step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, log2

import numpy as np

from .blocks import block_candidates, combinations_within


@dataclass(frozen=True, slots=True)
class Costs:
    """Nanoseconds of the steps that searches are made of. The defaults are those of a 2.6 GHz core.

    Parameters
    ----------
    sizes : tuple of float
        Numbers of stored fingerprints that ``probe``, ``lookup`` and ``gather`` are stated for; others are interpolated
        in the logarithm.
    probe : tuple of float
        One bucket of a table of fingerprints, many queries under way: offsets and first fingerprint.
    lookup : tuple of float
        One bucket of a table of keys, one query after the other.
    gather : tuple of float
        One comparison with a fingerprint anywhere in memory.
    compare : float
        One comparison with the next fingerprint of a bucket.
    scan : float
        One comparison in a plain scan.
    hit : float
        One fingerprint found, in addition. The formulas below leave it out: it is the same for all methods.
    flip : float
        (p + k) log2(k + h) of these order the weak bits of a query.
    step : float
        One step of a bisection.
    key : float
        The key of a fingerprint for one table.
    sort : float
        n log2 n of these sort n fingerprints.
    read : float
        One byte of a file, checked.
    """

    sizes: tuple[float, ...] = (2.0**16, 2.0**20, 2.0**23)
    probe: tuple[float, ...] = (13.0, 15.0, 26.0)
    lookup: tuple[float, ...] = (20.0, 55.0, 100.0)
    gather: tuple[float, ...] = (20.0, 30.0, 35.0)
    compare: float = 2.0
    scan: float = 1.0
    hit: float = 200.0
    flip: float = 5.0
    step: float = 40.0
    key: float = 2.0
    sort: float = 6.0
    read: float = 1.0

    def at(self, constant: str, n: float) -> float:
        """Return ``probe``, ``lookup`` or ``gather`` for n stored fingerprints; beyond the last size they go on rising."""
        values: tuple[float, ...] = getattr(self, constant)
        place, sizes = log2(max(n, 1.0)), [log2(size) for size in self.sizes]
        rise = max(0.0, values[-1] - values[-2]) / (sizes[-1] - sizes[-2])
        return float(np.interp(place, sizes, values)) + rise * max(0.0, place - sizes[-1])


DEFAULT = Costs()


def layout_query(n: float, tables: Sequence[tuple[int, int]], costs: Costs) -> float:
    """Nanoseconds a query of tables of (prefix bits, flips): a probe for each bucket, a comparison for what is in it.

    All tables share the cache: a probe costs what it does in one table of as many fingerprints as they all have.

    Parameters
    ----------
    n, tables, costs

    References
    ----------
    Thesis on PSM, the model of equations 6.10-6.21, for tables of any prefixes and flips.
    """
    probe = costs.at("probe", n * len(tables))
    return sum(combinations_within(bits, flips) * (probe + n / 2.0**bits * costs.compare) for bits, flips in tables)


def layout_memory(n: float, words: int, tables: Sequence[tuple[int, int]]) -> float:
    """Bytes: the fingerprints once as added, and for each table sorted, with their rows and the offsets of the prefixes.

    Parameters
    ----------
    n, words, tables

    References
    ----------
    Thesis on PSM, the model of equations 6.10-6.21, for tables of any prefixes and flips.
    """
    return 8.0 * words * n + sum((8.0 * words + 4.0) * n + 4.0 * 2.0**bits for bits, _ in tables)


def manku_query(
    n: float, bits: int, blocks: int, lead: int, costs: Costs, *, binary: bool = False, tables: float | None = None
) -> float:
    """Nanoseconds a query of Manku's tables.

    Parameters
    ----------
    n, bits, blocks, lead, costs
    binary : bool
        Bisection in place of direct access.
    tables : float, optional
        Searched until the first match; default all C(z, x).

    References
    ----------
    Thesis on PSM, equations 6.10, 6.11; with bisection over all n entries of a table.
    """
    every = comb(blocks, lead)
    searched = every if tables is None else tables
    found = log2(max(n, 2.0)) * costs.step if binary else costs.at("lookup", n * every)
    checked = block_candidates(n, bits, blocks, lead) / every * costs.at("gather", n)
    return searched * (costs.key + found + checked)


def manku_memory(n: float, words: int, blocks: int, lead: int) -> float:
    """Bytes of Manku's tables: keys and rows of all, offsets, and the fingerprints once.

    Parameters
    ----------
    n, words, blocks, lead

    References
    ----------
    Thesis on PSM, equation 6.12, which has the fingerprints themselves in each table.
    """
    prefix = min(24, max(1, int(max(n, 2) - 1).bit_length()))
    return 8.0 * words * n + comb(blocks, lead) * (12.0 * n + 4.0 * 2.0**prefix)


def weak_bits_query(n: float, prefix_bits: int, probes: int, radius: int, costs: Costs) -> float:
    """Nanoseconds a query of probabilistic matching: order the weak bits, probe k buckets, compare what is in them.

    Parameters
    ----------
    n, prefix_bits, probes, radius, costs

    References
    ----------
    Thesis on PSM, equation 6.16.

    Examples
    --------
    >>> from lookalike.theory.hamming_costs import DEFAULT, manku_query
    >>> manku_query(1e8, 64, 5, 2, DEFAULT) > weak_bits_query(1e8, 26, 23, 3, DEFAULT)
    True
    """
    ordering = (prefix_bits + probes) * log2(probes + radius) * costs.flip
    return ordering + probes * (costs.at("probe", n) + n / 2.0**prefix_bits * costs.compare)


def weak_bits_memory(n: float, words: int, prefix_bits: int) -> float:
    """Bytes: the fingerprints as added, and sorted with their rows, and 2^p offsets.

    Parameters
    ----------
    n, words, prefix_bits

    References
    ----------
    Thesis on PSM, equation 6.17, for fingerprints sorted in place and offsets of their own width.
    """
    return layout_memory(n, words, [(prefix_bits, 0)])


def manku_batch(n: float, queries: float, bits: int, blocks: int, lead: int, costs: Costs) -> float:
    """Nanoseconds of a batch: tables of the queries, in which each of the n fingerprints of a file is looked up.

    Parameters
    ----------
    n, queries, bits, blocks, lead, costs

    References
    ----------
    Thesis on PSM, equations 6.13-6.15: max(reading, tables times computing).
    """
    every = comb(blocks, lead)
    words = (bits + 63) // 64
    reading = n * (8 * words + 4) * costs.read
    table = (n + queries) * costs.key + queries * log2(max(queries, 2.0)) * costs.sort + n * costs.at("lookup", queries)
    table += n * block_candidates(queries, bits, blocks, lead) / every * costs.at("gather", queries)
    return max(reading, every * table)


def weak_bits_batch(
    n: float, queries: float, words: int, prefix_bits: int, probes: int, radius: int, costs: Costs, *, pieces: int = 1
) -> float:
    """Nanoseconds of a batch: weak bits of all queries ordered once, then probes into each piece of the file, and the append.

    Parameters
    ----------
    n, queries, words, prefix_bits, probes, radius, costs
    pieces : int >= 1
        Pieces in which the file is read.

    References
    ----------
    Thesis on PSM, equations 6.18-6.20, with the bucket look-ups and the index of each piece, which 6.19 leaves out.
    """
    ordering = queries * (prefix_bits + probes) * log2(probes + radius) * costs.flip
    indexing = n * costs.key
    probing = queries * probes * (pieces * costs.at("probe", n / pieces) + n / 2.0**prefix_bits * costs.compare)
    appending = queries * log2(max(queries, 2.0)) * costs.sort
    return max(n * (8 * words + 4) * costs.read, ordering + indexing + probing + appending)
