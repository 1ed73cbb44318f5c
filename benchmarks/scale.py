"""Corpora larger than memory: millions of generated documents under a cap; writes docs/scale.md.

Nothing is stored: a compiled reader makes any row anew. In the mixed corpus a fifth of the documents are near-copies of earlier
ones, some of whose words are replaced; their resemblances are known exactly by looking at both. In the others all documents
hang together: one family of near-duplicates, one long chain, one page of boilerplate with a little of its own on each.

Usage: python benchmarks/scale.py [--documents 1e5 1e6 1e7] [--memory 1GB]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

import lookalike as la
from lookalike.engines.memory import BYTES_PER_DOCUMENT, FLOOR, LEAST_ROOM
from lookalike.formats import Format
from lookalike.formats.split import Batch, Columns, Split
from lookalike.text.texts import Texts

ROOT = Path(__file__).parents[1]
WORDS_EACH, N_WORDS, ROWS = 160, 1 << 15, 4096
KINDS = ("mixed", "family", "chain", "boilerplate")
compiled = njit(nogil=True, error_model="numpy", cache=True)


@compiled
def fmix64(x):
    """MurmurHash3's 64-bit finaliser; a kernel of the library could not be called from here."""
    shift = np.uint64(33)
    x = (x ^ (x >> shift)) * np.uint64(0xFF51AFD7ED558CCD)
    x = (x ^ (x >> shift)) * np.uint64(0xC4CEB9FE1A85EC53)
    return x ^ (x >> shift)


@compiled
def base_of(row, far):
    """The document that a row is a copy of: itself, or one of the first ``far`` before it that is none."""
    if row % 5 != 4 or row < 5:
        return row
    back = 1 + np.int64(fmix64(np.uint64(row) ^ np.uint64(0x5EED)) % np.uint64(min(row, far)))
    base = row - back
    return base - 1 if base % 5 == 4 else base


@compiled
def draw_of(row, place):
    """64 random bits for a place in a row."""
    return fmix64((np.uint64(row) << np.uint64(10)) + np.uint64(place) + np.uint64(0x9E3779B97F4A7C15))


@compiled
def word_of(kind, row, base, place, share, words_each, ranks):
    """The number of the word at a place."""
    if kind == 1:  # a family: all are copies of row 0, with one word in four hundred of their own
        mine = draw_of(row, place)
        draw = mine if mine % np.uint64(400) == np.uint64(0) else draw_of(0, place)
    elif kind == 2:  # a chain: each begins a few words after the one before
        draw = draw_of(0, row * 4 + place)
    elif kind == 3:  # boilerplate: all end alike, and resemble each other by .7
        draw = draw_of(row, place) if place < words_each * 7 // 40 else draw_of(0, place)
    else:  # the base's word, unless the copy has one of its own there
        draw = draw_of(row, place)
        if row != base and (draw >> np.uint64(40)) >= share:
            draw = draw_of(base, place)
    return ranks[np.int64(draw & np.uint64(0xFFFF))]


@compiled
def share_of(row):
    """Of 2^24, the share of words that a copy has of its own: from none up to an eighth."""
    return fmix64(np.uint64(row) ^ np.uint64(0xC0FFEE)) % np.uint64(1 << 21)


@compiled
def write_rows(kind, first, count, words_each, far, ranks, words, bounds, out, offsets):
    """Write texts of rows into ``out``; ``offsets`` says where each begins."""
    end = 0
    for i in range(count):
        offsets[i] = end
        row = first + i
        base = base_of(row, far)
        share = share_of(row) if base != row else np.uint64(0)
        for place in range(words_each):
            word = word_of(kind, row, base, place, share, words_each, ranks)
            for j in range(bounds[word], bounds[word + 1]):
                out[end] = words[j]
                end += 1
            out[end] = 32
            end += 1
    offsets[count] = end


class Generated:
    """Rows that are made anew whenever they are read."""

    def __init__(self, n: int, kind: str = "mixed", words_each: int = WORDS_EACH, far: int = 1 << 40) -> None:
        self.n, self.kind, self.words_each, self.far = n, kind, words_each, far
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
        write_rows(
            KINDS.index(self.kind),
            first,
            count,
            self.words_each,
            self.far,
            self._ranks,
            self._words,
            self._bounds,
            out,
            offsets,
        )
        return Texts(out[: offsets[-1]].copy(), offsets)

    def batches(self):
        """Make all rows."""
        for first in range(0, self.n, ROWS):
            count = min(ROWS, self.n - first)
            yield Batch(self.texts(first, count), np.arange(first, first + count))

    def split(self) -> Split:
        """Return them as an input."""
        return Split(form=GeneratedFormat(), name="generated", relative="generated", data=self)


class GeneratedFormat(Format):
    """How generated rows are read."""

    name, written_as, counts_rows, has_columns = "generated", "jsonl", True, False

    def read(self, split: Split, columns: Columns):
        """Make all rows."""
        return split.data.batches()

    def rows(self, split: Split, encoding_errors: str):
        """Make all rows as dictionaries, each with its number."""
        for batch in split.data.batches():
            for i, number in enumerate(batch.numbers.tolist()):
                yield number, {"text": batch.texts.row(i).decode()}

    def label(self, split: Split, number: int) -> int:
        """The row number."""
        return number

    def file(self, split: Split, number: int) -> None:
        """There is no file."""

    def identity(self, split: Split) -> dict[str, Any]:
        """What tells this input from another."""
        made = split.data
        return {"name": "generated", "kind": made.kind, "documents": made.n, "words": made.words_each, "far": made.far}

    def expected(self, split: Split, text: str) -> tuple[int, int]:
        """Rows, and about their bytes."""
        return split.data.n, split.data.n * split.data.words_each * 7

    def check_free(self, split: Split, names) -> None:
        """There are no columns."""


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


def work(n: int, kind: str, memory: str, folder: str, threads: int) -> None:
    """Run one job in this process and print what came of it."""
    la.dedup([Generated(2000, kind).split()], threads=threads, work=f"{folder}/warm").close()
    source, seen, stop = Generated(n, kind), [0], threading.Event()
    start = time.perf_counter()
    for _ in source.batches():
        pass
    making = time.perf_counter() - start
    watcher = threading.Thread(target=watch, args=(Path(folder), seen, stop))
    watcher.start()
    start = time.perf_counter()
    result = la.dedup([source.split()], memory=memory, work=folder, threads=threads)
    seconds = time.perf_counter() - start
    stop.set()
    watcher.join()
    summary = result.summary
    out = {"kind": kind, "documents": n, "seconds": seconds, "making": making, "peak": summary.peak_memory, "work": max(seen),
           "text": summary.text_bytes, "kept": summary.kept, "stages": summary.seconds, "vouched": summary.recall_vouched,
           "crowded": summary.crowded, "candidates": summary.candidate_pairs}  # fmt: skip
    if kind == "mixed":
        left, right, resemblance = planted(source, 20_000)
        near = (resemblance >= 0.8) & (resemblance < 1)
        wanted = dict.fromkeys(zip(left[near].tolist(), right[near].tolist(), strict=True), False)
        for batch in result.pairs.select(["left_id", "right_id"]).to_batches():  # the bases are kept: their pairs are told
            for pair in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                if pair in wanted:
                    wanted[pair] = True
        out |= {"near": int(near.sum()), "found": sum(wanted.values())}
    result.close()
    print(json.dumps(out))


def run(n: float, kind: str, memory: str, threads: int) -> dict[str, Any]:
    """Run one job in a process of its own."""
    folder = tempfile.mkdtemp(prefix="lookalike-scale-")
    command = [sys.executable, __file__, "--memory", memory, "--threads", str(threads), "--work", str(int(n)), kind, folder]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    out: dict[str, Any] = json.loads(done.stdout.splitlines()[-1]) | {"memory": memory}
    print(out, flush=True)
    return out


def exponent(runs: list[dict[str, Any]]) -> float:
    """The power of the number of documents that the seconds grow with."""
    x, y = (np.log([r[name] for r in runs]) for name in ("documents", "seconds"))
    return float(np.polyfit(x, y, 1)[0])


def page(mixed: list[dict[str, Any]], trouble: list[dict[str, Any]], memory: str, threads: int) -> str:
    """Render the page."""
    cpu = next(
        (line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line), "?"
    )
    rows = [
        f"| {r['documents']:,} | {r['text'] / 1e9:.2f} | {r['seconds']:.0f} | {r['making']:.0f} | "
        f"{r['text'] / 1e6 / r['seconds']:.0f} | {r['peak'] / 1e6:,.0f} | {r['work'] / r['documents']:.0f} | "
        f"{r['found']:,} of {r['near']:,} ({r['found'] / r['near']:.4f}) | {r['kept']:,} |"
        for r in mixed
    ]
    stages = "\n".join(f"| {name} | {seconds:.1f} |" for name, seconds in mixed[-1]["stages"].items())
    bad = [
        f"| {r['kind']} | {r['documents']:,} | {r['memory']} | {r['seconds']:.0f} | {r['peak'] / 1e6:,.0f} | {r['kept']:,} | {r['candidates']:,} | "
        f"{r['crowded']:,} | {r['vouched']:.4f} |"
        for r in trouble
    ]
    last = mixed[-1]
    per = {"seconds": last["seconds"] / last["documents"], "work": last["work"] / last["documents"]}
    power = exponent(mixed)
    larger = []
    for n in (1e9, 1e11):
        seconds = last["seconds"] * (n / last["documents"]) ** max(1.0, power)
        larger.append(
            f"| {n:.0e} | {n * last['text'] / last['documents'] / 1e12:,.1f} TB | {seconds * threads / 3600:,.0f} | "
            f"{(FLOOR + BYTES_PER_DOCUMENT * n) / 1e9:,.0f} GB | {per['work'] * n / 1e12:,.2f} TB |"
        )
    return TEMPLATE.format(
        machine=f"{cpu}, Python {platform.python_version()}", memory=memory, threads=threads, rows="\n".join(rows),
        stages=stages, bad="\n".join(bad), power=power, larger="\n".join(larger), each=BYTES_PER_DOCUMENT, floor=(FLOOR + LEAST_ROOM) / 1e6, version=la.__version__,
    )  # fmt: skip


BY_HAND = "\n## What each part takes"
TEMPLATE = """# Scale

Written by `make bench-scale` with lookalike {version} on {machine}, {threads} threads, `memory="{memory}"`. Documents of about 1.1 kB are made by a
compiled reader, twice where candidates are read again; *making* is what one pass of that alone costs, on one thread. A fifth
of them are near-duplicates of earlier ones; *found* counts those of 20,000 planted pairs drawn at random that resemble each other
by 0.8 or more (but are not equal), by exact comparison, and are among the verified pairs.

| documents | text, GB | seconds | making, s | MB/s | peak memory, MB | disk space, bytes per document | found | kept |
|---|---|---|---|---|---|---|---|---|
{rows}

Time grows with the documents to the power {power:.2f}. Stages of the last run, seconds:

| stage | seconds |
|---|---|
{stages}

## One large component

| corpus | documents | cap | seconds | peak memory, MB | kept | candidate pairs | crowded documents | recall vouched for |
|---|---|---|---|---|---|---|---|---|
{bad}

*family*: all are near-duplicates of one document. *chain*: each resembles the next few, and its ends do not resemble each other; no
document is removed because of one that is not kept. *boilerplate*: every page ends alike, and any two resemble each other by about
0.7, below the threshold of 0.8; buckets of thousands of documents that are not near-duplicates, in which each is compared with
those that share its rarest codes. The summary then states what recall is vouched for.

## What larger ones would cost

From the last run, at its rate, on cores like these. *Memory* is the least that the job needs: {floor:.0f} MB and {each} bytes
per document; more memory makes larger partitions. *Disk space* comes on top of the input.

| documents | text | core hours | memory, at least | disk space |
|---|---|---|---|---|
{larger}

The memory limits a single machine: with 64 GB at about a billion documents, with 1 TB at some 20 billion. A larger
corpus must be divided by a property that near-duplicates share, such as language or site (`--within`), or by keys of
the bands over several machines, which only another engine could do.
"""


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--documents", nargs="+", default=["1e5", "1e6", "1e7"])
    parser.add_argument("--trouble", default="1e6")
    parser.add_argument("--memory", default="1GB")
    parser.add_argument("--boilerplate-memory", default="6GB")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--work", nargs=3)
    options = parser.parse_args()
    if options.work:
        work(int(options.work[0]), options.work[1], options.memory, options.work[2], options.threads)
        return
    mixed = [run(float(n), "mixed", options.memory, options.threads) for n in options.documents]
    caps = {"family": options.memory, "chain": options.memory, "boilerplate": options.boilerplate_memory}
    trouble = [run(float(options.trouble), kind, cap, options.threads) for kind, cap in caps.items()]
    out = ROOT / "docs/scale.md"
    kept = out.read_text().partition(BY_HAND)  # measured with benchmarks/memory.py
    out.write_text(page(mixed, trouble, options.memory, options.threads) + "".join(kept[1:]))


if __name__ == "__main__":
    main()
