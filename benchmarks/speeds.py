"""How fast this machine is: small jobs on generated texts tell what a byte, a document and a pair cost.

Prints what ``lookalike.recipes.foresight.Speeds`` should have here. Usage: python benchmarks/speeds.py [parquet|jsonl]
"""

from __future__ import annotations

import json
import mmap
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

import lookalike as la
from lookalike.formats.sources import open_sources
from lookalike.inputs.read import ReadOptions, read_documents
from lookalike.recipes.foresight import REFERENCE, Speeds

_REPEATS = 2  # of each small job: the faster one counts, as whatever else the machine does only adds
_TRUST = 0.3  # in measurements: they are off by some 15 %, proportions of another machine by some 50 %
_LEAST = 0.2  # of what a speed is in proportion
_WORDS = 1 << 14
_TOUCHED = 64 << 20
_SHORT, _MEDIUM, _LONG = 20, 150, 2000  # words of a document
_FAMILY = 64


def texts_of(n: int, words: int, family: int = 1) -> list[str]:
    """Generate texts of so many words; those of a family differ in a word or two."""
    rng = np.random.default_rng(0)
    letters = np.array(list("etaoinshrdlcumwfgypbvk"))
    known = np.array(["".join(rng.choice(letters, size)) for size in 3 + rng.poisson(3, _WORDS)])
    known[::12] = np.char.add(known[::12], "\n")  # lines end, too
    known[5::50] = np.char.add(known[5::50], "\N{RIGHT SINGLE QUOTATION MARK}")  # and not all is ASCII
    chosen = np.repeat(rng.integers(0, _WORDS, (-(-n // family), words)), family, axis=0)[:n]
    if family > 1:
        chosen = chosen[rng.permutation(n)]
        chosen[np.arange(n), rng.integers(0, words, n)] = rng.integers(0, _WORDS, n)
    return [" ".join(row) for row in known[chosen].tolist()]


def write_texts(texts: Iterable[str], path: Path) -> Path:
    """Write texts to a file of the format that its suffix names."""
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq  # here, for what is not needed to start

        pq.write_table(pa.table({"text": list(texts)}), path)
    else:
        path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    return path


def _nanoseconds(run: Callable[[], Any]) -> float:
    """Return the processor time of a call, of all its threads."""
    found = []
    for _ in range(_REPEATS):
        begun = time.process_time_ns()
        run()
        found.append(time.process_time_ns() - begun)
    return float(min(found))


def _start(path: Path) -> float:
    """Return the processor time of a process that does next to nothing."""
    before = os.times()
    subprocess.run([sys.executable, "-m", "lookalike", "dedup", str(path), "--quiet"], check=True, capture_output=True)
    after = os.times()
    return 1e9 * (after.children_user + after.children_system - before.children_user - before.children_system)


def _new_byte() -> float:
    """Return what a byte of memory costs that is touched for the first time."""

    def touch() -> None:
        np.frombuffer(mmap.mmap(-1, _TOUCHED), np.uint8)[:: mmap.PAGESIZE] = 1

    return _nanoseconds(touch) / _TOUCHED


def _read(path: Path) -> None:
    """Read a file, and do nothing with it."""
    for _ in read_documents(open_sources([str(path)]), ReadOptions()):
        pass


class _Texts(NamedTuple):
    """A file of generated texts."""

    path: Path
    bytes: int
    documents: int
    family: int

    def amounts(self, work: bool) -> dict[str, float]:
        """Return what a job does with them, by the name of its speed."""
        pairs = self.documents * (self.family - 1) / 2
        compared = self.bytes if pairs else 0
        times = 2 if work else 1  # they are read again
        read = {"read_byte": times * self.bytes, "read_document": times * self.documents}
        found = {"sketch_byte": self.bytes, "sketch_document": self.documents, "pair": pairs, "compare_byte": compared}
        written = {"write_byte": compared, "write_document": self.documents, "write_pair": pairs}
        return read | found | (written if work else {})


def fitted(amounts: list[dict[str, float]], nanoseconds: list[float], usual: Speeds) -> Speeds:
    """Return the speeds that explain what some runs took, and are about in proportion to the usual ones.

    One measurement can be far off where a machine has much else to do. So least squares weigh what is left unexplained,
    relative to each measurement, against how far speeds are from proportion, with ``_TRUST``.
    """
    names = sorted({name for some in amounts for name in some})
    done = np.array([[some.get(name, 0.0) for name in names] for some in amounts])
    took = np.maximum(nanoseconds, 1.0)
    prior = np.array([getattr(usual, name) for name in names], np.float64)
    prior *= took.sum() / (done @ prior).sum()
    relative = done * prior / took[:, None]
    system = np.vstack([relative, _TRUST * np.eye(len(names))])
    wanted = np.concatenate([1 - relative.sum(1), np.zeros(len(names))])
    change = np.linalg.lstsq(system, wanted, rcond=None)[0]
    speeds = prior * np.maximum(1 + change, _LEAST)
    return replace(usual, **dict(zip(names, speeds.tolist(), strict=True)))


def measure(format: str = "parquet", scale: float = 1.0, **settings: Any) -> Speeds:
    """Measure what parts of a job cost on this machine, in about five seconds of an idle core.

    Documents that are short and long, alike or not, are deduplicated in memory and with a work folder; the differences
    between these jobs tell what each part takes. They have one thread: several take about as much processor time together,
    but vary more where a machine has much else to do.
    """
    n_short, n_long, n_alike = (max(64, int(n * scale)) for n in (24_000, 800, 5_000))
    with tempfile.TemporaryDirectory(prefix="lookalike-") as name:
        folder = Path(name)

        def made(stem: str, n: int, words: int, family: int = 1) -> _Texts:
            texts = texts_of(n, words, family)
            size = sum(len(text.encode()) for text in texts)
            return _Texts(write_texts(texts, folder / f"{stem}.{format}"), size, n, family)

        def job(some: _Texts, work: bool = False) -> float:
            more: dict[str, Any] = {"threads": 1, "work": folder / "work" if work else None, **settings}
            return _nanoseconds(lambda: la.dedup(str(some.path), **more).close())

        tiny, short, long = made("tiny", 64, _SHORT), made("short", n_short, _SHORT), made("long", n_long, _LONG)
        alike, family = made("alike", n_long, _LONG, 4), made("family", n_alike, _MEDIUM, _FAMILY)
        start, fixed = _start(tiny.path), {work: job(tiny, work) for work in (False, True)}
        amounts: list[dict[str, float]] = []
        took: list[float] = []
        for some in (short, long):
            amounts.append({"read_byte": some.bytes, "read_document": some.documents})
            took.append(_nanoseconds(partial(_read, some.path)))
        for some, work in [(some, False) for some in (short, long, alike, family)] + [
            (s, True) for s in (short, alike, family)
        ]:
            amounts.append(some.amounts(work))
            took.append(job(some, work) - fixed[work])
    return replace(fitted(amounts, took, REFERENCE[format]), start=start, new_byte=_new_byte())


if __name__ == "__main__":
    print(measure(*sys.argv[1:2]))
