"""Install a wheel alone into a fresh environment and see that it works: `python tools/try_wheel.py dist/lookalike-*.whl`.

As in a container: hardly an environment, no home, no caches, no compiler; nothing may be written among the packages. Prints sizes, and
the time of a first job of two lines beside that of the imports of NumPy and PyArrow.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from time import perf_counter

TURNS = 9
PROGRAM = """
import sys
sys.modules["numba"] = sys.modules["llvmlite"] = None
import lookalike as la
texts = ["the quick brown fox jumps over the lazy dog", "The quick brown fox jumps over the lazy dog!", "something else"]
assert la.dedup(texts).keep.tolist() == [True, False, True]
assert la.load.__doc__ and la.theory.bbit.variance(0.8, 1, 256) > 0
"""


def run(command: list[str], folder: str) -> str:
    """Run a command with hardly an environment; return what it prints."""
    environment = {"PATH": "/usr/bin:/bin", "HOME": os.devnull, "TMPDIR": folder, "LC_ALL": "C.UTF-8"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and not done.stderr, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def seconds(command: list[str], folder: str) -> float:
    """Return the time of a command."""
    began = perf_counter()
    run(command, folder)
    return perf_counter() - began


def main() -> None:
    """Look into the wheel, install it, run the program and the library outside the source tree."""
    wheel = Path(sys.argv[1]).resolve()
    names = zipfile.ZipFile(wheel).namelist()
    assert "lookalike/py.typed" in names, "the wheel lacks py.typed"
    assert "lookalike/kernels/_native.abi3.so" in names, "the wheel lacks the library of kernels"
    assert any(name.endswith("LICENSE") for name in names), "the wheel lacks the licence"
    assert all(name.startswith("lookalike") for name in names), f"the wheel holds more than the package: {names}"
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder + "/venv"], check=True)
        python, program = folder + "/venv/bin/python", folder + "/venv/bin/lookalike"
        subprocess.run([python, "-m", "pip", "install", "--quiet", str(wheel)], check=True)
        packages = next(Path(folder, "venv/lib").glob("python*/site-packages"))
        size = sum(path.stat().st_size for path in packages.rglob("*") if path.is_file())
        before = sorted((path, path.stat().st_mtime_ns) for path in packages.rglob("*"))
        work = folder + "/work"
        os.mkdir(work)
        Path(work, "in.jsonl").write_text('{"text": "a b c d e f"}\n{"text": "A b c d e f."}\n')
        job = [program, "dedup", "in.jsonl", "-o", "out.jsonl", "--force"]
        first = perf_counter()
        shown = run(job, work)
        first = perf_counter() - first
        assert "near-duplicates removed              1" in shown, shown
        assert Path(work, "out.jsonl").read_text() == '{"text": "a b c d e f"}\n'
        run([python, "-W", "error", "-c", PROGRAM], work)
        version = run([program, "--version"], work).strip()
        assert wheel.name.split("-")[1] in version, f"{wheel.name} says it is {version}"
        assert sorted((path, path.stat().st_mtime_ns) for path in packages.rglob("*")) == before, (
            "something was written among the packages"
        )
        turns = [(seconds(job, work), seconds([python, "-c", "import numpy, pyarrow"], work)) for _ in range(TURNS)]
        later, imports = (sorted(times)[TURNS // 2] for times in zip(*turns, strict=True))
        print(
            f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, with all it needs {size / 1e6:.0f} MB; {run([program, 'warmup'], work)}",
            end="",
        )
        print(f"job of two lines: first {first:.2f} s, later {later:.2f} s, which is {later / imports:.1f} times the imports of NumPy and "
              f"PyArrow ({imports:.2f} s)")  # fmt: skip


if __name__ == "__main__":
    main()
