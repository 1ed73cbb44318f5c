"""How soon the program is there: start-up, help, completion and a job of two documents, beside the imports of NumPy and Arrow.

Runs of all cases alternate, each in a process of its own, after one that warms the disk and writes byte code. Figures are medians; the
processor's time (user and system) is steadier than that of the clock where other programs run too.

Usage: python benchmarks/starts.py [--runs 15]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SAME = "the quick brown fox jumps over the lazy dog and runs away"
UNIT = "import numpy, pyarrow"
MAIN = "import sys; from lookalike.cli import main; main()"
COMPLETION = {"_LOOKALIKE_COMPLETE": "bash_complete", "COMP_WORDS": "lookalike d", "COMP_CWORD": "1"}


def cases(folder: Path) -> dict[str, tuple[list[str], dict[str, str]]]:
    """Arguments of Python and additions to the environment of each case; a job of two documents reads and writes in a folder."""
    lines, out = folder / "two.jsonl", folder / "out.jsonl"
    lines.write_text(f'{{"text": "{SAME}"}}\n' * 2)
    return {
        UNIT: (["-c", UNIT], {}),
        "python alone": (["-c", "pass"], {}),
        "import lookalike": (["-c", "import lookalike"], {}),
        "lookalike --version": (["-c", MAIN, "--version"], {}),
        "lookalike --help": (["-c", MAIN, "--help"], {}),
        "lookalike dedup --help": (["-c", MAIN, "dedup", "--help"], {}),
        "completion of a command": (["-c", MAIN], COMPLETION),
        "la.dedup of two texts": (["-c", f"import lookalike as la; la.dedup([{SAME!r}] * 2)"], {}),
        "lookalike dedup, two lines": (["-c", MAIN, "dedup", str(lines), "-o", str(out), "--force", "--quiet"], {}),
    }


def measure(arguments: list[str], environment: dict[str, str]) -> tuple[float, float, float]:
    """Run Python once: seconds by the clock, seconds of the processor, and the peak of memory in MB."""
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *arguments], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, used = os.wait4(process.pid, 0)
    clock = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"exit {process.returncode} of {arguments}")
    return clock, used.ru_utime + used.ru_stime, used.ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)


def main() -> None:
    """Measure all cases in turn, and print their medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--only", default="", help="Measure cases only whose names hold this, beside the imports.")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        chosen = {name: case for name, case in cases(Path(folder)).items() if name == UNIT or given.only in name}
        found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in chosen}
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = f"{folder}/bytecode"
        for run in range(given.runs + 1):
            for name, (arguments, added) in chosen.items():
                figures = measure(arguments, environment | added)
                if run:
                    found[name].append(figures)
    medians = {name: [statistics.median(column) for column in zip(*runs, strict=True)] for name, runs in found.items()}
    print(f"| | clock, ms | x {UNIT} | processor, ms | x {UNIT} | peak memory, MB |\n|---|---|---|---|---|---|")
    for name, (clock, processor, memory) in medians.items():
        print(
            f"| {name} | {1e3 * clock:.0f} | {clock / medians[UNIT][0]:.2f} "
            f"| {1e3 * processor:.0f} | {processor / medians[UNIT][1]:.2f} | {memory:.0f} |"
        )


if __name__ == "__main__":
    main()
