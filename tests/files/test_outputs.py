"""An output folder is the old or the new one, never a mix; nothing is deleted that a run of ours did not write."""

import errno
import json
import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from cli.commands import contents
from files.folder_files import fill, names, stopped
from raising import assert_raises

import lookalike as la
from lookalike.errors import OutputError
from lookalike.files import disk
from lookalike.files.disk import atomic_directory
from lookalike.formats.writers import check_output

A, B, C = ("one two three four five six", "seven eight nine ten eleven twelve", "else and nothing of the others at all")
refused = partial(assert_raises, OutputError)


@pytest.fixture
def result(tmp_path):
    return la.dedup(fill("in", a=A))


def test_links_are_neither_replaced_nor_lead_around_what_is_refused(tmp_path, result):
    """``tests/jobs/replaced-outputs.job`` has the same of files and folders."""
    result.write("out")
    for name, target in (("out/link", "in"), ("folder", "in"), ("link", "in/a.jsonl"), ("link.jsonl", "in/a.jsonl")):
        (tmp_path / name).symlink_to(tmp_path / target)
    os.link("in/a.jsonl", "hard.jsonl")
    before = contents(tmp_path)
    for output, said in (
        ("out", r"1 file that no earlier run wrote \(link\)"),
        ("link", "another suffix"),
        ("link.jsonl", "would replace the input"),
        ("hard.jsonl", "would replace the input"),
        ("folder/deep/clean", "is inside the input folder"),
    ):
        refused(said, result.write, output, force=True)
    assert contents(tmp_path) == before and Path("out/link").is_symlink()


def test_a_name_is_written_once(tmp_path):
    """On a file system that ignores case, two names can be one."""
    said = r"two inputs would be written as x\.jsonl"
    with pytest.raises(OutputError, match=said), atomic_directory(tmp_path / "none", replace=True) as new:
        for _ in range(2):
            with new.file("x.jsonl") as stream:
                stream.write(b"text")
    assert os.listdir() == []


def test_what_appears_while_a_job_runs_stays(tmp_path, result):
    result.write("out")
    before = contents(Path("out"))
    with pytest.raises(OutputError, match="mine"), atomic_directory(tmp_path / "out", replace=True) as folder:
        with folder.file("a.jsonl") as stream:
            stream.write(b"new")
        Path("out/mine").write_text("precious")
    assert contents(Path("out")) == before | {Path("mine"): b"precious"}


KILLED = """
import os, signal, sys
from pathlib import Path
from lookalike.files.disk import atomic_directory
left = int(sys.argv[2])
def counting(do):
    def counted(*args, **more):
        global left
        if any('.old' in str(a) or '.tmp' in str(a) for a in args):
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left -= 1
        return do(*args, **more)
    return counted
os.rename, os.unlink = counting(os.rename), counting(os.unlink)
with atomic_directory(Path(sys.argv[1]), replace=True) as folder:
    for name in ('a.jsonl', 'c.jsonl', '_lookalike.json'):
        with folder.file(name) as stream:
            stream.write(b'{"files": ["a.jsonl", "c.jsonl"]}')
"""


@pytest.mark.parametrize("moment", range(6))
def test_a_killed_run_leaves_the_old_folder_or_the_new(tmp_path, moment):
    """Killed at each rename, and while the old folder is removed."""
    out, new = tmp_path / "out", ["_lookalike.json", "a.jsonl", "c.jsonl"]
    la.dedup(fill("in", a=A, b=B)).write(out)
    old = contents(out)
    done = subprocess.run([sys.executable, "-c", KILLED, out, str(moment)], check=False)
    assert done.returncode in (-signal.SIGKILL, 0)
    refused("exists", check_output, out, force=False)  # puts it back, if it was not there
    assert contents(out) == old or names(out) == new
    la.dedup(fill("other", a=A, c=C)).write(out, force=True)
    assert names(out) == new and sorted(os.listdir()) == ["in", "other", "out"]


def test_a_saved_result_that_is_replaced_leaves_nothing(tmp_path):
    """The list of its files goes last, and the next run removes the rest."""
    result = la.dedup(fill("in", a=A, b=B))
    result.save("saved")
    for left in range(6):
        with stopped(left, (Path, "unlink")):
            result.save("saved", force=True)
        assert len(list(tmp_path.glob(".saved.*.old"))) == (left < 5)
        result.save("saved", force=True)
        assert sorted(os.listdir()) == ["in", "saved"]
    assert "_lookalike.json" not in json.loads(Path("saved/_lookalike.json").read_bytes())["files"]


def test_a_rename_that_fails_puts_the_old_folder_back(tmp_path, result, monkeypatch):
    result.write("out")
    before, rename = contents(tmp_path), os.rename

    def failing(source, target):
        if str(source).endswith(".tmp"):
            raise OSError(errno.EIO, "Input/output error")
        rename(source, target)

    monkeypatch.setattr(os, "rename", failing)
    refused("Input/output error", result.write, "out", force=True)
    assert contents(tmp_path) == before


def test_odd_outputs_are_refused_before_any_work(tmp_path):
    Path("file").write_text("mine")
    os.mkfifo("pipe.jsonl")
    Path("loop").symlink_to(tmp_path / "loop")
    ends = os.pipe()
    Path("stdout").symlink_to(f"/proc/self/fd/{ends[1]}")  # what /dev/stdout is to a pipe: a link to no name
    for output, words in (
        ("file/out.jsonl", "is not a folder|Not a directory"),
        ("pipe.jsonl", "is a pipe or a device"),
        ("stdout", "is a pipe or a device"),
        ("n" * 300 + ".jsonl", "name too long"),
        ("n" * 245 + ".jsonl", "name too long"),
        ("a\0b.jsonl", "cannot be written"),
        ("loop/x.jsonl", "symbolic links|not a folder"),
    ):
        for force in (False, True):
            refused(words, check_output, output, force=force)
    for end in ends:
        os.close(end)


def test_links_lead_to_outputs(tmp_path, result):
    """What a link names is replaced, and the link stays. Names may have 255 bytes; a temporary one must not need more."""
    Path("disk").mkdir()
    for name in ("out", "out.jsonl"):
        (tmp_path / name).symlink_to(tmp_path / "disk" / name)
        for force in (False, True):
            result.write(name, force=force)
        assert (tmp_path / name).is_symlink() and (tmp_path / "disk" / name).exists()
    assert disk.check_folder(tmp_path / "out") is None
    for name in ("ä" * 116 + ".jsonl", "n" * 255):
        result.write(name)
        assert (tmp_path / name).is_dir() == (name[0] == "n")


LISTED = """
import os, sys
from pathlib import Path
from lookalike.files.disk import as_listed, check_folder
folder = Path(sys.argv[1])
check_folder(folder)
print(ascii(as_listed(name for name in os.listdir(folder) if name[0] != '_')))
"""


def test_the_list_of_a_folder_is_the_same_in_every_locale(tmp_path):
    """Names are bytes, which a process without UTF-8 reads as it can."""
    listed = ["caf\u00e9.jsonl", os.fsdecode(b"\xe9.jsonl")]
    for name in listed:
        (tmp_path / name).write_text(A)
    Path("_lookalike.json").write_text(json.dumps({"files": disk.as_listed(listed)}))
    for env in ({"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, {"PYTHONUTF8": "1"}):
        command = [sys.executable, "-c", LISTED, tmp_path]
        done = subprocess.run(command, cwd="/", env=os.environ | env, capture_output=True, text=True, check=True)
        assert done.stdout == "['caf\\xe9.jsonl', '\\udce9.jsonl']\n"
