"""text-dedup's own job on Spark beside ours, on the same files: processor time, documents kept, wrong removals, pairs found.

    pip install --no-deps --target /tmp/text-dedup text_dedup==0.4.0 xxhash
    python benchmarks/spark_text_dedup.py --installed /tmp/text-dedup --gigabytes 0.15 0.59

``text_dedup/minhash_spark.py`` runs as it is, in a process of its own, with its own settings but the threshold, the column and
an index; it also needs scipy. Two things are ours. GraphFrames is a package for the JVM, which PyPI does not have: in its place
``text_dedup_job/graphframes.py`` finds connected components by the same algorithm, and processor time is told with that stage and
without it. And the script asks for 4,096 and 8,192 tasks, nearly all of them empty at these sizes: --tasks is the most that there
are (16, as our session has), and with ``--tasks 0`` they are those of the script. The start of the JVM does not count.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from spark import Peaks, files_of
from spark_usual import SAMPLE, shingles

HERE = Path(__file__).parent
THRESHOLD = 0.8


def numbered(files: list[str], folder: Path) -> int:
    """Write the files again with a number for each document; return how many there are."""
    folder.mkdir()
    n = 0
    for path in files:
        table = pq.read_table(path)
        pq.write_table(table.append_column("id", pa.array(np.arange(n, n + len(table)))), folder / Path(path).name)
        n += len(table)
    return n


def by_text_dedup(installed: Path, folder: Path, work: Path, cores: int, how: tuple[str, ...]) -> dict[str, Any]:
    """Run the script; return its marks (what all processes had used by then), peaks and wall time."""
    tasks, *more = how
    options = ["--master", f"local[{cores}]", "--driver-memory", "2g"]
    for name, value in {"ui.enabled": "false", "ui.showConsoleProgress": "false", "driver.host": "127.0.0.1", "log.level": "ERROR",
                        "local.dir": str(work)}.items():  # fmt: skip
        options += ["--conf", f"spark.{name}={value}"]
    paths = [str(HERE / "text_dedup_job"), str(installed), str(HERE), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {
        "PYSPARK_SUBMIT_ARGS": " ".join([*options, "pyspark-shell"]), "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "PYSPARK_PYTHON": sys.executable,
    }  # fmt: skip
    command = [sys.executable, str(HERE / "text_dedup_job/run_script.py"), str(installed / "text_dedup/minhash_spark.py"),
               tasks, "--input", str(folder), "--output", str(work / "out"), "--checkpoint_dir", str(work / "checkpoints"),
               "--column", "text", "--index", "id", "--threshold", str(THRESHOLD), "--debug", *more]  # fmt: skip
    began = time.perf_counter()
    with Peaks() as peaks, (work / "said").open("w+") as said:
        done = subprocess.run(command, env=environment, stderr=said, stdout=subprocess.DEVNULL, check=False)
        said.seek(0)
        lines = said.read().splitlines()
    if done.returncode:
        raise SystemExit("text-dedup's script failed:\n" + "\n".join(lines[-40:]))
    marks = {mark.pop("what"): mark for mark in (json.loads(line[2:]) for line in lines if line.startswith("<<{"))}
    return {"marks": marks, "peaks": peaks.peaks, "wall": time.perf_counter() - began}


def root_of(work: Path, n: int) -> np.ndarray:
    """Return the document that is kept for each one."""
    found = pq.read_table(work / "out-assignment/assignment.parquet")
    roots = np.arange(n)
    roots[found["id"].to_numpy()] = found["component"].to_numpy()
    return roots


def wrong(roots: np.ndarray, folder: Path) -> float:
    """Return which share of a sample of removals resembles the document that is kept for it by less than the threshold."""
    gone = np.flatnonzero(roots != np.arange(len(roots))).tolist()
    some = random.Random(1).sample(gone, min(SAMPLE, len(gone)))
    wanted = np.unique([*some, *roots[some].tolist()])
    texts = {}
    for path in sorted(folder.iterdir()):
        table = pq.read_table(path)
        table = table.filter(pc.is_in(table["id"], pa.array(wanted)))
        texts |= {
            number: shingles(text) for number, text in zip(table["id"].to_pylist(), table["text"].to_pylist(), strict=True)
        }
    alike = [len(texts[i] & texts[int(roots[i])]) / len(texts[i] | texts[int(roots[i])]) for i in some]
    return float(np.mean(np.array(alike) < THRESHOLD))


def pairs_of_ours(files: list[str], cores: int) -> tuple[np.ndarray, np.ndarray, float, int]:
    """Return each removed document and the one that is kept for it, by our job on one machine; its processor time; what it kept."""
    import lookalike as la

    began = time.process_time()
    result = la.dedup(files, threads=cores, threshold=THRESHOLD)
    cpu = time.process_time() - began
    rows = result.decisions.filter(pc.invert(result.decisions["kept"]))
    return rows["order"].to_numpy(), rows["keeper"].to_numpy(), cpu, result.summary.kept


def told(marks: dict[str, dict[str, float]], gb: float) -> None:
    """Print the processor time of the script, all of it and what is not ours."""
    kinds = ("driver", "jvm", "python")
    total = {kind: marks["end"][kind] - marks["session begun"][kind] for kind in kinds}
    ours = {kind: marks["components end"][kind] - marks["components begin"][kind] for kind in kinds}
    for what, used in (("with", total), ("without", {kind: total[kind] - ours[kind] for kind in kinds})):
        print(f"  CPU seconds a GB {what} connected components, which a stand-in of ours finds: {sum(used.values()) / gb:.1f} = "
              + " + ".join(f"{used[kind] / gb:.1f} {kind}" for kind in kinds))  # fmt: skip


def main() -> None:
    """Run the sizes asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--installed", type=Path, required=True, help="the folder that text_dedup 0.4.0 and xxhash are installed to"
    )
    parser.add_argument("--gigabytes", type=float, nargs="+", default=[0.15, 0.59])
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--tasks", type=int, default=16, help="of a shuffle; 0: those that the script asks for")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir(), "lookalike-generated"))
    parser.add_argument(
        "--plan", type=int, nargs=2, metavar=("BANDS", "ROWS"), help="not those that the script chooses: 16 6 are ours"
    )
    given = parser.parse_args()
    plan, how = given.plan, [str(given.tasks)]
    if plan is not None:
        how += ["--b", str(plan[0]), "--r", str(plan[1]), "--num_perm", str(plan[0] * plan[1])]
    given.folder.mkdir(exist_ok=True)
    for gigabytes in sorted(given.gigabytes):
        files = files_of(given.folder, gigabytes)
        right, left, cpu, kept = pairs_of_ours(files, given.cores)
        work = Path(tempfile.mkdtemp())
        n = numbered(files, work / "in")
        gb = sum(pc.sum(pc.binary_length(pq.read_table(path)["text"])).as_py() for path in files) / 1e9
        run = by_text_dedup(given.installed, work / "in", work, given.cores, tuple(how))
        roots = root_of(work, n)
        removed = roots != np.arange(n)
        bands = "its own bands" if plan is None else f"{plan[0]} bands of {plan[1]} rows"
        print(f"\n{gb:.2f} GB, {n:,} documents; text-dedup's script, {bands}, {given.tasks or 'its own number of'} tasks a shuffle: "
              f"{n - int(removed.sum()):,} kept, {run['wall']:.0f} s")  # fmt: skip
        told(run["marks"], gb)
        print("  peaks " + ", ".join(f"{kind} {size / 1e6:,.0f} MB" for kind, size in run["peaks"].items()))
        print(
            f"  {wrong(roots, work / 'in'):.1%} of a sample of its removals resemble what is kept for them by less than {THRESHOLD}"
        )
        own = np.arange(n)
        own[right] = left
        print(f"  lookalike on one machine: {kept:,} kept, {cpu / gb:.1f} CPU seconds a GB, {wrong(own, work / 'in'):.1%} of such a sample; of its {len(right):,} pairs of a removed and "
              f"a kept document, text-dedup has {float(np.mean(roots[right] == roots[left])):.2%} in one component, and removes "
              f"{float(np.mean(removed[right])):.2%} of those removed", flush=True)  # fmt: skip
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
