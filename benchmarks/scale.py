"""Corpora larger than memory: millions of generated documents under a cap; writes docs/scale.md.

Nothing is stored: a compiled reader makes any row anew. A fifth of the documents are near-copies of earlier ones, some of
whose words are replaced; their resemblances are known exactly by looking at both.

Usage: python benchmarks/scale.py [--documents 1e5 1e6 1e7] [--memory 1GB]
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

import semblance as sb
from semblance.io.sources import Batch, Columns
from semblance.kernels._compile import compiled
from semblance.kernels.hashing import fmix64
from semblance.text.texts import Texts

ROOT = Path(__file__).parents[1]
WORDS_EACH, N_WORDS, ROWS = 160, 1 << 15, 4096


@compiled
def base_of(row, far):
    """The document that a row is a copy of: itself, or one of the first ``far`` before it that is none."""
    if row % 5 != 4 or row < 5:
        return row
    back = 1 + np.int64(fmix64(np.uint64(row) ^ np.uint64(0x5EED)) % np.uint64(min(row, far)))
    base = row - back
    return base - 1 if base % 5 == 4 else base


@compiled
def word_of(row, base, place, share, ranks):
    """The number of the word at a place: that of the base, unless the copy has one of its own there."""
    mine = fmix64((np.uint64(row) << np.uint64(10)) + np.uint64(place) + np.uint64(0x9E3779B97F4A7C15))
    if row == base or (mine >> np.uint64(40)) < share:
        draw = mine
    else:
        draw = fmix64((np.uint64(base) << np.uint64(10)) + np.uint64(place) + np.uint64(0x9E3779B97F4A7C15))
    return ranks[np.int64(draw & np.uint64(0xFFFF))]


@compiled
def share_of(row):
    """Of 2^24, the share of words that a copy has of its own: from none up to an eighth."""
    return fmix64(np.uint64(row) ^ np.uint64(0xC0FFEE)) % np.uint64(1 << 21)


@compiled
def write_rows(first, count, words_each, far, ranks, words, bounds, out, offsets):
    """Write texts of rows into ``out``; ``offsets`` says where each begins."""
    end = 0
    for i in range(count):
        offsets[i] = end
        row = first + i
        base = base_of(row, far)
        share = share_of(row) if base != row else np.uint64(0)
        for place in range(words_each):
            word = word_of(row, base, place, share, ranks)
            for j in range(bounds[word], bounds[word + 1]):
                out[end] = words[j]
                end += 1
            out[end] = 32
            end += 1
    offsets[count] = end


class Generated:
    """A source of generated rows."""

    name = relative = "generated"
    format = "memory"

    def __init__(self, n: int, words_each: int = WORDS_EACH, far: int = 1 << 40) -> None:
        self.n, self.words_each, self.far = n, words_each, far
        rng = np.random.default_rng(0)
        lengths = 3 + rng.poisson(3, N_WORDS)
        self._bounds = np.concatenate([[0], np.cumsum(lengths)])
        self._ranks = (N_WORDS ** (np.arange(1 << 16) / (1 << 16))).astype(
            np.int64
        ) - 1  # few words are frequent, most are rare
        self._words = rng.integers(97, 123, int(self._bounds[-1])).astype(np.uint8)

    def texts(self, first: int, count: int) -> Texts:
        """Make some rows."""
        longest = int(np.diff(self._bounds).max()) + 1
        out, offsets = np.empty(count * self.words_each * longest, np.uint8), np.empty(count + 1, np.int64)
        write_rows(first, count, self.words_each, self.far, self._ranks, self._words, self._bounds, out, offsets)
        return Texts(out[: offsets[-1]].copy(), offsets)

    def batches(self, columns: Columns):
        """Make all rows."""
        for first in range(0, self.n, ROWS):
            count = min(ROWS, self.n - first)
            yield Batch(self.texts(first, count), np.arange(first, first + count))

    def label(self, number: int) -> int:
        """The row number."""
        return number

    def identity(self) -> dict[str, Any]:
        """What tells this input from another."""
        return {"name": "generated", "documents": self.n, "words": self.words_each, "far": self.far}

    def records(self):
        """Make all rows as dictionaries."""
        for batch in self.batches(Columns()):
            for i in range(len(batch.texts)):
                yield {"text": batch.texts.row(i).decode()}

    def check_free(self, names) -> None:
        """There are no columns."""

    def expected(self, text: str) -> tuple[int, int]:
        """Rows, and about their bytes."""
        return self.n, self.n * self.words_each * 7

    def check_unchanged(self) -> None:
        """The same row is made alike each time."""


def planted(source: Generated, sample: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (left, right, exact resemblance) of planted pairs, drawn at random."""
    copies = np.arange(9, source.n, 5)
    rows = np.sort(np.random.default_rng(1).permutation(copies)[:sample])
    bases = np.array([base_of(row, source.far) for row in rows.tolist()])
    found = []
    for row, base in zip(rows.tolist(), bases.tolist(), strict=True):
        a, b = (set(zip(*[words[i:] for i in range(5)], strict=False)) for words in
                (bytes(source.texts(r, 1).data).split() for r in (row, base)))  # fmt: skip
        found.append(len(a & b) / len(a | b))
    return bases, rows, np.array(found)


def watch(folder: Path, seen: list[int], stop: threading.Event) -> None:
    """Note the largest size of the work folder."""
    while not stop.wait(0.5):
        try:
            seen.append(sum(p.stat().st_size for p in folder.glob("*")))
        except OSError:
            continue


def work(n: int, memory: str, folder: str, threads: int) -> None:
    """Run one job in this process and print what came of it."""
    sb.dedup(["one two three four five six seven"] * 2, threads=threads)
    source, seen, stop = Generated(n), [0], threading.Event()
    watcher = threading.Thread(target=watch, args=(Path(folder), seen, stop))
    watcher.start()
    start = time.perf_counter()
    result = sb.dedup([source], memory=memory, work=folder, threads=threads)
    seconds = time.perf_counter() - start
    stop.set()
    watcher.join()
    summary = result.summary
    out = {"documents": n, "seconds": seconds, "peak": summary.peak_memory, "work": max(seen), "text": summary.text_bytes,
           "kept": summary.kept, "stages": summary.seconds}  # fmt: skip
    left, right, resemblance = planted(source, 20_000)
    near = (resemblance >= 0.8) & (resemblance < 1)
    wanted = dict.fromkeys(zip(left[near].tolist(), right[near].tolist(), strict=True), False)
    for a, b, _ in result._corpus.verified_pairs("verified"):
        for pair in zip(np.minimum(a, b).tolist(), np.maximum(a, b).tolist(), strict=True):
            if pair in wanted:
                wanted[pair] = True
    removed = ~result.keep
    out |= {"near": int(near.sum()), "found": sum(wanted.values()), "removed": int(removed[right[near]].sum())}
    result.close()
    print(json.dumps(out))


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--documents", nargs="+", default=["1e5", "1e6", "1e7"])
    parser.add_argument("--memory", default="1GB")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--work", nargs=2)
    options = parser.parse_args()
    if options.work:
        return work(int(options.work[0]), options.memory, options.work[1], options.threads)
    runs = []
    for n in options.documents:
        folder = tempfile.mkdtemp(prefix="semblance-scale-")
        command = [sys.executable, __file__, "--memory", options.memory, "--threads", str(options.threads), "--work",
                   str(int(float(n))), folder]  # fmt: skip
        runs.append(json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()[-1]))
        shutil.rmtree(folder, ignore_errors=True)
        print(runs[-1], flush=True)
    return None


if __name__ == "__main__":
    main()
