"""Deduplicate the source files of Python's own standard library: real text that needs no download. Output and report stay in demo/.

The codecs in ``encodings`` are left out: most are tables made from one template, alike without being duplicates.
"""

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import lookalike as la

THRESHOLD = 0.7
DEMO = Path("demo")
LEFT_OUT = {"site-packages", "dist-packages", "__pycache__", "encodings"}


def main() -> None:
    """Run the job on the command line, then in Python, and show what was found."""
    library, root = Path(sysconfig.get_paths()["stdlib"]), DEMO / "python"
    shutil.rmtree(DEMO, ignore_errors=True)
    for file in library.rglob("*.py"):
        inside = file.relative_to(library)
        if not LEFT_OUT & set(inside.parts):
            (root / inside).parent.mkdir(parents=True, exist_ok=True)
            (root / inside).write_bytes(file.read_bytes())
    where = ["-o", str(DEMO / "kept"), "--report", str(DEMO / "report.html")]
    how = ["--threshold", str(THRESHOLD), "--keep", "longest", "--set", "encoding_errors=replace"]  # some test decoding
    run(["dedup", str(root), "--glob", "*.py", "--format", "txt", *how, *where])
    result = la.dedup(root, glob="*.py", format="txt", threshold=THRESHOLD, keep="longest", encoding_errors="replace")
    near = [row for row in result.removed.to_pylist() if row["resemblance"] < 1]
    print("\nThe most similar files that are not equal:")
    for row in sorted(near, key=lambda row: -row["resemblance"])[:6]:
        left, right = (Path(row[name]).relative_to(root) for name in ("id", "duplicate_of"))
        print(f"    {row['resemblance']:.3f}  {left}\n           {right}")
    print(f"\nThe files that were kept: {DEMO / 'kept'}/. All that was removed, and why: {DEMO / 'report.html'}")


def run(arguments: list[str]) -> None:
    """Show a command and what it prints."""
    shown = " ".join(a if " " not in a and "*" not in a else f"'{a}'" for a in arguments)
    print(f"$ lookalike {shown}", flush=True)
    subprocess.run([sys.executable, "-m", "lookalike", *arguments], check=True, stderr=subprocess.STDOUT)


if __name__ == "__main__":
    main()
