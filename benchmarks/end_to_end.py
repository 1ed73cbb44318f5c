"""Raw text files to duplicate flags: lookalike beside its peers; writes docs/benchmarks.md and figures of the README.

Each contestant (``contestants.py``) runs in a process of its own on one thread, in turns, on the same parquet file, with shingles of
five words and the same threshold. What a tool removed is compared with exact resemblances: a removal is right if some document
the tool kept resembles the removed one by the threshold; a duplicate is missed if the tool kept it although it kept such a
document before it.

Figures of each run are kept in ``benchmarks/results/end_to_end.jsonl``, of which ``page.py`` makes the page.

Usage: python benchmarks/end_to_end.py [--data FOLDER] [--quick]   (quick: little of each corpus, once, and nothing is written)
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import generated
import numpy as np
import page
import parts
import pyarrow.parquet as pq
from contestants import ALONE, CONTESTANTS, FLAGS_ALL, OF_SCRIPTS, ONCE, THRESHOLD, WARM, Clock, peak, write_texts

from lookalike.core import LEVEL

OURS = ["floor", "lookalike", "lookalike, estimates", "lookalike, 2 threads"]
QUICK_BYTES = 2e6


def resident() -> int:
    """Resident bytes of this process now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def touch_memory(size: int = 900 << 20) -> None:
    """Take memory and give it back: a virtual machine whose host takes freed pages away pays 2 s a GB at the next first touch.

    More than 1 GB would make the host take pages away while the job runs.
    """
    np.ones(size, np.uint8)
    Path("/proc/self/clear_refs").write_text("5")  # what this process had at most is forgotten


def work(name: str, path: str, out: str) -> None:
    """Run one contestant in this process, after it did a tiny job, and tell what it took."""
    with tempfile.TemporaryDirectory() as folder:
        for step, source in (("warm", write_texts(Path(folder) / "warm.parquet", WARM)), ("job", Path(path))):
            (Path(folder) / step).mkdir()
            if step == "job":
                touch_memory()
            idle, clock = resident(), Clock()
            keep = (CONTESTANTS | OF_SCRIPTS)[name](source, Path(folder) / step, clock)
    most = peak()
    np.save(out, keep)
    print(json.dumps({**clock.phases, "peak": most, "increase": most - idle, "stages": clock.stages}))


def counts(keep: np.ndarray, neighbours: dict[int, list[int]]) -> tuple[int, int, int]:
    """Return how many documents, of those whose neighbours are given, were removed rightly, missed, and removed wrongly."""
    right = missed = wrong = 0
    for row, others in neighbours.items():
        if keep[row]:
            missed += any(keep[other] for other in others if other < row)
        elif any(keep[other] for other in others):
            right += 1
        else:
            wrong += 1
    return right, missed, wrong


def judge(keep: np.ndarray, neighbours: dict[int, list[int]], flags_all: bool) -> tuple[float, float]:
    """Return (recall, precision) of removals among the sampled documents; or of flags on all that have a near-duplicate."""
    if flags_all:
        flagged, alike = (np.array(x) for x in zip(*((not keep[row], bool(o)) for row, o in neighbours.items()), strict=True))
        return float(flagged[alike].mean()), float(alike[flagged].mean())
    right, missed, wrong = counts(keep, neighbours)
    return right / max(1, right + missed), right / max(1, right + wrong)


def truth(texts: list[str], sample: int = 1500) -> dict[int, list[int]]:
    """Return what resembles each of some documents, drawn at random, by the threshold."""
    from truth import exact_pairs

    import lookalike as la

    rows = np.random.default_rng(1).permutation(len(texts))[:sample]
    neighbours: dict[int, list[int]] = {row: [] for row in rows.tolist()}
    for a, b in exact_pairs(la.shingle(texts), rows, THRESHOLD):
        for row, other in ((a, b), (b, a)):
            if row in neighbours:
                neighbours[row].append(other)
    return neighbours


def rounded(run: dict) -> dict:
    """Cut seconds to tenths of a millisecond."""
    return json.loads(json.dumps(run), parse_float=lambda x: round(float(x), 4))


def measure(
    corpus: str, path: Path, names: list[str], repeats: int, neighbours: dict[int, list[int]] | None = None
) -> list[dict]:
    """Run the contestants in turns and judge them, by the truth of a sample unless another is given; return a record of each."""
    texts = pq.read_table(path, columns=["text"])["text"].to_pylist()
    mb = sum(len(t.encode()) for t in texts) / 1e6
    neighbours = truth(texts) if neighbours is None else neighbours
    runs: dict[str, list[dict]] = {name: [] for name in names}
    out = []
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(repeats):
            for name in names:
                if turn == 0 or name not in ONCE:
                    command = [sys.executable, __file__, "--work", name, str(path), f"{folder}/{name}.npy"]
                    done = subprocess.run(
                        command, env={**os.environ, **ALONE, "HF_HOME": folder}, capture_output=True, text=True, check=False
                    )
                    if done.returncode:
                        sys.exit(f"{name} failed on {corpus}:\n{done.stderr[-3000:]}")
                    runs[name].append(rounded(json.loads(done.stdout.splitlines()[-1])))
        for name in names:
            keep = np.load(f"{folder}/{name}.npy")
            recall, precision = judge(keep, neighbours, name in FLAGS_ALL)
            package = name.partition(",")[0]
            try:
                made = version(package)
            except PackageNotFoundError:  # the floor is no package
                made = ""
            out.append({"corpus": corpus, "documents": len(texts), "mb": round(mb, 3), "name": name, "version": made,
                        "recall": round(recall, 5), "precision": round(precision, 5), "kept": int(keep.sum()),
                        "runs": runs[name]})  # fmt: skip
            print({key: value for key, value in out[-1].items() if key != "runs"}, *runs[name], flush=True)
    return out


def first(texts: list[str], size: float) -> list[str]:
    """Return the first texts, up to a number of characters."""
    taken, total = 0, 0
    while taken < len(texts) and total < size:
        total += len(texts[taken])
        taken += 1
    return texts[:taken]


def all_corpora(data: Path, folder: Path, quick: bool) -> list[dict]:
    """Make the corpora and measure all of them."""
    policies, licences = (
        pq.read_table(data / f"{name}.parquet", columns=["text"])["text"].to_pylist() for name in ("policies", "licences")
    )
    generated.write(str(folder / "made.parquet"), 1000 if quick else 40_000)
    texts = {
        "whole": policies, "part": first(policies, 50e6), "short": [text for text in licences if len(text) < 6000][:10_000],
        "edited": generated.retouched(first(licences, QUICK_BYTES) if quick else licences),
        "drawn": pq.read_table(folder / "made.parquet")["text"].to_pylist(),
    }  # fmt: skip
    large, all_of_them = [*OURS, "rensa", "gaoya"], [name for name in CONTESTANTS if name != "lookalike, 2 threads"]
    measured = []
    for name, corpus in texts.items():
        as_it_is = name == "whole" and not quick
        path = (
            data / "policies.parquet"
            if as_it_is
            else write_texts(folder / f"{name}.parquet", first(corpus, QUICK_BYTES) if quick else corpus)
        )
        small = name in ("part", "short")
        names = all_of_them if small else [*large, "FastSketchLSH"] if name == "drawn" else large
        measured += measure(name, path, names, 1 if quick else 3)
    return measured


def about() -> dict[str, str]:
    """Return what a file of results says of the machine and the code."""
    machine = f"{page.processor()}, {os.cpu_count()} processors, Python {platform.python_version()}"
    commit = subprocess.check_output(["git", "rev-parse", "--short", "HEAD"], cwd=page.ROOT, text=True).strip()
    return {"machine": machine, "kernels": LEVEL, "commit": commit, "date": time.strftime("%Y-%m-%d")}


def keep(path: Path, records: list[dict]) -> None:
    """Write figures, and the pages that are made of them."""
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    for written, text in page.written().items():
        written.write_text(text)


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--data", type=Path, default=page.ROOT.parent / "shared/data", help="has policies.parquet and licences.parquet"
    )
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    missing = [name for name in ("policies", "licences") if not (given.data / f"{name}.parquet").exists()]
    if missing:
        sys.exit(f"{given.data}: {', '.join(missing)}.parquet must be there, with a column `text`")
    with tempfile.TemporaryDirectory() as folder:
        records = [about(), *all_corpora(given.data, Path(folder), given.quick)]
    if given.quick:
        print(page.end_to_end(records))
        return
    records.append({"sections": parts.sections()})
    keep(page.RESULTS, records)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(*sys.argv[2:5])
    else:
        main()
