"""The tools of ``end_to_end.py``: each reads a parquet file of texts, flags near-duplicates, and writes the rows that it keeps.

A contestant takes the file, an empty folder and a clock, and returns which rows it kept. The clock notes processor and wall time
of reading, computing and writing; a tool that reads while it computes has no time of its own for reading.
"""

from __future__ import annotations

import re
import resource
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

THRESHOLD = 0.8
WARM = ["one two three four five six seven eight"] * 3 + ["nine ten eleven twelve thirteen fourteen fifteen"]
ALONE = dict.fromkeys(("OMP_NUM_THREADS", "RAYON_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1") | {"HF_HUB_OFFLINE": "1"}
WORD = re.compile(r"\w+")
# Python's letters are no marks: as lookalike has them, words with the marks of Arabic, Hindi and Thai, and each letter a word without spaces.
MARKS = "\u064b-\u065f\u0900-\u0903\u093a-\u094f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"
MARKED, CHARACTERS = re.compile(rf"[\w{MARKS}]+"), re.compile(rf"[0-9]+|\w[{MARKS}]*")


class Clock:
    """Seconds of each phase, [processor, wall]; those of child processes that have ended count too."""

    def __init__(self) -> None:
        self.phases: dict[str, list[float]] = {}
        self.stages: dict[str, float] = {}

    @contextmanager
    def __call__(self, phase: str) -> Iterator[None]:
        """Add what the body takes to a phase."""
        cpu, wall = _processor_time(), time.perf_counter()
        yield
        spent = self.phases.setdefault(phase, [0.0, 0.0])
        spent[0] += _processor_time() - cpu
        spent[1] += time.perf_counter() - wall


def _processor_time() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def peak() -> int:
    """Most bytes of memory that this process has had, or a child that has ended."""
    status, unit = Path("/proc/self/status"), 1 if sys.platform == "darwin" else 1024
    own, children = (resource.getrusage(who).ru_maxrss * unit for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    if status.exists():  # on Linux, that of the system's call is no less than the parent's
        own = int(status.read_text().partition("VmHWM:")[2].split()[0]) * 1024
    return max(own, children)


def write_texts(path: Path, texts: list[str]) -> Path:
    """Write a corpus, with numbers as ids."""
    pq.write_table(pa.table({"text": texts, "id": [str(i) for i in range(len(texts))]}), path, compression="zstd")
    return path


Contestant = Callable[[Path, Path, Clock], np.ndarray]


def word_shingles(text: str, word: re.Pattern[str] = WORD) -> set[str]:
    """Five-word shingles, as the peers' users make them in Python."""
    words = word.findall(text.lower())
    return {" ".join(words[i : i + 5]) for i in range(max(1, len(words) - 4))} if words else set()


def lookalike(**settings: Any) -> Contestant:
    """The job as the command line runs it."""

    def run(path: Path, out: Path, clock: Clock) -> np.ndarray:
        import lookalike as la

        with clock("compute"):
            result = la.dedup(str(path), threshold=THRESHOLD, **({"threads": 1} | settings))
            keep = result.keep
        with clock("write"):
            result.write(str(out / "kept.parquet"))
        clock.stages = dict(result.summary.seconds)
        return keep

    return run


def of_texts(flag: Callable[[list[str]], np.ndarray]) -> Contestant:
    """A library that takes texts one by one or in a list, which its user reads and writes with PyArrow."""

    def run(path: Path, out: Path, clock: Clock) -> np.ndarray:
        with clock("read"):
            texts = pq.read_table(path, columns=["text"])["text"].to_pylist()
        with clock("compute"):
            keep = flag(texts)
        with clock("write"):
            kept = pa.table({"text": [text for text, stays in zip(texts, keep.tolist(), strict=True) if stays]})
            pq.write_table(kept, out / "kept.parquet")
        return keep

    return run


def rensa(texts: list[str], threshold: float = THRESHOLD, word: re.Pattern[str] = WORD) -> np.ndarray:
    """`RMinHashDeduplicator` as rensa's documentation shows it, on full sets of shingles."""
    from rensa import RMinHashDeduplicator

    judge = RMinHashDeduplicator(threshold=threshold, num_perm=128, use_lsh=True)
    return np.array(judge.add_pairs((str(i), list(word_shingles(text, word))) for i, text in enumerate(texts)), np.bool_)


def rensa_rho(texts: list[str]) -> np.ndarray:
    """rensa's bulk way by positions: flags whatever shares a band with anything, so the first of each kind too."""
    from rensa import RMinHash, RMinHashLSH

    matrix = RMinHash.digest_matrix_from_token_sets_rho([word_shingles(text) for text in texts], 128, 42)
    flags = np.array(RMinHashLSH(threshold=THRESHOLD, num_perm=128, num_bands=16).query_duplicate_flags_matrix_one_shot(matrix))
    return ~flags.astype(np.bool_)


def datasketch(texts: list[str], threshold: float = THRESHOLD) -> np.ndarray:
    """`MinHashLSH`, query before insert, as datasketch's documentation shows it."""
    from datasketch import MinHash, MinHashLSH

    index = MinHashLSH(threshold=threshold, num_perm=128)
    keep = []
    for i, text in enumerate(texts):
        sketch = MinHash(num_perm=128)
        sketch.update_batch([s.encode() for s in word_shingles(text)])
        keep.append(not index.query(sketch))
        if keep[-1]:
            index.insert(str(i), sketch)
    return np.array(keep)


def gaoya(texts: list[str], threshold: float = THRESHOLD, analyzer: str = "word") -> np.ndarray:
    """`MinHashStringIndex`, query before insert, with its own tokenizer of five words or characters."""
    from gaoya.minhash import MinHashStringIndex

    index = MinHashStringIndex(hash_size=32, jaccard_threshold=threshold, num_bands=16, band_size=8, lowercase=True,
                               analyzer=analyzer, ngram_range=(5, 5))  # fmt: skip
    keep = []
    for i, text in enumerate(texts):
        keep.append(not index.query(text))
        if keep[-1]:
            index.insert_document(i, text)
    return np.array(keep)


def fast_sketch_lsh(texts: list[str], threshold: float = THRESHOLD) -> np.ndarray:
    """FastSketchLSH: sketches in a batch, candidates by its LSH, kept if no kept earlier one is estimated as alike."""
    from FastSketchLSH import LSH, FastSimilaritySketch

    sketches = np.asarray(FastSimilaritySketch(128, 42).batch([list(word_shingles(text)) for text in texts], num_threads=1))
    index = LSH(128, 16, num_threads=1)
    index.insert(sketches)
    flat, bounds = index.query(sketches, "csr")
    keep = np.ones(len(texts), np.bool_)
    for i in range(len(texts)):
        others = np.unique(flat[int(bounds[i]) : int(bounds[i + 1])].astype(np.int64))
        others = others[(others < i) & keep[others]]
        keep[i] = not ((sketches[others] == sketches[i]).mean(1) >= threshold).any()
    return keep


def text_dedup(path: Path, out: Path, clock: Clock, threshold: float = THRESHOLD) -> np.ndarray:
    """The command ``python -m text_dedup.minhash`` with its defaults, but for the threshold and one process."""
    import datasets
    from text_dedup import minhash

    parts = {"Loading": "read", "MinHashing": "compute", "Clustering": "compute", "Filtering": "write", "Saving": "write"}

    class Timer:  # in place of its own, which the command calls with the name of each part, and which knows wall time only
        def __call__(self, name: str) -> Any:
            return clock(parts.get(name, "all"))

        def report(self, **_: Any) -> None:
            pass

    minhash.Timer = Timer
    minhash.main(["--path", "parquet", "--data_files", str(path), "--split", "train", "--output", str(out / "kept"),
                  "--column", "text", "--batch_size", "10000", "--threshold", str(threshold), "--num_proc", "1",
                  "--cache_dir", str(out / "cache")], standalone_mode=False)  # fmt: skip
    keep = np.zeros(pq.read_metadata(path).num_rows, np.bool_)
    keep[np.array(datasets.load_from_disk(str(out / "kept"))["id"][:], np.int64)] = True
    return keep


def datatrove(path: Path, out: Path, clock: Clock) -> np.ndarray:
    """The four stages of its example of MinHash, one task on this machine: hashes of 64 bits, 14 buckets of 8."""
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.dedup import MinhashDedupSignature
    from datatrove.pipeline.dedup.minhash import MinhashConfig, MinhashDedupBuckets, MinhashDedupCluster, MinhashDedupFilter
    from datatrove.pipeline.readers import ParquetReader
    from datatrove.pipeline.writers import ParquetWriter
    from datatrove.utils.hashing import HashConfig

    config = MinhashConfig(hash_config=HashConfig(precision=64), num_buckets=14, hashes_per_bucket=8)
    signatures, buckets, remove, kept = (str(out / name) for name in ("signatures", "buckets", "remove", "kept"))
    reader = ParquetReader(str(path.parent), glob_pattern=path.name)

    def stage(number: int, *steps: Any, tasks: int = 1) -> None:
        LocalPipelineExecutor(pipeline=list(steps), tasks=tasks, workers=1, logging_dir=str(out / f"logs-{number}")).run()

    with clock("compute"):
        stage(1, reader, MinhashDedupSignature(output_folder=signatures, config=config))
        stage(2, MinhashDedupBuckets(input_folder=signatures, output_folder=buckets, config=config), tasks=config.num_buckets)
        stage(3, MinhashDedupCluster(input_folder=buckets, output_folder=remove, config=config))
    with clock("write"):
        stage(4, reader, MinhashDedupFilter(input_folder=remove), ParquetWriter(kept))
    keep = np.zeros(pq.read_metadata(path).num_rows, np.bool_)
    keep[pq.read_table(kept, columns=["id"])["id"].to_numpy().astype(np.int64)] = True
    return keep


def floor(path: Path, out: Path, clock: Clock) -> np.ndarray:
    """No tool: texts are decoded, a few at a time into the same memory, and nothing is done with them."""
    with clock("read"):
        for _ in pq.ParquetFile(path).iter_batches(64, columns=["text"]):
            pass
    return np.ones(pq.read_metadata(path).num_rows, np.bool_)


CONTESTANTS: dict[str, Contestant] = {
    "floor": floor, "lookalike": lookalike(), "lookalike, estimates": lookalike(verify="sketch"),
    "lookalike, 2 threads": lookalike(threads=2), "rensa": of_texts(rensa), "rensa, rho": of_texts(rensa_rho),
    "gaoya": of_texts(gaoya), "FastSketchLSH": of_texts(fast_sketch_lsh), "datasketch": of_texts(datasketch),
    "text-dedup": text_dedup, "datatrove": datatrove,
}  # fmt: skip
OF_SCRIPTS: dict[str, Contestant] = {
    "rensa, marks": of_texts(partial(rensa, word=MARKED)), "rensa, characters": of_texts(partial(rensa, word=CHARACTERS)),
    "gaoya, characters": of_texts(partial(gaoya, analyzer="char")),
}  # fmt: skip
ONCE, FLAGS_ALL = ("datasketch", "datatrove"), ("rensa, rho",)
