"""All pairs of fingerprints within a radius: by tables in which no bit may differ, and by probing the weakest bits of each.

Fingerprints are signs of normal sums; half of them are near-duplicates of the others. Prints seconds and pairs found.

Usage: python benchmarks/weak_join.py [--fingerprints 1e6] [--radius 3] [--cosine 0.97]
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import lookalike as la
from lookalike.search.self_join import near_pairs


def main() -> None:
    """Time both."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--fingerprints", type=float, default=1e6)
    parser.add_argument("--radius", type=int, default=3)
    parser.add_argument("--cosine", type=float, default=0.97)
    given = parser.parse_args()
    rng, half = np.random.default_rng(1), int(given.fingerprints) // 2
    sums = rng.standard_normal((half, 64), dtype=np.float32)
    noise = rng.standard_normal((half, 64), dtype=np.float32)
    sums = np.concatenate([sums, given.cosine * sums + np.float32((1 - given.cosine**2) ** 0.5) * noise])
    words = np.packbits(sums > 0, axis=1, bitorder="little").view(np.uint64)
    some = slice(0, 2000)  # compiles, where kernels are compiled on their first call
    near_pairs(words[some], 64, given.radius)
    la.search.WeakBitIndex(radius=given.radius).add(words[some]).query(words[some], sums[some])
    start = time.perf_counter()
    exact, *_ = near_pairs(words, 64, given.radius)
    print(f"tables     {time.perf_counter() - start:7.1f} s  {len(exact):9,} pairs", flush=True)
    for probes in (8, 23, 200):
        start = time.perf_counter()
        found = la.search.WeakBitIndex(radius=given.radius, probes=probes).add(words).query(words, sums)
        seconds = time.perf_counter() - start
        both = np.sort(np.column_stack([found.left, found.right])[found.left != found.right], axis=1)
        n = len(np.unique(both, axis=0))
        print(f"{probes:3} probes {seconds:7.1f} s  {n:9,} pairs, {n / max(1, len(exact)):.1%}", flush=True)


if __name__ == "__main__":
    main()
