"""Boilerplate at scale: what ``dedup`` finds among documents that share most of their words, and what that costs.

Every corpus is generated twice: once with boilerplate, once with words of each document's own in its place, so that both have the
same number of words. Pairs are planted that resemble each other by a little more than the threshold of 0.8: the second of a pair
has other words at its beginning. A pair is *found* if its second document is removed. Prints a table for docs/quality.md.

Usage: python benchmarks/crowds.py [--documents 1e6] [--shares 0.4 0.67 0.8 0.85] [--memory 1GB] [--threads 2]
       python benchmarks/crowds.py --templates 10 --documents 1e7 --words 40 --shares 0.6
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from generated_rows import compiled, fmix64
from memory import parse_bytes, watch

import lookalike as la

WIDTH, LETTERS, ROWS = 5, 6, 8192
THRESHOLD, RECALL, EVERY = 0.8, 0.99, 50  # a pair is planted every so many documents
NOBODY = 1 << 40
JOB = """
import json, resource, sys, time
import lookalike as la
path, memory, work, threads, apart = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
start = time.perf_counter()
result = la.dedup(path, memory=memory, work=work, threads=threads)
seconds, used = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF)
found = int((~result.keep[apart - 1 :: apart]).sum())
print(json.dumps({"seconds": seconds, "cpu": used.ru_utime + used.ru_stime, "found": found, "kept": result.summary.kept,
                  "vouched": result.summary.recall_vouched, "candidates": result.summary.candidate_pairs,
                  "crowded": result.summary.crowded}))
"""


class Shape(NamedTuple):
    """A corpus: each document is ``words - common`` words of its own, then ``common`` of one of the ``templates``."""

    documents: int
    words: int
    common: int
    templates: int

    @property
    def changed(self) -> int:
        """How many words at its beginning the second of a pair has of its own: as many as the threshold allows."""
        shingles = self.words - WIDTH + 1
        return int(shingles * (1 - THRESHOLD) / (1 + THRESHOLD))

    @property
    def resemblance(self) -> float:
        """How much a pair resembles each other."""
        shingles = self.words - WIDTH + 1
        return (shingles - self.changed) / (shingles + self.changed)


@compiled
def write_lines(first, count, words, common, templates, changed, out):
    """Write documents as JSON lines into ``out``; return how many bytes they take."""
    end = 0
    for row in range(first, first + count):
        base = row - 1 if row % EVERY == EVERY - 1 else row
        for letter in b'{"text": "':
            out[end] = letter
            end += 1
        for place in range(words):
            if templates and place >= words - common:
                author = NOBODY + base % templates  # both of a pair have the same
            elif place < changed:
                author = row
            else:
                author = base
            draw = fmix64((np.uint64(author) << np.uint64(10)) + np.uint64(place) + np.uint64(0x9E3779B97F4A7C15))
            for _ in range(LETTERS):
                out[end] = np.uint8(97) + np.uint8(draw % np.uint64(26))
                draw //= np.uint64(26)
                end += 1
            out[end] = 32
            end += 1
        end -= 1
        for letter in b'"}\n':
            out[end] = letter
            end += 1
    return end


def write(path: Path, shape: Shape, templates: int) -> None:
    """Write a corpus; with no templates, all words are the documents' own."""
    out = np.empty(ROWS * (shape.words * (LETTERS + 1) + 16), np.uint8)
    with path.open("wb") as stream:
        for first in range(0, shape.documents, ROWS):
            count = min(ROWS, shape.documents - first)
            end = write_lines(first, count, shape.words, shape.common, templates, shape.changed, out)
            stream.write(out[:end].data)


def run(shape: Shape, templates: int, memory: str, threads: int) -> dict[str, Any]:
    """Make a corpus and deduplicate it in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="lookalike-crowds-", dir=os.environ.get("TMPDIR")) as folder:
        path, told = Path(folder) / "pages.jsonl", Path(folder) / "told"
        write(path, shape, templates)
        command = [sys.executable, "-c", JOB, str(path), memory, f"{folder}/work", str(threads), str(EVERY)]
        watched = watch(["sh", "-c", 'out=$1; shift; exec "$@" > "$out"', "sh", str(told), *command])
        if watched.code:
            raise SystemExit(watched.said)
        done: dict[str, Any] = json.loads(told.read_text().splitlines()[-1])
        print(shape, templates, done, watched.peak, watched.high_water, file=sys.stderr, flush=True)
        return done | {"peak": watched.peak, "high_water": watched.high_water, "size": path.stat().st_size}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=float, default=1e6)
    parser.add_argument("--words", type=int, default=200)
    parser.add_argument("--templates", type=int, default=1)
    parser.add_argument("--shares", type=float, nargs="+", default=[0.4, 0.67, 0.8, 0.85])
    parser.add_argument("--memory", default="1GB")
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    plan = la.plan(threshold=THRESHOLD, recall=RECALL)
    documents = int(given.documents)
    shapes = [Shape(documents, given.words, round(share * given.words), given.templates) for share in given.shares]
    wanted, promised = documents // EVERY, float(plan.recall_at(shapes[0].resemblance))
    plain = run(shapes[0], 0, given.memory, given.threads)
    print(f"{wanted:,} pairs of resemblance {shapes[0].resemblance:.4f}, found with probability {promised:.4f} by the plan\n")
    print("| boilerplate | found | of what the plan promises | vouched | CPU time | times without | pairs compared | peak, MB |\n"
          "|---|---|---|---|---|---|---|---|")  # fmt: skip
    for name, found in [("none", plain), *((f"{100 * shape.common / shape.words:.0f} %", run(shape, shape.templates, given.memory,
                                            given.threads)) for shape in shapes)]:  # fmt: skip
        share = found["found"] / wanted
        high = max(found["peak"], found["high_water"])
        print(f"| {name} | {share:.4f} | {share / promised:.4f} | {found['vouched']:.4f} | {found['cpu']:.0f} s | "
              f"{found['cpu'] / plain['cpu']:.1f} | {found['candidates']:,} | {high / 1e6:,.0f}"
              f"{'' if high <= 1.05 * parse_bytes(given.memory) else ' (over)'} |", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
