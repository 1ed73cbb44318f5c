"""How fast this machine is: small jobs on generated texts tell what a byte, a document and a pair cost."""

from __future__ import annotations

import json
import mmap
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ..errors import ParameterError
from ..formats.sources import open_sources
from ..inputs.reading import Reading, read_documents
from .dedup import dedup

FORMATS = ("parquet", "jsonl")
_REPEATS = 2  # of each small job: the faster one counts, as whatever else the machine does only adds
_WORDS = 1 << 14
_TOUCHED = 64 << 20
_SHORT, _MEDIUM, _LONG = 20, 150, 2000  # words of a document
_FAMILY = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Speeds:
    """What parts of a job cost, in nanoseconds of processor time.

    Defaults are those of a reference core: one of a 2.x GHz server processor with AVX-512 that had much else to do. They are
    means of what ``measure`` found there, with compiled kernels of a wheel.

    Parameters
    ----------
    start : float
        Of a process, until it has loaded what a job needs.
    read_byte, read_document : float
        To read a text from a file of the format in question.
    sketch_byte, sketch_document : float
        To shingle and sketch a text that was read, to sort its keys and to tell what became of it.
    pair : float
        To find a pair of candidates, and to compare it beyond what each of its texts costs.
    compare_byte : float
        To number the shingles of a text that is compared, and to pack them.
    write_byte, write_document, write_pair : float
        To write a text that is compared, what is kept of a document, or a pair, to the disk, and to read it from there.
    new_byte : float
        To be given memory by the system, which small jobs have done once.
    """

    start: float = 0.55e9
    read_byte: float = 1.8
    read_document: float = 80.0
    sketch_byte: float = 1.8
    sketch_document: float = 2800.0
    pair: float = 350.0
    compare_byte: float = 7.5
    write_byte: float = 9.5
    write_document: float = 1500.0
    write_pair: float = 750.0
    new_byte: float = 0.6


REFERENCE = {"parquet": Speeds(), "jsonl": Speeds(read_byte=3.2, read_document=900.0)}


def texts_of(n: int, words: int, family: int = 1) -> list[str]:
    """Generate texts of so many words; those of a family differ in a word or two.

    Parameters
    ----------
    n, words : int >= 1
    family : int >= 1
        Texts that resemble each other.

    Returns
    -------
    list of str
    """
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
    subprocess.run([sys.executable, "-m", "semblance", "dedup", str(path), "--quiet"], check=True, capture_output=True)
    after = os.times()
    return 1e9 * (after.children_user + after.children_system - before.children_user - before.children_system)


def _new_byte() -> float:
    """Return what a byte of memory costs that is touched for the first time."""

    def touch() -> None:
        np.frombuffer(mmap.mmap(-1, _TOUCHED), np.uint8)[:: mmap.PAGESIZE] = 1

    return _nanoseconds(touch) / _TOUCHED


def _read(path: Path) -> None:
    """Read a file, and do nothing with it."""
    for _ in read_documents(open_sources([str(path)]), Reading()):
        pass


def _per(short: tuple[float, int, int], long: tuple[float, int, int]) -> tuple[float, float]:
    """Return nanoseconds a byte and a document from two measurements of (nanoseconds, bytes, documents), none below 0."""
    (a, a_bytes, a_documents), (b, b_bytes, b_documents) = short, long
    byte = max(0.0, (b * a_documents - a * b_documents) / (b_bytes * a_documents - a_bytes * b_documents))
    return byte, max(0.0, (a - byte * a_bytes) / a_documents)


def measure(format: str = "parquet", threads: int = 1, scale: float = 1.0, **settings: Any) -> Speeds:
    """Measure what parts of a job cost on this machine, in about five seconds.

    Documents that are short and long, alike or not, are deduplicated in memory and with a work folder; the differences
    between these jobs tell what each part takes.

    Parameters
    ----------
    format : {"parquet", "jsonl"}, default "parquet"
        Of the files that are read.
    threads : int >= 1
    scale : float > 0
        Times as many documents.
    **settings
        More of what ``semblance.dedup`` takes.

    Returns
    -------
    Speeds
    """
    if format not in FORMATS:
        raise ParameterError(f"format must be {' or '.join(FORMATS)} to be foreseen; got {format!r}")
    n_short, n_long, n_alike = (max(64, int(n * scale)) for n in (24_000, 800, 5_000))
    with tempfile.TemporaryDirectory(prefix="semblance-") as name:
        folder = Path(name)

        def made(stem: str, n: int, words: int, family: int = 1) -> tuple[Path, int, int]:
            texts = texts_of(n, words, family)
            return write_texts(texts, folder / f"{stem}.{format}"), sum(len(text.encode()) for text in texts), n

        def job(path: Path, work: str | None = None) -> float:
            return _nanoseconds(lambda: dedup(str(path), threads=threads, work=work and folder / work, **settings).close())

        tiny, short, long = made("tiny", 64, _SHORT), made("short", n_short, _SHORT), made("long", n_long, _LONG)
        alike, family = made("alike", n_long, _LONG, 4), made("family", n_alike, _MEDIUM, _FAMILY)
        start = _start(tiny[0])
        fixed, fixed_work = job(tiny[0]), job(tiny[0], "t")
        read = [_nanoseconds(lambda path=path: _read(path)) for path in (short[0], long[0])]  # type: ignore[misc]
        in_memory = [job(file[0]) - fixed for file in (short, long, alike, family)]
        on_disk = [job(file[0], "w") - fixed_work for file in (short, alike, family)]
    read_byte, read_document = _per((read[0], *short[1:]), (read[1], *long[1:]))
    sketched = [total - reading for total, reading in zip(in_memory[:2], read, strict=True)]
    sketch_byte, sketch_document = _per((sketched[0], *short[1:]), (sketched[1], *long[1:]))

    def beyond(total: float, file: tuple[Path, int, int]) -> float:
        """Take away what reading and sketching cost."""
        return total - file[1] * (read_byte + sketch_byte) - file[2] * (read_document + sketch_document)

    def written(total: float, before: float, file: tuple[Path, int, int]) -> float:
        """Take away what reading again and writing about documents cost."""
        return total - before - file[1] * read_byte - file[2] * (read_document + write_document)

    compare_byte = max(0.0, beyond(in_memory[2], alike) / alike[1])
    n_pairs = family[2] * (_FAMILY - 1) / 2
    pair = max(0.0, (beyond(in_memory[3], family) - family[1] * compare_byte) / n_pairs)
    write_document = max(0.0, (on_disk[0] - in_memory[0] - read[0]) / short[2])
    write_byte = max(0.0, written(on_disk[1], in_memory[2], alike) / alike[1])
    write_pair = max(0.0, (written(on_disk[2], in_memory[3], family) - family[1] * write_byte) / n_pairs)
    return Speeds(
        start=start, read_byte=read_byte, read_document=read_document, sketch_byte=sketch_byte,
        sketch_document=sketch_document, pair=pair, compare_byte=compare_byte, write_byte=write_byte,
        write_document=write_document, write_pair=write_pair, new_byte=_new_byte(),
    )  # fmt: skip
