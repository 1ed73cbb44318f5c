"""Whether a memory cap is kept: jobs under small caps, each in a process of its own whose tree of processes is watched.

*Peak* is the largest sum, over the processes of the tree, of what is theirs alone (RssAnon + RssShmem), looked at every 10 ms;
*high water* is the largest VmHWM of any of them, which also counts pages of files that are mapped, such as libraries. Both are
to stay within 1.05 of the cap. *Equal*: the outputs have the same bytes as those of a job without a cap.

Inputs are made by the functions in ``SHAPES``; a file is a shape, too. Linux only.

Usage: python benchmarks/memory.py [--shapes pages families] [--caps 300MB 400MB] [--threads 1 2] [-- ARGUMENTS OF dedup]
       python benchmarks/memory.py --hard [PART OF A NAME]    inputs that are hard to read, each under its own cap and 300 MB
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from hard_inputs import HARD

from lookalike.engines.memory import parse_bytes

EVERY = 0.01
MOST = 1.05


class Watched(NamedTuple):
    """What a command took: bytes, seconds, processor time, and what it said."""

    peak: int
    high_water: int
    seconds: float
    code: int
    said: str
    cpu_seconds: float = 0.0


def children_of(pid: int) -> list[int]:
    """Return the processes of a tree, the first one too."""
    found = [pid]
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += [member for child in task.read_text().split() for member in children_of(int(child))]
        except OSError:
            continue
    return found


def sizes_of(pid: int) -> dict[str, int]:
    """Return the sizes of a process by name, in bytes; nothing of one that is gone."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return {}
    return {name: int(size) * 1024 for name, size in re.findall(r"(\w+):\s+(\d+) kB", status)}


def nothing(pid: int) -> None:
    """Look at nothing else."""


def watch(
    command: list[str], environment: dict[str, str] | None = None, look: Callable[[int], None] = nothing
) -> Watched:  # fmt: skip
    """Run a command and look at its processes until it ends; ``look`` is called with the first of them, too."""
    begun, before = time.perf_counter(), os.times()
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=said, env=environment)
        peak, high_water = 0, {}
        while process.poll() is None:
            total = 0
            for pid in children_of(process.pid):
                sizes = sizes_of(pid)
                total += sizes.get("RssAnon", 0) + sizes.get("RssShmem", 0)
                high_water[pid] = max(high_water.get(pid, 0), sizes.get("VmHWM", 0))
            peak = max(peak, total)
            look(process.pid)
            time.sleep(EVERY)
        said.seek(0)
        seconds, after = time.perf_counter() - begun, os.times()
        cpu = after.children_user + after.children_system - before.children_user - before.children_system
        return Watched(peak, max(high_water.values(), default=0), seconds, process.returncode, said.read(), cpu)


def digest_of(folder: Path) -> str:
    """Return a digest of all files of a folder; of JSON without times and sizes."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            digest.update(str(path.relative_to(folder)).encode())
            with path.open("rb") as stream:
                while block := stream.read(1 << 20):
                    digest.update(block)
    return digest.hexdigest()


def words_of(rng: np.random.Generator, n: int = 1 << 15) -> np.ndarray:
    """Return words of letters."""
    return np.array(["".join(map(chr, rng.integers(97, 123, length))) for length in 3 + rng.poisson(3, n)])


def pages(folder: Path, n: int = 300_000) -> list[Path]:
    """JSON lines of 1 kB, a fifth of which are near-copies of others."""
    rng = np.random.default_rng(0)
    words = words_of(rng)
    out = folder / "pages.jsonl"
    recent: list[np.ndarray] = []
    with out.open("w") as stream:
        for row in range(n):
            if row % 5 == 4:
                chosen = recent[int(rng.integers(len(recent)))].copy()
                chosen[rng.integers(0, len(chosen), 1 + row % 12)] = rng.integers(0, len(words))
            else:
                chosen = rng.integers(0, len(words), 160)
                recent = [*recent[-999:], chosen]
            stream.write(json.dumps({"text": " ".join(words[chosen])}) + "\n")
    return [out]


def families(folder: Path, n: int = 60, members: int = 250) -> list[Path]:
    """Parquet of versions of long pages: each differs a little from the one before, so that components are large."""
    rng = np.random.default_rng(1)
    words = words_of(rng)
    texts = []
    for _ in range(n):
        page = rng.integers(0, len(words), int(rng.integers(800, 4000)))
        for _ in range(members):
            page[rng.integers(0, len(page), len(page) // 200)] = rng.integers(0, len(words), len(page) // 200)
            texts.append(" ".join(words[page]))
    out = folder / "families.parquet"
    pq.write_table(pa.table({"text": [texts[i] for i in rng.permutation(len(texts))]}), out, row_group_size=2000)
    return [out]


def edited(path: Path, times: int = 5) -> Callable[[Path], list[Path]]:
    """Return what makes a corpus larger: all documents several times, from the second time on with an edit in each."""

    def make(folder: Path) -> list[Path]:
        texts = pq.read_table(path, columns=["text"])["text"].to_pylist()
        rng = np.random.default_rng(2)
        out = folder / f"{path.stem}-{times}.jsonl"
        with out.open("w") as stream:
            for number in range(times):
                for text in texts:
                    if number:
                        place = int(rng.integers(len(text) + 1))
                        text = f"{text[:place]} edit {number} {rng.integers(1 << 30)} {text[place:]}"
                    stream.write(json.dumps({"text": text}) + "\n")
        return [out]

    return make


SHAPES: dict[str, Callable[[Path], list[Path]]] = {"pages": pages, "families": families}


def shape_of(name: str) -> Callable[[Path], list[Path]]:
    """Return what makes an input: a shape, a file, or a Parquet file several times (``licences.parquet*5``)."""
    if name in SHAPES:
        return SHAPES[name]
    path, _, times = name.partition("*")
    return edited(Path(path), int(times)) if times else lambda folder: [Path(path)]


def run(inputs: list[Path], cap: str | None, threads: int, more: list[str], folder: Path) -> tuple[Watched, str]:
    """Run one job; return what it took, and a digest of what it wrote."""
    out = folder / "out"
    command = [sys.executable, "-m", "lookalike", "dedup", *map(str, inputs), "-o", str(out), "--threads", str(threads), *more]
    watched = watch([*command, *(["--memory", cap] if cap else [])])
    if watched.code:
        print(watched.said, file=sys.stderr)
    digest = digest_of(out) if out.exists() else ""
    shutil.rmtree(out, ignore_errors=True)
    return watched, digest


def table(
    name: str, inputs: list[Path], caps: list[str], threads: list[int], more: list[str], folder: Path, refused: bool = False
) -> int:
    """Run the jobs of one input and print a row for each; return how many did not keep their cap, or made something else."""
    free, wanted = (None, "") if refused else run(inputs, None, max(threads), more, folder)
    if free is not None:
        print(f"| {name} | none | {max(threads)} | {free.seconds:.0f} | {free.peak / 1e6:,.0f} | "
              f"{free.high_water / 1e6:,.0f} | | | |", flush=True)  # fmt: skip
    exceeded = 0
    for cap in caps:
        for n in threads:
            found, digest = run(inputs, cap, n, more, folder)
            ratio = max(found.peak, found.high_water) / parse_bytes(cap)
            right = digest == wanted and found.code == int(refused)
            exceeded += ratio > MOST or not right
            outcome = ("refused" if refused else "yes") if right else "NO"
            print(f"| {name} | {cap} | {n} | {found.seconds:.0f} | {found.peak / 1e6:,.0f} | "
                  f"{found.high_water / 1e6:,.0f} | {ratio:.2f} | {'yes' if ratio <= MOST else 'NO'} | {outcome} |",
                  flush=True)  # fmt: skip
    return exceeded


def main() -> None:
    """Run all jobs and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shapes", nargs="+", default=list(SHAPES))
    parser.add_argument("--hard", nargs="?", const="")
    parser.add_argument("--caps", nargs="+", default=["300MB", "400MB"])
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("more", nargs="*")
    given = parser.parse_args()
    print(
        "| input | cap | threads | seconds | peak, MB | high water, MB | of the cap | kept | equal |\n|---|---|---|---|---|---|---|---|---|"
    )
    exceeded = 0
    for name, hard in HARD.items() if given.hard is not None else ():
        with tempfile.TemporaryDirectory(prefix="lookalike-memory-", dir=os.environ.get("TMPDIR")) as folder:
            if given.hard in name:
                inputs = [hard.make(Path(folder))]
                exceeded += table(name, inputs, [hard.cap, "300MB"], given.threads, [*hard.more, *given.more], Path(folder),
                                  hard.refused)  # fmt: skip
    for shape in given.shapes if given.hard is None else ():
        with tempfile.TemporaryDirectory(prefix="lookalike-memory-", dir=os.environ.get("TMPDIR")) as folder:
            exceeded += table(Path(shape).name, shape_of(shape)(Path(folder)), given.caps, given.threads, given.more,
                              Path(folder))  # fmt: skip
    sys.exit(exceeded > 0)


if __name__ == "__main__":
    main()
