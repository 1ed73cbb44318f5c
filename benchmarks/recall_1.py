"""Processor time of ``dedup`` and ``pairs`` with plans and with recall 1, on made pages that share much or little.

python benchmarks/recall_1.py [corpus...]                              a line of JSON for each job, one thread
python benchmarks/recall_1.py FILE... [unit=char] [width=3]            the same for files of texts
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from generated import vocabulary

import lookalike as la
from lookalike.recipes.pairs import find_pairs
from lookalike.settings.settings import PairSettings

THRESHOLDS, RECALLS = (0.5, 0.6, 0.7, 0.8), (0.95, 0.99, 1.0)
Draw = Callable[[int], np.ndarray]


def template(rng: np.random.Generator, draw: Draw, n: int, words: int, per: int, own: float) -> Iterator[np.ndarray]:
    """Sites of ``per`` pages; about a share ``own`` of each page is its own."""
    for page in range(n):
        if page % per == 0:
            site = draw(words)
        size = int(words * own * rng.uniform(0.2, 1.8))
        yield np.concatenate([site[: (words - size) // 2], draw(size), site[words // 2 + size // 2 :]])


def edits(rng: np.random.Generator, draw: Draw, n: int, words: int, per: int) -> Iterator[np.ndarray]:
    """Families of ``per`` texts in which 0.5 to 15% of the words are replaced."""
    for page in range(n):
        if page % per == 0:
            base = draw(max(20, int(words * rng.lognormal(0, 0.5))))
        text, size = base.copy(), max(1, int(len(base) * rng.uniform(0.005, 0.15)))
        text[rng.choice(len(base), size, replace=False)] = draw(size)
        yield text


def header(rng: np.random.Generator, draw: Draw, n: int, words: int, common: int, kinds: int = 1) -> Iterator[np.ndarray]:
    """Texts of their own below one of some headers."""
    headers = [draw(common) for _ in range(kinds)]
    for _ in range(n):
        yield np.concatenate([headers[int(rng.integers(kinds))], draw(max(10, int(words * rng.lognormal(0, 0.5))))])


CORPORA: dict[str, tuple[Callable[..., Iterator[np.ndarray]], tuple[float, ...]]] = {
    "tmpl_short_big": (template, (20_000, 60, 500, 0.2)), "tmpl_short_small": (template, (40_000, 60, 10, 0.2)),
    "tmpl_long_big": (template, (10_000, 600, 500, 0.25)), "tmpl_long_small": (template, (20_000, 600, 8, 0.25)),
    "edits_short": (edits, (40_000, 60, 20)), "edits_long": (edits, (12_000, 800, 12)),
    "nav_short": (header, (20_000, 60, 40)), "nav_long": (header, (10_000, 500, 200, 3)), "plain_short": (header, (50_000, 40, 0)),
}  # fmt: skip


def make(name: str, folder: Path) -> str:
    """Write a corpus; return its path."""
    rng = np.random.default_rng(1)
    known = vocabulary(rng)
    chances = np.cumsum(np.arange(1, len(known) + 1) ** -1.05)
    kind, sizes = CORPORA[name]
    pages = kind(rng, lambda size: known[np.searchsorted(chances, rng.random(size) * chances[-1])], *sizes)
    pq.write_table(pa.table({"text": [" ".join(page.tolist()) for page in pages]}), folder / f"{name}.parquet")
    return str(folder / f"{name}.parquet")


def job(name: str, path: str, how: dict[str, Any]) -> dict[str, Any]:
    """Run one job; kernels are compiled before."""
    la.pairs(["a b c d", "a b c e"], threads=1)
    began = process_time()
    if name == "pairs":
        s = find_pairs(path, PairSettings(**how)).summary
        said = {"crowded": s["crowded"], "cand": s["candidate_pairs"], "pairs": s["pairs"], "peak": s["peak_memory"]}
    else:
        told = la.dedup(path, **how).summary
        said = {"crowded": told.crowded, "cand": told.candidate_pairs, "kept": told.kept, "peak": told.peak_memory}
    return said | {"cpu": round(process_time() - began, 2)}


if __name__ == "__main__":
    if sys.argv[1:2] == ["--job"]:
        print(json.dumps(job(*json.loads(sys.argv[2]))))
        sys.exit()
    given = dict(one.split("=") for one in sys.argv[1:] if "=" in one)
    more = given | ({"width": int(given["width"])} if "width" in given else {})
    with tempfile.TemporaryDirectory() as folder:
        for corpus in [one for one in sys.argv[1:] if "=" not in one] or list(CORPORA):
            path = make(corpus, Path(folder)) if corpus in CORPORA else corpus
            for threshold in THRESHOLDS:
                for what in ("dedup", "pairs"):
                    for recall in RECALLS:
                        how = {"threshold": threshold, "recall": recall, "threads": 1, "memory": "3GB"} | more
                        task = json.dumps([what, path, how])
                        done = subprocess.run(
                            [sys.executable, __file__, "--job", task], capture_output=True, check=True, text=True
                        )
                        facts = {"job": what, "corpus": Path(corpus).stem, "threshold": threshold, "recall": recall}
                        print(json.dumps(facts | json.loads(done.stdout)), flush=True)
