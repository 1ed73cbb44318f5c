"""Runs all that takes hours (``make endurance``): kills and losses of power, fuzzing, failing calls; writes ``docs/quality.md``.

``endure.py --share 0.01`` runs a part of the cases, and writes nothing; ``--only kills`` one kind, whose rows it writes.
"""

import argparse
import json
import math
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/quality.md"
HEADING = "\n## Endurance\n"
INTRODUCTION = """
Written by `make endurance`. Processes are killed at random, or lose their power: then the disk has what was synced, and any part of the rest.
Acknowledged changes must survive, everything else must be there as a whole or not at all, and a resumed job must end with the same bytes. *Lost* counts
failures, wrong answers, tracebacks, crashes and hangs. *Refused* cases ended in an error that says what to do.

| what | cases | how they ended | lost |
|---|---|---|---|
"""
KILLS, FAULTS, FUZZED = 1200, 1000, {"inputs": 10_000, "stores": 90_000, "commands": 10_000}
NAMES = {
    "job": "jobs, resumed", "output": "outputs", "index": "a persistent index", "fingerprints": "a file of fingerprints",
    "sketches": "saved sketches", "weeks": "weeks of dedup --history",
}  # fmt: skip
FUZZ = {"inputs": "fuzzed inputs and settings", "stores": "damaged files of our own", "commands": "fuzzed command lines"}
ROWS = [*(f"killed: {name}" for name in NAMES.values()), *FUZZ.values(), "failing calls of the operating system"]


def run(program, *arguments):
    lines, command = [], [sys.executable, str(ROOT / "tests" / program), *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            lines.append(line)
            print(f"{program}: {line}", end="", flush=True)
    if process.returncode not in (0, 1):
        raise SystemExit(f"{program} ended with {process.returncode}")
    return "".join(lines)


def added(pattern, said):
    return sum(map(int, re.findall(pattern, said)))


def kills(share, seed):
    with tempfile.NamedTemporaryFile() as out:
        run("endurance/kills.py", "--kills", math.ceil(KILLS * share), "--seed", seed, "--json", out.name)
        kinds = json.load(out)
    for kind, counts in kinds.items():
        n, cut, acknowledged, refused = (counts.get(name, 0) for name in ("kills", "power cuts", "acknowledged", "refused"))
        said = (
            f"{n:,} killed, {cut:,} losses of power, {acknowledged:,} changes acknowledged"
            + f", {refused:,} refused" * bool(refused)
        )
        yield f"killed: {NAMES[kind]}", counts["cases"], said, counts.get("lost", 0)


def fuzz(kind, share, seed):
    cases = math.ceil(FUZZED[kind] * share)
    said = run("fuzz/run.py", "--kind", kind, "--cases", cases, "--minutes", 600, "--seed", seed)
    answers = f"{added('result ([0-9]+)', said):,} answered rightly, {added('refused ([0-9]+)', said):,} refused"
    yield FUZZ[kind], added(r": (\d+) cases", said), answers, added(r"(\d+) defects", said)


def faults(share, seed):
    said = run("fuzz/faults.py", max(1, math.ceil(FAULTS * share)))
    promise = "the state before or the one wanted, and an error that says why"
    yield ROWS[-1], added(r"(\d+) failures", said), promise, added(r"failures, (\d+) defects", said)


WORK = {kind: partial(fuzz, kind) for kind in FUZZED} | {"kills": kills, "faults": faults}


def write(lines, page):
    before, _, section = page.read_text().partition(HEADING)
    known = {line.split(" | ")[0].removeprefix("| "): line for line in section.splitlines()} | lines
    chosen = "".join(f"{known[name]}\n" for name in ROWS if name in known)
    page.write_text(before.rstrip("\n") + "\n" + HEADING + INTRODUCTION + chosen)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=float, default=1.0, help="of the cases")
    parser.add_argument("--only", choices=sorted(WORK), action="append")
    parser.add_argument("--seed", type=int, default=0, help="the first one")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    given = parser.parse_args()
    began = time.monotonic()
    with ThreadPoolExecutor(given.jobs) as pool:
        parts = pool.map(lambda name: list(WORK[name](given.share, given.seed)), given.only or WORK)
        rows = [row for part in parts for row in part]
    lines = {name: f"| {name} | {n:,} | {said} | {lost:,} |" for name, n, said, lost in rows}
    print("\n".join(lines[name] for name in ROWS if name in lines))
    n, lost = sum(n for _, n, *_ in rows), sum(lost for *_, lost in rows)
    print(f"{n:,} cases in {(time.monotonic() - began) / 60:.0f} minutes, {lost:,} lost")
    if given.share >= 1:
        write(lines, PAGE)
    sys.exit(1 if lost else 0)


if __name__ == "__main__":
    main()
