"""The persistent index as it grows, beside datasketch's MinHashLSH and a table in SQLite; writes docs/lasting-index.md.

Sketches are generated: random keys and codes, and queries of which half are near-duplicates of stored documents, with all bands
but three changed. So rates are those of the index, without shingling.

Usage: python benchmarks/lasting.py [--documents 1e4 1e5 1e6 1e7]
"""

from __future__ import annotations

import argparse
import platform
import shutil
import sqlite3
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
from lasting_kinds import COSINE, measure
from page import processor, table

import lookalike as la
from lookalike.index.kind import Sketches

ROOT = Path(__file__).parents[1]
BATCH, QUERIES = 100_000, 20_000
PEERS_UP_TO, KINDS_AT = 300_000, 1_000_000


def make(kind, rng: np.random.Generator, n: int) -> Sketches:
    """Sketches of documents that resemble nothing."""
    keys = rng.integers(0, 1 << 64, (n, kind.n_keys), dtype=np.uint64)
    codes = rng.integers(0, 1 << 16, (n, 256), dtype=np.uint16)
    return Sketches(keys, codes, np.zeros(n, np.bool_), kind)


def near(rng: np.random.Generator, sketches: Sketches, n: int) -> Sketches:
    """Queries: half near-copies, half new."""
    fresh = make(sketches.kind, rng, n)
    rows = rng.integers(0, len(sketches), n // 2)
    fresh.keys[: n // 2, :3] = sketches.keys[rows, :3]
    fresh.codes[: n // 2] = np.where(rng.random((n // 2, 256)) < 0.95, sketches.codes[rows], fresh.codes[: n // 2])
    return fresh


def rate(work, n: int, repeats: int = 3) -> float:
    """Items a second, the best of some runs; the first warms up."""
    best = float("inf")
    work()
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return n / best


def grow(sizes: list[int], folder: str) -> list[list[str]]:
    """Rows of the table of growth."""
    index = la.Index.create(f"{folder}/x")
    rng = np.random.default_rng(0)
    queries, rows, spent = make(index.kind, rng, QUERIES), [], 0.0
    for size in sizes:
        while len(index) < size:
            n = min(BATCH, size - len(index))
            batch = make(index.kind, rng, n)
            start = time.perf_counter()
            index.add(range(len(index), len(index) + n), batch)
            spent += time.perf_counter() - start
        queries = near(rng, batch, QUERIES)
        found = index.query(queries).num_rows
        segments, one = index.info["segments"], singles(queries, 500)
        growing = rate(partial(index.query, queries), QUERIES)
        single = rate(partial(each, index, one), len(one))
        index.close()
        index = la.Index.open(f"{folder}/x")
        start = time.perf_counter()
        index.compact()
        compacting = time.perf_counter() - start
        index.query(queries)
        rows.append([
            f"{size:,}", f"{size / spent:,.0f}", f"{segments}", f"{growing:,.0f}", f"{single:,.0f}",
            f"{rate(partial(index.query, queries), QUERIES):,.0f}", f"{compacting:.1f}", f"{index.info['bytes_per_document']:,.0f}",
            f"{found / (QUERIES // 2):.4f}",
        ])  # fmt: skip
        print(rows[-1], flush=True)
    index.close()
    return rows


def singles(sketches: Sketches, n: int) -> list[Sketches]:
    """Queries one at a time."""
    return [Sketches(*(getattr(sketches, c)[i : i + 1] for c in ("keys", "codes", "empty")), sketches.kind) for i in range(n)]


def each(index: la.Index, queries: list[Sketches]) -> None:
    """Ask one at a time."""
    for query in queries:
        index.query(query)


def run_datasketch(n: int) -> list[str]:
    """MinHashLSH of 16 bands of 8 rows."""
    from datasketch import MinHash, MinHashLSH

    rng = np.random.default_rng(0)
    values = rng.integers(0, 1 << 32, (n, 128), dtype=np.uint64)
    signs = [MinHash(num_perm=128, hashvalues=row, scheme="legacy") for row in values]
    before = resident()
    index = MinHashLSH(num_perm=128, params=(16, 8))
    start = time.perf_counter()
    for i, sign in enumerate(signs):
        index.insert(i, sign, check_duplication=False)
    adding = n / (time.perf_counter() - start)
    size = (resident() - before) / n
    return ["datasketch 2 MinHashLSH, in memory", f"{n:,}", f"{adding:,.0f}",
            f"{rate(lambda: [index.query(s) for s in signs[:2000]], 2000):,.0f}", f"{size:,.0f}"]  # fmt: skip


def run_sqlite(n: int, folder: str) -> list[str]:
    """A table of (key, row) with an index, in batches of 100,000; a query asks for all its keys."""
    kind = la.Index.create(f"{folder}/kind").kind
    rng = np.random.default_rng(0)
    sketches = make(kind, rng, n)
    base = sqlite3.connect(f"{folder}/naive.db")
    base.execute("CREATE TABLE bands (key INTEGER, row INTEGER)")
    base.execute("CREATE INDEX by_key ON bands (key)")
    keys = sketches.keys.view(np.int64)
    start = time.perf_counter()
    for begin in range(0, n, BATCH):
        some = keys[begin : begin + BATCH]
        base.executemany("INSERT INTO bands VALUES (?, ?)", zip(some.ravel().tolist(),
                         np.repeat(np.arange(begin, begin + len(some)), some.shape[1]).tolist(), strict=True))  # fmt: skip
        base.commit()
    adding = n / (time.perf_counter() - start)
    asked = keys[rng.integers(0, n, 2000)].tolist()
    marks = ",".join("?" * keys.shape[1])

    def ask() -> None:
        for row in asked:
            base.execute(f"SELECT DISTINCT row FROM bands WHERE key IN ({marks})", row).fetchall()

    asking = rate(ask, len(asked))
    base.close()
    size = Path(f"{folder}/naive.db").stat().st_size / n
    return ["SQLite, a table of band keys", f"{n:,}", f"{adding:,.0f}", f"{asking:,.0f}", f"{size:,.0f}"]


def run_ours(n: int, folder: str) -> list[str]:
    """The same number of documents in ours."""
    index = la.Index.create(f"{folder}/ours")
    sketches = make(index.kind, np.random.default_rng(0), n)
    start = time.perf_counter()
    for begin in range(0, n, BATCH):
        rows = slice(begin, begin + BATCH)
        part = Sketches(sketches.keys[rows], sketches.codes[rows], sketches.empty[rows], index.kind)
        index.add(range(begin, begin + len(part)), part)
    adding = n / (time.perf_counter() - start)
    one = singles(sketches, 2000)
    row = ["lookalike, one query per call", f"{n:,}", f"{adding:,.0f}", f"{rate(partial(each, index, one), len(one)):,.0f}",
           f"{index.info['bytes_per_document']:,.0f}"]  # fmt: skip
    some = Sketches(sketches.keys[:QUERIES], sketches.codes[:QUERIES], sketches.empty[:QUERIES], index.kind)
    batch = ["lookalike, 20,000 queries per call", *row[1:3], f"{rate(lambda: index.query(some), QUERIES):,.0f}", row[4]]
    index.close()
    return [row, batch]  # type: ignore[return-value]


def resident() -> int:
    """Resident bytes of this process."""
    return int(Path("/proc/self/status").read_text().partition("VmRSS:")[2].split()[0]) * 1024


def by_kind(rows: list[list[str]]) -> str:
    """Write the section on the kinds of index."""
    names = ["index", "bits × slots", "bytes per document", "queries per second", "found", "standard error at 0.8"]
    return f"""## By kind

{KINDS_AT:,} documents in one segment, 20,000 queries per call, each with a near-duplicate in the index: for fingerprints one at cosine
{COSINE}, which is within 3 bits with probability 0.674, for signatures an equal one. *Found* is the share that queries return. Integer ids
take 26 bytes per document.

{table(names, rows)}
"""


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--documents", nargs="+", default=["1e4", "1e5", "1e6", "1e7"])
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="lookalike-lasting-")
    try:
        ours = run_ours(PEERS_UP_TO, folder)
        peers = [*ours, run_sqlite(PEERS_UP_TO, folder), run_datasketch(PEERS_UP_TO)]
        print(peers, flush=True)
        kinds = measure(KINDS_AT, folder)
        bands = la.plan(threshold=0.8, recall=0.99**0.5).bands
        growth = grow([int(float(n)) for n in options.documents], folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    heads = ["documents", "added per second", "segments", "queries per second", "one query per call", "after `compact`", "`compact`, s",
             "bytes per document", "found"]  # fmt: skip
    said = f"""# The persistent index, measured

Written by `make bench-index` with lookalike {la.__version__} on {processor()}, Python {platform.python_version()}, one thread. Sketches are
generated, so rates exclude shingling. Threshold 0.8, recall 0.99: {bands} bands, and 256 slots for estimates. Half of the queries are
near-duplicates of the last documents, 20,000 per call unless stated.

{table(heads, growth)}

Compared with others (datasketch: 16 bands of 8 rows, without its signatures; neither it nor SQLite estimates resemblances):

{table(["index", "documents", "added per second", "queries per second", "bytes per document"], peers)}

{by_kind(kinds)}"""
    (ROOT / "docs/lasting-index.md").write_text(said)


if __name__ == "__main__":
    main()
