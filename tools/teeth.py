"""Change the formulas and see whether a test notices: `python tools/teeth.py --help`.

Each term of a sum or a product is dropped, each exponent, sign and constant changed, each result scaled by 1.05: of the theory,
of the stated errors and of the costs (`tools/teeth_of.py` tells the files). All are tried, or as many as `--of` draws.
`--page` writes docs/dev/teeth.md from the results. Exits 1 if a change lives without a reason.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from time import monotonic
from typing import Any

from teeth_changes import KINDS, draw, formulas
from teeth_of import ROOT, SOURCE, SUITES, reason, suite_of
from teeth_run import Job

PAGE = ROOT / "docs/dev/teeth.md"
HEAD = """# Teeth

Would the tests notice a wrong formula? `tools/teeth.py`, which writes this page with `--page`, generates wrong ones from the syntax
trees of `theory/`, of the stated errors and of the costs that searches, plans and kernels reckon with: each term of a sum and each
factor of a product is dropped, each exponent, sign and constant changed, and each result scaled by 1.05. Nobody picks them. The
tests that call a changed function run, the quickest first, until one fails.

{drawn:,} of {count:,} changes were tried, in {minutes:g} minutes on two cores; {killed:,} are killed by tests. {excused} change nothing
that could be seen, and are listed below with the reason.{untried} `make test-all` repeats it with a sample.

## By file

"""
Drawn = list[tuple[str, str]]  # file, change
Found = dict[tuple[str, str], str | None]  # what killed it; None: it lives


def run_tests(drawn: Drawn, given: argparse.Namespace, until: float, lines: Path, only: str = "") -> Found:
    """Return what killed each change that was tried; ``only`` tells where tests are run from, if not all of them."""
    lines.write_text("")
    for suite, (tests, variables) in SUITES.items():
        mine = [one for one in drawn if suite_of(one[0]) == suite]
        if not mine:
            continue
        functions = {name: patterns for name, patterns in formulas(ROOT / SOURCE).items() if suite_of(name) == suite}
        there = [test for test in tests if test.startswith(only)] if suite == "formulas" else tests
        with tempfile.TemporaryDirectory() as scratch:
            job = Job(str(ROOT), str(SOURCE), there, mine, functions, str(lines), given.jobs, given.each, until)
            job.write(Path(scratch, "job"))
            environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), **variables}
            runner = str(Path(__file__).with_name("teeth_run.py"))
            done = subprocess.run([sys.executable, runner, str(Path(scratch, "job"))], env=environment)
        if done.returncode:
            raise SystemExit(f"pytest ends with {done.returncode}")
    found: Found = {}
    for line in map(json.loads, lines.read_text().splitlines()):
        if isinstance(line, dict):
            raise SystemExit(f"the tests as they are fail: {line}")
        found[line[0], line[1]] = line[2]
    return found


def page(known: dict[str, Any]) -> str:
    """Return the page of what was found, in Markdown."""
    drawn, found = [tuple(one) for one in known["drawn"]], {(name, told): by for name, told, by in known["found"]}
    tried = [one for one in drawn if one in found]
    alive = sorted(one for one in drawn if reason(*one) or (one in found and found[one] is None))
    excused = sum(bool(reason(*one)) for one in drawn)
    untried = len(drawn) - len(tried) - excused
    count = sum(sum(counts.values()) for counts in known["sizes"].values())
    rows = [["file", *KINDS, "tried", "alive"], ["---"] * (len(KINDS) + 3)]
    for name, counts in known["sizes"].items():
        numbers = sum(one[0] == name for one in tried), sum(one[0] == name for one in alive)
        rows.append([name, *(str(counts[kind]) for kind in KINDS), *map(str, numbers)])
    rows += [[], ["## Alive, and why"], [], ["file", "change", "why"], ["---"] * 3]
    rows += [[name, told.replace("|", "&#124;"), reason(name, told) or "**none**"] for name, told in alive]
    killed = sum(found[one] is not None for one in tried)
    head = HEAD.format(
        drawn=len(tried), count=count, minutes=known["minutes"], killed=killed, excused=excused,
        untried=f" {untried:,} were not tried." if untried else "",
    )  # fmt: skip
    return head + "".join(("| " + " | ".join(row) + " |" if len(row) > 1 else "".join(row)) + "\n" for row in rows)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", metavar="FILE", help=f"below {SOURCE}; all that have formulas if none is named")
    parser.add_argument("--of", type=int, default=0, help="changes to draw, those that scale results among them; 0 for all")
    parser.add_argument("--few", action="store_true", help="draw among all kinds alike: a sample")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop then; what was not tried does not count")
    parser.add_argument("--each", type=float, default=60.0, help="seconds of tests for one change")
    parser.add_argument("--page", action="store_true", help="run nothing; write docs/dev/teeth.md from the results")
    parser.add_argument("--results", type=Path, default=ROOT / "build/teeth.json")
    given = parser.parse_args()
    if given.page:
        PAGE.write_text(page(json.loads(given.results.read_text())))
        return
    began = monotonic()
    drawn, sizes = draw(ROOT / SOURCE, 0 if given.few else given.of, given.seed, given.files)
    drawn = drawn[: given.of or None]
    wanted = [one for one in drawn if not reason(*one)]
    given.results.parent.mkdir(parents=True, exist_ok=True)
    lines, until = given.results.with_suffix(".lines"), began + given.seconds
    found: Found = {}
    if given.few:  # most are killed by the theory's own tests; what is not must survive all
        found = run_tests(wanted, given, until, lines, "tests/theory/")
        wanted = [one for one, by in found.items() if by is None]
        found = {one: by for one, by in found.items() if by}
    found |= run_tests(wanted, given, until, lines)
    minutes = round((monotonic() - began) / 60, 1)
    known = {
        "minutes": minutes,
        "sizes": {name: {kind: counts[kind] for kind in KINDS} for name, counts in sizes.items()},
        "drawn": drawn,
        "found": [(*one, by) for one, by in found.items()],
    }
    given.results.write_text(json.dumps(known, indent=1))
    alive = sorted(one for one, by in found.items() if by is None)
    kinds = Counter(told.partition(" ")[0] for _, told in found)
    print(f"{len(found)} changes tried in {minutes} min ({dict(kinds)}), {len(alive)} live without a reason")
    for name, told in alive:
        print(f"LIVES {name} {told}")
    sys.exit(bool(alive))


if __name__ == "__main__":
    main()
