"""Measuring the constants of this machine, and the searches of fingerprints that they recommend."""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from math import comb, floor, log2
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ParameterError
from ..kernels.tables import block_keys
from ..theory import blocks as block_theory
from ..theory import hamming_costs, weak_bits
from ..theory.hamming_costs import Costs
from ..values import UInt64Array
from .block_tables import BlockTables, Layout, layouts
from .costs import machine_costs
from .exhaustive_hamming import ExhaustiveHammingIndex
from .fingerprint_files import ChunkedFile
from .tables import TableIndex
from .weak_bits import WeakBits

QUERIES = 20_000
SIGMA, SPREAD = 0.2, 1.0
MAX_PREFIX, MOST_PROBES = 26, 200
MOST_FINGERPRINTS = 1 << 40


def fastest(work: Callable[[], Any], repeats: int = 3) -> float:
    """Seconds of the fastest of some runs, after one that compiles."""
    work()
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def measure_costs(sizes: tuple[int, ...] = (1 << 16, 1 << 19, 1 << 22)) -> Costs:
    """Measure what the steps of searches cost on this machine, one thread, in about twenty seconds and 1 GB of memory."""
    rng = np.random.default_rng(1)
    queries = rng.integers(0, 1 << 64, (QUERIES, 1), dtype=np.uint64)
    margins = rng.normal(0, 1, (QUERIES, 64)).astype(np.float32)
    measured: dict[str, Any] = {"sizes": tuple(map(float, sizes)), "source": f"measured with {sizes}"}
    per_size: dict[str, list[float]] = {"probe": [], "lookup": [], "gather": []}
    compares, steps, hits = [], [], []
    for n in sizes:
        words = rng.integers(0, 1 << 64, (n, 1), dtype=np.uint64)
        wide = min(MAX_PREFIX, int(log2(n)))

        def a_query(bits: int, flips: int, stored: UInt64Array = words, asked: UInt64Array = queries) -> float:
            layout = Layout(((((64 - bits, bits),), flips),), 1.0, 0.0, 0.0)
            index = BlockTables(stored, radius=3, bits=64, layout=layout)
            return fastest(lambda: index._run(asked, None, False, False)) / QUERIES * 1e9

        narrow = wide - 4
        flipped, plain = a_query(wide, 1), a_query(narrow, 0)
        # flipped = (1 + wide) (probe + n / 2^wide compare); plain = probe + n / 2^narrow compare
        many, few = n / 2.0**narrow, n / 2.0**wide
        compare = max(0.2, (plain - flipped / (1 + wide)) / (many - few))
        compares.append(compare)
        hits.append(max(1.0, a_query(narrow, 0, words, words[rng.integers(0, n, QUERIES)]) - plain))
        per_size["probe"].append(max(1.0, flipped / (1 + wide) - few * compare))

        def a_table(index: TableIndex) -> float:
            index._prepare()
            return fastest(lambda: index._run(queries, None, False, False)) / QUERIES * 1e9 / index.n_tables

        ten = TableIndex(radius=3, blocks=5, lead=2).add(words)
        sparse, crowded = a_table(ten), a_table(TableIndex(radius=3, blocks=4, lead=1).add(words))
        checked = block_theory.block_candidates(n, 64, 5, 2) / 10, block_theory.block_candidates(n, 64, 4, 1) / 4
        gather = max(0.5, (crowded - sparse) / (checked[1] - checked[0]))
        per_size["gather"].append(gather)
        per_size["lookup"].append(max(1.0, sparse - checked[0] * gather))
        ten.lookup = "binary"
        steps.append(max(1.0, (a_table(ten) - checked[0] * gather) / log2(n)))
    measured |= {name: tuple(values) for name, values in per_size.items()}
    measured |= {"compare": float(np.median(compares)), "step": steps[-1], "hit": hits[-1]}
    part = ExhaustiveHammingIndex(radius=3).add(queries)
    measured["scan"] = fastest(lambda: part._run(queries[:500], None, False, False)) / 500 / QUERIES * 1e9
    weak, ordered = WeakBits(40, 24, 3, 32), (24 + 32) * log2(32 + 3)
    measured["flip"] = fastest(lambda: weak.prefixes(queries, margins, 0, QUERIES)) / QUERIES / ordered * 1e9
    keys = np.empty(len(words), np.uint64)
    mask = np.array([0xFFFF0000FFFF0000], np.uint64)
    measured["key"] = fastest(lambda: block_keys(words, mask, keys)) / len(words) * 1e9
    measured["sort"] = fastest(lambda: np.argsort(keys, kind="stable"), 1) / (len(keys) * log2(len(keys))) * 1e9
    with tempfile.TemporaryDirectory() as folder:
        file = ChunkedFile(Path(folder) / "read.fps", {"bits": 64})
        file.append(words)
        n_bytes = 12 * len(words)
        measured["read"] = fastest(lambda: [len(rows) for _, rows in file.pieces(1 << 20)], 1) / n_bytes * 1e9
    return Costs(**measured)


@dataclass(frozen=True, slots=True)
class Choice:
    """One way to search.

    Parameters
    ----------
    method : str
        The index to make, as Python.
    recall : float
        For PSM by the model of margins, for tables of pairs whose differing bits fall anywhere alike.
    memory : float
        Bytes.
    nanoseconds : float
        A query, by the cost model.
    """

    method: str
    recall: float
    memory: float
    nanoseconds: float


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
    n: int, *, radius: int = 3, recall: float = 1.0, memory: float = float("inf"), bits: int = 64,
    costs: Costs | None = None, sigma: float = SIGMA, seed: int = 1,
) -> list[Choice]:  # fmt: skip
    """List the searches of n fingerprints that fit the memory and find the wanted share, the fastest first.

    References
    ----------
    Thesis on PSM, chapter VI: z, x and the number of tables, p and k, within a memory s.
    """
    if not 1 <= n <= MOST_FINGERPRINTS:
        raise ParameterError(f"n must be in 1..{MOST_FINGERPRINTS:,}; got {n:,}")
    if not 0.0 < recall <= 1.0:
        raise ParameterError(f"recall must be in (0, 1]; got {recall}")
    if not 0 <= radius < bits:
        raise ParameterError(f"radius must be in 0..{bits - 1}; got {radius}")
    if not 0.0 < sigma < float("inf"):
        raise ParameterError(f"sigma must be a positive number; got {sigma}")
    if not memory > 0.0:
        raise ParameterError(f"memory must be a positive number of bytes; got {memory}")
    costs = costs or machine_costs()
    words = (bits + 63) // 64
    out = [Choice(f"ExhaustiveHammingIndex(radius={radius})", 1.0, 8.0 * words * n, costs.scan * n)]
    tables = []
    for layout in layouts(n, bits, radius, costs):
        if layout.recall >= recall - 1e-12 and layout.memory <= memory:
            said = "" if layout.recall > 1.0 - 1e-12 else f", recall={floor(1e4 * layout.recall) / 1e4}"
            name = f"HammingIndex(radius={radius}{said}, memory={layout.memory:.3g})"
            tables.append(Choice(f"{name}  # {_describe(layout.shape)}", layout.recall, layout.memory, layout.cost))
    out += frontier(tables)
    for blocks in range(radius + 1, radius + 5):
        for lead in range(1, blocks - radius + 1):
            if comb(blocks, lead) > 64 or blocks - lead != radius:
                continue
            cost = hamming_costs.manku_query(n, bits, blocks, lead, costs)
            needed = hamming_costs.manku_memory(n, words, blocks, lead)
            out.append(Choice(f"TableIndex(radius={radius}, blocks={blocks}, lead={lead})", 1.0, needed, cost))
    rng = np.random.default_rng(seed)
    margins, sigmas = rng.normal(0, 1, (200, bits)), sigma * np.exp(SPREAD * rng.normal(0, 1, 200))
    widest = max(1, min(MAX_PREFIX, bits, int(max(n, 2) - 1).bit_length()))
    for prefix in range(max(1, widest - 2), widest + 1):
        found, near = weak_bits.weak_bit_recall(margins, sigmas, prefix, MOST_PROBES, radius)
        share = found.sum(0) / near.sum()
        if share[-1] >= recall:
            probes = int(np.argmax(share >= recall)) + 1
            cost = hamming_costs.weak_bits_query(n, prefix, probes, radius, costs)
            name = f"WeakBitIndex(radius={radius}, prefix_bits={prefix}, probes={probes})"
            needed = hamming_costs.weak_bits_memory(n, words, prefix)
            out.append(Choice(name, float(share[probes - 1]), needed, cost))
    return sorted((c for c in out if c.memory <= memory and c.recall >= recall - 1e-12), key=lambda c: c.nanoseconds)
