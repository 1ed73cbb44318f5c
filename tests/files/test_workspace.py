"""A work folder: what the job did not write stays, and what is damaged or hostile is refused."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest
from raising import assert_raises

import lookalike as la
from lookalike.errors import IndexFormatError, OutputError, ParameterError
from lookalike.files import workspace as workspace_module
from lookalike.files.arrays import write_arrays
from lookalike.files.layout import ChunkedArray
from lookalike.files.workspace import Workspace

JOB = {"threshold": 0.8}


def part(n=3):
    return {"values": np.arange(n)}


def run_killed(code, *given):
    """Run a program that kills itself: ``kill`` does it."""
    head = "import os, signal, sys, numpy as np\nfrom pathlib import Path\nfrom lookalike.files.workspace import Workspace\n"
    head += "kill = lambda: os.kill(os.getpid(), signal.SIGKILL)\n"
    done = subprocess.run([sys.executable, "-c", head + code, *map(str, given)], check=False)
    assert done.returncode == -signal.SIGKILL


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "w"


def test_a_folder_that_is_not_empty_and_not_ours_is_refused(folder):
    said = r"contains files that do not belong to a job \(.*\); name an empty or a new folder"
    folder.mkdir()
    files = ("holiday.part", ".x.tmp", "movie.tmp", "documents-000000.part", "job.json.old")
    for name, make, remove in (("x.part", Path.mkdir, Path.rmdir), *((name, Path.touch, Path.unlink) for name in files)):
        make(folder / name)
        assert_raises(ParameterError, said, Workspace, folder, JOB)
        assert os.listdir(folder) == [name]
        remove(folder / name)


def test_only_parts_of_the_job_are_removed(folder):
    space = Workspace(folder, JOB)
    space.append("texts", part())
    space.append("texts", part())
    (folder / "texts-mine.part").write_text("precious")
    write_arrays(folder / "texts-000009.part", part())
    left = ["job.json", "lock", "secret", "texts-000009.part", "texts-mine.part"]
    for remove, names in ((lambda: space.discard("texts"), left), (space.close, left[3:]), (space.close, left[3:])):
        remove()
        assert sorted(os.listdir(folder)) == names


def test_a_file_that_is_no_part_is_not_taken_for_one(folder):
    Workspace(folder, JOB).append("texts", part())
    for name in ("texts-000001", "roots"):
        write_arrays(folder / f"{name}.part", part())
        again = Workspace(folder, JOB)
        for use in (lambda again=again, name=name: again.get(name), lambda again=again, name=name: again.put(name, part())):
            assert_raises(IndexFormatError, "damaged, or not a part of this job", use)
        assert again.get("texts-000000")["values"].tolist() == [0, 1, 2]
        again._unlock()


def test_a_job_that_was_killed_while_its_parts_were_removed_is_over(tmp_path):
    code = (
        "space = Workspace(sys.argv[1], {})\n"
        "[space.append('texts', {'values': np.arange(3)}) for _ in range(4)]\n"
        "unlink, left = Path.unlink, [0] * int(sys.argv[2])\n"
        "Path.unlink = lambda path, **more: (left.pop() if left else kill(), unlink(path, **more))\n"
        "space.close()\n"
    )
    for moment in range(6):
        folder = tmp_path / str(moment)
        run_killed(code, folder, moment)
        again = Workspace(folder, JOB)  # another job may use the folder
        assert again.numbered_names("texts") == []
        again.close()
        assert not folder.exists() or not os.listdir(folder)


def test_a_temporary_file_of_a_killed_run_is_removed(folder):
    run_killed(
        "space = Workspace(sys.argv[1], {'threshold': 0.8})\n"
        "os.fsync = lambda file: kill()\n"
        "space.append('texts', {'values': np.arange(3)})\n",
        folder,
    )
    assert len(os.listdir(folder)) == 4
    (folder / ".mine.tmp").write_text("precious")
    Workspace(folder, JOB).close()
    assert os.listdir(folder) == [".mine.tmp"]


def signed(job, token="0123456789abcdef"):
    return json.dumps({"job": job, "token": token, "crc32": crc32(json.dumps([job, token], sort_keys=True).encode())})


def test_a_damaged_job_is_a_clear_error_and_another_one_is_refused(folder):
    folder.mkdir()
    damaged = IndexFormatError, r"job\.json: damaged, or of another version; name another work folder"
    another = ParameterError, r"holds an unfinished job with other parameters or inputs: .*threshold"
    for content in (
        "",
        "{",
        "null",
        "[]",
        "5",
        '"job"',
        '{"job": {}}',
        '{"job": {}, "crc32": 1}',
        '{"job": {}, "token": "x", "crc32": null}',
        "[" * 100_000,
        '{"a":' * 100_000,
        signed(5),
        signed([1]),
        signed({}, 5),
        "\ud800",
        "9" * 10_000,
        {},
        {"threshold": [[0.8]]},
        {"threshold": {"x": 1}},
        {"x\n": "\x1b[31m"},
        {"threshold": 10**400},
    ):
        error, said = damaged if isinstance(content, str) else another
        written = content if isinstance(content, str) else signed(content)
        (folder / "job.json").write_bytes(written.encode("utf-8", "surrogatepass"))
        assert_raises(error, said, Workspace, folder, JOB)


@pytest.mark.parametrize("name", ["lock", "job.json"])
def test_odd_files_in_the_place_of_ours(tmp_path, folder, name):
    """No link is followed, no pipe waited for."""
    folder.mkdir()
    path = folder / name
    for make, remove in (
        (lambda: path.symlink_to(tmp_path / "created"), path.unlink),
        (lambda: os.mkfifo(path), path.unlink),
        (path.mkdir, path.rmdir),
    ):
        make()
        assert_raises((OutputError, IndexFormatError), "", Workspace, folder, JOB)
        remove()
        assert not (tmp_path / "created").exists()


def test_what_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "in.jsonl").write_text('{"text": "a"}\n')
    for odd in ("file", "file/w", "n" * 300, "loop", "a\0b"):
        assert_raises(OutputError, "cannot be used as work folder", la.dedup, "in.jsonl", work=tmp_path / odd)
    assert (tmp_path / "file").read_text() == "mine"


def test_a_work_folder_whose_job_just_ended_is_not_shared(folder, monkeypatch):
    """Whoever waits with the lock of a folder that is gone has nothing."""
    first = Workspace(folder, JOB)
    flock = fcntl.flock
    monkeypatch.setattr(fcntl, "flock", lambda file, how: (monkeypatch.undo(), first.close(), flock(file, how)))
    assert_raises(OutputError, "another process is using this folder", Workspace, folder, JOB)


def test_no_temporary_folder(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    space = Workspace()
    space.put("roots", part())
    assert_raises(OutputError, "no temporary folder can be made: No such file or directory; set TMPDIR", space.move_to_disk)


def test_parts_can_be_read_while_they_move_to_the_disk(monkeypatch):
    """Threads go on reading: each part is in memory until its file is whole."""
    space = Workspace()
    seen = []
    for n in range(5):
        space.append("keys", part(n))

    def look():
        seen.append([len(space.get(name)["values"]) for name in space.numbered_names("keys")])

    def watched(path, arrays, meta):
        look()
        write_arrays(path, arrays, meta)
        look()

    monkeypatch.setattr(workspace_module, "write_arrays", watched)
    space.move_to_disk()
    look()
    assert seen == [[0, 1, 2, 3, 4]] * 11 and not space._held
    space.close()


def test_what_comes_in_pieces_is_put_together(folder):
    """On the way to the file, or in memory."""
    pieces = [np.arange(12).reshape(6, 2)[:, 1], np.arange(2)]
    for space in (Workspace(None, JOB), Workspace(folder, JOB)):
        space.put("x", {"several": ChunkedArray(np.int64, (8,), pieces), "one": ChunkedArray(np.int64, (2,), pieces[1:])})
        found = space.get("x")
        assert found["several"].tolist() == [1, 3, 5, 7, 9, 11, 0, 1] and found["one"].tolist() == [0, 1]
        assert folder.exists() or found["one"] is pieces[1]


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="needs /proc to tell which folder was synced")
def test_what_says_whose_the_parts_are_is_the_last_to_go(folder, monkeypatch):
    """On the disk too: after a loss of power, parts that nobody owns would make a folder of no use."""
    space = Workspace(folder, JOB)
    space.append("texts", part())
    seen = []
    fsync = os.fsync

    def synced(file):
        path = os.readlink(f"/proc/self/fd/{file}")
        seen.append(sorted(os.listdir(path)) if os.path.isdir(path) else path)
        fsync(file)

    monkeypatch.setattr(os, "fsync", synced)
    space.close()
    assert seen == [["finished.json", "lock", "secret", "texts-000000.part"], ["finished.json", "lock"]]


def test_what_a_crash_leaves_of_discarded_parts_has_no_gap(folder, monkeypatch):
    """Parts behind a gap would be taken for those of a later run, once that has filled it."""
    space = Workspace(folder, JOB)
    for _ in range(12):
        space.append("texts", part())
    unlink = Path.unlink
    left = iter(range(3))

    def interrupted(path, missing_ok=False):
        if next(left, None) is None:
            raise KeyboardInterrupt
        unlink(path, missing_ok=missing_ok)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Path, "unlink", interrupted)
        space.discard("texts")
    assert sorted(p.name for p in folder.glob("*.part")) == [f"texts-{i:06}.part" for i in range(9)]
    space.close()
