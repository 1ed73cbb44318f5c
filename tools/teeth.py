"""Change the formulas and see whether a test notices: `python tools/teeth.py --help`.

Each term of a sum or a product is dropped, each exponent, sign and constant changed, each result scaled by 1.05: of the theory,
of the stated errors and of the costs (`tools/teeth_of.py` tells the files). All are tried, or as many as `--of` draws.
Tests run first; with `--experiments` what they do not notice is tried with sections of the experiments. `--page` writes
docs/dev/teeth.md from the results. Exits 1 if a change lives without a reason.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from time import monotonic

from teeth_changes import KINDS, draw, formulas
from teeth_of import ROOT, SOURCE, SUITES, experiment, reason, suite_of
from teeth_run import Job
from teeth_tell import page, try_experiments

Results = dict[str, dict[str, str | None]]  # file, change: what killed it


def known(place: Path) -> Results:
    """Return what killed each change that was tried, None for what lives, from the lines that were written."""
    found: Results = {}
    lines = [json.loads(line) for line in place.read_text().splitlines()]
    if any(isinstance(line, dict) for line in lines):
        raise SystemExit(f"the tests as they are fail: {[line for line in lines if isinstance(line, dict)]}")
    for name, told, by, _ in lines:
        found.setdefault(name, {})[told] = by
    return found


def run_tests(drawn: list[tuple[str, str]], jobs: int, each: float, until: float, results: Path, only: str = "") -> None:
    """Run the tests on each change that has no reason to live and is not known to be killed; add what killed each, or None.

    ``only`` tells where tests are run from, if not all of them.
    """
    before = known(results)
    wanted = [(name, told) for name, told in drawn if not reason(name, told) and not before.get(name, {}).get(told)]
    for suite, (tests, variables) in SUITES.items():
        mine = [one for one in wanted if suite_of(one[0]) == suite]
        if not mine:
            continue
        with tempfile.TemporaryDirectory() as scratch:
            functions = {name: patterns for name, patterns in formulas(ROOT / SOURCE).items() if suite_of(name) == suite}
            there = [test for test in tests if test.startswith(only)] if suite == "formulas" else tests
            job = Job(str(ROOT), str(SOURCE), there, mine, functions, str(results), jobs, each, until)
            job.write(Path(scratch, "job"))
            environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), **variables}
            runner = str(Path(__file__).with_name("teeth_run.py"))
            done = subprocess.run([sys.executable, runner, str(Path(scratch, "job"))], env=environment)
        if done.returncode:
            raise SystemExit(f"pytest ends with {done.returncode}")


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
    parser.add_argument("--go-on", action="store_true", help="leave out what an earlier run with these results killed")
    parser.add_argument("--experiments", action="store_true", help="try on what lives the experiments that concern its file")
    parser.add_argument("--page", action="store_true", help="run nothing; write docs/dev/teeth.md from the results")
    parser.add_argument("--results", type=Path, default=ROOT / "build/teeth.json")
    given = parser.parse_args()
    if given.page:
        (ROOT / "docs/dev/teeth.md").write_text(page(json.loads(given.results.read_text())))
        return
    began = monotonic()
    drawn, sizes = draw(ROOT / SOURCE, 0 if given.few else given.of, given.seed, given.files)
    if given.few:
        drawn = drawn[: given.of]
    given.results.parent.mkdir(parents=True, exist_ok=True)
    lines = given.results.with_suffix(".lines")
    if not given.go_on:
        lines.unlink(missing_ok=True)
    lines.touch()
    if given.few:  # most are killed by the theory's own tests; what is not must survive all
        quick = given.results.with_suffix(".quick")
        quick.write_text("")
        run_tests(drawn, given.jobs, given.each, began + given.seconds, quick, "tests/theory/")
        alive = [(name, told) for name, some in known(quick).items() for told, by in some.items() if by is None]
        killed = [line for line in quick.read_text().splitlines() if json.loads(line)[2]]
        lines.write_text("".join(f"{line}\n" for line in killed))
        run_tests(alive, given.jobs, given.each, began + given.seconds, lines)
    else:
        run_tests(drawn, given.jobs, given.each, began + given.seconds, lines)
    wanted = set(drawn)
    found = {name: {told: by for told, by in some.items() if (name, told) in wanted} for name, some in known(lines).items()}
    before = json.loads(given.results.read_text())["minutes"] if given.go_on and given.results.exists() else 0.0
    tried_all = {
        "of": given.of,
        "seed": given.seed,
        "minutes": round(before + (monotonic() - began) / 60, 1),
        "sizes": {name: {kind: counts[kind] for kind in KINDS} for name, counts in sizes.items()},
        "drawn": drawn,
        "found": found,
    }
    given.results.write_text(json.dumps(tried_all, indent=1))
    tried = [(name, told, by) for name, changes in found.items() for told, by in changes.items()]
    alive = sorted((name, told) for name, told, by in tried if by is None and not experiment(name, told))
    excused = sum(bool(reason(name, told)) for name, told in drawn)
    kinds = Counter(told.partition(" ")[0] for _, told, _ in tried)
    minutes = (monotonic() - began) / 60
    print(f"{len(tried)} changes tried in {minutes:.1f} min ({dict(kinds)}), {len(alive)} live; {excused} have a reason to")
    if given.experiments:
        for name, changes in try_experiments(alive).items():
            alive = [one for one in alive if one[0] != name or one[1] not in changes]
            for told, key in changes.items():
                print(f"EXPERIMENTS of tools/teeth_of.py lacks {name} {told}: {key}")
    for name, told in alive:
        print(f"LIVES {name} {told}")
    sys.exit(bool(alive))


if __name__ == "__main__":
    main()
