import fcntl
import json
import os
import signal
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest
from files.folder_files import stopped
from object_store import held
from raising import assert_raises

import lookalike as la
from lookalike.errors import IndexFormatError, OutputError, ParameterError
from lookalike.files import workspace as workspace_module
from lookalike.files.arrays import write_arrays
from lookalike.files.folder import Store, put
from lookalike.files.layout import ChunkedArray
from lookalike.files.urls import Url
from lookalike.files.workspace import Workspace, open_workspace

JOB, OTHER = {"threshold": 0.8}, {"threshold": 0.7}


def part(n=3):
    return {"values": np.arange(n)}


@pytest.fixture
def disk(tmp_path):
    return tmp_path / "w"


@pytest.fixture(params=["disk", "store"])
def folder(request, disk):
    return disk if request.param == "disk" else request.getfixturevalue("bucket") / "w"


def names(folder):
    found = held(folder) if isinstance(folder, Url) else (path.name for path in folder.glob("*"))
    return sorted({*found} - {"lock"})


def leave(space):
    """Unlock the folder, as the end of the process does."""
    getattr(space, "leave", lambda: None)()


def test_a_job_is_resumed_with_its_secret_and_another_is_refused(folder):
    space = open_workspace(folder, JOB)
    assert names(folder) == ["job.json", "secret"] and len(space.secret) == 16
    assert space.secret.hex().encode() not in (folder / "job.json").read_bytes()
    leave(space)
    said = r"holds an unfinished job with other parameters or inputs: threshold was 0\.8, is 0\.7"
    assert_raises(ParameterError, said, open_workspace, folder, OTHER)
    again = open_workspace(folder, JOB)
    assert again.secret == space.secret
    again.close()
    again.close()
    assert names(folder) == []
    assert open_workspace(folder, JOB).secret != space.secret != Workspace().secret


def test_a_folder_that_is_not_empty_and_not_ours_is_refused(folder):
    for name in ("holiday.jpg", ".x.tmp", "movie.tmp", "documents-000000.part", "job.json.old"):
        put(folder / name, b"precious")
        said = rf"contains files that do not belong to a job \({name}\); name an empty or a new folder"
        assert_raises(ParameterError, said, open_workspace, folder, JOB)
        assert names(folder) == [name] and (folder / name).read_bytes() == b"precious"
        (folder / name).unlink()


def signed(job, token="0123456789abcdef"):
    return json.dumps({"job": job, "token": token, "crc32": crc32(json.dumps([job, token], sort_keys=True).encode())})


def test_a_damaged_job_or_secret_is_a_clear_error_and_another_job_is_refused(folder):
    leave(open_workspace(folder, JOB))
    whole, secret = ((folder / name).read_bytes() for name in ("job.json", "secret"))
    for written in (
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
        whole.decode().replace("0.8", "0.9"),
    ):
        (folder / "job.json").write_bytes(written.encode("utf-8", "surrogatepass"))
        said = r"job\.json: damaged, or of another version; name another work folder"
        assert_raises(IndexFormatError, said, open_workspace, folder, JOB)
    for other in ({}, {"threshold": [[0.8]]}, {"threshold": {"x": 1}}, {"x\n": "\x1b[31m"}, {"threshold": 10**400}):
        (folder / "job.json").write_bytes(signed(other).encode())
        assert_raises(ParameterError, "with other parameters or inputs: .*threshold", open_workspace, folder, JOB)
    (folder / "job.json").write_bytes(whole)
    for data in (secret[:-1], secret[:20] + b"?" + secret[21:], secret + b"?", b"", secret[:16]):
        (folder / "secret").write_bytes(data)
        said = r"secret: missing, damaged, unreadable, or of another job.*start again"
        assert_raises(IndexFormatError, said, open_workspace, folder, JOB)
    (folder / "secret").unlink()
    assert_raises(IndexFormatError, said, open_workspace, folder, JOB)


def test_a_job_that_was_killed_while_it_was_removed_is_over(folder):
    for moment in range(8):
        space = open_workspace(folder, JOB)
        for number in range(4):
            put(space.tables / "x", b"") if isinstance(folder, Url) else space.put(f"texts-00000{number}", part())
        with stopped(moment, (Store, "remove"), (type(folder), "unlink")):
            space.close()
        leave(space)
        again = open_workspace(folder, OTHER)
        assert names(folder) == ["job.json", "secret"]
        again.close()
        assert names(folder) == []


def test_only_parts_of_the_job_are_removed(disk):
    space = Workspace(disk, JOB)
    for _ in range(2):
        space.append("texts", part())
    (disk / "texts-mine.part").write_text("precious")
    write_arrays(disk / "texts-000009.part", part())
    left = ["job.json", "secret", "texts-000009.part", "texts-mine.part"]
    space.discard("texts")
    assert names(disk) == left
    for _ in range(2):
        space.close()
        assert sorted(os.listdir(disk)) == left[2:]


def test_a_file_that_is_no_part_is_not_taken_for_one(disk):
    Workspace(disk, JOB).append("texts", part())
    for name in ("texts-000001", "roots"):
        write_arrays(disk / f"{name}.part", part())
        again = Workspace(disk, JOB)
        assert_raises(IndexFormatError, "damaged, or not a part of this job", again.get, name)
        assert_raises(IndexFormatError, "damaged, or not a part of this job", again.put, name, part())
        assert again.get("texts-000000")["values"].tolist() == [0, 1, 2]
        again.leave()


KILLED = """
import os, signal, sys, numpy as np
from lookalike.files.workspace import Workspace
space = Workspace(sys.argv[1], {"threshold": 0.8})
os.fsync = lambda file: os.kill(os.getpid(), signal.SIGKILL)
space.append("texts", {"values": np.arange(3)})
"""


def test_a_temporary_file_of_a_killed_run_is_removed(disk):
    assert subprocess.run([sys.executable, "-c", KILLED, disk], check=False).returncode == -signal.SIGKILL
    assert len(names(disk)) == 3
    (disk / ".mine.tmp").write_text("precious")
    Workspace(disk, JOB).close()
    assert os.listdir(disk) == [".mine.tmp"]


def test_odd_files_in_the_place_of_ours(tmp_path):
    """No link is followed, no pipe waited for."""
    makes = (os.mkfifo, Path.mkdir, lambda path: path.symlink_to(tmp_path / "created"))
    for number, (name, make) in enumerate(product(("lock", "job.json"), makes)):
        folder = tmp_path / str(number)
        folder.mkdir()
        make(folder / name)
        assert_raises((OutputError, IndexFormatError), "", Workspace, folder, JOB)
        assert not Path("created").exists()


def test_what_is_no_folder():
    Path("file").write_text("mine")
    Path("loop").symlink_to("loop")
    Path("in.jsonl").write_text('{"text": "a"}\n')
    for odd in ("file", "file/w", "n" * 300, "loop", "a\0b"):
        assert_raises(OutputError, "cannot be used as work folder", la.dedup, "in.jsonl", work=odd)
    assert Path("file").read_text() == "mine"


def test_a_work_folder_whose_job_just_ended_is_not_shared(disk, monkeypatch):
    """Whoever waits with the lock of a folder that is gone has nothing."""
    first = Workspace(disk, JOB)
    flock = fcntl.flock
    monkeypatch.setattr(fcntl, "flock", lambda file, how: (monkeypatch.undo(), first.close(), flock(file, how)))
    assert_raises(OutputError, "another process is using this folder", Workspace, disk, JOB)


def test_parts_can_be_read_while_they_move_to_the_disk(monkeypatch, tmp_path):
    """Threads go on reading: each part is in memory until its file is whole."""
    space, seen = Workspace(), []
    for n in range(5):
        space.append("keys", part(n))

    def look():
        seen.append([len(space.get(name)["values"]) for name in space.numbered_names("keys")])

    with monkeypatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
        assert_raises(OutputError, "no temporary folder can be made: No such file or directory; set TMPDIR", space.move_to_disk)
    monkeypatch.setattr(workspace_module, "write_arrays", lambda *given: (look(), write_arrays(*given), look()))
    space.move_to_disk()
    look()
    assert seen == [[0, 1, 2, 3, 4]] * 11 and not space._held
    space.close()


def test_what_comes_in_pieces_is_put_together(disk):
    pieces = [np.arange(12).reshape(6, 2)[:, 1], np.arange(2)]
    for space in (Workspace(None, JOB), Workspace(disk, JOB)):
        space.put("x", {"several": ChunkedArray(np.int64, (8,), pieces), "one": ChunkedArray(np.int64, (2,), pieces[1:])})
        assert space.get("x")["several"].tolist() == [1, 3, 5, 7, 9, 11, 0, 1] and space.get("x")["one"].tolist() == [0, 1]


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="needs /proc to tell which folder was synced")
def test_what_says_whose_the_parts_are_is_the_last_to_go(disk, monkeypatch):
    """On the disk too: after a loss of power, parts that nobody owns would make a folder of no use."""
    space, seen, fsync = Workspace(disk, JOB), [], os.fsync
    space.append("texts", part())

    def synced(file):
        path = os.readlink(f"/proc/self/fd/{file}")
        seen.append(names(Path(path)) if os.path.isdir(path) else path)
        fsync(file)

    monkeypatch.setattr(os, "fsync", synced)
    space.close()
    assert seen == [["finished.json", "secret", "texts-000000.part"], ["finished.json"]]


def test_what_a_crash_leaves_of_discarded_parts_has_no_gap(disk):
    """Parts behind a gap would be taken for those of a later run, once that has filled it."""
    space = Workspace(disk, JOB)
    for _ in range(12):
        space.append("texts", part())
    with stopped(3, (Path, "unlink")):
        space.discard("texts")
    assert names(disk)[2:] == [f"texts-{i:06}.part" for i in range(9)]
    space.close()
