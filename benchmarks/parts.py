"""The hot loops beside their peers and limits: sketching, all pairs, the join of band keys, growth, start-up.

Each function returns a section of docs/benchmarks.md. One thread.
"""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "reproduction/experiments"))

from machine import fastest
from page import table

import lookalike as la

C_LOOP = r"""
#include <stdint.h>
int64_t pairs(const uint64_t*w,int64_t n,int64_t width,int64_t bits,int64_t most,int64_t*left,int64_t*right,int64_t room){
  int64_t found=0;
  for(int64_t i=0;i<n;i++) for(int64_t j=i+1;j<n;j++){
    const uint64_t*a=w+i*width*bits,*b=w+j*width*bits; int64_t t=0;
    for(int64_t k=0;k<width;k++){uint64_t d=a[k]^b[k];for(int64_t q=1;q<bits;q++)d|=a[k+q*width]^b[k+q*width];t+=__builtin_popcountll(d);}
    if(t<=most){if(found<room){left[found]=i;right[found]=j;}found++;}}
  return found;}
"""


def sketching() -> str:
    """Microseconds a document from hashed shingles, and the error of estimates at R = .5."""
    rng = np.random.default_rng(0)
    peers: dict[str, Callable[[np.ndarray, np.ndarray, int], Callable[[], Any]]] = {
        "lookalike FastSimilarity": lambda flat, bounds, k: lambda: la.sketches.FastSimilarity(permutations=k).sign(la.sketches.Shingles(flat, bounds)).values,
        "lookalike MinHash": lambda flat, bounds, k: lambda: la.sketches.MinHash(permutations=k).sign(la.sketches.Shingles(flat, bounds)).values,
    }  # fmt: skip
    try:
        import rensa

        peers["rensa"] = lambda flat, bounds, k: (
            lambda: rensa.RMinHash.digest_matrix_from_flat_token_hashes(flat, bounds.astype(np.uint64), k, 42)
        )
    except ImportError:
        pass
    try:
        from FastSketchLSH import FastSimilaritySketch

        peers["FastSketchLSH"] = lambda flat, bounds, k: (
            lambda: FastSimilaritySketch(k, 42).batch_csr(flat, bounds.astype(np.uint64), True, 1)
        )
    except ImportError:
        pass
    rows = []
    for k in (128, 1024):
        for size in (64, 256, 1024, 16384):
            n = max(20, 400_000 // size)
            flat, bounds = rng.integers(0, 1 << 63, n * size, dtype=np.uint64), np.arange(0, n * size + 1, size)
            us = {}
            for name, make in peers.items():
                us[name] = fastest(make(flat, bounds, k), 2 if name == "lookalike MinHash" else 5) / n * 1e6
            others = [v for name, v in us.items() if not name.startswith("lookalike")]
            ratio = f"{min(others) / us['lookalike FastSimilarity']:.1f}" if others else ""
            rows.append([str(k), f"{size:,}", *(f"{us[name]:.2f}" for name in peers), ratio])
            print(rows[-1], flush=True)
    errors = []
    for size in (64, 1024):
        shared, n, k = size * 2 // 3, 2000, 128
        values = rng.integers(0, 1 << 63, (n, 2 * size - shared), dtype=np.uint64)
        flat = np.concatenate([values[:, :size], values[:, size - shared :]], 1).ravel()
        bounds = np.arange(0, len(flat) + 1, size)
        row = [f"{size:,}"]
        for make in peers.values():
            found = make(flat, bounds, k)()
            matrix = np.asarray(found) if not hasattr(found, "to_numpy") else found.to_numpy()
            try:
                equal = (matrix[0::2] == matrix[1::2]).mean(1)
                row.append(f"{np.sqrt(((equal - shared / (2 * size - shared)) ** 2).mean()):.4f}")
            except (TypeError, IndexError):
                row.append("no access to values")
        resemblance = shared / (2 * size - shared)
        row.append(f"{(resemblance * (1 - resemblance) / k) ** 0.5:.4f}")
        errors.append(row)
    names = ["values", "shingles", *peers, "faster than the best peer, times"]
    text = "## Sketching from hashed shingles\n\nMicroseconds a document:\n\n" + table(names, rows)
    return (
        text
        + "\nRoot mean square error of estimates at R = .5, 128 values:\n\n"
        + table(["shingles", *peers, "theory, k permutations"], errors)
    )


def all_pairs() -> str:
    """Million pairs a second of packed signatures, those above .8 wanted, beside a C loop and faiss."""
    rng = np.random.default_rng(0)
    n, rows = 8000, []
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "pairs.c", Path(folder) / "pairs.so"
        source.write_text(C_LOOP)
        subprocess.run(["gcc", "-O3", "-march=native", "-shared", "-fPIC", "-o", library, source], check=True)
        loop = ctypes.CDLL(str(library)).pairs
        loop.restype = ctypes.c_int64
        try:
            import faiss

            faiss.omp_set_num_threads(1)
        except ImportError:
            faiss = None
        for bits in (1, 2, 4, 8):
            for k in (128, 512, 2048):
                sets = la.sketches.Shingles(rng.integers(0, 1 << 63, n * 60, dtype=np.uint64), np.arange(0, n * 60 + 1, 60))
                packed = la.sketches.BBit(bits=bits).pack(la.sketches.FastSimilarity(permutations=k).sign(sets))
                most = int(k - np.ceil(k * (0.8 + 0.2 * 2.0**-bits) - 1e-9))
                out = [np.empty(1000, np.int64) for _ in range(2)]
                pointers = [a.ctypes.data_as(ctypes.c_void_p) for a in (packed.words, *out)]
                c = fastest(lambda p=pointers, k=k, b=bits, m=most: loop(p[0], n, k // 64, b, m, p[1], p[2], 1000), 2)
                ours = fastest(lambda p=packed: la.search.pairs_above(p, 0.8), 3)
                pairs = n * (n - 1) / 2e6
                row = [
                    str(bits),
                    f"{k:,}",
                    f"{packed.words.shape[1] * 8}",
                    f"{pairs / ours:,.0f}",
                    f"{pairs / c:,.0f}",
                    f"{c / ours:.1f}",
                ]
                if faiss is not None:
                    codes = packed.words.view(np.uint8).reshape(n, -1)
                    flat = faiss.IndexBinaryFlat(codes.shape[1] * 8)
                    flat.add(codes)
                    seconds = fastest(lambda f=flat, x=codes[:1000]: f.search(x, 1), 3) * pairs / (1000 * n / 1e6)
                    row += [f"{pairs / seconds:,.0f}", f"{seconds / ours:.1f}"]
                rows.append(row)
                print(row, flush=True)
    names = ["bits", "slots", "bytes a document", "lookalike", "C loop", "ratio", "faiss IndexBinaryFlat", "ratio"]
    return (
        "## All pairs of packed signatures\n\nMillion pairs a second. The C loop (`-O3 -march=native`) counts every pair to the end, which is\n"
        "the limit of a row after the other; lookalike compares a row with 256 others turned on their side, and stops where all of them\n"
        "have too many mismatches. faiss counts differing bits of the same codes, the nearest of each wanted.\n\n"
        + table(names[: len(rows[0])], rows)
    )


def candidates() -> str:
    """The join of band keys of a million documents, beside polars and DuckDB doing the same."""
    rng = np.random.default_rng(0)
    from lookalike.search.banding import find_candidates

    rows = []
    for n, bands in ((1_000_000, 16), (10_000_000, 4)):
        keys = rng.integers(0, 1 << 63, (n, bands), dtype=np.uint64)
        twins = rng.permutation(n)[: n // 10].reshape(-1, 2)
        keys[twins[:, 1], : bands // 2] = keys[twins[:, 0], : bands // 2]
        ours = fastest(lambda k=keys: find_candidates(k), 2)
        row = [f"{n:,}", str(bands), f"{ours:.2f}", f"{len(find_candidates(keys)[0]):,}"]
        try:
            import polars as pl

            def join(keys: np.ndarray = keys) -> int:
                found = []
                for band in range(keys.shape[1]):
                    frame = pl.LazyFrame({"key": keys[:, band], "row": np.arange(len(keys), dtype=np.uint32)})
                    pairs = frame.join(frame, on="key", how="inner").filter(pl.col("row") < pl.col("row_right"))
                    found.append(pairs.select("row", "row_right").collect())
                return len(pl.concat(found).unique())

            seconds = fastest(join, 1)
            row += [f"{seconds:.2f}", f"{join():,}", f"{seconds / ours:.1f}"]
        except ImportError:
            row += ["not installed", "", ""]
        try:
            import duckdb
            import pyarrow as pa

            def query(keys: np.ndarray = keys) -> int:
                connection = duckdb.connect(config={"threads": 1})
                columns = {f"k{band}": keys[:, band] for band in range(keys.shape[1])}
                connection.register("t", pa.table({"i": np.arange(len(keys), dtype=np.uint32), **columns}))
                parts = (f"SELECT a.i, b.i j FROM t a JOIN t b USING ({name}) WHERE a.i < b.i" for name in columns)
                return len(connection.execute(" UNION ".join(parts)).fetchnumpy()["i"])

            seconds = fastest(query, 1)
            row += [f"{seconds:.2f}", f"{seconds / ours:.1f}"]
        except ImportError:
            row += ["not installed", ""]
        rows.append(row)
        print(row, flush=True)
    names = ["documents", "bands", "lookalike, s", "pairs", "polars, s", "pairs", "faster, times", "DuckDB, s", "faster, times"]
    said = "A pair more or less: keys are compared by their upper 40 bits or so, and what they let through is verified.\n\n"
    return "## Candidates: equal keys in some band\n\n" + said + table(names, rows)


GROWTH = """
import json, sys, time, numpy as np, lookalike as la
n, length, share = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
rng = np.random.default_rng(1)
words = np.array([f"w{i}" for i in range(20_000)])
texts = []
for i in range(n):
    if texts and rng.random() < share:
        texts.append(texts[int(rng.integers(0, len(texts)))] + " more")
    else:
        texts.append(" ".join(words[rng.integers(0, len(words), length)].tolist()))
la.dedup(texts[:50], threads=1)
start = time.perf_counter()
result = la.dedup(texts, threads=1)
print(json.dumps([time.perf_counter() - start, int(result.summary.peak_memory)]))
"""


def growth() -> str:
    """Time and memory against the number of documents, their length, and the share of duplicates."""
    rows, fitted = [], []
    for name, cases in (
        ("documents", [(10_000, 60, 0.2), (100_000, 60, 0.2), (1_000_000, 60, 0.2)]),
        ("words a document", [(20_000, 30, 0.2), (20_000, 300, 0.2), (20_000, 3000, 0.2)]),
        ("share of duplicates", [(100_000, 60, 0.0), (100_000, 60, 0.5), (100_000, 60, 0.9)]),
    ):
        seconds = []
        for case in cases:
            command = [sys.executable, "-c", GROWTH, *map(str, case)]
            took, peak = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            seconds.append(took)
            rows.append([name, f"{case[0]:,}", str(case[1]), str(case[2]), f"{took:.2f}", f"{peak / 1e6:,.0f}"])
            print(rows[-1], flush=True)
        which = ("documents", "words a document", "share of duplicates").index(name)
        if which < 2:
            sizes = [case[which] for case in cases]
            fitted.append(f"time grows with the {name} to the power {np.polyfit(np.log(sizes), np.log(seconds), 1)[0]:.2f}")
    head = ["varied", "documents", "words each", "duplicates", "seconds", "peak memory, MB"]
    return "## Growth\n\nTexts in memory, one thread; " + "; ".join(fitted) + ".\n\n" + table(head, rows)


def start_up() -> str:
    """Seconds until Python has imported the package, the program printed its help, and a small job ran."""

    def seconds(command: list[str]) -> float:
        return fastest(lambda: subprocess.run(command, capture_output=True, check=True, input=b""), 3)

    rows = []
    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder) / "small.jsonl"
        small.write_text("".join(json.dumps({"text": f"one two three four five six {i}"}) + "\n" for i in range(100)))
        program = [sys.executable, "-m", "lookalike"]
        rows.append(["import lookalike", f"{seconds([sys.executable, '-c', 'import lookalike']):.2f}"])
        rows.append(["lookalike --help", f"{seconds([*program, '--help']):.2f}"])
        rows.append(["a small job", f"{seconds([*program, 'dedup', str(small)]):.2f}"])
    return "## Start-up\n\n" + table(["what", "seconds"], rows)


def sections() -> str:
    """All sections."""
    return "\n".join(part() for part in (sketching, all_pairs, candidates, growth, start_up))


if __name__ == "__main__":
    print(sections())
