"""Deduplicate the source files of Python's own standard library: real text that needs no download.

The codecs in ``encodings`` are left out: most are tables made from one template, alike without being duplicates.
"""

import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import lookalike as la

THRESHOLD = 0.8


def main() -> None:
    """Run the job on the command line, and look at what was found."""
    library = sysconfig.get_paths()["stdlib"]
    with tempfile.TemporaryDirectory() as folder:
        # A copy without installed packages, caches and codecs, so that the demo shows what was written by hand.
        root = Path(folder) / "python"
        for file in Path(library).rglob("*.py"):
            inside = file.relative_to(library)
            if not {"site-packages", "dist-packages", "__pycache__", "encodings"} & set(inside.parts):
                target = root / inside
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(file.read_bytes())
        print("\nPython's own standard library, without its codecs. A few files are not UTF-8, as they test decoding:")
        print(
            "with --set encoding_errors=replace, invalid bytes separate words; without it, the first such file is an error.\n"
        )
        clean = str(Path(folder) / "clean")
        how = ["--threshold", str(THRESHOLD), "--set", "encoding_errors=replace", "--keep", "longest", "-o", clean]
        run(["dedup", str(root), "--glob", "*.py", "--format", "txt", *how])
        print(
            f"\n{sum(1 for _ in Path(clean).rglob('*.py'))} files were written. The same in Python, to see who matched whom:\n"
        )
        result = la.dedup(root, glob="*.py", format="txt", threshold=THRESHOLD, keep="longest", encoding_errors="replace")
        print(f"    {result}")
        rows = sorted(result.removed.to_pylist(), key=lambda row: row["resemblance"])
        for title, some in (("the least similar removals", rows[:4]), ("the most similar", rows[-4:])):
            print(f"\n  {title}:")
            for row in some:
                left, right = (str(Path(row[name]).relative_to(root)) for name in ("id", "duplicate_of"))
                print(f"    {row['resemblance']:.3f}  {left}  ->  {right}")
        stricter = result.rethreshold(0.9)
        print(f"\n  at threshold 0.9 (without reading anything again): {stricter}")


def run(arguments: list[str]) -> None:
    """Show a command and what it prints."""
    shown = " ".join(a if " " not in a and "*" not in a else f"'{a}'" for a in arguments)
    print(f"$ lookalike {shown}", flush=True)
    subprocess.run([sys.executable, "-m", "lookalike", *arguments], check=True, stderr=subprocess.STDOUT)


if __name__ == "__main__":
    main()
