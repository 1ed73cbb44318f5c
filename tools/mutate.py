"""Change one sign, comparison, constant or shift at a time and see whether a test notices: `python tools/mutate.py --help`.

`--of 300 --seed 1` draws 300 of the mutants of all files; `--sample 16` tries 16 of each file (0: all). Each mutant runs the tests
of its file (`tools/mutants_of.py`) in a copy of the tree until one fails. The results go into a JSON file, by which a later run
leaves out what was killed; `--page` writes docs/dev/mutants.md from it.
"""

from __future__ import annotations

import argparse
import ast
import copy
import json
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate, islice
from pathlib import Path
from queue import SimpleQueue
from threading import Lock
from time import monotonic
from xml.etree import ElementTree

from mutants_of import ROOT, SOURCE, reason, suite
from walking import BAR, walk

# The longest that one test may take, compiling included, and all of a mutant; how many seconds of tests are run.
TEST_SECONDS, SECONDS, SUITE_SECONDS, UNKNOWN_SECONDS, ADDRESS_SPACE = 60, 300, 40, 3, 12 << 30
Mutant = tuple[str, str]  # file, change
LOCK = Lock()  # what is known belongs to all threads
Clock = dict[str, dict[str, float]]  # environment, test file: seconds
COMPARISONS = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}
OPERATIONS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
}

OLDER = "## Earlier:"  # what stands on the page from here on is kept
HEAD = """# Mutants

What the tests would notice: one sign, comparison, constant, shift or default of the code is changed at a time, and the tests of that
file run until one fails (`tools/mutate.py`, which writes this page with `--page`). A mutant that lives without a reason would be
a hole in the tests. A process that crashes, and a test that takes longer than {limit} s, count as failed.
"""
ALIVE = """
### Alive, and why

| file | mutant | why |
|---|---|---|"""
KILLED = """
### Killed

| file | mutant | killed by |
|---|---|---|"""


def changes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what a node could be instead, wrongly."""
    new = copy.deepcopy(node)
    match new:
        case ast.Compare(ops=[operator]) if type(operator) in COMPARISONS:
            new.ops = [COMPARISONS[type(operator)]()]
            yield new
        case ast.BinOp() | ast.AugAssign() if type(new.op) in OPERATIONS:
            new.op = OPERATIONS[type(new.op)]()
            yield new
        case ast.BoolOp():
            new.op = ast.And() if isinstance(new.op, ast.Or) else ast.Or()
            yield new
        case ast.UnaryOp(op=ast.USub() | ast.Not() | ast.Invert()):
            yield new.operand
        case ast.Constant(value=bool()):
            yield ast.Constant(not new.value)
        case ast.Constant(value=int() | float()):
            yield ast.Constant(new.value + 1)


def mutants(path: Path) -> Iterator[tuple[str, ast.AST]]:
    """Yield (what is changed, the whole file changed); the file is changed further on."""
    for change in walk(path, lambda node: (("", new) for new in changes(node))):
        yield change.text, change.tree


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))


def run_tests(
    tree: Path, tests: Iterable[str], variables: dict[str, str], *options: str, seconds: int | None = SECONDS
) -> str | None:
    """Run tests in a copy of the tree; return what failed first, or None."""
    quiet = ["-x", "-q", "--no-header", "--tb=no", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not slow"]
    own = {"PYTHONPATH": str(tree / "src"), "NUMBA_CACHE_DIR": str(tree / ".numba") + "-".join(variables)}
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *quiet, *options, *tests],
            cwd=tree,
            env={**os.environ, **own, **variables},
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
            preexec_fn=_limit,
        )
    except subprocess.TimeoutExpired:
        return f"no end within {seconds} s"
    if done.returncode == 0:
        return None
    failed = re.search(r"^(?:FAILED|ERROR) (?:tests/)?(.+?)(?: - .*)?$", done.stdout, re.MULTILINE)
    if failed:
        return failed[1]
    late = re.search(r"^Timeout \(", done.stderr, re.MULTILINE)
    return f"a test without end within {TEST_SECONDS} s" if late else f"the process ended with {done.returncode}"


def _forget(place: Path) -> None:
    """Remove what Python compiled a file to: times of files are too coarse to tell one mutant from the next."""
    for cached in place.parent.glob(f"__pycache__/{place.stem}.*"):
        cached.unlink()


def killer(tree: Path, name: str, text: str, clock: Clock) -> str | None:
    """Run the tests of a file with another text of it, quickest first; return what failed first, or None."""
    place, report = tree / SOURCE / name, tree / "tests.xml"
    before, times = place.read_text(encoding="utf-8"), place.stat()
    named, variables = suite(name)
    tests = [test for test in named if (tree / test).exists()]  # one could have been written since the tree was copied
    with LOCK:
        seconds = clock.setdefault(json.dumps(variables), {})
    others = sorted(tests[1:], key=lambda test: seconds.get(test, UNKNOWN_SECONDS))
    sums = accumulate(seconds.get(test, UNKNOWN_SECONDS) for test in [tests[0], *others])
    others = [test for test, sum_so_far in zip(others, islice(sums, 1, None), strict=True) if sum_so_far < SUITE_SECONDS]
    limit = ["-o", f"faulthandler_timeout={TEST_SECONDS}", "-o", "faulthandler_exit_on_timeout=true"]
    report.unlink(missing_ok=True)
    place.write_text(text, encoding="utf-8")
    _forget(place)
    try:
        by = run_tests(tree, [tests[0], *others], variables, *limit, "-o", "junit_family=xunit1", f"--junit-xml={report}")
    finally:
        place.write_text(before, encoding="utf-8")
        _forget(place)
        os.utime(place, ns=(times.st_atime_ns, times.st_mtime_ns))  # kernels that were compiled from it are valid again
    if report.exists():
        taken: dict[str, float] = {}
        for case in ElementTree.parse(report).iter("testcase"):
            file = case.attrib["file"]
            taken[file] = taken.get(file, 0.0) + float(case.attrib["time"])
        with LOCK:
            seconds.update(list(taken.items())[: -1 if by else None])  # the file that failed did not run to its end
    return by


def check(tree: Path, known: dict) -> None:
    """Run every test that killed a mutant on the code as it is; they must pass."""
    killers: dict[str, set[str]] = {}
    for name, found in known["found"].items():
        mine = {f"tests/{by.partition('[')[0]}" for by in found.values() if by and ".py" in by}
        killers.setdefault(json.dumps(suite(name)[1]), set()).update(mine)
    for variables, tests in killers.items():
        by = run_tests(tree, sorted(tests), json.loads(variables), seconds=None) if tests else None
        if by is not None:
            raise SystemExit(f"a test that killed mutants fails as it is ({variables}): {by}")
    print(f"the {sum(map(len, killers.values()))} tests that killed pass on the code as it is", flush=True)


def compile_all(tree: Path) -> None:
    """Compile the kernels of a copy of the tree once, so that no test takes long for it."""
    environment = {**os.environ, "PYTHONPATH": str(tree / "src"), "NUMBA_CACHE_DIR": str(tree / ".numba")}
    subprocess.run([sys.executable, "-m", "lookalike", "warmup"], cwd=tree, env=environment, capture_output=True, check=True)


def draw(names: list[str], of: int, sample: int, seed: int) -> tuple[list[Mutant], dict[str, int]]:
    """Choose mutants: so many of all files together, or of each; return them and how many there are in each file."""
    every = {name: sorted({change for change, _ in mutants(ROOT / SOURCE / name)}) for name in names}
    sizes = {name: len(changed) for name, changed in every.items()}
    if of:
        return random.Random(seed).sample([(n, c) for n in sorted(every) for c in every[n]], of), sizes
    few = {n: random.Random(seed).sample(c, min(sample or len(c), len(c))) for n, c in every.items()}
    return [(n, c) for n in few for c in few[n]], sizes


def run(known: dict, results: Path, workers: int, minutes: float) -> None:
    """Try the mutants that were drawn and are not known to be killed, in their order, several at a time."""
    end = monotonic() + 60 * minutes
    files = {name for name, _ in known["drawn"]}
    wanted = {(name, change) for name, change in known["drawn"]}
    texts = {n: {c: ast.unparse(tree) for c, tree in mutants(ROOT / SOURCE / n) if (n, c) in wanted} for n in files}
    found, lived, clock = known["found"], known["lived first"], known["clock"]
    to_do = [
        (n, c) for n, c in known["drawn"] if c in texts[n] and not found.get(n, {}).get(c) and not (c in found.get(n, {}) and reason(n, c))
    ]  # fmt: skip
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(workers) as pool:
        trees: SimpleQueue[Path] = SimpleQueue()
        ignored = shutil.ignore_patterns(".venv", ".git", ".numba*", "__pycache__", "site", "demo_output", "build", "dist")
        places = [Path(scratch, str(worker)) for worker in range(workers)]
        for tree in places:
            shutil.copytree(ROOT, tree, ignore=ignored)
            trees.put(tree)
        list(pool.map(compile_all, places))

        def attempt(name: str, change: str) -> None:
            if monotonic() > end:
                return
            tree, began = trees.get(), monotonic()
            try:  # what nobody could see is not tried, and alive
                by = None if reason(name, change) else killer(tree, name, texts[name][change], clock)
            finally:
                trees.put(tree)
            with LOCK:
                if by is None and change not in found.get(name, {}):
                    lived.append([name, change])
                found.setdefault(name, {})[change] = by
                results.write_text(json.dumps(known, indent=1))
            print(f"{monotonic() - began:.0f} s: {name} {change}: {by or 'SURVIVES'}", flush=True)

        for one in [pool.submit(attempt, name, change) for name, change in to_do]:
            one.result()
        check(places[0], known)


def page(known: dict, older: str) -> str:
    """Tell in Markdown which mutants were tried, and what killed each; what the page told of older versions follows."""
    found = known["found"]
    tried = [(name, change, found[name][change]) for name, change in known["drawn"] if change in found.get(name, {})]
    lived = {(name, change) for name, change in known["lived first"]}
    rows, total = [], [0] * 5
    sizes: dict[str, int] = {}
    for name, size in known["sizes"].items():
        room = name.rpartition("/")[0] or "files beside the rooms"
        sizes[room] = sizes.get(room, 0) + size
    for room, size in sizes.items():
        mine = [one for one in tried if (one[0].rpartition("/")[0] or "files beside the rooms") == room]
        alive = sum(by is None for _, _, by in mine)
        counts = [size, len(mine), len(mine) - sum(one[:2] in lived for one in mine), len(mine) - alive, alive]
        total = [a + b for a, b in zip(total, counts, strict=True)]
        rows.append(f"| {room} | " + " | ".join(map(str, counts)) + " |")
    first, now = (f"{total[i]} ({total[i] / max(total[1], 1):.1%})".replace("%", " %") for i in (2, 3))
    share = total[3] / max(1, sum(by is not None or not reason(name, change) for name, change, by in tried))
    told = f"""## A sample of the whole package, version {known["version"]}

{len(known["drawn"])} of {total[0]:,} mutants were drawn with seed {known["seed"]}, each as likely as any other, and {len(tried)} of them tried, in the order drawn.
The tests chosen for each file killed {first}. What lived was tried again with tests written for it, or with tests of other
files: {now} are killed, {100 * share:.0f} % of those without a reason to live. The tests of a file are stopped at about
{SUITE_SECONDS} s; what they did not notice by then is alive. A mutant that has a reason to live is not run, and alive.

| room | mutants | tried | killed at first | killed now | alive |
|---|---|---|---|---|---|"""
    last = "| all | " + " | ".join(map(str, total)) + " |"
    lines = [
        (n, c.replace("|", BAR), by and by.replace("|", BAR), reason(n, c) or "**none**")
        for n, c, by in sorted(tried, key=lambda t: t[:2])
    ]
    alive_rows = [f"| {n} | {c} | {why} |" for n, c, by, why in lines if by is None]
    killed_rows = [f"| {n} | {c} | {by} |" for n, c, by, _ in lines if by is not None]
    parts = [HEAD.format(limit=TEST_SECONDS), told, *rows, last, ALIVE, *alive_rows, KILLED, *killed_rows]
    return "\n".join(parts) + "\n\n" + older


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", metavar="FILE", help=f"below {SOURCE}; all of them if none is named")
    parser.add_argument("--of", type=int, default=0, help="mutants of all files together, each as likely as any other")
    parser.add_argument("--sample", type=int, default=25, help="without --of: mutants per file; 0 for all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no mutant after so many")
    parser.add_argument("--page", action="store_true", help="run nothing; write docs/dev/mutants.md")
    parser.add_argument("--results", type=Path, default=ROOT / "mutants.json", help="goes on from these where they exist")
    given = parser.parse_args()
    known = json.loads(given.results.read_text()) if given.results.exists() else {}
    if given.page:
        place = ROOT / "docs/dev/mutants.md"
        place.write_text(page(known, OLDER + place.read_text().partition(OLDER)[2]))
        return
    if not known:
        names = given.files or sorted(str(path.relative_to(ROOT / SOURCE)) for path in (ROOT / SOURCE).rglob("*.py"))
        drawn, sizes = draw(names, given.of, given.sample, given.seed)
        version = re.search(r'__version__ = "(.*)"', (ROOT / SOURCE / "__init__.py").read_text())
        assert version
        known = {
            "version": version[1],
            "of": given.of,
            "seed": given.seed,
            "sizes": sizes,
            "drawn": drawn,
            "found": {},
            "lived first": [],
            "clock": {},
        }
    run(known, given.results, given.workers, given.minutes)


if __name__ == "__main__":
    main()
