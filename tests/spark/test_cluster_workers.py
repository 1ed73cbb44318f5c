import time

import pytest
from spark.cluster import Cluster
from spark.cluster_runs import Run, local, write_corpus
from waiting import until

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture(scope="module")
def cluster():
    with Cluster() as made:
        yield made


@pytest.mark.parametrize("every", [3, 1])
def test_a_worker_is_killed_in_each_stage(cluster, tmp_path, every):
    """A full cluster is there each time; a worker dies once its tasks have begun, or once rows are written, by turns."""
    paths = write_corpus(tmp_path)
    run = Run(cluster, tmp_path, paths, asks=True)
    kills = 0
    for number, name in enumerate(run.tables()):
        if name == "result":
            break
        if number % every:
            run.go()
            continue
        cluster.wait_for_executors()
        before = run.stages()
        run.go()
        if kills % 2:
            until(lambda: [*run.work.glob(f"tables/{name}/*")] or run.made[-1] != name)  # noqa: B023
        else:
            until(lambda: run.stages() > before)  # noqa: B023
            time.sleep(0.05 * (kills % 5))
        cluster.kill(next(iter(cluster.workers)))
        cluster.start_worker(waits=False)
        kills += 1
    run.finished()
    assert run.same_as(local(paths))
    assert kills == -(-(len(run.made) - 1) // every) > 8 // every
    assert sum(run.lost().values()) > 0
    assert len(set(run.made)) == len(run.made)


@pytest.mark.parametrize("tokenizer", ["dawdles", "stumbles"])
def test_speculation_and_retries(cluster, tmp_path, tokenizer):
    """A task that takes long is run twice, one that fails again; files of attempts that are lost do no harm."""
    paths = write_corpus(tmp_path)
    speculation = {
        "spark.speculation": "true", "spark.speculation.interval": "50ms", "spark.speculation.multiplier": "1.5",
        "spark.speculation.quantile": "0.5", "spark.speculation.minTaskRuntime": "50ms",
    }  # fmt: skip
    run = Run(cluster, tmp_path, paths, frame=True, id="key", tokenizer=tokenizer, session=speculation)
    run.finished()
    assert run.same_as(local(paths, frame=True, tokenizer=tokenizer))
    assert run.lost()["TaskKilled" if tokenizer == "dawdles" else "ExceptionFailure"]
