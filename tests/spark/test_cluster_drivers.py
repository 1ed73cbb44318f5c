"""Decisions of resumed jobs are those of one machine, and nothing is made twice."""

import os
import signal

import pytest
from spark.cluster import Cluster, descendants, is_alive, kill_all
from spark.cluster_runs import Run, local, write_corpus
from waiting import until

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture(scope="module")
def cluster():
    with Cluster(1) as made:
        yield made


def is_stored(name):
    """Workers are started, and results read, each time."""
    return name not in ("starting workers", "result")


def turn_of(run, stored, last):
    """Return which tables were stored, and what is about to be made."""
    made = []
    for name in run.tables():
        if name == "result" or (made and (last is None or made[-1] in last)):
            return made, name
        if is_stored(name):
            assert name not in stored
            made.append(name)
        run.go()
    raise AssertionError(f"{run.said}\n{run.errors.read_text()[-3000:]}")


EACH = None
CASES = {"files": (EACH, {}), "frame": (("sketches-unsorted", "sketches", "matches"), {"frame": True, "id": "key"})}


@pytest.mark.parametrize("case", CASES)
def test_the_driver_is_killed_after_tables(cluster, tmp_path, case):
    """Every other one is killed while the next table is half written, and every third one's JVM ends by itself."""
    paths, (ends, how) = write_corpus(tmp_path), CASES[case]
    stored, n, halves, after = [], 0, 0, ""
    while after != "result":
        run = Run(cluster, tmp_path, paths, asks=True, **how)
        names, after = turn_of(run, stored, ends)
        stored += names
        if n == 0:
            assert "another process is using this folder" in Run(cluster, tmp_path, paths, **how).wait()["refused"]
        if n % 2 and is_stored(after):
            run.go()
            until(lambda: [*run.work.glob(f"tables/{after}/*")] or run.made[-1] != after)  # noqa: B023
            halves += f"{after}.done" not in os.listdir(run.work / "tables")
        run.kill(with_java=n % 3 != 0)
        n += 1
        if n == 2:
            refused = Run(cluster, tmp_path, paths, threshold=0.7, **how).wait()["refused"]
            assert "with other parameters" in refused and "threshold" in refused
    last = Run(cluster, tmp_path, paths, **how)
    last.finished()
    assert [name for name in last.made if is_stored(name)] == []  # the one before was killed while results were read
    assert len(set(stored)) == len(stored) > 8 and halves
    assert last.same_as(local(paths, case == "frame"))


def test_an_old_driver_that_wakes_up_spoils_nothing(cluster, tmp_path):
    """A driver's Python is killed while its JVM sleeps; that wakes, and gives up, while the next one writes the same table."""
    paths, gate = write_corpus(tmp_path), tmp_path / "gate"
    gate.touch()
    reached, how = tmp_path / "gate.reached", {"tokenizer": "waits", "environment": {"LOOKALIKE_TEST_GATE": str(gate)}}
    how["session"] = {"spark.executorEnv.LOOKALIKE_TEST_GATE": str(gate), "spark.cores.max": "1"}
    first = Run(cluster, tmp_path, paths, **how)
    until(reached.exists)
    old = [process for process in descendants(first.process.pid) if process != first.process.pid]
    for process in old:
        os.kill(process, signal.SIGSTOP)
    try:
        first.kill(with_java=False)
        reached.unlink()
        cluster.start_worker()
        second = Run(cluster, tmp_path, paths, **how)
        until(reached.exists)
        for process in old:
            os.kill(process, signal.SIGCONT)
        until(lambda: not any(map(is_alive, old)))
    finally:
        kill_all(old)
        gate.unlink()
    second.finished()
    assert second.same_as(local(paths, tokenizer="waits"))
