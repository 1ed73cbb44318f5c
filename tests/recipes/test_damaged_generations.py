"""Generations whose files are damaged, or are not what a job wrote: what is counted and merged of them is refused."""

import json
import os

import pyarrow.parquet as pq
import pytest
from weekly import HOW, weeks

import lookalike as la
from lookalike.files.descriptions import encoded


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def add():
    """Run jobs that count, for two weeks."""
    for number, table in enumerate(weeks(1)[:2]):
        pq.write_table(table, f"{number}.parquet")
        with la.History("history") as history:
            history.add([f"{number}.parquet"], f"clean/{number}", la.Settings(**HOW, threads=1, counts=True)).close()


@pytest.mark.parametrize("how", ["bytes", "rows", "gone"])
def test_damage_is_found(here, how):
    add()
    path = here / "history/000002/sketches-counts.parquet"
    if how == "bytes":
        data = bytearray(path.read_bytes())
        data[40:60] = bytes(20)
        path.write_bytes(data)
    elif how == "rows":
        pq.write_table(pq.read_table(path).slice(1), path)
    else:
        path.unlink()
    with la.History("history") as history:
        (problem,) = history.check()
        assert "sketches-counts.parquet: damaged" in problem or "cannot be read" in problem
        with pytest.raises(la.errors.InputDataError, match=r"000002/sketches-counts\.parquet"):
            history.counts()


@pytest.mark.parametrize("how", ["add", "list", "merge"])
def test_a_list_of_jobs_that_is_gone_is_missed(here, how):
    add()
    if how == "merge":
        with la.History("history") as history:
            history.compact()
    (here / "history/generations.json").unlink()
    with pytest.raises(la.errors.InputDataError, match=r"history/generations\.json is missing: .* would be added again"):
        la.History("history", read=how == "list")
    (here / "history/.lookalike_lock").unlink()
    with la.History("history") as history:
        names = ["000002"] if how == "merge" else ["000001", "000002"]
        assert [one.name for one in history.generations] == names and not any(one.jobs for one in history.generations)


def forge(folder, change):
    """Change a description, with a checksum that fits."""
    path = folder / "sketches.json"
    said = json.loads(path.read_text())
    del said["checksum"], said["seal"]
    change(said)
    path.write_bytes(encoded(said, own=False))


@pytest.mark.parametrize("what", ["bytes", "fewer", "pipe", "gone", "documents"])
def test_what_is_damaged_is_not_merged(what, here):
    """An error names the file, and all generations stay as they are."""
    add()
    folder = here / "history/000002"
    path, pipe = folder / "sketches-00000.parquet", None
    if what == "bytes":
        data = bytearray(path.read_bytes())
        data[200:240] = bytes(40)
        path.write_bytes(data)
    elif what == "fewer":
        pq.write_table(pq.read_table(path).slice(1), path)
        forge(folder, lambda said: said["files"][0].update(bytes=path.stat().st_size))
    elif what in ("pipe", "gone"):
        path.unlink()
        if what == "pipe":
            os.mkfifo(path)
            pipe = os.open(path, os.O_RDWR | os.O_NONBLOCK)  # a reader would wait
    else:
        forge(folder, lambda said: [one.update(rows=10**6) for one in (said["files"][0], said["inputs"][0])])
    wrong = r"000002/sketches-00000\.parquet: (damaged|cannot be)"
    with la.History("history") as history, pytest.raises(la.errors.InputDataError, match=wrong):
        history.compact()
    if pipe is not None:
        os.close(pipe)
    left = sorted(os.listdir("history"))
    assert left == [".lookalike_lock", "000001", "000002", "generations.json"]
