import errno
import fcntl
import os
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import pytest
from files.folder_files import fill, names
from raising import assert_raises
from waiting import at_once

import lookalike as la
from lookalike.errors import OutputError
from lookalike.files import atomic
from lookalike.files.atomic import atomic_file
from lookalike.files.disk import atomic_directory
from lookalike.formats.writers import check_output

A = "one two three four five six"
MEANWHILE = "was written by another process while this job ran, and was left unchanged"


def write(path, data, **how):
    with atomic_file(path, **how) as stream:
        stream.write(data)


def written(path, who):
    write(path, who, beside=(path.with_name("described"), who))


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def failing(number, *given):
    raise OSError(number, os.strerror(number))


def test_a_temporary_file_of_a_living_writer_stays(tmp_path):
    """Whatever its process number: it may be one of another container."""
    path = tmp_path / "out.jsonl"
    with atomic_file(path) as stream:
        stream.write(b"first")
        (writing,) = tmp_path.iterdir()
        check_output(path, force=False)
        write(path, b"second")
        assert writing.exists() and path.read_bytes() == b"second"
    assert contents(tmp_path) == {path.name: b"first"}


KILLED = """
import os, signal, sys
from pathlib import Path
from lookalike.files.atomic import atomic_file
path, kill, replace = Path(sys.argv[1]), lambda: os.kill(os.getpid(), signal.SIGKILL), os.replace
beside = path.with_name(path.name + "_lookalike.json")
os.replace = lambda source, target: kill() if Path(target) == beside else replace(source, target)
with atomic_file(path, beside=(beside, b"{}")) as stream:
    kill() if sys.argv[2] == "first" else stream.write(b"rows")
"""


def test_what_a_killed_writer_left_is_removed_by_its_own_machine(tmp_path, monkeypatch):
    """Also of the file beside an output, which gets its name after it."""
    Path(".out.jsonl.1234-0123abcd.tmp").write_text("not ours")
    for moment, left in (("first", [".tmp", ".tmp"]), ("second", [".tmp", ".tmp", ".jsonl"])):
        done = subprocess.run([sys.executable, "-c", KILLED, tmp_path / "out.jsonl", moment], check=False)
        assert done.returncode == -9 and [p.suffix for p in sorted(tmp_path.iterdir())] == left
        with monkeypatch.context() as patch:
            patch.setattr(atomic, "_host", lambda: "another")
            check_output("out.jsonl", force=True)
        assert len(names(tmp_path)) == len(left)
        check_output("out.jsonl", force=True)
        assert len(names(tmp_path)) == len(left) - 1


def test_errors_leave_no_temporary_files(tmp_path):
    for error in (KeyboardInterrupt, OSError(errno.ENOSPC, "No space left on device"), ValueError):
        for new in (atomic_file(tmp_path / "out.jsonl"), atomic_directory(tmp_path / "out", replace=True)):
            with pytest.raises((KeyboardInterrupt, OutputError, ValueError)), new:
                raise error
        assert not list(tmp_path.iterdir())


@pytest.fixture
def calls(monkeypatch):
    found = []

    def record(name, path_of):
        do = getattr(os, name)
        monkeypatch.setattr(os, name, lambda *given, **how: (found.append((name, path_of(*given))), do(*given, **how))[1])

    record("fsync", lambda file: os.readlink(f"/proc/self/fd/{file}"))
    record("mkdir", lambda path, *mode: str(path))
    for name in ("replace", "rename"):
        record(name, lambda source, target: str(target))
    return found


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="needs /proc to tell which file was synced")
def test_what_is_reported_is_on_the_disk(tmp_path, calls):
    """The file, then its name, then every new folder's name; of a folder every file and every folder once, then its name."""
    for folder, name in (("deep/er", "out.jsonl"), ("packed", "out.jsonl.gz"), ("other", "out.jsonl.zst")):
        path = tmp_path / folder / name
        write(path, b"text")
        moved = calls.index(("replace", str(path)))
        assert calls[moved - 1][0] == "fsync" and calls[moved - 1][1].endswith(".tmp")
        assert ("fsync", str(path.parent)) in calls[moved + 1 :]
        for above in path.relative_to(tmp_path).parents[:-1]:
            made = tmp_path / above
            assert ("fsync", str(made.parent)) in calls[calls.index(("mkdir", str(made))) :]
    calls.clear()
    files = [f"{i % 2}/{i}.txt" for i in range(20)]
    with atomic_directory(tmp_path / "out", replace=True) as new:
        for name in files:
            with new.file(name) as stream:
                stream.write(b"text")
    moved = calls.index(("rename", str(tmp_path / "out")))
    synced = [os.path.relpath(where, new.path) for kind, where in calls[:moved] if kind == "fsync"]
    assert sorted(synced) == sorted([*files, "0", "1", "."]) and ("fsync", str(tmp_path)) in calls[moved:]


def test_folders_that_cannot_be_synced(tmp_path, monkeypatch):
    """Some file systems of networks refuse it, which is no error; a disk that reports one is."""
    fsync, path = os.fsync, tmp_path / "x.jsonl"
    for number in (errno.EIO, errno.EINVAL, errno.ENOTSUP, errno.EBADF):
        sync = lambda file, n=number: failing(n) if os.path.isdir(f"/proc/self/fd/{file}") else fsync(file)  # noqa: E731
        monkeypatch.setattr(os, "fsync", sync)
        if number == errno.EIO:
            assert_raises(OutputError, "the folder cannot be synced", write, path, b"")
        else:
            write(path, b"%d" % number)
            assert path.read_bytes() == b"%d" % number


def test_file_systems_without_locks(tmp_path, monkeypatch):
    """Files are written all the same, and nobody's temporary files are removed."""
    with atomic_file(tmp_path / "x.jsonl") as stream:
        monkeypatch.setattr(fcntl, "flock", partial(failing, errno.ENOLCK))
        check_output("x.jsonl", force=False)
        assert len(names(tmp_path)) == 1
        stream.write(b"text")
    result = la.dedup(fill("in", a=A))
    for force in (False, True):
        result.write("out", force=force)
    assert names(tmp_path) == ["in/a.jsonl", "out/_lookalike.json", "out/a.jsonl", "x.jsonl"]


def test_what_another_job_wrote_meanwhile_is_not_replaced(tmp_path, monkeypatch):
    """Also on file systems that have no links."""
    how = {"replace": False, "beside": (tmp_path / "d", b"1")}
    for name in ("linked", "renamed"):
        with pytest.raises(OutputError, match=MEANWHILE), atomic_file(tmp_path / "out", **how) as stream:
            stream.write(b"mine")
            Path("out").write_bytes(b"theirs")
        assert contents(tmp_path) == {"out": b"theirs"}
        write(tmp_path / name, b"mine", **how)
        assert contents(tmp_path) == {"out": b"theirs", name: b"mine", "d": b"1"}
        for made in ("d", name):
            (tmp_path / made).unlink()
        monkeypatch.setattr(os, "link", partial(failing, errno.EPERM))
    monkeypatch.setattr(os, "replace", partial(failing, errno.EIO))
    assert_raises(OutputError, "Input/output error", write, tmp_path / "reserved", b"mine", replace=False)
    assert contents(tmp_path) == {"out": b"theirs"}


def test_a_folder_that_appears_meanwhile_stays(tmp_path):
    with pytest.raises(OutputError, match=MEANWHILE), atomic_directory(tmp_path / "out", replace=False) as folder:
        with folder.file("a.jsonl") as stream:
            stream.write(b"mine")
        fill("out", b=A)
    assert names(tmp_path) == ["out/b.jsonl"]


def test_file_and_description_are_of_the_same_job(tmp_path, monkeypatch):
    """A job that comes between the two of another one waits until both are there."""
    path, replace = tmp_path / "out", os.replace
    waits, done = threading.Event(), threading.Event()
    path.write_bytes(b"earlier")
    second = threading.Thread(target=written, args=(path, b"second"))

    def between(source, target):
        replace(source, target)
        if target == path and not second.ident:
            second.start()
            while second.is_alive() and not waits.wait(0.05):
                pass

    monkeypatch.setattr(os, "replace", between)
    monkeypatch.setattr(atomic.time, "sleep", lambda _: waits.set() or done.wait())
    written(path, b"first")
    done.set()
    second.join()
    assert contents(tmp_path) == {"out": b"second", "described": b"second"}


def test_a_lock_that_is_held_for_long_is_not_waited_for(tmp_path, monkeypatch):
    """Nor, where a link leads nowhere, whoever writes to that name: here, nobody."""
    monkeypatch.setattr(atomic.time, "sleep", lambda _: None)
    Path("out").write_bytes(b"earlier")
    with open("out") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        written(tmp_path / "out", b"mine")
    assert contents(tmp_path) == {"out": b"mine", "described": b"mine"}
    Path("link").symlink_to(tmp_path / "nowhere")
    written(tmp_path / "link", b"whole")
    assert contents(tmp_path) == {"out": b"mine", "link": b"whole", "described": b"whole"}


def test_jobs_at_once(tmp_path):
    """Of four that may not replace each other one writes; of four that may all do, and what is left is of one."""

    def job(number, force):
        try:
            write(tmp_path / "out", b"%d" % number, replace=force, beside=(tmp_path / "described", b"%d" % number))
            with atomic_directory(tmp_path / "folder", replace=force) as folder, folder.file("_lookalike.json") as stream:
                stream.write(b'{"files": []}')
            return True
        except OutputError as error:
            assert "by another process" in str(error)

    for force in (False, *[True] * 10):
        assert at_once(4, lambda number, force=force: job(number, force)).count(True) == (4 if force else 1)
        assert Path("out").read_bytes() == Path("described").read_bytes()
        assert names(tmp_path) == ["described", "folder/_lookalike.json", "out"]
