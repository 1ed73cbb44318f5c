"""A cluster whose machines share nothing but an object store; the driver is killed amid the job, and once more while files are written."""

import json
import subprocess
import sys

import pyarrow.parquet as pq
import pytest
from object_store import held, put_folder
from spark.cluster import descendants, kill_all, wait_for
from spark.cluster_runs import local, write_corpus

pytestmark = [pytest.mark.spark, pytest.mark.slow]
CLUSTER = ("--engine", "spark", "--master", "local-cluster[2,1,1024]", "--conf", "spark.sql.shuffle.partitions=2",
           "--conf", "spark.driver.host=127.0.0.1", "--conf", "spark.executor.memory=600m")  # fmt: skip


def started(arguments, log):
    """The program, as a process that can be killed."""
    with open(log, "wb") as out:
        return subprocess.Popen([sys.executable, "-m", "semblance", *arguments], stdout=out, stderr=subprocess.STDOUT)


def killed_once(arguments, log, holds):
    """Run the program until something holds, and kill it with its JVMs."""
    process = started(arguments, log)
    try:
        wait_for(lambda: holds() or process.poll() is not None, "the time to kill it", 300)
        assert process.poll() is None, log.read_text()[-3000:]
    finally:
        kill_all(descendants([process.pid]))
        process.wait()


def test_from_bucket_to_bucket(tmp_path, bucket):
    (tmp_path / "in").mkdir()
    paths = write_corpus(tmp_path / "in")
    put_folder(tmp_path / "in", bucket / "in")
    job, clean, log = bucket / "job", bucket / "clean", tmp_path / "log"
    arguments = ["dedup", f"{bucket}in/*.parquet".replace("s3:", "s3a:"), *CLUSTER, "--work", str(job), "-o", str(clean)]

    def stored():
        return {name for name in held(job) if name.endswith(".done")}

    killed_once(arguments, log, lambda: len(stored()) > 3)
    before, tables = stored(), held(job)
    assert not held(clean)
    killed_once([*arguments, "--resume"], log, lambda: held(clean))
    assert {name: data for name, data in held(job).items() if name in before} == {name: tables[name] for name in before}
    assert "_semblance.json" not in held(clean)
    process = started([*arguments, "--resume"], log)
    assert process.wait(300) == 0, log.read_text()[-3000:]
    assert not held(job)
    decisions, _ = local(paths, frame=False)
    kept = decisions.filter(decisions["kept"])["position"].to_pylist()
    written = held(clean)
    assert json.loads(written.pop("_semblance.json"))["files"] == sorted(written) == ["0.parquet", "1.parquet"]
    for number, path in enumerate(paths):
        (tmp_path / "found.parquet").write_bytes(written[f"{number}.parquet"])
        rows = [position & ((1 << 40) - 1) for position in kept if position >> 40 == number]
        assert pq.read_table(tmp_path / "found.parquet").equals(pq.read_table(path).take(rows))
