"""A cluster whose machines share nothing but an object store; the driver is killed amid the job, and once more while files are written."""

import json
import subprocess
import sys
from contextlib import closing

import pyarrow.parquet as pq
import pytest
from object_store import held, put_folder
from spark.cluster import descendants, kill_all, wait_for
from spark.cluster_runs import local, write_corpus

import lookalike as la

pytestmark = [pytest.mark.spark, pytest.mark.slow]
CLUSTER = ("--engine", "spark", "--set", "master=local-cluster[2,1,1024]", "--set", "conf=spark.sql.shuffle.partitions=2",
           "--set", "conf=spark.driver.host=127.0.0.1", "--set", "conf=spark.executor.memory=600m")  # fmt: skip


def started(arguments, log):
    """The program, as a process that can be killed."""
    with open(log, "wb") as out:
        return subprocess.Popen([sys.executable, "-m", "lookalike", *arguments], stdout=out, stderr=subprocess.STDOUT)


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
    killed_once([*arguments], log, lambda: held(clean))
    assert {name: data for name, data in held(job).items() if name in before} == {name: tables[name] for name in before}
    assert "_lookalike.json" not in held(clean)
    process = started([*arguments], log)
    assert process.wait(300) == 0, log.read_text()[-3000:]
    assert not held(job)
    decisions, _ = local(paths, frame=False)
    kept = decisions.filter(decisions["kept"])["position"].to_pylist()
    written = held(clean)
    assert json.loads(written.pop("_lookalike.json"))["files"] == sorted(written) == ["0.parquet", "1.parquet"]
    for number, path in enumerate(paths):
        (tmp_path / "found.parquet").write_bytes(written[f"{number}.parquet"])
        rows = [position & ((1 << 40) - 1) for position in kept if position >> 40 == number]
        assert pq.read_table(tmp_path / "found.parquet").equals(pq.read_table(path).take(rows))


def test_a_week_after_the_other(tmp_path, bucket):
    """Documents, sketches, work folder and output in a bucket; the second week is written as one machine writes it."""
    (tmp_path / "in").mkdir()
    paths = write_corpus(tmp_path / "in")
    put_folder(tmp_path / "in", bucket / "in")
    for week in (0, 1):
        against = ["--against", f"{bucket}history"] if week else []
        arguments = ["dedup", f"{bucket}in/{week}.parquet", *against, "--set", f"save_sketches={bucket}history/w{week}", *CLUSTER,
                     "--work", f"{bucket}job", "-o", f"{bucket}clean/w{week}"]  # fmt: skip
        process = started(arguments, tmp_path / "log")
        assert process.wait(300) == 0, (tmp_path / "log").read_text()[-3000:]
        with closing(la.dedup(paths[week], against=[tmp_path / "0"] if week else None, threads=1)) as result:
            result.write(tmp_path / str(week))
            assert week == 0 or any(row["duplicate_is_reference"] for row in result.decisions.to_pylist())
        (tmp_path / "found.parquet").write_bytes(held(bucket / f"clean/w{week}")[f"{week}.parquet"])
        assert pq.read_table(tmp_path / "found.parquet").equals(pq.read_table(tmp_path / f"{week}/{week}.parquet"))
    assert {name.split("/")[0] for name in held(bucket)} == {"in", "history", "clean"}
    assert {name.split("/")[0] for name in held(bucket / "history")} == {"w0", "w1"}
