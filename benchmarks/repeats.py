"""What ``repeats`` finds and takes, next to a suffix array; prints tables.

Usage: python benchmarks/repeats.py [DATA]    (default: ../shared/data beside the repository; pydivsufsort is optional)
"""

import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import lookalike as la

ROOT = Path(__file__).parents[1]
LENGTH = 50
LETTERS = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz", np.uint8)


def planted(n: int, words: int, copies: int, rng: np.random.Generator) -> tuple[list[str], set[tuple[int, int]]]:
    """Return documents of random words with copied passages, and the words (document, place) that are copies."""
    vocabulary = ["".join(map(chr, LETTERS[rng.integers(0, 26, 5)])) for _ in range(30_000)]
    numbers = rng.integers(0, len(vocabulary), (n, words))
    copied: set[tuple[int, int]] = set()
    used: set[tuple[int, int]] = set()
    for _ in range(copies):
        size = int(rng.integers(LENGTH, 4 * LENGTH))
        source, target = sorted(rng.choice(n, 2, replace=False).tolist())
        first, second = rng.integers(0, words - size, 2).tolist()
        sources, places = ({(row, begin + i) for i in range(size)} for row, begin in ((source, first), (target, second)))
        if places & used or sources & copied:
            continue  # neither is changed, nor a source of others, nor a copy of them
        used |= sources | places
        numbers[target, second : second + size] = numbers[source, first : first + size]
        copied |= places
    return [" ".join(vocabulary[number] for number in row) for row in numbers.tolist()], copied


def found_words(texts: list[str], found: pa.Table) -> set[tuple[int, int]]:
    """Return the words (document, place) that are removed."""
    words = set()
    for row in found.to_pylist():
        first = texts[row["id"]].encode()[: row["begin"]].count(b" ")
        words |= {(row["id"], first + i) for i in range(row["words"])}
    return words


def suffixes(text: bytes) -> tuple[float, float]:
    """Return the processor time of sorting all suffixes, and of their common prefixes."""
    import pydivsufsort

    data = np.frombuffer(text, np.uint8).copy()
    begin = time.process_time()
    order = pydivsufsort.divsufsort(data)
    sort = time.process_time() - begin
    pydivsufsort.kasai(data, order)
    return sort, time.process_time() - begin - sort


def main() -> None:
    """Print all figures."""
    data = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT.parent / "shared/data"
    la.repeats(["a b c d e f"], threads=1)
    la.repeats(["a b c d e f"], unit="passage", length=2, threads=1)
    for n, copies in ((200, 100), (5_000, 2_000), (20_000, 8_000)):
        texts, copied = planted(n, 1_000, copies, np.random.default_rng(n))
        size = sum(map(len, texts)) / 1e6
        begin = time.process_time()
        result = la.repeats(texts, unit="passage", length=LENGTH, threads=1)
        seconds = time.process_time() - begin
        found = found_words(texts, result.removed)
        print(f"planted: {size:.0f} MB, {len(copied):,} words; found {len(found & copied):,}, others {len(found - copied):,}")
        try:
            sort, prefixes = suffixes("\n".join(texts).encode())
        except ImportError:
            sort = prefixes = float("nan")
        print(
            f"  passages {size / seconds:.1f} MB/s; suffixes sorted {size / sort:.1f}, with prefixes {size / (sort + prefixes):.1f}"
        )
    for name in ("policies", "licences"):
        path = data / f"{name}.parquet"
        texts = pq.read_table(path, columns=["text"])["text"]
        size = sum(len(text.as_py().encode()) for text in texts) / 1e6
        for unit in ("line", "paragraph", "passage"):
            begin = time.process_time()
            result = la.repeats(path, unit=unit, threads=1)
            print(
                f"{name} {unit}s: {size:.0f} MB, {size / (time.process_time() - begin):.0f} MB/s, {result.summary}",
                flush=True,
            )


if __name__ == "__main__":
    main()
