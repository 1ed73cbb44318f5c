"""Packed sketches searched in themselves: every pair compared, and pairs that share a band, by number of documents.

    python benchmarks/packed.py [--largest 17]

Signatures have 256 independent slots; one document of sixteen has a partner of resemblance .8. Recall is the share of these pairs
that share a band; what is found is the share of all pairs whose estimate reaches .8. Seconds of one core's processor time."""

import argparse
import time

import numpy as np

import lookalike as la
from lookalike.theory import packed_banding

THRESHOLD, RECALL, SLOTS = 0.8, 0.95, 256


def planted(n: int) -> la.sketches.Signatures:
    """Return signatures whose rows i and n / 16 + i resemble each other."""
    rng, m = np.random.default_rng(5), n // 16
    values = rng.integers(0, 2**32 - 1, (n, SLOTS), dtype=np.uint32)
    values[m : 2 * m] = np.where(rng.random((m, SLOTS)) < THRESHOLD, values[:m], values[m : 2 * m])
    return la.sketches.Signatures(values, la.sketches.FastSimilarity(permutations=SLOTS))


def measure(packing: la.sketches.BBit, n: int) -> str:
    """Return a row of the table."""
    packed, parts = packing.pack(planted(n)), packing.parts(SLOTS)
    bands, rows = packed_banding.choose_bands(THRESHOLD, RECALL, parts, n)
    planned = packed_banding.candidate_probability(THRESHOLD, bands, rows, parts)
    begin = time.process_time()
    candidates = la.search.BandingIndex(bands=bands, rows=rows).add(packed).pairs()
    kept = packed.estimated_resemblance(candidates.left, candidates.right) >= THRESHOLD
    banded = time.process_time()
    everything = la.search.pairs_above(packed, THRESHOLD)
    end = time.process_time()
    mates = np.arange(n // 16) * n + n // 16 + np.arange(n // 16)
    recall = np.isin(mates, candidates.left * n + candidates.right).mean()
    return (
        f"| {packing.bits} | {n:,} | {packed.n_bytes // n} | {bands} x {rows} | {planned:.3f} | {recall:.3f} | "
        f"{kept.sum() / max(1, len(everything)):.3f} | {len(candidates):,} | {banded - begin:.2f} | {end - banded:.2f} |"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=int, default=17, help="Power of 2.")
    largest = parser.parse_args().largest
    measure(la.sketches.BBit(bits=1), 512)  # compiles
    print("| bits | documents | bytes each | bands | planned | recall | found | candidates | seconds | seconds, all pairs |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for packing in (la.sketches.BBit(bits=1), la.sketches.BBit(bits=2), la.sketches.BBit(bits=4)):
        for power in range(12, largest + 1):
            print(measure(packing, 1 << power), flush=True)
