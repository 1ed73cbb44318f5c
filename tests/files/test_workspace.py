"""A work folder: what the job did not write stays, and what is damaged or hostile is refused."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest

import lookalike as la
from lookalike.errors import IndexFormatError, OutputError, ParameterError
from lookalike.files import workspace as workspace_module
from lookalike.files.arrays import write_arrays
from lookalike.files.layout import ChunkedArray
from lookalike.files.workspace import Workspace

JOB = {"threshold": 0.8}


def part(n=3):
    return {"values": np.arange(n)}


def make(folder, name="holiday.part"):
    folder.mkdir()
    if name.endswith("/"):
        (folder / name).mkdir()
    else:
        (folder / name).write_text("precious")


@pytest.mark.parametrize("name", ["holiday.part", ".x.tmp", "movie.tmp", "x.part/", "documents-000000.part", "job.json.old"])
def test_a_folder_that_is_not_empty_and_not_ours_is_refused(tmp_path, name):
    make(tmp_path / "w", name)
    with pytest.raises(
        ParameterError, match=r"contains files that do not belong to a job \(.*\); name an empty or a new folder"
    ):
        Workspace(tmp_path / "w", JOB)
    assert [p.name for p in (tmp_path / "w").iterdir()] == [name.rstrip("/")]


def test_only_parts_of_the_job_are_removed(tmp_path):
    space = Workspace(tmp_path / "w", JOB)
    space.append("texts", part())
    space.append("texts", part())
    (tmp_path / "w/texts-mine.part").write_text("precious")
    write_arrays(tmp_path / "w/texts-000009.part", part())
    space.discard("texts")
    left = ["job.json", "lock", "secret", "texts-000009.part", "texts-mine.part"]
    assert sorted(os.listdir(tmp_path / "w")) == left
    space.close()
    assert sorted(os.listdir(tmp_path / "w")) == left[3:]
    space.close()


@pytest.mark.parametrize("name", ["texts-000001", "roots"])
def test_a_file_that_is_no_part_is_not_taken_for_one(tmp_path, name):
    Workspace(tmp_path / "w", JOB).append("texts", part())
    write_arrays(tmp_path / f"w/{name}.part", part())
    again = Workspace(tmp_path / "w", JOB)
    for use in (lambda: again.get(name), lambda: again.put(name, part())):
        with pytest.raises(IndexFormatError, match="damaged, or not a part of this job"):
            use()
    assert again.get("texts-000000")["values"].tolist() == [0, 1, 2]


def test_a_job_that_was_killed_while_its_parts_were_removed_is_over(tmp_path):
    code = (
        "import os, signal, sys, numpy as np\n"
        "from pathlib import Path\n"
        "from lookalike.files.workspace import Workspace\n"
        "space = Workspace(sys.argv[1], {})\n"
        "[space.append('texts', {'values': np.arange(3)}) for _ in range(4)]\n"
        "unlink, left = Path.unlink, [0] * int(sys.argv[2])\n"
        "def killed(path, **more):\n"
        "    left.pop() if left else os.kill(os.getpid(), signal.SIGKILL)\n"
        "    unlink(path, **more)\n"
        "Path.unlink = killed\n"
        "space.close()\n"
    )
    for moment in range(6):
        folder = tmp_path / str(moment)
        done = subprocess.run([sys.executable, "-c", code, str(folder), str(moment)], check=False)
        assert done.returncode == -signal.SIGKILL
        again = Workspace(folder, JOB)  # another job may use the folder
        assert again.numbered_names("texts") == []
        again.close()
        assert not folder.exists() or not os.listdir(folder)


def test_a_temporary_file_of_a_killed_run_is_removed(tmp_path):
    code = (
        "import os, signal, sys, numpy as np\n"
        "from lookalike.files.workspace import Workspace\n"
        "space = Workspace(sys.argv[1], {'threshold': 0.8})\n"
        "os.fsync = lambda file: os.kill(os.getpid(), signal.SIGKILL)\n"
        "space.append('texts', {'values': np.arange(3)})\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "w")], check=False)
    assert len(os.listdir(tmp_path / "w")) == 4
    (tmp_path / "w/.mine.tmp").write_text("precious")
    Workspace(tmp_path / "w", JOB).close()
    assert os.listdir(tmp_path / "w") == [".mine.tmp"]


def signed(job, token="0123456789abcdef"):
    return json.dumps({"job": job, "token": token, "crc32": crc32(json.dumps([job, token], sort_keys=True).encode())})


@pytest.mark.parametrize("content", [
    "", "{", "null", "[]", "5", '"job"', '{"job": {}}', '{"job": {}, "crc32": 1}', '{"job": {}, "token": "x", "crc32": null}', "[" * 100_000,
    '{"a":' * 100_000, signed(5), signed([1]), signed({}, 5), "\ud800", "9" * 10_000,
])  # fmt: skip
def test_a_damaged_job_is_a_clear_error(tmp_path, content):
    (tmp_path / "w").mkdir()
    (tmp_path / "w/job.json").write_bytes(content.encode("utf-8", "surrogatepass"))
    with pytest.raises(IndexFormatError, match=r"job\.json: damaged, or of another version; name another work folder"):
        Workspace(tmp_path / "w", JOB)


@pytest.mark.parametrize(
    "job", [{}, {"threshold": [[0.8]]}, {"threshold": {"x": 1}}, {"x\n": "\x1b[31m"}, {"threshold": 10**400}]
)
def test_another_job_is_refused(tmp_path, job):
    (tmp_path / "w").mkdir()
    (tmp_path / "w/job.json").write_text(signed(job))
    with pytest.raises(ParameterError, match=r"holds an unfinished job with other parameters or inputs: .*threshold"):
        Workspace(tmp_path / "w", JOB)


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
@pytest.mark.parametrize("name", ["lock", "job.json"])
def test_odd_files_in_the_place_of_ours(tmp_path, name, kind):
    """No link is followed, no pipe waited for."""
    (tmp_path / "w").mkdir()
    path = tmp_path / "w" / name
    {"link": lambda: path.symlink_to(tmp_path / "created"), "pipe": lambda: os.mkfifo(path), "folder": path.mkdir}[kind]()
    with pytest.raises((OutputError, IndexFormatError)):
        Workspace(tmp_path / "w", JOB)
    assert not (tmp_path / "created").exists()


@pytest.mark.parametrize("odd", ["file", "file/w", "n" * 300, "loop", "a\0b"])
def test_what_is_no_folder(tmp_path, odd):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "in.jsonl").write_text('{"text": "a"}\n')
    with pytest.raises(OutputError, match="cannot be used as work folder"):
        la.dedup(tmp_path / "in.jsonl", work=tmp_path / odd)
    assert (tmp_path / "file").read_text() == "mine"


def test_a_work_folder_whose_job_just_ended_is_not_shared(tmp_path):
    """Whoever waits with the lock of a folder that is gone has nothing."""
    first = Workspace(tmp_path / "w", JOB)
    flock = workspace_module.fcntl.flock

    class Late:
        LOCK_EX, LOCK_NB = workspace_module.fcntl.LOCK_EX, workspace_module.fcntl.LOCK_NB

        @staticmethod
        def flock(file, how):
            first.close()
            flock(file, how)

    workspace_module.fcntl, plain = Late, workspace_module.fcntl
    try:
        with pytest.raises(OutputError, match="another process is using this folder"):
            Workspace(tmp_path / "w", JOB)
    finally:
        workspace_module.fcntl = plain


def test_no_temporary_folder(monkeypatch, tmp_path):
    import tempfile

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    space = Workspace()
    space.put("roots", part())
    with pytest.raises(OutputError, match="no temporary folder can be made: No such file or directory; set TMPDIR"):
        space.move_to_disk()


def test_parts_can_be_read_while_they_move_to_the_disk(monkeypatch):
    """Threads go on reading: each part is in memory until its file is whole."""
    space, seen = Workspace(), []
    for n in range(5):
        space.append("keys", part(n))
    write = workspace_module.write_arrays

    def watched(path, arrays, meta):
        for _ in range(2):  # before the file is there, and after
            names = space.numbered_names("keys")
            seen.append([len(space.get(name)["values"]) for name in names])
            if not path.exists():
                write(path, arrays, meta)

    monkeypatch.setattr(workspace_module, "write_arrays", watched)
    space.move_to_disk()
    assert seen == [[0, 1, 2, 3, 4]] * 10 and not space._held
    assert [len(space.get(name)["values"]) for name in space.numbered_names("keys")] == [0, 1, 2, 3, 4]
    space.close()


@pytest.mark.parametrize("folder", [None, "w"])
def test_what_comes_in_pieces_is_put_together(tmp_path, folder):
    """On the way to the file, or in memory."""
    pieces = [np.arange(12).reshape(6, 2)[:, 1], np.arange(2)]
    space = Workspace(folder and tmp_path / folder, JOB)
    space.put("x", {"several": ChunkedArray(np.int64, (8,), pieces), "one": ChunkedArray(np.int64, (2,), pieces[1:])})
    assert space.get("x")["several"].tolist() == [1, 3, 5, 7, 9, 11, 0, 1]
    assert space.get("x")["one"].tolist() == [0, 1] and (folder or space.get("x")["one"] is pieces[1])


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="needs /proc to tell which folder was synced")
def test_what_says_whose_the_parts_are_is_the_last_to_go(tmp_path, monkeypatch):
    """On the disk too: after a loss of power, parts that nobody owns would make a folder of no use."""
    space = Workspace(tmp_path / "w", JOB)
    space.append("texts", part())
    seen, fsync = [], os.fsync

    def synced(file):
        path = os.readlink(f"/proc/self/fd/{file}")
        seen.append(sorted(os.listdir(path)) if os.path.isdir(path) else path)
        fsync(file)

    monkeypatch.setattr(os, "fsync", synced)
    space.close()
    assert seen == [["finished.json", "lock", "secret", "texts-000000.part"], ["finished.json", "lock"]]


def test_what_a_crash_leaves_of_discarded_parts_has_no_gap(tmp_path, monkeypatch):
    """Parts behind a gap would be taken for those of a later run, once that has filled it."""
    space = Workspace(tmp_path / "w", JOB)
    for _ in range(12):
        space.append("texts", part())
    unlink, left = Path.unlink, iter(range(3))

    def interrupted(path, missing_ok=False):
        if next(left, None) is None:
            raise KeyboardInterrupt
        unlink(path, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", interrupted)
    with pytest.raises(KeyboardInterrupt):
        space.discard("texts")
    monkeypatch.undo()
    assert sorted(p.name for p in (tmp_path / "w").glob("*.part")) == [f"texts-{i:06}.part" for i in range(9)]
    space.close()
