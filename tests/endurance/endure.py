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
PARTS = 4  # of the slowest kind, so that all processes have work
NAMES = {
    "job": "jobs, resumed", "output": "outputs", "index": "a persistent index", "fingerprints": "a file of fingerprints",
    "sketches": "saved sketches", "weeks": "weeks of dedup --history",
}  # fmt: skip
FUZZ = {"inputs": "fuzzed inputs and settings", "stores": "damaged files of our own", "commands": "fuzzed command lines"}
ROWS = [*(f"killed: {name}" for name in NAMES.values()), *FUZZ.values(), "failing calls of the operating system"]


def run(program, *arguments):
    """Run a program; return what it printed. Lines that say that something is wrong are printed at once."""
    process = subprocess.Popen([sys.executable, str(program), *map(str, arguments)], stdout=subprocess.PIPE, text=True)
    lines = []
    for line in process.stdout:
        lines.append(line)
        print(f"{program.name}: {line}", end="", flush=True)
    if process.wait() not in (0, 1):
        raise SystemExit(f"{program.name} ended with {process.returncode}")
    return "".join(lines)


def kills(share, folder, seed):
    """Kill; return the rows of the table."""
    out = folder / "kills.json"
    run(Path(__file__).with_name("kills.py"), "--kills", math.ceil(KILLS * share), "--seed", seed, "--json", out)
    rows = {}
    for kind, counts in json.loads(out.read_text())["kinds"].items():
        n, cut, refused = (counts.get(name, 0) for name in ("kills", "power cuts", "refused"))
        said = f"{n:,} killed, {cut:,} losses of power, {counts.get('acknowledged', 0):,} changes acknowledged"
        said += f", {refused:,} refused" if refused else ""
        rows[f"killed: {NAMES[kind]}"] = (counts["cases"], said, counts.get("lost", 0))
    return rows


def fuzz(kind, part, parts, share, seed):
    """Fuzz one kind; return (cases, answered, refused, defects)."""
    cases = math.ceil(FUZZED[kind] * share / parts)
    said = run(ROOT / "tests/fuzz/run.py", "--kind", kind, "--cases", cases, "--minutes", 600, "--seed", seed + part * cases)
    n, defects = map(int, re.search(r": (\d+) cases.* (\d+) defects", said).groups())
    answered, refused = (sum(map(int, re.findall(rf"\b{word} (\d+)", said))) for word in ("result", "refused"))
    return n, answered, refused, defects


def faults(share):
    """Let calls fail; return the row of the table."""
    said = run(ROOT / "tests/fuzz/faults.py", max(1, math.ceil(FAULTS * share)))
    found = re.findall(r"(\d+) failures, (\d+) defects", said)
    n, defects = (sum(int(pair[i]) for pair in found) for i in (0, 1))
    return {ROWS[-1]: (n, "the state before or the one wanted, and an error that says why", defects)}


def work(only, share, seed, jobs):
    """Run what is asked for, some at a time; return the rows of the table."""
    rows, found = {}, {}
    with ThreadPoolExecutor(jobs) as pool, tempfile.TemporaryDirectory() as folder:
        for kind in FUZZED:
            parts = PARTS if kind == "inputs" else 1
            if not only or kind in only:
                found[kind] = [pool.submit(fuzz, kind, part, parts, share, seed) for part in range(parts)]
        others = {"kills": lambda: kills(share, Path(folder), seed), "faults": lambda: faults(share)}
        for pending in [pool.submit(do) for name, do in others.items() if not only or name in only]:
            rows |= pending.result()
        for kind, parts in found.items():
            n, answered, refused, defects = map(sum, zip(*(part.result() for part in parts), strict=True))
            rows[FUZZ[kind]] = (n, f"{answered:,} answered rightly, {refused:,} refused", defects)
    return rows


def told(rows):
    """The lines of the table, by what they are of."""
    return {name: f"| {name} | {n:,} | {said} | {lost:,} |" for name, (n, said, lost) in rows.items()}


def write(lines, page):
    """Put rows into the section of a page, in place of older ones."""
    before, _, section = page.read_text().partition(HEADING)
    known = {line.split(" | ")[0].removeprefix("| "): line for line in section.splitlines()}
    chosen = {name: lines.get(name, known.get(name)) for name in ROWS}
    page.write_text(
        before.rstrip("\n") + "\n" + HEADING + INTRODUCTION + "".join(f"{line}\n" for line in chosen.values() if line)
    )


def main():
    """Run what the command line asks for; exit 1 if anything was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=float, default=1.0, help="of the cases")
    parser.add_argument("--only", choices=["kills", "faults", *FUZZED], action="append")
    parser.add_argument("--seed", type=int, default=0, help="the first one")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    given = parser.parse_args()
    began = time.monotonic()
    rows = work(given.only, given.share, given.seed, given.jobs)
    lines = told(rows)
    print("\n".join(lines[name] for name in ROWS if name in lines))
    lost = sum(lost for _, _, lost in rows.values())
    print(f"{sum(n for n, _, _ in rows.values()):,} cases in {(time.monotonic() - began) / 60:.0f} minutes, {lost:,} lost")
    if given.share >= 1:
        write(lines, PAGE)
    sys.exit(1 if lost else 0)


if __name__ == "__main__":
    main()
