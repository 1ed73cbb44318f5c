"""What an index takes and finds by its kind: exact or probed fingerprints, more or fewer bits for estimates.

Fingerprints are signs of normal sums, and a near-duplicate has sums of correlation 0.99, its cosine: the model of margins, by
which the share that probes find is stated, so that what is measured is the search and not the model. Sketches of MinHash are
random keys and codes.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np

import lookalike as la
from lookalike.index.kind import Sketches

COSINE, BATCH, QUERIES = 0.99, 100_000, 20_000
KINDS: dict[str, dict[str, Any]] = {
    "simhash, radius 3": {"kind": "simhash"},
    "simhash, radius 3, 23 probes": {"kind": "simhash", "probes": 23},
    "minhash (256 slots of 16 bits)": {},
    "minhash, standard error 0.025": {"standard_error": 0.025},
    "minhash, 64 bytes": {"sketch_bytes": 64},
}


def sketched(kind: Any, sums: np.ndarray) -> Sketches:
    """Fingerprints of sums, in the form that an index of this kind keeps and asks for."""
    words = np.packbits(sums > 0, axis=1, bitorder="little").view(np.uint64)[:, 0]
    turns = (kind.prefix_bits * np.arange(kind.n_keys)).astype(np.uint64)
    keys = (words[:, None] << turns) | ((words[:, None] >> np.uint64(1)) >> (np.uint64(63) - turns))
    empty = np.zeros(len(words), np.bool_)
    return Sketches(keys, words[:, None].view(np.uint16), empty, kind, None if kind.probes is None else sums)


def made(kind: Any, n: int, rng: np.random.Generator) -> tuple[Sketches, Sketches]:
    """Sketches of documents, and queries, each of which has a near-duplicate in the same row."""
    if kind.name == "simhash":
        sums = rng.standard_normal((n, 64), dtype=np.float32)
        other = COSINE * sums + np.float32((1 - COSINE**2) ** 0.5) * rng.standard_normal((n, 64), dtype=np.float32)
        return sketched(kind, sums), sketched(kind, other)
    keys = rng.integers(0, 1 << 64, (n, kind.n_keys), dtype=np.uint64)
    codes = rng.integers(0, 1 << 16, (n, kind.n_codes), dtype=np.uint16)
    both = Sketches(keys, codes, np.zeros(n, np.bool_), kind)
    return both, both


def measure(n: int, folder: str) -> list[list[str]]:
    """Rows of the table: bytes a document, queries a second and what is found after all segments are one."""
    rows = []
    for number, (name, given) in enumerate(KINDS.items()):
        rng = np.random.default_rng(1)
        with la.Index.create(f"{folder}/kind-{number}", **given) as index:
            for begin in range(0, n, BATCH):
                documents, queries = made(index.kind, min(BATCH, n - begin), rng)
                index.add(range(begin, begin + len(documents)), documents)
            index.compact()
            some = slice(0, QUERIES)
            asked = Sketches(queries.keys[some], queries.codes[some], queries.empty[some], index.kind,
                             None if queries.margins is None else queries.margins[some])  # fmt: skip
            found = index.query(asked)
            own = np.array(found["query"]) + begin == np.array(found["id"])
            times = []
            for work in [partial(index.query, asked)] * 7:
                start = time.perf_counter()
                work()
                times.append(time.perf_counter() - start)
            said, kind = index.info, index.kind
            fixed = f"{kind.bits} × {kind.slots}" if kind.name == "minhash" else ""
            rows.append([name, fixed, f"{said['bytes_per_document']:.1f}", f"{len(asked) / min(times):,.0f}",
                         f"{own.sum() / len(asked):.4f}", f"{said['standard_error_at_threshold']:.4f}"])  # fmt: skip
            print(rows[-1], flush=True)
    return rows
