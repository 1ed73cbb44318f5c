"""What texts cost that were written to cost much: CPU time beside that of plain text of as many bytes, in as many documents.

``tokens`` says how many times the tokens of plain text a text has, since work is done for tokens as well as for bytes.

One row is ``crafted``: words chosen one after the other so that the lowest bits of the hashes of all shingles are zero. In tables
that are placed by these bits all values meet in a few runs. It shows 1 where nobody can choose where values stand.

With ``--pages``, what many pages cost that are just below the threshold, in seconds: plain pages, pages of one template of 105
words with 15 words of their own, and pages of one template with five fields of eight values each, where some pairs match.

Usage: python benchmarks/flooding.py [--bytes 600000] [--repeats 3] [--only NAME ...] [--pages 4000 8000 ...]
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import lookalike as la
from lookalike.text.shingle import Shingling
from lookalike.text.texts import as_texts, concatenate

ZERO_BITS, WIDTH = 12, 5
# Those of ``native/hash.h``.
K0, K1, K3 = 0xA0761D6478BD642F, 0xE7037ED1A0B428DB, np.uint64(0x589965CC75374CC3)
MULTIPLIER = np.uint64(0x9FB21C651E98DF25)
Documents = list[str]


def mixed(x: np.ndarray) -> np.ndarray:
    """Finish hashes as ``fmix64`` of ``native/hash.h`` does."""
    for factor in (np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)):
        x = (x ^ (x >> np.uint64(33))) * factor
    return x ^ (x >> np.uint64(33))


def crafted(size: int) -> Documents:
    """Words of five letters whose shingles' hashes end with zeros, as long as the fixed family is what ``la.shingle`` says."""
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    numbers = np.arange(1 << (ZERO_BITS + 4))
    words = ["".join(letters[number // 26**place % 26] for place in range(5)) for number in numbers.tolist()]
    single = token_hashes(words)
    chance, chosen = np.random.default_rng(1), [0, 1, 2, 3]
    with np.errstate(over="ignore"):
        length = np.uint64(WIDTH) * K3
        while 6 * len(chosen) < size:
            base = np.uint64(0)
            for place in chosen[-WIDTH + 1 :]:
                base = base * MULTIPLIER + single[place]
            first = int(chance.integers(len(words)))
            for begin in (first, 0):  # from a place at random on; all, in the rare case that nothing is found there
                some = single[begin : begin + (4 << ZERO_BITS)]
                good = np.flatnonzero(mixed(base * MULTIPLIER + some + length) << np.uint64(64 - ZERO_BITS) == 0)
                if len(good):
                    break
            chosen.append(begin + int(good[0]) if len(good) else first)
    text = " ".join(words[i] for i in chosen)
    ending = np.mean(la.shingle([text]).values << np.uint64(64 - ZERO_BITS) == 0)
    print(f"crafted: {100 * ending:.0f} % of the hashes end with {ZERO_BITS} zeros", file=sys.stderr)
    return [text, text + " x"]


def token_hashes(words: list[str]) -> np.ndarray:
    """Hashes of words of five bytes, which a shingle's hash is made of."""
    products = [(K0 ^ int.from_bytes(word.encode(), "little")) * (K1 ^ 5) for word in words]
    return np.array([(product ^ product >> 64) & (1 << 64) - 1 for product in products], np.uint64)


def plain(size: int, documents: int = 1) -> Documents:
    """Words by Zipf's law, of two to ten letters."""
    chance = np.random.default_rng(2)
    vocabulary = ["".join(chance.choice(list("etaoinshrdlu"), chance.integers(2, 11))) for _ in range(20_000)]
    words = [vocabulary[i % 20_000] for i in chance.zipf(1.3, size // 4)]
    text = " ".join(words)[:size]
    step = -(-size // documents)
    return [text[i : i + step] for i in range(0, size, step)]


def lines(size: int) -> str:
    """Plain text in lines of about eighty bytes."""
    text = plain(size)[0]
    return "\n".join(text[i : i + 80] for i in range(0, size, 80))


def doubled(text: str) -> Documents:
    """Return a text, and the text with a word more: a pair that is compared."""
    return [text, text + " x"]


def random_words(size: int, words: list[str]) -> str:
    """Some words in random order."""
    return " ".join(np.random.default_rng(3).choice(words, size // (len(words[0]) + 1)).tolist())


def cases(size: int) -> dict[str, tuple[Callable[[], Documents], Callable[[], Documents], str]]:
    """Return, by name, the texts, the plain ones beside them, and the unit."""

    def beside(size: int = size) -> Documents:
        return doubled(plain(size)[0])

    def many() -> Documents:
        return plain(size, max(2, size // 2000))

    def case(text: Callable[[], str], unit: str = "word") -> tuple[Any, Any, str]:
        return lambda: doubled(text()), beside, unit

    return {
        "plain": case(lambda: plain(size)[0]),
        "crafted": (lambda: crafted(size), beside, "word"),
        "all words equal": case(lambda: "word " * (size // 5)),
        "all words different": case(lambda: " ".join(f"{i:06x}" for i in range(size // 7))),
        "words of one byte": case(lambda: random_words(size, list("abcdefghijklmnopqrstuvwxyz0123456789"))),
        "one letter": case(lambda: "a " * (size // 2)),
        "two words at random": case(lambda: random_words(size, ["a", "b"])),
        "alternations": case(lambda: " ".join(f"{'ab'[i & 1]} {i & i >> 5 & 63:x}" for i in range(size // 4))),
        "one word": case(lambda: "x" * size),
        "one long word, 30 MB": (lambda: doubled("x" * 30_000_000), lambda: beside(30_000_000), "word"),
        "blanks": case(lambda: " " * size),
        "marks": case(lambda: "a" + "\u0301\u0316" * (size // 4)),
        "short runs of marks": case(lambda: ("e" + "\u0301\u0316" * 17 + " word" * 14) * (size // 139)),
        "decomposed letters": case(lambda: "e\u0301 " * (size // 4)),
        "Han": case(lambda: "".join(map(chr, np.random.default_rng(4).integers(0x4E00, 0x9000, size // 3)))),
        "copies": (lambda: [plain(2000)[0]] * max(2, size // 2000), many, "word"),
        "long lines": (lambda: doubled(("y" * 99_999 + "\n") * max(1, size // 100_000)), lambda: doubled(lines(size)), "line"),
        "lines of one byte": (lambda: doubled("\n".join(random_words(size, list("abcdefgh")).split())),
                              lambda: doubled(lines(size)), "line"),
        "different lines": (lambda: doubled("\n".join(f"{i:x}" for i in range(size // 6))), lambda: doubled(lines(size)), "line"),
    }  # fmt: skip


def pages(kind: str, n: int, seed: int) -> Documents:
    """Pages of 120 words each."""
    base, chance = [f"t{i:06x}" for i in range(120)], np.random.default_rng(seed)
    if kind == "plain":
        return [" ".join(f"{word:07x}" for word in chance.integers(0, 1 << 28, 120)) for _ in range(n)]
    if kind == "template":
        return [" ".join([*base[:105], *(f"{word:07x}" for word in chance.integers(0, 1 << 28, 15))]) for _ in range(n)]
    made = []
    for values in chance.integers(0, 8, (n, 5)).tolist():
        words = list(base)
        words[10::24] = [f"field{i}v{value}" for i, value in enumerate(values)]
        made.append(" ".join(words))
    return made


def print_pages(counts: list[int], folder: str) -> None:
    """Print the table of pages: seconds of CPU for each job, milliseconds for a query."""
    todo = jobs(folder)
    print("| pages | text | MB | dedup | pairs | pairs found | decontaminate | Index.add | a query, ms |\n|" + "---|" * 9)
    for n in counts:
        for kind in ("plain", "template", "fields"):
            documents, others = pages(kind, n, 1), pages(kind, n, 2)
            spent = [seconds(todo[job], documents, "word", 1) for job in ("dedup", "pairs", "Index.add")]
            begun = time.process_time()
            la.decontaminate(documents, against=others, threshold=0.9, threads=1)
            overlap = time.process_time() - begun
            with la.Index.open(f"{folder}/index", "read") as index:
                begun = time.process_time()
                index.query(others[:200], top=10)
                query = (time.process_time() - begun) / 200
            found = len(la.pairs(documents, threads=1))
            size = sum(map(len, documents)) / 1e6
            print(f"| {n:,} | {kind} | {size:.1f} | {spent[0]:.2f} | {spent[1]:.2f} | {found:,} | {overlap:.2f} | {spent[2]:.2f} "
                  f"| {1000 * query:.2f} |", flush=True)  # fmt: skip


def jobs(folder: str) -> dict[str, Callable[[Documents, str], Callable[[], Any]]]:
    """Return, by name, what makes the work on documents: it is prepared, and then timed."""

    def make(documents: Documents, unit: str) -> la.Index:
        shutil.rmtree(f"{folder}/index", ignore_errors=True)
        return la.Index.create(f"{folder}/index", unit=unit)

    def query(documents: Documents, unit: str) -> Callable[[], Any]:
        index = make(documents, unit)
        index.add([str(i) for i in range(len(documents))], documents)
        return lambda: (index.query(documents), index.close())

    def add(documents: Documents, unit: str) -> Callable[[], Any]:
        index = make(documents, unit)
        return lambda: (index.add([str(i) for i in range(len(documents))], documents), index.close())

    return {
        "shingle": lambda documents, unit: lambda: la.shingle(documents, unit=unit),
        "keyed": lambda documents, unit: lambda: la.shingle(documents, unit=unit, key=bytes(16)),
        "dedup": lambda documents, unit: lambda: la.dedup(documents, unit=unit, threads=1),
        "pairs": lambda documents, unit: lambda: la.pairs(documents, unit=unit, threads=1),
        "decontaminate": lambda documents, unit: (
            lambda: la.decontaminate(documents, against=documents[:8], unit=unit, threads=1)
        ),
        "Index.add": add,
        "Index.query": query,
    }


def seconds(job: Callable[[Documents, str], Callable[[], Any]], documents: Documents, unit: str, repeats: int) -> float:
    """Return the median CPU time of a job."""
    found = []
    for _ in range(repeats):
        work = job(documents, unit)
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return statistics.median(found)


def shingles_of(documents: Documents, unit: str) -> int:
    """Count shingles, repeats included: as many, nearly, as there are tokens."""
    return int(Shingling(unit=unit).hashes(concatenate(as_texts(documents)))[1][-1])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bytes", type=int, default=600_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--pages", nargs="*", type=int)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        todo, known = jobs(folder), {}
        for job in todo.values():
            job(["a b c d e f"], "word")()
        if options.pages:
            print_pages(options.pages, folder)
            return
        print("| text | MB | tokens | " + " | ".join(todo) + " |\n|" + "---|" * (len(todo) + 3))
        for name, (texts, others, unit) in cases(options.bytes).items():
            if options.only and name not in options.only:
                continue
            documents, baseline = texts(), others()
            size = sum(len(text.encode()) for text in documents)
            row = [f"{shingles_of(documents, unit) / shingles_of(baseline, unit):.1f}"]
            for job, work in todo.items():
                key = (job, unit, len(baseline), sum(map(len, baseline)))
                if key not in known:
                    known[key] = seconds(work, baseline, unit, options.repeats)
                row.append(f"{seconds(work, documents, unit, options.repeats) / known[key]:.2f}")
            print(f"| {name} | {size / 1e6:.1f} | {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
