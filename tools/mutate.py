"""Change one sign, comparison, constant or shift at a time and see whether a test notices: `python tools/mutate.py --help`.

Each file of `SUITES` is mutated `--sample` times (0: everywhere); every mutant runs its own tests in a copy of the tree until one fails.
The results go into a JSON file, by which a later run leaves out what it knows; `--page` writes docs/dev/mutants.md from it.
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
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).resolve().parents[1]
SOURCE = Path("src/semblance")
SECONDS, ADDRESS_SPACE = 200, 12 << 30
PLAIN, CHECKED = {"NUMBA_DISABLE_JIT": "1"}, {"NUMBA_BOUNDSCHECK": "1"}
KERNELS = ["tests/kernels", "tests/golden"]
FORMULAS = ("bbit", "choose", "fractional", "minhash", "mixture", "one_permutation", "quantization", "set_distance", "setsketch", "xor_bits")  # fmt: skip
# What notices a change in each file, quickest first; kernels are run as plain Python where that is enough.
SUITES: dict[str, tuple[list[str], dict[str, str]]] = {
    **{
        f"theory/{name}.py": (
            [f"tests/theory/test_{t}.py" for t in ("edges", "mixtures", "bbit", "one_permutation", "banding")]
            + ["tests/statistics"],
            {},
        )
        for name in FORMULAS
    },
    **{
        f"theory/{name}.py": (
            [
                "tests/theory/test_simhash.py",
                "tests/theory/test_hamming_costs.py",
                "tests/kernels/test_self_join.py",
                "tests/protocols",
            ],
            {},
        )
        for name in ("blocks", "hamming_costs", "hamming_search", "simhash", "weak_bits")
    },
    "theory/banding.py": (["tests/theory/test_banding.py", "tests/theory/test_edges.py"], {}),
    "planner.py": (["tests/theory/test_banding.py", "tests/cli"], {}),
    "kernels/walk.py": (["tests/kernels/test_walk.py", "tests/steps/test_walk.py"], CHECKED),
    "steps/walk.py": (["tests/steps/test_walk.py", "tests/jobs/test_twin.py"], {}),
    "kernels/bbit.py": (["tests/kernels/test_packing.py", *KERNELS], PLAIN),
    "kernels/banding.py": (["tests/kernels/test_banding.py", *KERNELS, "tests/jobs/test_brute_force.py"], CHECKED),
    "kernels/resemblance.py": (["tests/kernels/test_resemblance.py", *KERNELS], PLAIN),
    **{
        f"kernels/{name}.py": (["tests/kernels/test_hamming.py", "tests/protocols"], CHECKED)
        for name in ("hamming", "tables", "weak_bits")
    },
    "kernels/self_join.py": (["tests/kernels/test_self_join.py"], CHECKED),
    "kernels/lookup.py": (["tests/kernels/test_lookup.py"], PLAIN),
    "search/hamming.py": (["tests/protocols"], {}),
    "search/weak_bits.py": (["tests/protocols", "tests/theory/test_hamming_costs.py"], {}),
    "search/tables.py": (["tests/protocols"], {}),
}
# Mutants that no test can kill, since they change nothing that anyone could see: the beginning of each change, and why.
EQUIVALENT: dict[str, dict[str, str]] = {
    "theory/bbit.py": {"constants: `1.0` to `2.0`": "what chance_match is asked next refuses it too"},
    "theory/banding.py": {
        "mean_candidate_probability: `301`": "a point more of a numerical integral, an estimate that plans weigh"
    },
    "theory/choose.py": {
        "for_error: `slots * combined` ": "only breaks ties of memory",
        "for_memory: `slots * combined` ": "only breaks ties of the error",
        "candidates: `resemblance >= density / 2.0` ": "at equality the variance is infinite, and the choice never taken",
    },
    "theory/hamming_costs.py": {
        ": `23`": "measured, and measured anew by `semblance tune`",
        ": `2.0 ** 20`": "measured, and measured anew by `semblance tune`",
        ": `False` to `True` in `source": "where constants come from is told to people only",
    },
    "theory/minhash.py": {
        "exact_interval: `matches < trials`": "the bisection for 0 of n ends at 0 as well",
        "solve: `1.0` to `2.0`": "the bisection of a wider interval ends at the same point",
    },
    "theory/setsketch.py": {"most_likely_resemblance: `80`": "a step more of a bisection that has ended"},
    "planner.py": {
        ": `12.0`": "measured nanoseconds, which only weigh shapes that all reach the recall",
        ": `4000.0`": "measured nanoseconds, which only weigh shapes that all reach the recall",
    },
    "kernels/resemblance.py": {"number_values: `expected += 1`": "a guess, which is checked before it is used"},
    "kernels/banding.py": {"bucket_pairs: `0` to `1` in `earlier_bands": "one key alone has no pairs"},
    "search/tables.py": {
        "_search: `self.lookup == 'binary'`": "both ways find the same; the time differs",
        "_build: `1` to `2`": "room that is not read",
    },
    "search/weak_bits.py": {"of_sorted: `1` to `2`": "room that is not read"},
    "search/hamming.py": {
        "_build: `64` to `65`": "the number of bits is known once something was added",
        "_build: `1` to `2` in `memory": "how much more memory than asked for small indexes may take",
        "_run: `len(open_rows) < len(query)`": "a copy of the same queries",
    },
    "kernels/self_join.py": {
        "join_runs: `entries[start + _AHEAD + 1] & low`": "what is fetched ahead, not what is compared",
        "join_runs: `1` to `2` in `if start + _AHEAD": "what is fetched ahead, not what is compared",
        "join_runs: `start + _AHEAD < n - 1 and": "what is fetched ahead, not what is compared",
    },
}
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


BAR = "&#124;"
HEAD = """# Mutants

What the tests would notice: one sign, comparison, constant, shift or default of the code is changed at a time, and the tests of that file
run until one fails (`make mutants`, `tools/mutate.py`; this page: `python tools/mutate.py --page`). Samples of each file
were tried, in several runs while the tests grew; that a mutant lives without a reason would be a hole in the tests.

| file | mutants | tried | killed | alive |
|---|---|---|---|---|"""
ALIVE = """
## Alive, and why

They change nothing that anyone could see: the order of cache lines fetched, one more step of a bisection that has ended, data that
were measured and not derived, ties.

| file | mutant | why |
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


def _left_alone(tree: ast.AST) -> set[int]:
    """Return the nodes that tell rather than do: annotations, decorators, messages of errors, imports, names for export."""
    told: set[int] = set()
    for node in ast.walk(tree):
        parts: list[ast.AST | None] = []
        if isinstance(node, ast.FunctionDef):
            parts = [*node.decorator_list, node.returns]
        elif isinstance(node, ast.ClassDef):
            parts = [*node.decorator_list]
        elif isinstance(node, ast.arg | ast.AnnAssign):
            parts = [node.annotation]
        elif isinstance(node, ast.Raise | ast.JoinedStr):
            parts = [node]
        told.update(id(inner) for part in parts if part is not None for inner in ast.walk(part))
    return told


def mutants(path: Path) -> Iterator[tuple[str, str]]:
    """Yield (what is changed, the whole text changed) of a file."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    left_alone = _left_alone(tree)
    places = {name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) for name in [node.name]}
    for parent in ast.walk(tree):
        for field, value in ast.iter_fields(parent):
            for at, node in enumerate(value if isinstance(value, list) else [value]):
                if not isinstance(node, ast.AST) or id(node) in left_alone:
                    continue
                for new in changes(node):
                    where = [n for n, f in places.items() if f.lineno <= node.lineno <= (f.end_lineno or 0)]
                    old, changed = ast.unparse(node), ast.unparse(ast.fix_missing_locations(ast.copy_location(new, node)))
                    if isinstance(value, list):
                        value[at] = new
                    else:
                        setattr(parent, field, new)
                    line = text.splitlines()[node.lineno - 1].strip()
                    yield f"{where[-1] if where else ''}: `{old}` to `{changed}` in `{line}`", ast.unparse(tree)
                    if isinstance(value, list):
                        value[at] = node
                    else:
                        setattr(parent, field, node)


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))


def killer(tree: Path, name: str, text: str | None) -> str | None:
    """Run the tests of a file with another text of it; return what failed first, or None."""
    tests, variables = SUITES[name]
    place = tree / SOURCE / name
    before = place.read_text(encoding="utf-8")
    if text is not None:
        place.write_text(text, encoding="utf-8")
    for cached in place.parent.glob(f"__pycache__/{place.stem}.*"):
        cached.unlink()
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-q",
        "--no-header",
        "-p",
        "no:cacheprovider",
        "-m",
        "not slow",
        *dict.fromkeys(tests),
    ]
    try:
        done = subprocess.run(
            command,
            cwd=tree,
            env={
                **os.environ,
                **variables,
                "PYTHONPATH": str(tree / "src"),
                "NUMBA_CACHE_DIR": str(tree / ".numba") + "-".join(variables),
                "PYTHONDONTWRITEBYTECODE": "1",
            },
            capture_output=True,
            text=True,
            timeout=SECONDS,
            preexec_fn=_limit,
        )
    except subprocess.TimeoutExpired:
        return f"no end within {SECONDS} s"
    finally:
        place.write_text(before, encoding="utf-8")
    if done.returncode == 0:
        return None
    failed = re.search(r"^(?:FAILED|ERROR) (?:tests/)?(\S+)", done.stdout, re.MULTILINE)
    return failed[1] if failed else f"the process ended with {done.returncode}"


def run(names: list[str], sample: int, seed: int, results: Path, workers: int) -> None:
    """Try the mutants of some files, several at a time."""
    known = json.loads(results.read_text()) if results.exists() else {}
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(workers) as pool:
        trees: SimpleQueue[Path] = SimpleQueue()
        for worker in range(workers):
            tree = Path(scratch, str(worker))
            shutil.copytree(
                ROOT, tree, ignore=shutil.ignore_patterns(".venv", ".git", ".numba*", "__pycache__", "site", "demo_output")
            )
            trees.put(tree)

        def attempt(name: str, change: str, text: str | None) -> None:
            tree = trees.get()
            try:
                found = killer(tree, name, text)
            finally:
                trees.put(tree)
            if text is None:
                assert found is None, f"{name}: its tests fail as it is: {found}"
                return
            known.setdefault(name, {})[change] = found
            results.write_text(json.dumps(known, indent=1))
            print(f"{name} {change}: {found or 'SURVIVES'}", flush=True)

        for name in names:
            every = dict(mutants(ROOT / SOURCE / name))
            known[name] = {change: found for change, found in known.get(name, {}).items() if change in every}
            chosen = sorted(every) if not sample else random.Random(seed).sample(sorted(every), min(sample, len(every)))
            chosen = list(dict.fromkeys([*chosen, *(c for c, found in known[name].items() if found is None)]))
            attempt(name, "", None)
            tries = [
                pool.submit(attempt, name, change, every[change])
                for change in chosen
                if known[name].get(change) is None and not (change in known[name] and reason(name, change))
            ]
            for one in tries:
                one.result()


def reason(name: str, change: str) -> str:
    """Return why a mutant may live; empty if it may not."""
    return next((why for start, why in EQUIVALENT.get(name, {}).items() if change.startswith(start)), "")


def page(known: dict[str, dict[str, str | None]]) -> str:
    """Tell in Markdown which mutants were tried, and what killed each."""
    rows, alive, killed = [], [], []
    for name in SUITES:
        tried = known.get(name, {})
        dead = {change: by for change, by in sorted(tried.items()) if by is not None}
        rows.append(
            f"| {name} | {len(dict(mutants(ROOT / SOURCE / name)))} | {len(tried)} | {len(dead)} | {len(tried) - len(dead)} |"
        )
        alive += [f"| {name} | {c.replace('|', BAR)} | {reason(name, c)} |" for c in sorted(set(tried) - set(dead))]
        killed += [f"\n### {name}\n\n| mutant | killed by |\n|---|---|"]
        killed += [f"| {change.replace('|', BAR)} | {str(by).replace('|', BAR)} |" for change, by in dead.items()]
    return "\n".join([HEAD, *rows, ALIVE, *alive, "\n## Killed", *killed]) + "\n"


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", metavar="FILE", help=f"below {SOURCE}; all of them if none is named")
    parser.add_argument("--sample", type=int, default=25, help="mutants a file; 0 for all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--page", action="store_true", help="run nothing; write docs/dev/mutants.md")
    parser.add_argument("--results", type=Path, default=ROOT / "mutants.json")
    given = parser.parse_args()
    if given.page:
        (ROOT / "docs/dev/mutants.md").write_text(page(json.loads(given.results.read_text())))
        return
    run(given.files or list(SUITES), given.sample, given.seed, given.results, given.workers)


if __name__ == "__main__":
    main()
