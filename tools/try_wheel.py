"""Install a wheel alone into a fresh environment and see that it works: `python tools/try_wheel.py dist/semblance-*.whl`."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

PROGRAM = """
import semblance as sb
texts = ["the quick brown fox jumps over the lazy dog", "The quick brown fox jumps over the lazy dog!", "something else"]
assert sb.dedup(texts).keep.tolist() == [True, False, True]
assert sb.load.__doc__ and sb.theory.bbit.variance(0.8, 1, 256) > 0
"""


def main() -> None:
    """Look into the wheel, install it, run the program and the library outside the source tree."""
    wheel = Path(sys.argv[1]).resolve()
    names = zipfile.ZipFile(wheel).namelist()
    assert "semblance/py.typed" in names, "the wheel lacks py.typed"
    assert any(name.endswith("LICENSE") for name in names), "the wheel lacks the licence"
    assert all(name.startswith("semblance") for name in names), f"the wheel holds more than the package: {names}"
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder + "/venv"], check=True)
        python, program = folder + "/venv/bin/python", folder + "/venv/bin/semblance"
        subprocess.run([python, "-m", "pip", "install", "--quiet", str(wheel)], check=True)
        subprocess.run([python, "-W", "error", "-c", PROGRAM], check=True, cwd=folder)
        version = subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout
        assert wheel.name.split("-")[1] in version, f"{wheel.name} says it is {version}"
        Path(folder, "in.jsonl").write_text('{"text": "a b c d e f"}\n{"text": "A b c d e f."}\n')
        command = [program, "dedup", "in.jsonl", "-o", "out.jsonl"]
        shown = subprocess.run(command, check=True, cwd=folder, capture_output=True, text=True).stdout
        assert "near-duplicates removed              1" in shown, shown
        assert Path(folder, "out.jsonl").read_text() == '{"text": "a b c d e f"}\n'
    print(f"{wheel.name}: installed alone, works; {version.strip()}")


if __name__ == "__main__":
    main()
