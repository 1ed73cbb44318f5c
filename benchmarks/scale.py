"""Corpora larger than memory: millions of generated documents under a cap; writes docs/scale.md.

Nothing is stored (``generated_rows``); resemblances of planted pairs are known exactly by looking at both.

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
from generated_rows import Generated, base_of
from page import processor

import lookalike as la
from lookalike.engines.memory import BYTES_PER_DOCUMENT, FLOOR, LEAST_ROOM

ROOT = Path(__file__).parents[1]


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
    watcher = threading.Thread(target=watch, args=(Path(folder), seen, stop))
    watcher.start()
    start, cpu = time.perf_counter(), time.process_time()
    result = la.dedup([source.split()], memory=memory, work=folder, threads=threads)
    seconds, cpu, making = time.perf_counter() - start, time.process_time() - cpu, source.seconds
    stop.set()
    watcher.join()
    summary = result.summary
    out = {"kind": kind, "documents": n, "seconds": seconds, "cpu": cpu, "making": making, "peak": summary.peak_memory, "work": max(seen),
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
    print(out, f"{per_gb(out):.2f} CPU seconds per GB without making texts", flush=True)
    return out


def per_gb(run: dict[str, Any]) -> float:
    """Processor seconds of the job for each GB of text, without those of making it."""
    return float((run["cpu"] - run["making"]) / run["text"] * 1e9)


def exponent(runs: list[dict[str, Any]]) -> float:
    """The power of the number of documents that the seconds grow with."""
    x, y = (np.log([r[name] for r in runs]) for name in ("documents", "seconds"))
    return float(np.polyfit(x, y, 1)[0])


def components(trouble: list[dict[str, Any]]) -> str:
    """Render the corpora that are one component."""
    bad = [
        f"| {r['kind']} | {r['documents']:,} | {r['memory']} | {r['seconds']:.0f} | {r['peak'] / 1e6:,.0f} | {r['kept']:,} | {r['candidates']:,} | "
        f"{r['crowded']:,} | {r['vouched']:.4f} |"
        for r in trouble
    ]
    return COMPONENTS.format(bad="\n".join(bad))


def page(mixed: list[dict[str, Any]], memory: str, threads: int) -> str:
    """Render the page."""
    rows = [
        f"| {r['documents']:,} | {r['text'] / 1e9:.2f} | {r['seconds']:.0f} | {per_gb(r):.1f} | {r['peak'] / 1e6:,.0f} | "
        f"{r['work'] / r['documents']:.0f} | {r['found']:,} of {r['near']:,} ({r['found'] / r['near']:.4f}) | {r['kept']:,} |"
        for r in mixed
    ]
    last = mixed[-1]
    disk = last["work"] / last["documents"]
    power = exponent(mixed)
    larger = []
    for n in (1e9, 1e11):
        times = n / last["documents"]
        text = last["text"] * times
        larger.append(
            f"| {n:.0e} | {text / 1e12:,.1f} TB | {per_gb(last) * text / 1e9 * times ** max(0.0, power - 1) / 3600:,.0f} | "
            f"{(FLOOR + BYTES_PER_DOCUMENT * n) / 1e9:,.0f} GB | {disk * n / 1e12:,.2f} TB |"
        )
    return TEMPLATE.format(
        machine=f"{processor()}, Python {platform.python_version()}", memory=memory, threads=threads, rows="\n".join(rows),
        power=power, larger="\n".join(larger), each=BYTES_PER_DOCUMENT, floor=(FLOOR + LEAST_ROOM) / 1e6,
        version=la.__version__,
    )  # fmt: skip


BY_HAND = "\n## Use of memory"
COMPONENTS = """# One large component

Written by `make bench-scale`.


| corpus | documents | limit | seconds | peak, MB | kept | candidate pairs | crowded documents | recall, at least |
|---|---|---|---|---|---|---|---|---|
{bad}

*Family*: all are near-duplicates of one document. *Chain*: each resembles the next few. *Boilerplate*: any two resemble each other by about 0.7, below the
threshold of 0.8.
"""
TEMPLATE = """# Scale

Written by `make bench-scale` with lookalike {version} on {machine}, {threads} threads, `memory="{memory}"`. Documents of about 1.1 kB are generated;
*CPU seconds* exclude that, *seconds* do not. A fifth are near-duplicates of earlier ones. *Found* counts random planted pairs with an
exact resemblance of 0.8 to less than 1 that are among the verified pairs. *Peak* is the process's own memory.

| documents | text, GB | seconds | CPU seconds per GB | peak, MB | disk space, bytes per document | found | kept |
|---|---|---|---|---|---|---|---|
{rows}

Time grows with the documents to the power {power:.2f}. Corpora that are one large component, such as a million near-duplicates of one document, stay
within the limit, too (`benchmarks/results/components.md`).

## Cost of larger corpora

Extrapolated from the last run: run 1% of your corpus first. *Memory* is the minimum for the job: {floor:.0f} MB and {each} bytes per document. *Disk space* is in
addition to the input.

| documents | text | core hours | memory, at least | disk space |
|---|---|---|---|---|
{larger}

Memory limits a single machine: 64 GB hold about a billion documents. Divide a larger corpus by a property that near-duplicates share, such as language
or site (`--within`), or run it [on Spark](spark.md).
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
    out.write_text(page(mixed, options.memory, options.threads) + "".join(kept[1:]))
    (ROOT / "benchmarks/results/components.md").write_text(components(trouble))


if __name__ == "__main__":
    main()
