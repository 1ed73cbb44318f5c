"""Fuzzes the program: ``run.py --minutes 10``, or ``--cases 300``. Prints the defects, each with its seed, and what was covered.

A case runs in a worker process, so that a crash or a hang is a result like any other. The same seed makes the same case.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

KINDS = ("core", "inputs", "stores", "commands", "crafted")
PATIENCE = 300.0  # seconds without a line from a worker: it hangs


class Supervisor:
    """Runs workers of one kind and collects how their cases ended."""

    def __init__(self, kind, folder):
        self.kind, self.out, self.ended = kind, folder / f"{kind}.jsonl", {}
        self.out.touch()

    def _collect(self):
        for case in map(json.loads, self.out.read_text().splitlines()):
            if case["ended"] != "crashed" or case["seed"] not in self.ended:  # a hang that was noted stays one
                self.ended[case["seed"]] = case

    def run(self, start, stop, deadline):
        """Run cases until all are through or the time is; a worker that crashes or hangs is replaced by another."""
        while start < stop and time.monotonic() < deadline:
            program, given = Path(__file__).with_name("worker.py"), map(str, (self.kind, start, stop, self.out))
            process = subprocess.Popen([sys.executable, str(program), *given])
            seen, heard, hung = 0, time.monotonic(), False
            while process.poll() is None and time.monotonic() < deadline and not hung:
                time.sleep(0.1)
                if (size := self.out.stat().st_size) != seen:
                    seen, heard = size, time.monotonic()
                hung = time.monotonic() - heard > PATIENCE
            process.kill()
            code, in_time = process.wait(), time.monotonic() < deadline
            self._collect()
            last = max(self.ended, default=start - 1)
            if code and last < start:
                raise SystemExit(f"a worker ended with {code} before its first case")
            if hung or (code and in_time):
                self.ended[last]["ended"] = f"HANG after {PATIENCE:.0f} s" if hung else f"CRASH: exit status {code}"
            elif code and self.ended[last]["ended"] == "crashed":
                del self.ended[last]  # out of time in the middle of a case
            start = last + 1

    def report(self):
        """Print the defects and the coverage; return the number of defects."""
        cases = [case for _, case in sorted(self.ended.items())]
        bad = [case for case in cases if not case["ended"].startswith(("result", "refused"))]
        for case in bad:
            print(f"{self.kind} {case['seed']}: {case['ended']}")
        seeds = f"seeds {cases[0]['seed']} to {cases[-1]['seed']}" if cases else "no seed"
        slowest = max((case.get("seconds", 0.0) for case in cases), default=0.0)
        print(f"{self.kind}: {len(cases)} cases, {seeds}, {len(bad)} defects; the slowest took {slowest:.1f} s")
        counts = {}
        for case in cases:
            counts.setdefault(case.get("what", "?"), Counter())[case["ended"].partition(":")[0]] += 1
        for what, ended in sorted(counts.items()):
            print(f"  {what:14} " + ", ".join(f"{how} {n}" for how, n in sorted(ended.items())))
        return len(bad)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--cases", type=int, default=10**9, help="of each kind")
    parser.add_argument("--seed", type=int, default=0, help="the first one")
    parser.add_argument("--kind", choices=KINDS, default=None)
    given = parser.parse_args(arguments)
    kinds = [given.kind] if given.kind else list(KINDS)
    defects = 0
    with tempfile.TemporaryDirectory(prefix="lookalike-fuzz-") as folder:
        for kind in kinds:
            supervisor = Supervisor(kind, Path(folder))
            supervisor.run(given.seed, given.seed + given.cases, time.monotonic() + 60 * given.minutes / len(kinds))
            defects += supervisor.report()
    sys.exit(1 if defects else 0)


if __name__ == "__main__":
    main()
