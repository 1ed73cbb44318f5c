"""The levels of the core beside each other: each turn runs all that this processor has, each in a process of its own; figures are the
processor's seconds, the least of all turns.

Usage: python benchmarks/levels.py [--turns 5] [--texts FILE.parquet]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from time import process_time
from typing import Any

WORDS, TEXTS = 20_000, 6_000


def texts(path: str | None) -> list[str]:
    """Return the texts of a file, or made ones, a tenth of which are edited copies."""
    if path:
        import pyarrow.parquet as pq

        return [text or "" for text in pq.read_table(path, columns=["text"])["text"].to_pylist()[:TEXTS]]
    draw = random.Random(8)
    words = ["".join(draw.choices("aeiounrstlé", k=draw.randrange(2, 11))) for _ in range(WORDS)]
    made = [" ".join(draw.choices(words, k=300)) for _ in range(TEXTS * 9 // 10)]
    return made + [
        " ".join(w if draw.random() > 0.02 else draw.choice(words) for w in draw.choice(made).split()) for _ in made[::9]
    ]


def cases(path: str | None) -> dict[str, Callable[[], Any]]:
    """Return what is measured: calls that spend their time in the core."""
    import lookalike as la

    given = texts(path)
    shingles, few = la.shingle(given), la.shingle(given[:800])
    signatures = la.sketches.FastSimilarity(permutations=128).sign(shingles)
    candidates = la.search.BandingIndex(bands=16, rows=8).add(signatures).pairs()
    fingerprints = la.sketches.SimHash(bits=64).sign(shingles)
    index = la.search.HammingIndex(bits=64, radius=3)
    index.add(fingerprints)
    return {
        "shingles of words": lambda: la.shingle(given),
        "shingles of characters": lambda: la.shingle(given[:2000], unit="char"),
        "MinHash": lambda: la.sketches.MinHash(permutations=128).sign(few),
        "FastSimilarity": lambda: la.sketches.FastSimilarity(permutations=128).sign(shingles),
        "SimHash": lambda: la.sketches.SimHash(bits=64).sign(shingles),
        "packing to 2 bits": lambda: la.sketches.BBit(bits=2).pack(signatures),
        "banding": lambda: la.search.BandingIndex(bands=16, rows=8).add(signatures).pairs(),
        "verification": lambda: la.verify(candidates, shingles, threshold=0.8),
        "Hamming queries": lambda: index.query(fingerprints),
    }


def measure(path: str | None) -> None:
    """Print the least seconds of each case in this process."""
    found = {}
    for name, call in cases(path).items():
        call()
        times = []
        while sum(times) < 0.5 or len(times) < 3:
            start = process_time()
            call()
            times.append(process_time() - start)
        found[name] = min(times)
    print(json.dumps(found))


def main() -> None:
    """Measure all levels in turn, and print the least of each and its ratio to the lowest."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--texts")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        measure(given.texts)
        return
    from lookalike.core import LEVEL, LEVELS

    levels = LEVELS[: LEVELS.index(LEVEL) + 1]
    files = ["--texts", given.texts] if given.texts else []
    least: dict[str, dict[str, float]] = {}
    for _ in range(given.turns):
        for name in levels:
            command = [sys.executable, __file__, "--measure", *files]
            environment = os.environ | {"LOOKALIKE_LEVEL": name}
            done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
            for case, seconds in json.loads(done.stdout).items():
                before = least.setdefault(case, {}).get(name, seconds)
                least[case][name] = min(before, seconds)
    print(f"{'ms, and times v1':24}" + "".join(f"{name:>18}" for name in levels))
    for case, times in least.items():
        print(f"{case:24}" + "".join(f"{times[name] * 1e3:10.2f} {times[name] / times['v1']:6.3f} " for name in levels))


if __name__ == "__main__":
    main()
