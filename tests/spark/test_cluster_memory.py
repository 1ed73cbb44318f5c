import re
import shutil
import threading
import time
from collections import defaultdict
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from spark.cluster import Cluster
from spark.cluster_runs import Run

pytestmark = [pytest.mark.spark, pytest.mark.slow]
BYTES = 2 << 30
PER_FILE = 25_000
SENTENCES = 60  # of a document
EVERY = 20  # documents one is a near duplicate of the one before
KINDS = {"driver JVM": "org.apache.spark.deploy.SparkSubmit", "executor JVM": "CoarseGrainedExecutorBackend",
         "Python of a task": "pyspark.daemon", "driver Python": "cluster_job.py"}  # fmt: skip


@contextmanager
def watched(processes):
    """Gives {kind: {process: its peak in MB}}."""
    over, found = threading.Event(), defaultdict(dict)

    def look():
        while not over.wait(0.5):
            for process in processes():
                with suppress(OSError, TypeError):
                    command, status = (Path(f"/proc/{process}/{name}").read_text() for name in ("cmdline", "status"))
                    peak = int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1000
                    found[next((kind for kind, mark in KINDS.items() if mark in command), None)][process] = round(peak)

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    yield found
    over.set()
    thread.join()


def write_much(folder, n_bytes, seed=1):
    rng = np.random.default_rng(seed)
    words = np.array([f"w{i:x}" for i in range(100_000)])
    pool = [" ".join(words[some]) for some in rng.integers(0, len(words), (200_000, 12))]
    paths, n, near, left = [], 0, 0, n_bytes
    while left > 0:
        texts = []
        drawn = rng.integers(0, len(pool), (PER_FILE, SENTENCES))
        drawn[EVERY - 1 :: EVERY, 1:] = drawn[EVERY - 2 :: EVERY, 1:]
        texts = [". ".join([pool[i] for i in row]) for row in drawn.tolist()]
        paths.append(str(folder / f"{len(paths):04}.parquet"))
        pq.write_table(pa.table({"text": texts}), paths[-1], row_group_size=2500, compression="zstd", use_dictionary=False)
        n, near, left = n + PER_FILE, near + PER_FILE // EVERY, left - sum(map(len, texts))
    return paths, n, near


@pytest.fixture
def folder(tmp_path):
    yield tmp_path
    shutil.rmtree(tmp_path)


def test_two_gigabytes_on_a_driver_of_half_a_gigabyte(folder):
    paths, n, near = write_much(folder, BYTES)
    started = time.monotonic()
    with Cluster() as cluster, watched(cluster.processes) as peaks:
        more = {"spark.executor.memory": "1g", "spark.sql.shuffle.partitions": "8"}
        done = Run(cluster, folder, paths, session=more).finished(3600)
    found = {kind: sorted(peaks[kind].values(), reverse=True) for kind in KINDS}
    print(f"{n:,} documents, {time.monotonic() - started:.0f} s; {done}; peaks in MB: {found}")
    assert done["kept"] == n - near
    assert max(found["driver JVM"]) < 1000
    assert max(found["driver Python"]) < 500
    assert max(found["Python of a task"]) < 1500
