"""What a job on Spark costs: processor time of JVM and Python by stage, bytes shuffled, memory of workers, growth.

    python benchmarks/spark.py --gigabytes 1 5 --usual

Texts are generated (see ``generated.py``), a third of them near-copies, and lie in files of 130 MB; the same files are done by
the engine for one machine. Processor time is read from /proc for all processes below this one; bytes shuffled are those of
Spark's event log. With --usual, the usual recipe of published pipelines runs on the same session: MinHash in a Python function,
bands exploded, buckets grouped, edges from the first document of each, connected components, one document kept of each.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from math import log
from pathlib import Path
from typing import Any

import generated

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
)  # of tasks
DOCUMENTS = 40_000  # of a file
TICK = os.sysconf("SC_CLK_TCK")


seen: dict[tuple[int, str], tuple[str, float]] = {}
"""Kind and processor time of each process, by number and when it began: workers end, and their time is nobody else's."""


def processes() -> Iterator[tuple[int, str, float]]:
    """Yield (number, kind, processor time) of each process below this one."""
    found: dict[int, tuple[int, str, float, str]] = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            text = Path("/proc", entry, "stat").read_text()
        except OSError:
            continue
        fields = text[text.rindex(")") + 2 :].split()
        name = text[text.index("(") + 1 : text.rindex(")")]
        found[int(entry)] = int(fields[1]), name, (int(fields[11]) + int(fields[12])) / TICK, fields[19]
    below = {os.getpid()}
    for _ in range(8):  # generations
        below |= {number for number, (parent, *_) in found.items() if parent in below}
    for number in below & set(found):
        _, name, seconds, began = found[number]
        kind = "driver" if number == os.getpid() else "python" if name.startswith("python") else "jvm"  # it forks
        seen[number, began] = kind, seconds
        yield number, kind, seconds


def used() -> dict[str, float]:
    """Return the processor time of all processes so far, by kind; of those that ended, what `Peaks` saw of them."""
    total = {"driver": 0.0, "jvm": 0.0, "python": 0.0}
    list(processes())
    for kind, seconds in list(seen.values()):
        total[kind] += seconds
    return total


class Peaks:
    """The largest resident size of any process of a kind, looked at twice a second."""

    def __init__(self) -> None:
        self.peaks: dict[str, int] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Peaks:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(0.5):
            for number, kind, _ in processes():
                try:
                    status = Path(f"/proc/{number}/status").read_text()
                except OSError:
                    continue
                if "VmHWM:" in status:
                    peak = int(status.partition("VmHWM:")[2].split()[0]) * 1024
                    self.peaks[kind] = max(peak, self.peaks.get(kind, 0))


def files_of(folder: Path, gigabytes: float) -> list[str]:
    """Return generated files of about so much text; those that are there are taken."""
    n = max(1, round(gigabytes / 0.148))
    for number in range(n):
        path = folder / f"part-{number:04}.parquet"
        if not path.exists():
            generated.write(str(path), DOCUMENTS, number + 1)
    return [str(folder / f"part-{number:04}.parquet") for number in range(n)]


def shuffled(log_folder: Path) -> int:
    """Return the bytes that tasks wrote for others."""
    total = 0
    for path in log_folder.glob("*"):
        with path.open() as lines:
            for line in lines:
                event = json.loads(line)
                if event["Event"] == "SparkListenerTaskEnd":
                    metrics = event.get("Task Metrics") or {}
                    total += metrics.get("Shuffle Write Metrics", {}).get("Shuffle Bytes Written", 0)
    return total


def start(log_folder: Path, cores: int) -> Any:
    """Start a session on this machine."""
    from lookalike import start_session

    return start_session(
        f"local[{cores}]",
        conf={
            "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.driver.host": "127.0.0.1",
            "spark.driver.memory": "2g", "spark.driver.maxResultSize": "16m", "spark.sql.shuffle.partitions": "16",
            "spark.eventLog.enabled": "true", "spark.eventLog.dir": log_folder.as_uri(), "spark.eventLog.rolling.enabled": "false",
            "spark.eventLog.compress": "false", "spark.log.level": "ERROR",
        },
    )  # fmt: skip


def by_spark(session: Any, files: list[str], log_folder: Path) -> dict[str, Any]:
    """Run a job; return its figures."""
    import lookalike as la

    marks: list[tuple[str, dict[str, float]]] = []
    before, began = shuffled(log_folder), time.perf_counter()

    def mark(stage: str, amount: int) -> None:
        if not marks or marks[-1][0] != stage:
            marks.append((stage, used()))

    work = tempfile.mkdtemp()
    first = used()
    with Peaks() as peaks, la.dedup(files, engine=session, work=f"{work}/job", progress=mark) as result:
        marks.append(("end", used()))
        wall = time.perf_counter() - began
        summary = result.summary
    shutil.rmtree(work)
    gigabytes = summary.text_bytes / 1e9
    stages: dict[str, dict[str, float]] = {}
    for (stage, was), (_, now) in zip([("starting", first), *marks], marks, strict=False):
        found = stages.setdefault(stage, dict.fromkeys(now, 0.0))
        for kind in now:
            found[kind] += now[kind] - was[kind]
    total = {kind: marks[-1][1][kind] - first[kind] for kind in first}
    return {
        "gigabytes": gigabytes, "documents": summary.documents, "kept": summary.kept, "near": summary.near_duplicates,
        "wall": wall, "cpu": total, "stages": stages, "shuffled": (shuffled(log_folder) - before) / summary.text_bytes,
        "peaks": dict(peaks.peaks),
    }  # fmt: skip


def by_one_machine(files: list[str], threads: int) -> dict[str, float]:
    """Run the same job by the local engine."""
    import lookalike as la

    began, cpu = time.perf_counter(), time.process_time()
    result = la.dedup(files, threads=threads)
    return {"wall": time.perf_counter() - began, "cpu": time.process_time() - cpu, "kept": result.summary.kept}


def told(run: dict[str, Any], local: dict[str, float]) -> None:
    """Print the figures of a size."""
    gb = run["gigabytes"]
    print(f"\n{gb:.2f} GB, {run['documents']:,} documents, {run['kept']:,} kept (one machine: {int(local['kept']):,})")
    for stage, cpu in run["stages"].items():
        print(f"  {stage:22s}" + "".join(f"{kind} {seconds / gb:7.2f}  " for kind, seconds in cpu.items()))
    print(f"  CPU seconds a GB: {sum(run['cpu'].values()) / gb:.1f} = "
          + " + ".join(f"{seconds / gb:.1f} {kind}" for kind, seconds in run["cpu"].items())
          + f"; one machine {local['cpu'] / gb:.1f}; {run['wall']:.0f} s and {local['wall']:.0f} s")  # fmt: skip
    print(f"  shuffled {run['shuffled']:.2f} of the text; peaks "
          + ", ".join(f"{kind} {size / 1e6:,.0f} MB" for kind, size in run["peaks"].items()))  # fmt: skip


def main() -> None:
    """Run the sizes asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, nargs="+", default=[1.0, 5.0])
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir(), "lookalike-generated"))
    parser.add_argument("--usual", action="store_true", help="the usual recipe, too, on the smallest size")
    given = parser.parse_args()
    given.folder.mkdir(exist_ok=True)
    logs = Path(tempfile.mkdtemp())
    runs = []
    sizes = {gigabytes: files_of(given.folder, gigabytes) for gigabytes in sorted(given.gigabytes)}
    locals_ = {gigabytes: by_one_machine(files, given.cores) for gigabytes, files in sizes.items()}
    session = start(logs, given.cores)
    by_spark(session, sizes[min(sizes)][:1], logs)  # compiles, starts workers
    for gigabytes, files in sizes.items():
        runs.append(by_spark(session, files, logs))
        told(runs[-1], locals_[gigabytes])
    if len(runs) > 1:
        small, large = runs[0], runs[-1]
        cpu = [sum(run["cpu"].values()) for run in (small, large)]
        grown = large["gigabytes"] / small["gigabytes"]
        added = large["gigabytes"] - small["gigabytes"]
        print(
            f"\ngrowth: exponent {log(cpu[1] / cpu[0]) / log(grown):.2f}; {(cpu[1] - cpu[0]) / added:.1f} CPU seconds each GB more"
        )
    if given.usual:
        from spark_usual import usual

        before, began = used(), time.perf_counter()
        kept, wrong = usual(session, sizes[min(sizes)])
        now, gb = used(), runs[0]["gigabytes"]
        print(f"\nthe usual recipe on {gb:.2f} GB: {kept:,} kept; {wrong:.1%} of the removals below .8; "
              f"{time.perf_counter() - began:.0f} s, CPU seconds a GB: "
              + " + ".join(f"{(now[kind] - before[kind]) / gb:.1f} {kind}" for kind in now))  # fmt: skip
    session.stop()
    shutil.rmtree(logs)


if __name__ == "__main__":
    main()
