"""What ``lookalike plan`` foresees beside what jobs take, each in a process of its own.

*Peak* and processor time are those of the job's process (see ``memory.py``); *disk* is the most that lay in the folder for temporary
files, files without a name included. The share of duplicates (of the text) and the size of families are what a job without a cap
finds: how well these can be guessed is another matter. Nothing is written. Linux only.

Usage: python benchmarks/foresight.py CORPUS... [--caps none 300MB] [--threads 1 2] [--work] [--measure containment]

A corpus is a file, a folder, a Parquet file several times (``licences.parquet*5``), or ``generated``: a million documents of 1 kB.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import generated
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from memory import shape_of, watch

import lookalike as la

PART, CHARACTERS = 100_000, 1000
EVERY = 0.05  # seconds between looks at the disk


class Facts(NamedTuple):
    """What a user says of a corpus."""

    documents: int
    bytes: int
    duplicates: float
    family: float


class Disk:
    """The most bytes that lie in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.peak, self._next = folder, 0, 0.0

    def look(self, pid: int) -> None:
        """Add up all files, and those of a process that have no name any more."""
        if time.perf_counter() < self._next:
            return
        self._next = time.perf_counter() + EVERY
        total = 0
        for path in [*self.folder.rglob("*"), *Path(f"/proc/{pid}/fd").glob("*")]:
            try:
                if path.parent.name != "fd" or (os.readlink(path).startswith(str(self.folder)) and not path.exists()):
                    status = path.stat()
                    total += 512 * status.st_blocks if not path.is_dir() else 0
            except OSError:
                continue
        self.peak = max(self.peak, total)


def pages(folder: Path, n: int = 1_000_000) -> list[Path]:
    """Write documents of about 1 kB: the beginnings of generated ones."""
    for first in range(0, n, PART):
        path = folder / f"generated-{first // PART}.parquet"
        generated.write(str(path), min(PART, n - first), 1 + first // PART)
        texts = pc.utf8_slice_codeunits(pq.read_table(path)["text"], 0, CHARACTERS)
        pq.write_table(pa.table({"text": texts}), path)
    return sorted(folder.glob("generated-*"))


def facts_of(inputs: list[Path], measure: str) -> Facts:
    """Look what is in a corpus."""
    result = la.dedup([str(path) for path in inputs], measure=measure)
    rows, summary = result.decisions, result.summary
    near = rows.filter(pc.equal(rows["reason"], "near"))
    ends = np.union1d(near["order"].to_numpy(), near["keeper"].to_numpy())
    sizes = rows["bytes"].to_numpy()
    share = float(sizes[np.isin(rows["order"].to_numpy(), ends)].sum() / sizes.sum())
    family = max(2.0, 1 + 2 * summary.candidate_pairs / (summary.documents * (1 - (1 - share) ** 2)))
    result.close()
    return Facts(summary.documents, summary.text_bytes, share, family)


def row(name: str, inputs: list[Path], facts: Facts, cap: str | None, threads: int, given: argparse.Namespace) -> str:
    """Run one job; return a row of the table."""
    form, work = "jsonl" if inputs[0].suffix == ".jsonl" else "parquet", given.work
    found = la.foresee(**facts._asdict(), memory=cap, threads=threads, work=work, format=form, measure=given.measure)
    with tempfile.TemporaryDirectory(prefix="lookalike-foresight-") as scratch:
        disk = Disk(Path(scratch))
        command = [sys.executable, "-m", "lookalike", "dedup", *map(str, inputs), "--threads", str(threads), "--quiet"]
        command += ["--measure", given.measure]
        command += [*(["--memory", cap] if cap else []), *(["--work", f"{scratch}/work"] if work else [])]
        watched = watch(command, {**os.environ, "TMPDIR": scratch}, disk.look)
    if watched.code:
        sys.exit(watched.said)
    columns = []
    for foreseen, measured, unit in (
        (found.peak_memory, watched.peak, 1e6), (found.disk, disk.peak, 1e6), (found.cpu_seconds, watched.cpu_seconds, 1),
    ):  # fmt: skip
        ratio = f"{foreseen / measured:.2f}" if measured else "" if not foreseen else "NO"
        digits = 0 if unit > 1 else 1
        columns += [f"{foreseen / unit:,.{digits}f}", f"{measured / unit:,.{digits}f}", ratio]
    return f"| {name} | {cap or 'none'} | {threads} | {' | '.join(columns)} |"


def main() -> None:
    """Run all jobs and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", nargs="+")
    parser.add_argument("--caps", nargs="+", default=["none", "300MB", "500MB", "1GB"])
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--work", action="store_true", help="with a work folder")
    parser.add_argument("--measure", choices=["resemblance", "containment"], default="resemblance")
    given = parser.parse_args()
    print("| corpus | cap | threads | peak foreseen, MB | measured | ratio | disk foreseen, MB | measured | ratio | "
          f"CPU foreseen, s | measured | ratio |\n|{'---|' * 12}")  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="lookalike-foresight-corpora-") as scratch:
        for corpus in given.corpora:
            make = pages if corpus == "generated" else shape_of(corpus)
            inputs = [path for made in make(Path(scratch)) for path in (sorted(made.iterdir()) if made.is_dir() else [made])]
            facts = facts_of(inputs, given.measure)
            print(f"{corpus}: {facts}", file=sys.stderr, flush=True)
            for cap in given.caps:
                for threads in given.threads:
                    line = row(Path(corpus).stem, inputs, facts, None if cap == "none" else cap, threads, given)
                    print(line, flush=True)


if __name__ == "__main__":
    main()
