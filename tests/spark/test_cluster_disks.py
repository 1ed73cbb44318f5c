"""Disks are full: a job goes on elsewhere, or ends with an error that says so, and goes on once there is space."""

import subprocess
from contextlib import contextmanager

import pytest
from spark.cluster import Cluster
from spark.cluster_runs import Run, expected, local, write_corpus

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture(scope="module")
def cluster():
    with Cluster(1) as made:
        yield made


@contextmanager
def small_disk(folder, size):
    """A file system of its own in a folder; yields what makes it larger."""
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


def ended(run):
    """How a run ended: "" if well, else its error, after which nothing is half published."""
    last = run.wait()
    assert not run.decisions.exists() or last.get("done")
    return "" if last.get("done") else last.get("refused") or last["failed"]


def test_a_disk_of_one_worker_is_full(cluster, tmp_path):
    """Either the job ends well by the other worker, or it says why not; it goes on once there is space."""
    paths = write_corpus(tmp_path)
    with small_disk(tmp_path / "disk", "64k") as make_larger:
        cluster.start_worker(tmp_path / "disk")
        run = Run(cluster, tmp_path, paths)
        said, stored = ended(run), run.stored()
        print(f"ended {said!r:.600} after {sorted(stored)}; tasks lost: {run.lost()}")
        assert run.lost()
        if said:
            assert "o space left on" in said
            make_larger("500m")
            run = Run(cluster, tmp_path, paths)
            run.finished()
            assert not stored & set(run.made)
        assert run.same_as(expected(paths))
        cluster.kill(list(cluster.workers)[-1])


@pytest.mark.parametrize("frame", [False, True], ids=["files", "frame"])
def test_the_disk_of_the_work_folder_is_full(cluster, tmp_path, frame):
    paths, how = write_corpus(tmp_path), {"frame": True, "id": "key"} if frame else {}
    with small_disk(tmp_path / "disk", "200k") as make_larger:
        how["work"] = str(tmp_path / "disk/work")
        run = Run(cluster, tmp_path, paths, **how)
        said, stored = ended(run), run.stored()
        print(f"ended {said!r:.600} after {sorted(stored)}; tasks lost: {run.lost()}")
        assert "o space left on" in said
        make_larger("500m")
        run = Run(cluster, tmp_path, paths, **how)
        run.finished()
        assert not stored & set(run.made)
        assert run.same_as(local(paths, frame))
