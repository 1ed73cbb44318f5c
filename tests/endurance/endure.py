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
    """Run a program; return what it printed. Lines that say that something is wrong are printed at once."""
    lines = []
    with subprocess.Popen([sys.executable, str(program), *map(str, arguments)], stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            lines.append(line)
            print(f"{program.name}: {line}", end="", flush=True)
    if process.returncode not in (0, 1):
        raise SystemExit(f"{program.name} ended with {process.returncode}")
    return "".join(lines)


def added(pattern, said):
    return (sum(map(int, some)) for some in zip(*re.findall(pattern, said), strict=True))


def kills(share, seed):
    with tempfile.NamedTemporaryFile() as out:
        run(Path(__file__).with_name("kills.py"), "--kills", math.ceil(KILLS * share), "--seed", seed, "--json", out.name)
        kinds = json.load(out)["kinds"]
    rows = {}
    for kind, counts in kinds.items():
        n, cut, acknowledged, refused = (counts.get(name, 0) for name in ("kills", "power cuts", "acknowledged", "refused"))
        said = f"{n:,} killed, {cut:,} losses of power, {acknowledged:,} changes acknowledged"
        said += f", {refused:,} refused" if refused else ""
        rows[f"killed: {NAMES[kind]}"] = (counts["cases"], said, counts.get("lost", 0))
    return rows


def fuzz(kind, share, seed):
    cases = math.ceil(FUZZED[kind] * share)
    said = run(ROOT / "tests/fuzz/run.py", "--kind", kind, "--cases", cases, "--minutes", 600, "--seed", seed)
    n, defects = added(r": (\d+) cases.* (\d+) defects", said)
    answered, refused = (sum(map(int, re.findall(rf"\b{word} (\d+)", said))) for word in ("result", "refused"))
    return {FUZZ[kind]: (n, f"{answered:,} answered rightly, {refused:,} refused", defects)}


def faults(share, seed):
    said = run(ROOT / "tests/fuzz/faults.py", max(1, math.ceil(FAULTS * share)))
    n, defects = added(r"(\d+) failures, (\d+) defects", said)
    return {ROWS[-1]: (n, "the state before or the one wanted, and an error that says why", defects)}


WORK = {kind: partial(fuzz, kind) for kind in FUZZED} | {"kills": kills, "faults": faults}


def told(rows):
    return {name: f"| {name} | {n:,} | {said} | {lost:,} |" for name, (n, said, lost) in rows.items()}


def write(lines, page):
    """Put rows into the section of a page, in place of older ones."""
    before, _, section = page.read_text().partition(HEADING)
    known = {line.split(" | ")[0].removeprefix("| "): line for line in section.splitlines()} | lines
    chosen = "".join(f"{known[name]}\n" for name in ROWS if name in known)
    page.write_text(before.rstrip("\n") + "\n" + HEADING + INTRODUCTION + chosen)


def main():
    """Run what the command line asks for, some at a time; exit 1 if anything was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=float, default=1.0, help="of the cases")
    parser.add_argument("--only", choices=sorted(WORK), action="append")
    parser.add_argument("--seed", type=int, default=0, help="the first one")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    given = parser.parse_args()
    began, rows = time.monotonic(), {}
    with ThreadPoolExecutor(given.jobs) as pool:
        for pending in [pool.submit(WORK[name], given.share, given.seed) for name in given.only or WORK]:
            rows |= pending.result()
    lines, lost = told(rows), sum(lost for *_, lost in rows.values())
    print("\n".join(lines[name] for name in ROWS if name in lines))
    n, minutes = sum(n for n, *_ in rows.values()), (time.monotonic() - began) / 60
    print(f"{n:,} cases in {minutes:.0f} minutes, {lost:,} lost")
    if given.share >= 1:
        write(lines, PAGE)
    sys.exit(1 if lost else 0)


if __name__ == "__main__":
    main()
