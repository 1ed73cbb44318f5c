import subprocess
from contextlib import contextmanager

import pytest
from spark.cluster import Cluster
from spark.cluster_runs import Run, local, write_corpus

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture(scope="module")
def cluster():
    with Cluster(1) as made:
        yield made


@contextmanager
def small_disk(folder, size):
    """Yields what makes it larger."""
    folder.mkdir()

    def mount(*options):
        return subprocess.run(["mount", "-t", "tmpfs", *options, "tmpfs", str(folder)], capture_output=True, text=True)

    made = mount("-o", f"size={size}")
    if made.returncode:
        pytest.skip(f"nothing can be mounted here: {made.stderr.strip()}")
    try:
        yield lambda more: mount("-o", f"remount,size={more}").check_returncode()
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def holds_once_there_is_space(cluster, folder, paths, make_larger, must_fail, **how):
    """Nothing is half published."""
    run = Run(cluster, folder, paths, **how)
    last, stored, lost = run.wait(), run.stored(), run.lost()
    assert not run.decisions.exists() or last.get("done")
    said = "" if last.get("done") else last.get("refused") or last["failed"]
    assert lost or must_fail
    if said or must_fail:
        assert "o space left on" in said
        make_larger("500m")
        run = Run(cluster, folder, paths, **how)
        run.finished()
        assert not stored & set(run.made)
    assert run.same_as(local(paths, how.get("frame", False)))


def test_a_disk_of_one_worker_is_full(cluster, tmp_path):
    with small_disk(tmp_path / "disk", "64k") as make_larger:
        cluster.start_worker(tmp_path / "disk")
        holds_once_there_is_space(cluster, tmp_path, write_corpus(tmp_path), make_larger, must_fail=False)
        cluster.kill(list(cluster.workers)[-1])


@pytest.mark.parametrize("how", [{}, {"frame": True, "id": "key"}], ids=["files", "frame"])
def test_the_disk_of_the_work_folder_is_full(cluster, tmp_path, how):
    with small_disk(tmp_path / "disk", "200k") as make_larger:
        work = str(tmp_path / "disk/work")
        holds_once_there_is_space(cluster, tmp_path, write_corpus(tmp_path), make_larger, must_fail=True, work=work, **how)
