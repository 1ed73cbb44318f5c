"""The constants of this machine in the cost models of searches, `lookalike.theory.hamming_costs.Costs`, measured."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from math import log2
from pathlib import Path
from typing import Any

import numpy as np

import lookalike as la
from lookalike.core import manku_keys
from lookalike.search.chunked_file import ChunkedFile
from lookalike.search.tables import MAX_PREFIX, BlockTables, Layout
from lookalike.search.weak_bits import WeakBits
from lookalike.theory import blocks
from lookalike.theory.hamming_costs import Costs

QUERIES = 20_000


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
    """Return what the steps of searches cost on this machine, one thread, in about twenty seconds and 1 GB of memory."""
    rng = np.random.default_rng(1)
    queries = rng.integers(0, 1 << 64, (QUERIES, 1), dtype=np.uint64)
    margins = rng.normal(0, 1, (QUERIES, 64)).astype(np.float32)
    measured: dict[str, Any] = {"sizes": tuple(map(float, sizes))}
    per_size: dict[str, list[float]] = {"probe": [], "lookup": [], "gather": []}
    compares, steps, hits = [], [], []
    for n in sizes:
        words = rng.integers(0, 1 << 64, (n, 1), dtype=np.uint64)
        wide = min(MAX_PREFIX, int(log2(n)))

        def a_query(bits: int, flips: int, stored: np.ndarray = words, asked: np.ndarray = queries) -> float:
            layout = Layout(((((64 - bits, bits),), flips),), 1.0, 0.0, 0.0)
            index = BlockTables(stored, radius=3, bits=64, layout=layout)
            return fastest(lambda: index.query(asked)) / QUERIES * 1e9

        narrow = wide - 4
        flipped, plain = a_query(wide, 1), a_query(narrow, 0)
        # flipped = (1 + wide) (probe + n / 2^wide compare); plain = probe + n / 2^narrow compare
        many, few = n / 2.0**narrow, n / 2.0**wide
        compare = max(0.2, (plain - flipped / (1 + wide)) / (many - few))
        compares.append(compare)
        hits.append(max(1.0, a_query(narrow, 0, words, words[rng.integers(0, n, QUERIES)]) - plain))
        per_size["probe"].append(max(1.0, flipped / (1 + wide) - few * compare))

        def a_table(index: la.search.TableIndex) -> float:
            return fastest(lambda: index.query(queries)) / QUERIES * 1e9 / index.n_tables

        ten = la.search.TableIndex(radius=3, blocks=5, lead=2).add(words)
        sparse, crowded = a_table(ten), a_table(la.search.TableIndex(radius=3, blocks=4, lead=1).add(words))
        checked = blocks.block_candidates(n, 64, 5, 2) / 10, blocks.block_candidates(n, 64, 4, 1) / 4
        gather = max(0.5, (crowded - sparse) / (checked[1] - checked[0]))
        per_size["gather"].append(gather)
        per_size["lookup"].append(max(1.0, sparse - checked[0] * gather))
        ten.lookup = "binary"
        steps.append(max(1.0, (a_table(ten) - checked[0] * gather) / log2(n)))
    measured |= {name: tuple(values) for name, values in per_size.items()}
    measured |= {"compare": float(np.median(compares)), "step": steps[-1], "hit": hits[-1]}
    part = la.search.ExhaustiveHammingIndex(radius=3).add(queries)
    measured["scan"] = fastest(lambda: part.query(queries[:500])) / 500 / QUERIES * 1e9
    weak, ordered = WeakBits(64, 24, 3, 32), (24 + 32) * log2(32 + 3)
    measured["flip"] = fastest(lambda: weak.prefixes(queries, margins, 0, QUERIES)) / QUERIES / ordered * 1e9
    mask = np.array([0xFFFF0000FFFF0000], np.uint64)
    keys = manku_keys(words, mask)
    measured["key"] = fastest(lambda: manku_keys(words, mask)) / len(words) * 1e9
    measured["sort"] = fastest(lambda: np.argsort(keys, kind="stable"), 1) / (len(keys) * log2(len(keys))) * 1e9
    with tempfile.TemporaryDirectory() as folder:
        file = ChunkedFile(Path(folder) / "read.fps", 64)
        file.append(words, "arrays", lambda header: None)
        n_bytes = 12 * len(words)
        measured["read"] = fastest(lambda: [len(rows) for _, rows in file.pieces(1 << 20)], 1) / n_bytes * 1e9
    return Costs(**measured)
