"""Raw text files to duplicate flags: lookalike beside its peers; writes docs/benchmarks.md.

Each contestant runs in a process of its own on one thread, reads the same parquet file, makes the same shingles (five
words) and judges at the same threshold; peers are driven as their documentation shows. What a tool removed is compared
with exact resemblances: a removal is right if some document the tool kept resembles the removed one by the threshold;
a duplicate is missed if the tool kept it although it kept such a document before it.

Usage: python benchmarks/end_to_end.py [PARQUET]
"""

import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

import generated
import numpy as np
import parts
import pyarrow as pa
import pyarrow.parquet as pq
from page import processor

ROOT = Path(__file__).parents[1]
THRESHOLD = 0.8
WORD = re.compile(r"\w+")
SMALL_BYTES = 50e6
WARM = ["one two three four five six seven eight"] * 3 + ["nine ten eleven twelve thirteen fourteen fifteen"]


def word_shingles(text: str) -> set[str]:
    """Five-word shingles, as the peers' users make them in Python."""
    words = WORD.findall(text.lower())
    return {" ".join(words[i : i + 5]) for i in range(max(1, len(words) - 4))} if words else set()


def run_lookalike(path: str | None, **settings):
    """The job as the command line runs it."""
    import lookalike as la

    result = la.dedup(WARM if path is None else path, threshold=THRESHOLD, **({"threads": 1} | settings))
    return result.keep, result.summary.seconds


def run_rensa(path: str | None):
    """`RMinHashDeduplicator` as rensa's documentation shows it, on full sets of shingles."""
    from rensa import RMinHashDeduplicator

    texts = WARM if path is None else pq.read_table(path, columns=["text"])["text"].to_pylist()
    judge = RMinHashDeduplicator(threshold=THRESHOLD, num_perm=128, use_lsh=True)
    return np.array(judge.add_pairs((str(i), list(word_shingles(text))) for i, text in enumerate(texts))), {}


def run_datasketch(path: str | None):
    """`MinHashLSH`, query before insert, as datasketch's documentation shows it."""
    from datasketch import MinHash, MinHashLSH

    texts = WARM if path is None else pq.read_table(path, columns=["text"])["text"].to_pylist()
    index = MinHashLSH(threshold=THRESHOLD, num_perm=128)
    keep = []
    for i, text in enumerate(texts):
        sketch = MinHash(num_perm=128)
        sketch.update_batch([s.encode() for s in word_shingles(text)])
        keep.append(not index.query(sketch))
        if keep[-1]:
            index.insert(str(i), sketch)
    return np.array(keep), {}


def run_gaoya(path: str | None):
    """`MinHashStringIndex`, query before insert, with its own tokenizer of five words."""
    from gaoya.minhash import MinHashStringIndex

    texts = WARM if path is None else pq.read_table(path, columns=["text"])["text"].to_pylist()
    index = MinHashStringIndex(hash_size=32, jaccard_threshold=THRESHOLD, num_bands=16, band_size=8, lowercase=True,
                               analyzer="word", ngram_range=(5, 5))  # fmt: skip
    keep = []
    for i, text in enumerate(texts):
        keep.append(not index.query(text))
        if keep[-1]:
            index.insert_document(i, text)
    return np.array(keep), {}


def run_fast_sketch_lsh(path: str | None):
    """FastSketchLSH: sketches in a batch, candidates by its LSH, kept if no kept earlier one is estimated as alike."""
    from FastSketchLSH import LSH, FastSimilaritySketch

    texts = WARM if path is None else pq.read_table(path, columns=["text"])["text"].to_pylist()
    sketches = np.asarray(FastSimilaritySketch(128, 42).batch([list(word_shingles(text)) for text in texts], num_threads=1))
    index = LSH(128, 16, num_threads=1)
    index.insert(sketches)
    flat, bounds = index.query(sketches, "csr")
    keep = np.ones(len(texts), np.bool_)
    for i in range(len(texts)):
        others = np.unique(flat[int(bounds[i]) : int(bounds[i + 1])].astype(np.int64))
        others = others[(others < i) & keep[others]]
        keep[i] = not ((sketches[others] == sketches[i]).mean(1) >= THRESHOLD).any()
    return keep, {}


def run_rensa_rho(path: str | None):
    """rensa's bulk way by positions: flags whatever shares a band with anything, so the first of each kind too."""
    from rensa import RMinHash, RMinHashLSH

    texts = WARM if path is None else pq.read_table(path, columns=["text"])["text"].to_pylist()
    matrix = RMinHash.digest_matrix_from_token_sets_rho([word_shingles(text) for text in texts], 128, 42)
    flags = np.array(RMinHashLSH(threshold=THRESHOLD, num_perm=128, num_bands=16).query_duplicate_flags_matrix_one_shot(matrix))
    return ~flags.astype(np.bool_), {}


def run_two_threads(path: str | None):
    """The same job on two threads."""
    return run_lookalike(path, threads=2)


def run_estimates(path: str | None):
    """The same job by estimates only, as the peers do it."""
    return run_lookalike(path, verify="sketch")


CONTESTANTS = {
    "lookalike": run_lookalike, "lookalike, estimates": run_estimates, "lookalike, 2 threads": run_two_threads, "rensa": run_rensa, "rensa, rho": run_rensa_rho,
    "gaoya": run_gaoya, "FastSketchLSH": run_fast_sketch_lsh, "datasketch": run_datasketch,
}  # fmt: skip
BANDS = {  # bands and rows by each tool's own choice; how rensa's deduplicator chooses is not documented
    "lookalike": (16, 6), "lookalike, estimates": (16, 6), "lookalike, 2 threads": (16, 6), "rensa, rho": (16, 8),
    "gaoya": (16, 8), "FastSketchLSH": (16, 8), "datasketch": (9, 13),
}  # fmt: skip
SLOW, FLAGS_ALL = ("datasketch",), ("rensa, rho",)


def resident() -> int:
    """Resident bytes of this process now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def work(name: str, path: str, out: str) -> None:
    """Run one contestant in this process."""
    CONTESTANTS[name](None)
    idle = resident()
    start = time.perf_counter()
    keep, stages = CONTESTANTS[name](path)
    seconds = time.perf_counter() - start
    peak = int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) * 1024
    np.save(out, keep)
    print(json.dumps({"seconds": seconds, "peak": peak, "increase": peak - idle, "stages": stages}))


def judge(keep: np.ndarray, neighbours: dict[int, list[int]], flags_all: bool) -> tuple[float, float]:
    """Return (recall, precision) of removals among the sampled documents; or of flags on all that have a near-duplicate."""
    if flags_all:
        flagged, alike = (np.array(x) for x in zip(*((not keep[row], bool(o)) for row, o in neighbours.items()), strict=True))
        return float(flagged[alike].mean()), float(alike[flagged].mean())
    right = missed = wrong = 0
    for row, others in neighbours.items():
        if keep[row]:
            missed += any(keep[other] for other in others if other < row)
        elif any(keep[other] for other in others):
            right += 1
        else:
            wrong += 1
    return right / max(1, right + missed), right / max(1, right + wrong)


def measure(path: Path, names: list[str], repeats: int) -> list[dict]:
    """Run the contestants in turns and judge them."""
    from truth import exact_pairs

    import lookalike as la

    texts = pq.read_table(path, columns=["text"])["text"]
    n_bytes = sum(len(t.as_py().encode()) for t in texts)
    sample = np.random.default_rng(1).permutation(len(texts))[:1500]
    neighbours: dict[int, list[int]] = {row: [] for row in sample.tolist()}
    for a, b in exact_pairs(la.shingle(texts), sample, THRESHOLD):
        for row, other in ((a, b), (b, a)):
            if row in neighbours:
                neighbours[row].append(other)
    runs: dict[str, list[dict]] = {name: [] for name in names}
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "RAYON_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(repeats):
            for name in names:
                if turn and name in SLOW:
                    continue
                command = [sys.executable, __file__, "--work", name, str(path), f"{folder}/{name}.npy"]
                done = subprocess.run(command, env={**os.environ, **one_thread}, capture_output=True, text=True, check=True)
                runs[name].append(json.loads(done.stdout.splitlines()[-1]))
        out = []
        for name in names:
            best = min(runs[name], key=lambda run: run["seconds"])
            keep = np.load(f"{folder}/{name}.npy")
            recall, precision = judge(keep, neighbours, name in FLAGS_ALL)
            rate = n_bytes / 1e6 / best["seconds"]
            out.append({"name": name, "rate": rate, "documents": len(texts), "recall": recall, "precision": precision,
                        "kept": int(keep.sum()), "mb": n_bytes / 1e6, **best})  # fmt: skip
            print(out[-1], flush=True)
    return out


def table(results: list[dict]) -> str:
    """Render results as a Markdown table."""
    first = results[0]["rate"]
    lines = [
        "| tool | MB/s | documents/s | lookalike is faster by | peak memory, MB | increase over idle, MB | recall | "
        "precision | P(candidate at the threshold) | kept |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for r in results:
        name, _, way = r["name"].partition(", ")
        label = f"{name} {version(name)}" + (f", {way}" if way else "")
        bands, rows = BANDS.get(r["name"], (0, 0))
        candidate = f"{1 - (1 - THRESHOLD**rows) ** bands:.3f}" if bands else "not known"
        faster = "" if name == "lookalike" else f"{first / r['rate']:.1f} x"
        lines.append(
            f"| {label} | {r['rate']:.1f} | {r['documents'] * r['rate'] / r['mb']:,.0f} | "
            f"{faster} | "
            f"{r['peak'] / 1e6:,.0f} | {r['increase'] / 1e6:,.0f} | {r['recall']:.4f} | {r['precision']:.4f} | {candidate} | {r['kept']:,} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Measure and write the page."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT.parent / "shared/data/policies.parquet"
    if not path.exists():
        sys.exit(f"{path}: not there; name a parquet file with a column `text`")
    whole = measure(path, ["lookalike", "lookalike, estimates", "lookalike, 2 threads", "rensa", "gaoya"], 5)
    peers = [name for name in CONTESTANTS if name != "lookalike, 2 threads"]
    with tempfile.TemporaryDirectory() as folder:
        texts = pq.read_table(path, columns=["text"])["text"].to_pylist()
        rows, size = 0, 0
        while rows < len(texts) and size < SMALL_BYTES:
            size += len(texts[rows])
            rows += 1
        small, made = Path(folder) / "small.parquet", Path(folder) / "generated.parquet"
        pq.write_table(pa.table({"text": texts[:rows]}), small)
        part = measure(small, peers, 3)
        generated.write(str(made))
        drawn = measure(made, peers, 3)
    stages = "\n".join(f"| {name} | {seconds:.2f} |" for name, seconds in whole[0]["stages"].items())
    page = TEMPLATE.format(machine=f"{processor()}, {os.cpu_count()} processors, Python {platform.python_version()}",
                           name=path.name, whole=table(whole), part=table(part), drawn=table(drawn), stages=stages,
                           size=whole[0]["mb"], small=part[0]["mb"], made=drawn[0]["mb"],
                           made_documents=drawn[0]["documents"])  # fmt: skip
    (ROOT / "docs/benchmarks.md").write_text((page + "\n" + parts.sections()).rstrip() + "\n")


TEMPLATE = """# Benchmarks

One of the tools is ours. Written by `make bench` on {machine}; one thread each, in turns on the same files in one run;
rates are those of the best of five runs each on the whole corpus, else of three (datasketch: one). From the file to duplicate
flags, reading and shingling included; five-word shingles, threshold 0.8.

*Recall* and *precision* are of removals, on 1,500 documents drawn at random, against exact resemblances with all others: a
removal is right if a document that the tool kept resembles the removed one by the threshold; a duplicate is missed if the
tool kept it although it had kept such a document before. rensa's rho way flags all members of a set of near-duplicates; for it
the figures are of flags on documents that have a near-duplicate. lookalike verifies each removal exactly; the peers do not.

## {name}, whole ({size:.0f} MB of text)

{whole}

Stages of lookalike, seconds:

| stage | seconds |
|---|---|
{stages}

## {name}, the first {small:.0f} MB

{part}

## {made_documents:,} generated documents ({made:.0f} MB)

Words by Zipf's law; a third are near-duplicates of earlier ones, of five kinds (`benchmarks/generated.py`), resembling them by about
.4 to .98.

{drawn}
"""

if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(*sys.argv[2:5])
    else:
        main()
