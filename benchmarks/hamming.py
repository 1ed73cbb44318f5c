"""Search of 64-bit fingerprints within 3 bits: our indexes, those of the thesis, and faiss; writes docs/hamming.md.

Usage: python benchmarks/hamming.py [FINGERPRINTS ...]    (default: 1e6 1e7)

Queries are drawn by a model of SimHash: the sums behind a query's bits are normal, those of its near-duplicate differ by a
smaller normal amount, and a bit differs where the sign does. The rest of the fingerprints is uniform. One thread.
"""

import os
import sys
import time
from pathlib import Path

import numpy as np

import semblance as sb

ROOT = Path(__file__).parents[1]
QUERIES, RADIUS, SIGMA = 20_000, 3, 0.06


def corpus(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return (stored, queries, margins of the queries, whether each query's near-duplicate differs in 1..3 bits)."""
    rng = np.random.default_rng(7)
    margins = rng.normal(0, 1, (QUERIES, 64))
    noisy = margins + rng.normal(0, SIGMA, margins.shape)
    place = np.uint64(1) << np.arange(64, dtype=np.uint64)
    queries, near = (((m > 0) * place).sum(1, dtype=np.uint64) for m in (margins, noisy))
    stored = np.concatenate([near, rng.integers(0, 1 << 64, n - QUERIES, dtype=np.uint64)])
    distance = np.bitwise_count(queries ^ near)
    return stored, queries, margins.astype(np.float32), (distance >= 1) & (distance <= RADIUS)


def timed(function):
    """Return (result, seconds), the better of two runs."""
    best = float("inf")
    for _ in range(2):
        start = time.perf_counter()
        result = function()
        best = min(best, time.perf_counter() - start)
    return result, best


def n_bytes(index) -> int:
    """Bytes of an index's arrays."""
    return sum(a.nbytes for a in vars(index).values() if isinstance(a, np.ndarray)) + sum(p.nbytes for p in index._parts)


def ours(name, make, stored, queries, margins, near, first):
    """Build, warm and time one of our indexes."""
    start = time.perf_counter()
    index = make().add(stored)
    index.first(queries[:16], margins[:16] if margins is not None else None)
    index.query(queries[:16], margins[:16] if margins is not None else None)
    build = time.perf_counter() - start
    index.compared = 0
    if first:
        found, seconds = timed(lambda: index.first(queries, margins))
        hits = found == np.arange(len(queries))
    else:
        found, seconds = timed(lambda: index.query(queries, margins))
        hits = np.zeros(len(queries), np.bool_)
        hits[found.left[found.left == found.right]] = True
    compared = index.compared / 2 / len(queries)
    return [
        name,
        f"{n_bytes(index) / 1e6:,.0f}",
        f"{build:.1f}",
        f"{seconds / len(queries) * 1e6:.2f}",
        f"{hits[near].mean():.4f}",
        f"{compared:,.0f}",
    ]


def faiss_multihash(stored, queries, near):
    """faiss IndexBinaryMultiHash, 4 hashes of 16 bits; its radius is strict, so 4 is asked for."""
    import faiss

    faiss.omp_set_num_threads(1)
    start = time.perf_counter()
    index = faiss.IndexBinaryMultiHash(64, 4, 16)
    index.add(stored.view(np.uint8).reshape(-1, 8))
    build = time.perf_counter() - start
    asked = queries.view(np.uint8).reshape(-1, 8)
    (limits, _, labels), seconds = timed(lambda: index.range_search(asked, RADIUS + 1))
    owner = np.repeat(np.arange(len(queries)), np.diff(limits.astype(np.int64)))
    hits = np.zeros(len(queries), np.bool_)
    hits[owner[labels == owner]] = True
    return [
        "faiss IndexBinaryMultiHash 4 x 16",
        "",
        f"{build:.1f}",
        f"{seconds / len(queries) * 1e6:.2f}",
        f"{hits[near].mean():.4f}",
        "",
    ]


def measure(n: int) -> str:
    """Measure all at one size and return a table."""
    stored, queries, margins, near = corpus(n)
    contestants = [
        ("HammingIndex, exact", lambda: sb.HammingIndex(radius=RADIUS), None, False),
        ("HammingIndex, recall .99", lambda: sb.HammingIndex(radius=RADIUS, recall=0.99), None, False),
        ("HammingIndex, exact, first match", lambda: sb.HammingIndex(radius=RADIUS), None, True),
        ("Manku, 4 tables", lambda: sb.TableIndex(radius=RADIUS, blocks=4, lead=1), None, False),
        ("Manku, 10 tables", lambda: sb.TableIndex(radius=RADIUS, blocks=5, lead=2), None, False),
        ("Manku, 10 tables, first match", lambda: sb.TableIndex(radius=RADIUS, blocks=5, lead=2), None, True),
        ("PSM, all, 23 probes", lambda: sb.WeakBitIndex(radius=RADIUS, probes=23), margins, False),
        ("PSM, first match, 23 probes", lambda: sb.WeakBitIndex(radius=RADIUS, probes=23), margins, True),
    ]
    rows = []
    for name, make, m, first in contestants:
        rows.append(ours(name, make, stored, queries, m, near, first))
        print(n, rows[-1], flush=True)
    try:
        rows.append(faiss_multihash(stored, queries, near))
        print(n, rows[-1], flush=True)
    except ImportError:
        rows.append(["faiss", "", "", "", "not installed", ""])
    head = "| index | MB | build, s | us a query | recall at 1 to 3 bits | compared a query |\n|---|---|---|---|---|---|\n"
    return f"## {n:,} fingerprints\n\n" + head + "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n"


def main() -> None:
    """Measure and write the page."""
    sizes = [int(float(a)) for a in sys.argv[1:]] or [10**6, 10**7]
    tables = "\n".join(measure(n) for n in sizes)
    cpu = next(
        (line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line), "?"
    )
    page = f"""# Search of fingerprints

Written by `make bench-hamming` on {cpu}, {os.cpu_count()} processors, one thread; {QUERIES:,} queries, each with one planted
near-duplicate, drawn by a model of SimHash (see `benchmarks/hamming.py`); 64 bits, radius {RADIUS}, the better of two runs.
One of the contestants is ours; *Manku* and *PSM* are our implementations of the tables and of the probabilistic matching
that the thesis compares, on arrays with direct access.

{tables}
"""
    (ROOT / "docs/hamming.md").write_text(page)


if __name__ == "__main__":
    main()
