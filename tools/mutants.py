"""Changes of the source, drawn at random or chosen, and the test that notices each: `python tools/mutants.py --help`.

tests/mutants.jsonl has a line for each change: the lines before and after it, and the test that failed first; empty where none did. Those
that somebody chose say why.
`check` puts each change into a copy of the source and runs its test, which must fail: so a test that is rewritten still notices
what it did. `draw` adds changes: it runs the tests of the file's room, then others, until one fails.
"""

import argparse
import ast
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from random import Random
from typing import NotRequired, TypedDict

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src/lookalike"
RECORD = ROOT / "tests/mutants.jsonl"
OTHERS = ("tests/recipes", "tests/jobs", "tests/cli", "tests/engines", "tests/results")
OPPOSITES = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==", ast.Is: "is not",
             ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in", ast.And: "or", ast.Or: "and", ast.Add: "-", ast.Sub: "+"}  # fmt: skip
# An editable installation would stand before the copy.
PLAIN = "import sys; sys.meta_path[:] = [one for one in sys.meta_path if 'ScikitBuild' not in type(one).__name__]"


class Mutant(TypedDict):
    """A change: whole lines before and after, which of equal lines of the file (the first: 0), and the test that notices."""

    file: str
    before: str
    after: str
    nth: int
    test: str
    why: NotRequired[str]


def replacement(node: ast.AST) -> tuple[ast.AST, str] | None:
    """Return the node to change within one, and what is to stand there."""
    match node:
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in OPPOSITES:
            return node, f"({ast.unparse(left)} {OPPOSITES[type(op)]} {ast.unparse(right)})"
        case ast.BoolOp(op=op, values=[left, right]):
            return node, f"(({ast.unparse(left)}) {OPPOSITES[type(op)]} ({ast.unparse(right)}))"
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
            return node, f"(({ast.unparse(left)}) {OPPOSITES[type(op)]} ({ast.unparse(right)}))"
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            return test, f"(not ({ast.unparse(test)}))"
        case ast.Constant(value=bool(value)):
            return node, str(not value)
        case ast.Constant(value=int(value)):
            return node, str(value + 1)
        case ast.Expr(value=ast.Call()):
            return node, "None"
        case ast.Raise():
            return node, "pass"
    return None


def changes(path: Path) -> Iterator[Mutant]:
    """Yield each change of a file, but of annotations and of words."""
    data = path.read_bytes()
    tree = ast.parse(data)
    starts = [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    apart = [getattr(node, name, None) for node in ast.walk(tree) for name in ("annotation", "returns")]
    apart += [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
    left_out = {id(inner) for node in apart if isinstance(node, ast.AST) for inner in ast.walk(node)}
    for node in ast.walk(tree):
        found = replacement(node) if id(node) not in left_out else None
        if not found:
            continue
        at, new = found
        assert isinstance(at, ast.expr | ast.stmt) and at.end_lineno and at.end_col_offset
        begin, end = starts[at.lineno - 1] + at.col_offset, starts[at.end_lineno - 1] + at.end_col_offset
        first, last = starts[at.lineno - 1], starts[at.end_lineno]
        before, after = data[first:last].decode(), (data[first:begin] + new.encode() + data[end:last]).decode()
        nth = data[:first].decode().count(before)
        yield Mutant(file=str(path.relative_to(SOURCE)), before=before, after=after, nth=nth, test="")


class Copy:
    """A copy of the source, in which one change at a time stands."""

    def __init__(self) -> None:
        """Copy the source."""
        self.kept = tempfile.TemporaryDirectory(prefix="mutants-")
        self.folder = Path(self.kept.name)
        shutil.copytree(SOURCE, self.folder / "src/lookalike")
        (self.folder / "src/sitecustomize.py").write_text(PLAIN)
        self.environment = os.environ | {
            "PYTHONPATH": str(self.folder / "src"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "LOOKALIKE_TEST_SEED": "0",
        }

    def run(self, *given: str, seconds: float | None = None) -> subprocess.CompletedProcess[str]:
        """Run tests against the copy."""
        command = [sys.executable, "-m", "pytest", "-q", "--tb=no", "-p", "no:cacheprovider", *given]
        return subprocess.run(command, cwd=ROOT, env=self.environment, capture_output=True, text=True, timeout=seconds)

    def failing(self, one: Mutant, tests: list[str], seconds: float) -> str | None:
        """Return which of some tests fails with a change, empty if none does; None where the file has no such lines any more."""
        path = self.folder / "src/lookalike" / one["file"]
        text = path.read_text() if path.exists() else ""
        parts = text.split(one["before"])
        if len(parts) < one["nth"] + 2:
            return None
        joined = [one["before"].join(some) for some in (parts[: one["nth"] + 1], parts[one["nth"] + 1 :])]
        path.write_text(one["after"].join(joined))
        try:
            done = self.run("-x", *tests, seconds=seconds)
        except subprocess.TimeoutExpired:
            return ""
        finally:
            path.write_text(text)
        failed = [
            line.split(" ", 1)[1].partition(" - ")[0]
            for line in done.stdout.splitlines()
            if line.startswith(("FAILED", "ERROR"))
        ]
        return (failed or [f"exit {done.returncode}"])[0] if done.returncode else ""


def each(
    mutants: list[Mutant], tests_of: Callable[[Mutant], list[str]], given: argparse.Namespace
) -> Iterator[tuple[Mutant, str | None]]:
    """Yield each change and what `failing` says of it."""
    copies: SimpleQueue[Copy] = SimpleQueue()
    for _ in range(given.jobs):
        copies.put(Copy())

    def attempt(one: Mutant) -> tuple[Mutant, str | None]:
        copy = copies.get()
        try:
            return one, copy.failing(one, tests_of(one), given.seconds)
        finally:
            copies.put(copy)

    with ThreadPoolExecutor(given.jobs) as pool:
        yield from pool.map(attempt, mutants)


def check(given: argparse.Namespace) -> int:
    """Run the test of each change that has one, all of which pass without it; return how many are noticed no more."""
    mutants = [json.loads(line) for line in RECORD.read_text().splitlines()]
    wanted = [one for one in mutants if one["test"]][:: given.every]
    plain = Copy().run(*{one["test"] for one in wanted})
    if plain.returncode:
        raise SystemExit(f"tests fail, or are not there, though nothing is changed:\n{plain.stdout}{plain.stderr}")
    lost = 0
    for one, found in each(wanted, lambda one: [one["test"]], given):
        if not found:
            lost += 1
            why = "is of lines that have changed: draw it anew" if found is None else f"is not noticed by {one['test']}"
            print(f"{one['file']}: {one['after'].strip()!r} {why}", flush=True)
    never = sum(not one["test"] for one in mutants)
    print(f"{len(wanted) - lost} of {len(wanted)} changes are noticed; {never} never were")
    return lost


def draw(given: argparse.Namespace) -> int:
    """Draw changes of some files, run tests against them, and add them to the record."""
    every = [one for path in given.files or sorted(SOURCE.rglob("*.py")) for one in changes(path.resolve())]
    Random(given.seed).shuffle(every)

    def tests_of(one: Mutant) -> list[str]:
        room = f"tests/{one['file'].partition('/')[0]}"
        return given.tests or [*([room] if (ROOT / room).is_dir() else []), *(name for name in OTHERS if name != room)]

    with RECORD.open("a") as record:
        for one, found in each(every[: given.of], tests_of, given):
            print(json.dumps({**one, "test": found}, ensure_ascii=False), file=record, flush=True)
    return 0


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, default=600.0, help="of the tests of a change, which then count as passed")
    commands = parser.add_subparsers(required=True)
    checking = commands.add_parser("check", help="run the test of each change")
    checking.add_argument("--every", type=int, default=1, help="only one change in so many")
    checking.set_defaults(action=check)
    drawing = commands.add_parser("draw", help="add changes")
    drawing.add_argument("files", nargs="*", type=Path, help="files of the source; all if none is named")
    drawing.add_argument("--of", type=int, default=20, help="how many")
    drawing.add_argument("--seed", type=int, default=1)
    drawing.add_argument("--tests", nargs="*", help="what may notice; by default the tests of the room, and of jobs")
    drawing.set_defaults(action=draw)
    given = parser.parse_args()
    sys.exit(bool(given.action(given)))


if __name__ == "__main__":
    main()
