"""What `teeth.py` tells: the page of the changes, and the experiments that notice what no test does."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from teeth_changes import KINDS, formulas, named, of_file
from teeth_of import ROOT, SECTIONS, SOURCE, experiment, reason
from walking import BAR

SECTION_SECONDS = 600
TITLES = {
    "scale": "result scaled by 1.05",
    "drop": "term or factor dropped",
    "exponent": "exponent changed, root or absolute value left out",
    "sign": "sign changed",
    "constant": "constant changed",
    "swap": "two arguments or results swapped",
}
HEAD = """# Teeth

Would the tests notice a wrong formula? `tools/teeth.py`, which writes this page with `--page`, generates wrong ones from the syntax
trees of `theory/`, of the stated errors and of the costs that searches, plans and kernels reckon with: each term of a sum and each
factor of a product is dropped, each exponent, sign and constant changed, and each result scaled by 1.05. Nobody picks them. The
tests that call a changed function run, the quickest first, until one fails.

{count:,} changes were generated{drawn}. {tests:,} of the {tried:,} that were tried are killed by tests{experiments}.
{alive} Their tests took {minutes:g} minutes on two cores; `make test` repeats it with a sample.

## By file

| file | {kinds} | tried | killed | alive |
|---|{bars}|---|---|---|"""


def page(known: dict[str, Any]) -> str:
    """Return the page of what was found, in Markdown."""
    found, drawn, sizes = known["found"], [tuple(one) for one in known["drawn"]], known["sizes"]
    excused = [(name, told) for name, told in drawn if reason(name, told)]
    tried = [(name, told, by) for name, told in drawn for by in [found.get(name, {}).get(told, "")]]
    tried = [one for one in tried if one[2] != "" and not reason(*one[:2])]
    by_experiment = [(name, told, key) for name, told, by in tried for key in [experiment(name, told)] if by is None and key]
    open_ones = [(name, told) for name, told, by in tried if by is None and not experiment(name, told)]
    count, killed = sum(sum(counts.values()) for counts in sizes.values()), sum(by is not None for *_, by in tried)
    lines = [
        HEAD.format(
            count=count,
            drawn="" if len(drawn) == count else f", and {len(drawn):,} of them drawn by a seed",
            tests=killed,
            tried=len(tried),
            experiments=f", {len(by_experiment)} by an experiment" if by_experiment else "",
            alive=f"{len(excused)} change nothing that could be seen, and are listed below with the reason."
            + (f" {len(open_ones)} live without a reason." if open_ones else "")
            + (f" {untried:,} were not tried." if (untried := len(drawn) - len(tried) - len(excused)) else ""),
            minutes=known["minutes"],
            kinds=" | ".join(KINDS),
            bars="|".join("---" for _ in KINDS),
        )
    ]
    total = [0] * (len(KINDS) + 3)
    for name, counts in sizes.items():
        mine = [by for file, _, by in tried if file == name]
        alive = sum(file == name for file, _ in [*excused, *open_ones])
        row = [*(counts[kind] for kind in KINDS), len(mine), len(mine) - sum(file == name for file, _ in open_ones), alive]
        total = [a + b for a, b in zip(total, row, strict=True)]
        lines.append(f"| {name} | " + " | ".join(map(str, row)) + " |")
    lines.append("| all | " + " | ".join(map(str, total)) + " |")
    lines += ["", "; ".join(f"*{kind}*: {title}" for kind, title in TITLES.items()) + ".", ""]
    lines += ["## Alive, and why", "", "| file | change | why |", "|---|---|---|"]
    lines += [f"| {n} | {c.replace('|', BAR)} | {reason(n, c)} |" for n, c in sorted(excused)]
    lines += [f"| {n} | {c.replace('|', BAR)} | **none** |" for n, c in sorted(open_ones)]
    if by_experiment:
        lines += ["", "## Killed by an experiment", "", "| file | change | section |", "|---|---|---|"]
        lines += [f"| {n} | {c.replace('|', BAR)} | {key} |" for n, c, key in sorted(by_experiment)]
    return "\n".join(lines) + "\n"


def try_experiments(alive: list[tuple[str, str]]) -> dict[str, dict[str, str]]:
    """Run the sections that concern a file with each change of it; return the section whose checks do not hold, for each."""
    killed: dict[str, dict[str, str]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch, "src")
        shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__"))
        for name, functions in formulas(ROOT / SOURCE).items():
            wanted = {told for file, told in alive if file == name}
            place = Path(scratch, SOURCE, name)
            before = place.read_text(encoding="utf-8")
            for change in of_file(ROOT / SOURCE / name, functions) if wanted else ():
                told = named(change)
                if told not in wanted:
                    continue
                wanted.remove(told)
                place.write_text(ast.unparse(change.tree), encoding="utf-8")
                for key in SECTIONS.get(name, ()):
                    if _fails(key, source, Path(scratch)):
                        killed.setdefault(name, {})[told] = key
                        break
                print(f"{name} {told}: {killed.get(name, {}).get(told) or 'SURVIVES the experiments'}", flush=True)
            place.write_text(before, encoding="utf-8")
    return killed


def _fails(key: str, source: Path, scratch: Path) -> bool:
    """Tell whether a section of the experiments does not hold with other sources."""
    own = {"PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1", "NUMBA_CACHE_DIR": str(scratch / "numba"), "QUICK": "1"}
    command = [sys.executable, "experiments/reproduce.py", "--only", key, "--out", str(scratch / "out")]
    try:
        done = subprocess.run(command, cwd=ROOT, env={**os.environ, **own}, capture_output=True, timeout=SECTION_SECONDS)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode != 0
