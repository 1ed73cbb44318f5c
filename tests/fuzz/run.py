"""Fuzzes the program: ``run.py --minutes 10``, or ``--cases 300``. Prints the defects, each with its seed, and what was covered.

Cases run in a child process, so that a crash or a hang is a result like any other. The same seed makes the same case.
"""

import argparse
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from importlib import import_module
from pathlib import Path

import numpy as np

sys.path[:0] = [str(Path(__file__).parents[1])]
KINDS = ("core", "inputs", "stores", "commands", "crafted")
PATIENCE = 300  # seconds for a case: it hangs


def judge_of(kind, folder):
    """Takes the seed and an empty folder, returns what the case was and how it ended."""
    module = import_module({"inputs": "judging"}.get(kind, kind))
    made = getattr(module, kind.capitalize(), None)
    return (made(folder) if made else module).judge


def run_case(judge, seed, folder):
    from judging import WrongAnswerError, place

    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    begun, what = time.perf_counter(), "?"
    try:
        what, ended = judge(seed, folder)
    except WrongAnswerError as error:
        ended = f"WRONG: {error} @ {place(error)}"
    except Exception as error:
        ended = f"TRACEBACK: {type(error).__name__}: {error!s:.300} @ {place(error)}"
    return what, ended, time.perf_counter() - begun


def run(judge, seeds, deadline, folder):
    """{seed: (what, how it ended, seconds)}; goes on after a crash or a hang."""
    found, seed = {}, seeds.start
    while seed < seeds.stop and time.monotonic() < deadline:
        reader, writer = os.pipe()
        if (child := os.fork()) == 0:
            while seed < seeds.stop and time.monotonic() < deadline:
                signal.alarm(PATIENCE)  # which nothing handles: it ends the process
                os.write(writer, json.dumps(run_case(judge, seed, folder)).encode() + b"\n")
                seed += 1
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as stream:
            for line in stream:
                found[seed] = json.loads(line)
                seed += 1
        if code := os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
            hung = code == -signal.SIGALRM
            found[seed] = "?", f"HANG after {PATIENCE} s" if hung else f"CRASH: exit status {code}", PATIENCE * hung
            seed += 1
    return found


def report(kind, found):
    bad = {seed: ended for seed, (_, ended, _) in found.items() if not ended.startswith(("result", "refused"))}
    for seed, ended in bad.items():
        print(f"{kind} {seed}: {ended}")
    seeds = f"seeds {min(found)} to {max(found)}" if found else "no seed"
    slowest = max((seconds for *_, seconds in found.values()), default=0.0)
    print(f"{kind}: {len(found)} cases, {seeds}, {len(bad)} defects; the slowest took {slowest:.1f} s")
    counts = Counter((what, ended.partition(":")[0]) for what, ended, _ in found.values())
    for (what, ended), n in sorted(counts.items()):
        print(f"  {what:14} {ended} {n}")
    return len(bad)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--cases", type=int, default=10**9, help="of each kind")
    parser.add_argument("--seed", type=int, default=0, help="the first one")
    parser.add_argument("--kind", choices=KINDS, default=None)
    given = parser.parse_args(arguments)
    np.seterr(over="ignore")
    kinds, defects = [given.kind] if given.kind else list(KINDS), 0
    for kind in kinds:
        with tempfile.TemporaryDirectory(prefix="lookalike-fuzz-") as name:
            judge, seeds = judge_of(kind, Path(name) / "sound"), range(given.seed, given.seed + given.cases)
            defects += report(kind, run(judge, seeds, time.monotonic() + 60 * given.minutes / len(kinds), Path(name) / "case"))
    sys.exit(1 if defects else 0)


if __name__ == "__main__":
    main()
