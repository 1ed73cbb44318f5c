"""The usual recipe of published pipelines on Spark, for comparison: MinHash in Python, bands, connected components.

Nothing is verified, and chains are united: of each component the document with the smallest number is kept.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

BANDS, ROWS, WIDTH = 16, 6, 5  # those that lookalike plans for a resemblance of .8 and a recall of .99
PRIME = (1 << 61) - 1
WORD = re.compile(r"\w+")
SAMPLE = 1000


def shingles(text: str) -> set[str]:
    """Runs of five words."""
    words = WORD.findall(text.lower())
    return {" ".join(words[i : i + WIDTH]) for i in range(max(1, len(words) - WIDTH + 1))}


def keys_of(row: tuple[int, str]) -> Iterator[tuple[bytes, int]]:
    """The keys of a document: a digest of each band of its signature."""
    number, text = row
    rng = np.random.default_rng(1)
    a, b = rng.integers(1, 1 << 31, (2, BANDS * ROWS), np.uint64)
    hashed = [int.from_bytes(hashlib.sha1(s.encode()).digest()[:4], "little") for s in shingles(text)]
    values = np.array(hashed, np.uint64)[:, None]
    signature = ((values * a + b) % np.uint64(PRIME)).min(0).reshape(BANDS, ROWS)
    for band in range(BANDS):
        yield band.to_bytes(2, "little") + signature[band].tobytes(), number


def star(edges: Any) -> Any:
    """Each document with the smallest number in reach: large and small stars in turn until nothing changes."""
    before = None
    while True:
        both = edges.flatMap(lambda edge: [edge, (edge[1], edge[0])]).groupByKey()
        large = both.flatMap(lambda g: _hung(g[0], list(g[1]), larger=True)).distinct()
        small = large.map(lambda edge: (max(edge), min(edge))).groupByKey()
        edges = small.flatMap(lambda g: _hung(g[0], list(g[1]), larger=False)).distinct().cache()
        now = edges.map(lambda edge: edge[0] * 1_000_003 + edge[1]).fold(0, lambda x, y: (x + y) & ((1 << 60) - 1))
        if now == before:
            return edges
        before = now


def _hung(node: int, others: list[int], larger: bool) -> list[tuple[int, int]]:
    """Hang the neighbours of a document, the larger ones or the smaller ones and itself, on the smallest of all."""
    least = min([node, *others])
    if larger:
        return [(other, least) for other in others if other > node]
    return [(other, least) for other in {*others, node} if other != least]


def usual(session: Any, files: list[str]) -> tuple[int, float]:
    """Return how many documents are kept, and which share of a sample of removals resembles its kept document by less than .8."""
    rows = session.read.parquet(*files).select("text").rdd.zipWithIndex().map(lambda row: (row[1], row[0][0])).cache()
    buckets = rows.flatMap(keys_of).groupByKey()
    edges = buckets.flatMap(lambda g: [(n, min(g[1])) for n in g[1] if n != min(g[1])]).distinct()
    roots = star(edges)
    kept = rows.count() - roots.count()
    some = dict(random.Random(1).sample(roots.takeSample(False, 5 * SAMPLE, 1), SAMPLE))
    wanted = {*some, *some.values()}
    texts = {number: shingles(text) for number, text in rows.filter(lambda row: row[0] in wanted).collect()}
    alike = [len(texts[a] & texts[b]) / len(texts[a] | texts[b]) for a, b in some.items()]
    return kept, float(np.mean(np.array(alike) < 0.8))
