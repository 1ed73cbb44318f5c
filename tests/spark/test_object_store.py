"""Machines share nothing but an object store; the driver is killed amid the job, and once more while files are written."""

import json
import subprocess

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli.commands import process
from object_store import held, put_folder
from spark.cluster import descendants, kill_all
from spark.cluster_runs import local, write_corpus
from waiting import until

pytestmark = [pytest.mark.spark, pytest.mark.slow]
CLUSTER = """--engine spark --set master=local-cluster[2,1,1024] --set conf=spark.sql.shuffle.partitions=2
    --set conf=spark.driver.host=127.0.0.1 --set conf=spark.executor.memory=600m"""


def start(line, log):
    with open(log, "wb") as out:
        return subprocess.Popen(process(f"{line} {CLUSTER}"), stdout=out, stderr=subprocess.STDOUT)


def killed_once(line, log, holds):
    running = start(line, log)
    try:
        until(lambda: holds() or running.poll() is not None)
        assert running.poll() is None, log.read_text()[-3000:]
    finally:
        kill_all(descendants(running.pid))
        running.wait()


def finished(line, log):
    assert start(line, log).wait(300) == 0, log.read_text()[-3000:]


@pytest.fixture
def paths(tmp_path, bucket):
    (tmp_path / "in").mkdir()
    written = write_corpus(tmp_path / "in")
    put_folder(tmp_path / "in", bucket / "in")
    return written


def parquet(data):
    return pq.read_table(pa.BufferReader(data))


def test_from_bucket_to_bucket(tmp_path, bucket, paths):
    job, clean, log = bucket / "job", bucket / "clean", tmp_path / "log"
    line = f"dedup {bucket}in/*.parquet --work {job} -o {clean}".replace("s3:", "s3a:", 1)

    def stored():
        return {name for name in held(job) if name.endswith(".done")}

    killed_once(line, log, lambda: len(stored()) > 3)
    before, tables = stored(), held(job)
    assert not held(clean)
    killed_once(line, log, lambda: held(clean))
    assert {name: data for name, data in held(job).items() if name in before} == {name: tables[name] for name in before}
    assert "_lookalike.json" not in held(clean)
    finished(line, log)
    assert not held(job)
    decisions, _ = local(paths)
    kept = decisions.filter(decisions["kept"])["position"].to_pylist()
    written = held(clean)
    assert json.loads(written.pop("_lookalike.json"))["files"] == sorted(written) == ["0.parquet", "1.parquet"]
    for number, path in enumerate(paths):
        rows = [position & ((1 << 40) - 1) for position in kept if position >> 40 == number]
        assert parquet(written[f"{number}.parquet"]).equals(pq.read_table(path).take(rows))
