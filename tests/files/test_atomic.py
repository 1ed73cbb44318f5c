"""Files that appear whole or not at all, what killed writers leave, and what is on the disk when it is reported."""

import errno
import fcntl
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from files.folder_files import fill, names
from waiting import at_once

import lookalike as la
from lookalike.errors import OutputError, ParameterError
from lookalike.files import atomic
from lookalike.files.atomic import atomic_file
from lookalike.files.disk import atomic_directory
from lookalike.formats.writers import check_output

A = "one two three four five six"


def run_killed(line, path):
    """Run lines that end in the kill of their process; ``kill`` does it."""
    code = "import os, signal, sys\nfrom pathlib import Path\nfrom lookalike.files.atomic import atomic_file\n"
    code += f"path, kill = Path(sys.argv[1]), lambda: os.kill(os.getpid(), signal.SIGKILL)\n{line}"
    assert subprocess.run([sys.executable, "-c", code, str(path)], check=False).returncode == -9


def test_a_temporary_file_of_a_living_writer_stays(tmp_path):
    """Whatever its process number: it may be one of another container."""
    path = tmp_path / "out.jsonl"
    with atomic_file(path) as stream:
        stream.write(b"first")
        (writing,) = tmp_path.iterdir()
        check_output(path, force=False)
        with atomic_file(path) as other:
            other.write(b"second")
        assert writing.exists() and path.read_bytes() == b"second"
    assert path.read_bytes() == b"first" and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("host", ["this", "other"])
def test_what_a_killed_writer_left_is_removed_by_its_own_machine(tmp_path, monkeypatch, host):
    run_killed("with atomic_file(path): kill()", tmp_path / "out.jsonl")
    (tmp_path / ".out.jsonl.1234-0123abcd.tmp").write_text("not ours")
    assert len(names(tmp_path)) == 2
    if host == "other":
        monkeypatch.setattr(atomic, "_host", lambda: "another")
    check_output(tmp_path / "out.jsonl", force=False)
    assert len(names(tmp_path)) == (1 if host == "this" else 2)


def test_what_a_killed_writer_left_of_the_description_is_removed(tmp_path):
    """The file beside an output, which gets its name after it."""
    run_killed(
        "replace, beside = os.replace, path.with_name(path.name + '_lookalike.json')\n"
        "os.replace = lambda source, target: kill() if Path(target) == beside else replace(source, target)\n"
        "with atomic_file(path, beside=(beside, b'{}')) as stream: stream.write(b'rows')",
        tmp_path / "out.jsonl",
    )
    assert [p.suffix for p in sorted(tmp_path.iterdir())] == [".tmp", ".jsonl"]
    la.dedup([A], threads=1).write("out.jsonl", force=True)
    assert names(tmp_path) == ["out.jsonl", "out.jsonl_lookalike.json"]


def test_errors_leave_no_temporary_files(tmp_path):
    for error in (KeyboardInterrupt, OSError(errno.ENOSPC, "No space left on device"), ValueError):
        for write in (lambda: atomic_file(tmp_path / "out.jsonl"), lambda: atomic_directory(tmp_path / "out", replace=True)):
            with pytest.raises((KeyboardInterrupt, OutputError, ValueError)), write():
                raise error
        assert not list(tmp_path.iterdir())


@pytest.fixture
def calls(monkeypatch):
    """What was synced, renamed and made, in its order."""
    found = []

    def record(name, told, path_of):
        do = getattr(os, name)
        monkeypatch.setattr(os, name, lambda *given, **how: (found.append((told, path_of(*given))), do(*given, **how))[1])

    record("fsync", "sync", lambda file: os.readlink(f"/proc/self/fd/{file}"))
    record("replace", "rename", lambda source, target: str(target))
    record("rename", "rename", lambda source, target: str(target))
    record("mkdir", "mkdir", lambda path, *mode: str(path))
    return found


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="needs /proc to tell which file was synced")
@pytest.mark.parametrize("name", ["deep/er/out.jsonl", "deep/er/out.jsonl.gz", "deep/er/out.jsonl.zst"])
def test_a_file_is_on_the_disk_before_it_is_reported(tmp_path, calls, name):
    """The file, then its name, then every new folder's name."""
    path = tmp_path / name
    with atomic_file(path) as stream:
        stream.write(b"text")
    kinds = [one for one in calls if one[0] != "mkdir"]
    moved = kinds.index(("rename", str(path)))
    assert kinds[moved - 1][0] == "sync" and kinds[moved - 1][1].endswith(".tmp")
    assert ("sync", str(path.parent)) in kinds[moved + 1 :]
    for folder in (tmp_path / "deep", tmp_path / "deep/er"):
        assert ("sync", str(folder.parent)) in calls[calls.index(("mkdir", str(folder))) :]


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="needs /proc to tell which file was synced")
def test_a_folder_is_on_the_disk_before_it_is_reported(tmp_path, calls):
    """Every file and every folder once, then the rename, then the folder above."""
    with atomic_directory(tmp_path / "out", replace=True) as folder:
        for i in range(20):
            with folder.file(f"{i % 2}/{i}.txt") as stream:
                stream.write(b"text")
    moved = calls.index(("rename", str(tmp_path / "out")))
    before = [Path(where).name for kind, where in calls[:moved] if kind == "sync"]
    assert sorted(n for n in before if n.endswith(".txt")) == sorted(f"{i}.txt" for i in range(20))
    assert before.count("0") == before.count("1") == 1 and len(before) == 23
    assert ("sync", str(tmp_path)) in calls[moved:]


def test_folders_that_cannot_be_synced(tmp_path, monkeypatch):
    """Some file systems of networks refuse it, which is no error; a disk that reports one is."""
    number = errno.EIO
    fsync = os.fsync

    def failing(file):
        if os.path.isdir(f"/proc/self/fd/{file}"):
            raise OSError(number, os.strerror(number))
        fsync(file)

    monkeypatch.setattr(os, "fsync", failing)
    with pytest.raises(OutputError, match="the folder cannot be synced"), atomic_file(tmp_path / "x.jsonl"):
        pass
    for number in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):
        with atomic_file(tmp_path / "x.jsonl") as stream:
            stream.write(b"%d" % number)
        assert (tmp_path / "x.jsonl").read_bytes() == b"%d" % number


def test_file_systems_without_locks(tmp_path, monkeypatch):
    """Files are written all the same, and nobody's temporary files are removed."""

    def refused(file, how):
        raise OSError(errno.ENOLCK, "No locks available")

    with atomic_file(tmp_path / "x.jsonl") as stream:
        monkeypatch.setattr(fcntl, "flock", refused)
        check_output(tmp_path / "x.jsonl", force=False)
        assert len(names(tmp_path)) == 1
        stream.write(b"text")
    result = la.dedup(fill("in", a=A))
    for force in (False, True):
        result.write("out", force=force)
    assert names(tmp_path) == ["in/a.jsonl", "out/_lookalike.json", "out/a.jsonl", "x.jsonl"]


def test_a_url_is_no_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in (Path("s3://bucket/x.npz"), Path("gs://bucket/x")):
        said = "bucket/x.* is on an object store, where this is not written"
        with pytest.raises(ParameterError, match=said), atomic_file(path):
            raise AssertionError("not reached")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("links", [True, False])
def test_what_another_job_wrote_meanwhile_is_not_replaced(tmp_path, monkeypatch, links):
    """Also on file systems that have no links."""
    if not links:
        monkeypatch.setattr(os, "link", lambda *_: (_ for _ in ()).throw(OSError(errno.EPERM, "Operation not permitted")))
    path = tmp_path / "out.jsonl"
    how = {"replace": False, "beside": (tmp_path / "d", b"1")}
    said = "was written by another process while this job ran, and was left unchanged"
    with pytest.raises(OutputError, match=said), atomic_file(path, **how) as stream:
        stream.write(b"mine")
        path.write_bytes(b"theirs")
    assert path.read_bytes() == b"theirs" and list(tmp_path.iterdir()) == [path]
    with atomic_file(tmp_path / "new.jsonl", **how) as stream:
        stream.write(b"mine")
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == {"out.jsonl": b"theirs", "new.jsonl": b"mine", "d": b"1"}


def test_no_name_stays_reserved_if_the_rename_fails(tmp_path, monkeypatch):
    def failing(*_):
        raise OSError(errno.EIO, "Input/output error")

    for name in ("link", "replace"):
        monkeypatch.setattr(os, name, failing)
    with pytest.raises(OutputError, match="Input/output error"), atomic_file(tmp_path / "out", replace=False) as stream:
        stream.write(b"mine")
    assert not list(tmp_path.iterdir())


def written(path, who):
    """Write a file and its description, each with the name of the job."""
    with atomic_file(path, beside=(path.with_name("described"), who)) as stream:
        stream.write(who)


def test_file_and_description_are_of_the_same_job(tmp_path, monkeypatch):
    """A job that comes between the two of another one waits until both are there."""
    path = tmp_path / "out"
    replace = os.replace
    waits = threading.Event()
    done = threading.Event()
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
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == {"out": b"second", "described": b"second"}


def test_a_lock_that_is_held_for_long_is_not_waited_for(tmp_path, monkeypatch):
    path = tmp_path / "out"
    path.write_bytes(b"earlier")
    monkeypatch.setattr(atomic.time, "sleep", lambda _: None)
    with open(path) as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        written(path, b"mine")
    assert path.read_bytes() == (tmp_path / "described").read_bytes() == b"mine"


def test_jobs_at_once(tmp_path):
    """Of four that may not replace each other one writes; of four that may all do, and what is left is of one of them."""
    path = tmp_path / "out.jsonl"
    beside = tmp_path / "out.jsonl_lookalike.json"

    def job(number, force):
        said = json.dumps({"lookalike": str(number), "inputs": []}).encode()
        try:
            with atomic_file(path, replace=force, beside=(beside, said)) as stream:
                stream.write(str(number).encode())
            with atomic_directory(tmp_path / "folder", replace=force) as folder, folder.file("_lookalike.json") as stream:
                stream.write(b'{"files": []}')
            return True
        except OutputError as error:
            assert "by another process" in str(error)

    for force in (False, *[True] * 10):
        assert at_once(4, lambda number, force=force: job(number, force)).count(True) == (4 if force else 1)
        assert json.loads(beside.read_bytes())["lookalike"] == path.read_text()
        assert sorted(p.name for p in tmp_path.iterdir()) == ["folder", path.name, beside.name]


def test_a_folder_that_appears_meanwhile_stays(tmp_path):
    said = "out was written by another process while this job ran"
    with pytest.raises(OutputError, match=said), atomic_directory(tmp_path / "out", replace=False) as folder:
        with folder.file("a.jsonl") as stream:
            stream.write(b"mine")
        fill("out", b=A)
    assert names("out") == ["b.jsonl"] and [p.name for p in tmp_path.iterdir()] == ["out"]


def test_a_link_that_leads_nowhere_is_replaced(tmp_path):
    """What a job with a description beside its output waits for is whoever writes to that name: here, nobody."""
    path = tmp_path / "out.jsonl"
    path.symlink_to(tmp_path / "nowhere")
    with atomic_file(path, beside=(tmp_path / "out.json", b"{}")) as stream:
        stream.write(b"whole")
    assert not path.is_symlink() and path.read_bytes() == b"whole" and (tmp_path / "out.json").exists()
