"""Change the formulas and see whether a test notices: `python reproduction/formula_mutants/formula_mutants.py --help`.

Each term of a sum or a product is dropped, each exponent, sign and constant changed, each result scaled by 1.05. Exits 1 if a change
lives and reproduction/pages/formula-mutants.md gives no reason for it.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from random import Random
from time import monotonic

from mutations import SOURCE, formulas, of_file

ROOT = Path(__file__).parents[2]
# What notices a change, as long as it takes to know which tests call what.
THEORY = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "tests/theory").glob("test_*.py") if path.stem != "test_ranges")
TESTS = [*THEORY, "tests/statistics", "tests/core/test_packing.py", "tests/core/test_self_join.py", "tests/golden",
         "tests/index/test_kinds.py", "tests/index/test_weak_bits.py", "tests/search/test_empty_documents.py"]  # fmt: skip
Change = tuple[str, str]  # file, change
Found = dict[Change, str | None]  # what killed it; None: it lives


@cache
def reasons() -> list[tuple[str, str, str]]:
    """Return (file, how a change or its line begins, why nobody can see it), as reproduction/pages/formula-mutants.md lists them."""
    page = (ROOT / "reproduction/pages/formula-mutants.md").read_text()
    rows = re.findall(r"^\| (\S+\.py) \| (.+?) \| (.+?) \|$", page, re.MULTILINE)
    return [(file, begin.removesuffix("…`"), why) for file, begin, why in rows]


def reason(file: str, change: str) -> str:
    """Return why a change may live; empty if it may not."""
    for name, begin, why in reasons():
        if name == file and (begin in change if begin.startswith("in `") else change.startswith(begin)):
            return why
    return ""


def draw(of: int, seed: int, only: list[str] | None = None) -> list[Change]:
    """Return so many changes (0: all) at random, which spreads them over the files in proportion; nobody picks."""
    files = {name: patterns for name, patterns in formulas(ROOT / SOURCE).items() if not only or name in only}
    every = list(dict.fromkeys((name, one.told) for name in files for one in of_file(ROOT / SOURCE / name, files[name])))
    Random(seed).shuffle(every)
    return every[: of or None]


def attempt(changes: list[Change], given: argparse.Namespace, until: float, below: str = "tests/") -> Found:
    """Return what killed each change that was tried, by the tests below a folder."""
    if not changes:
        return Found()
    there = [test for test in TESTS if test.startswith(below)] or TESTS
    job = {"root": str(ROOT), "tests": there, "drawn": changes, "jobs": given.jobs, "until": until,
           "patterns": formulas(ROOT / SOURCE)}  # fmt: skip
    runner = [sys.executable, str(Path(__file__).with_name("mutant_runner.py"))]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(runner, input=json.dumps(job), env=environment, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"the tests as they are fail:\n{done.stdout}")
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
    return Found({(name, told): by for name, told, by in lines})


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", metavar="FILE", help=f"below {SOURCE}; all that have formulas if none is named")
    parser.add_argument("--of", type=int, default=0, help="changes to draw; 0 for all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop then; what was not tried does not count")
    given = parser.parse_args()
    began = monotonic()
    wanted = [one for one in draw(given.of, given.seed, given.files) if not reason(*one)]
    found: Found = {}
    if given.of:  # most of a sample are killed by the theory's own tests; what is not must survive all
        found = attempt(wanted, given, began + given.seconds, "tests/theory/")
        wanted = [one for one in wanted if found.get(one, "") is None]
        found = {one: by for one, by in found.items() if by}
    found |= attempt(wanted, given, began + given.seconds)
    alive = sorted(one for one, by in found.items() if by is None)
    kinds = Counter(told.partition(" ")[0] for _, told in found)
    print(
        f"{len(found)} changes tried in {(monotonic() - began) / 60:.1f} min ({dict(kinds)}), {len(alive)} live without a reason"
    )
    for name, told in alive:
        print(f"LIVES {name} {told}")
    sys.exit(bool(alive))


if __name__ == "__main__":
    main()
