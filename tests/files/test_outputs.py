"""An output folder is the old or the new one, never a mix; nothing is deleted that a run of ours did not write."""

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from cli.commands import contents
from files.folder_files import fill, names, stopped
from listing import find_pairs
from raising import assert_raises

import lookalike as la
from lookalike.errors import OutputError
from lookalike.files import disk
from lookalike.files.disk import atomic_directory
from lookalike.formats.writers import check_apart, check_output

A, B, C = ("one two three four five six", "seven eight nine ten eleven twelve", "else and nothing of the others at all")
refused = partial(assert_raises, OutputError)


@pytest.fixture
def result(tmp_path):
    return la.dedup(fill("in", a=A))


def test_force_leaves_nothing_of_an_earlier_run(tmp_path):
    source = fill("in", a=A, b=B)
    fill(source / "deep", c=C)
    la.dedup(source).write("out")
    shutil.rmtree(source / "deep")
    (source / "b.jsonl").unlink()
    la.dedup(source).write("out", force=True)
    assert names(tmp_path) == ["in/a.jsonl", "out/_lookalike.json", "out/a.jsonl"] and not Path("out/deep").exists()
    assert json.loads(Path("out/_lookalike.json").read_text())["files"] == ["a.jsonl"]


def test_files_of_others_are_never_replaced(tmp_path, result):
    """Nor is a folder of which no list of ours says what it holds; an empty one is."""
    result.write("out")
    for foreign in ("mine.txt", "deep/mine.txt", ".mine", "link"):
        path = tmp_path / "out" / foreign
        path.parent.mkdir(exist_ok=True)
        path.symlink_to(tmp_path / "in") if foreign == "link" else path.write_text("precious")
        refused(rf"1 file that no earlier run wrote \({foreign}\)", result.write, "out", force=True)
        assert os.path.lexists(path) and Path("out/a.jsonl").exists() and Path("in/a.jsonl").exists()
        path.unlink()
    fill("photos", a=C, b=C)
    refused(r"2 files but no _lookalike\.json that lists", check_output, "photos", force=True)
    Path("photos/_lookalike.json").write_text('{"files": "all"}')
    refused("3 files", result.write, "photos", force=True)
    assert len(names("photos")) == 3
    Path("empty").mkdir()
    result.write("empty", force=True)
    assert names("empty") == ["_lookalike.json", "a.jsonl"]


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
    assert names(out) == new and sorted(p.name for p in tmp_path.iterdir()) == ["in", "other", "out"]


def test_a_saved_result_that_is_replaced_leaves_nothing(tmp_path):
    """Stopped after so many files of the older one are gone: the list of them goes last, and the next run removes the rest."""
    result = la.dedup(fill("in", a=A, b=B))
    result.save("saved")
    for left in range(6):
        with stopped(left, (Path, "unlink")):
            result.save("saved", force=True)
        assert len(list(tmp_path.glob(".saved.*.old"))) == (left < 5)
        result.save("saved", force=True)
        assert sorted(p.name for p in tmp_path.iterdir()) == ["in", "saved"]
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


def test_a_description_takes_no_file_of_others(tmp_path, result):
    """Nor does an input that is named like one get lost."""
    mine = tmp_path / "out.jsonl_lookalike.json"
    mine.write_text('["precious"]')
    for force in (False, True):
        said = r"out\.jsonl_lookalike\.json exists, and no earlier run wrote it"
        refused(said, result.write, "out.jsonl", force=force)
    assert mine.read_text() == '["precious"]' and not Path("out.jsonl").exists()
    mine.unlink()
    for _ in range(2):  # the description alone is no output
        result.write("out.jsonl")
        Path("out.jsonl").unlink()
    Path("_lookalike.json").write_text(B)
    Path("b.json").write_text(A)
    both = la.dedup(["_lookalike.json", tmp_path / "b.json"], format="txt")
    refused(r"an input is named _lookalike\.json", both.write, "out")
    assert not Path("out").exists()


def test_an_output_is_no_input(tmp_path):
    """By the same name, another name, a link or a hard link; a reference; the description of an output."""
    folder = fill("in", a=A, b=A)
    first, second = folder / "a.jsonl", folder / "b.jsonl"
    for name in ("link", "link.jsonl"):
        (tmp_path / name).symlink_to(first)
    os.link(first, tmp_path / "hard.jsonl")
    before = contents(folder)
    result = la.dedup(second, against=first)
    refused("another suffix", result.write, "link", force=True)
    for made, *outputs in (
        (result, "in/a.jsonl", "in/../in/a.jsonl", "link.jsonl", "hard.jsonl"),
        (la.decontaminate(second, against=first), "in/a.jsonl"),
        (find_pairs(folder), "in/b.jsonl"),
    ):
        for output in outputs:
            refused(r"would replace the input .*\.jsonl", made.write, output, force=True)
    assert contents(folder) == before


def test_output_folders_and_inputs_lie_apart(tmp_path):
    folder = fill("in", a=A, b=B)
    result = la.dedup(folder)
    Path("link").symlink_to(folder)
    for output in (folder / "clean", tmp_path / "link" / "deep" / "clean", folder):
        refused(r"is inside the input folder|exists|but no _lookalike", result.write, output)
        refused("is inside the input folder", check_apart, output, result._job.sources)
    result.write("out")
    for given in (Path("out/a.jsonl"), tmp_path / "out/a.jsonl", Path("in/../out/a.jsonl")):
        refused(r"contains the input .*a\.jsonl", la.dedup(given).write, "out", force=True)
    against = la.dedup(folder / "a.jsonl", against=tmp_path / "out/b.jsonl")
    refused(r"contains the input .*b\.jsonl", against.write, "out", force=True)
    assert names(tmp_path) == ["in/a.jsonl", "in/b.jsonl", "out/_lookalike.json", "out/a.jsonl", "out/b.jsonl"]


def test_two_inputs_of_one_name_get_two_outputs(tmp_path):
    """A file and a folder of one name are refused; on a file system that ignores case each file is made anew, or not at all."""
    for name, text in (("a", A), ("b", B), ("C", C)):
        fill(name, x=text)
    Path("C/x.jsonl").rename(tmp_path / "C/X.jsonl")
    la.dedup(sorted(tmp_path.glob("*/*.jsonl"))).write("out")
    assert names("out") == ["C/X.jsonl", "_lookalike.json", "a/x.jsonl", "b/x.jsonl"]
    fill("two/x.jsonl", y=B)
    refused("another into a folder of that name", la.dedup(["a", tmp_path / "two"]).write, "none")
    said = r"two inputs would be written as x\.jsonl"
    with pytest.raises(OutputError, match=said), atomic_directory(tmp_path / "none", replace=True) as new:
        for _ in range(2):
            with new.file("x.jsonl") as stream:
                stream.write(b"text")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["C", "a", "b", "out", "two"]


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
