"""Time and system calls per file as the number of small text files doubles: both are to stay the same.

Usage: python benchmarks/many_files.py [FILES]
"""

import os
import sys
import tempfile
import time
from pathlib import Path

import lookalike as la

CALLS = ("stat", "lstat", "open", "scandir", "listdir", "rename", "fsync")


def counted() -> dict[str, int]:
    """Count the calls of the operating system's functions from now on."""
    counts = dict.fromkeys(CALLS, 0)
    for name in CALLS:
        plain = getattr(os, name)

        def counting(*args, plain=plain, name=name, **more):
            counts[name] += 1
            return plain(*args, **more)

        setattr(os, name, counting)
    return counts


def main(most: int) -> None:
    """Deduplicate folders of most / 8, / 4, / 2 and all files, and write what is kept."""
    counts = counted()
    print(f"{'files':>8}  {'us a file: read':>15}  {'write folder':>12}  {'write one':>9}  calls a file")
    with tempfile.TemporaryDirectory() as folder:
        la.dedup(["compiles the inner loops"])
        for n in (most // 8, most // 4, most // 2, most):
            source = Path(folder, str(n))
            for i in range(n):
                path = source / f"{i // 1000}" / f"{i}.txt"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(f"document {i} of words {i * 31} and {i * 17} more {i * 7} here")
            before, start = dict(counts), time.perf_counter()
            result = la.dedup(source, threshold=1.0)
            read = time.perf_counter()
            result.write(Path(folder, f"out{n}"))
            several = time.perf_counter()
            result.write(Path(folder, f"out{n}.jsonl"))
            one = time.perf_counter()
            times = [1e6 * t / n for t in (read - start, several - read, one - several)]
            calls = ", ".join(f"{name} {(counts[name] - before[name]) / n:.1f}" for name in CALLS)
            print(f"{n:8,}  {times[0]:15.0f}  {times[1]:12.0f}  {times[2]:9.0f}  {calls}")


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 80_000)
