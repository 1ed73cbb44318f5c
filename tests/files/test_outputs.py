"""An output folder is the old or the new one, never a mix; nothing is deleted that a run of ours did not write."""

import contextlib
import errno
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from files.folder_files import fill, names

import lookalike as la
from lookalike.files import disk
from lookalike.files.disk import atomic_directory
from lookalike.formats.writers import check_apart, check_output

A, B, C = ("one two three four five six", "seven eight nine ten eleven twelve", "else and nothing of the others at all")


@pytest.fixture
def result(tmp_path):
    """Of a folder of one file."""
    return la.dedup(fill(tmp_path / "in", a=A))


def test_force_leaves_nothing_of_an_earlier_run(tmp_path):
    source = fill(tmp_path / "in", a=A, b=B)
    fill(source / "deep", c=C)
    la.dedup(source).write(tmp_path / "out")
    shutil.rmtree(source / "deep")
    (source / "b.jsonl").unlink()
    la.dedup(source).write(tmp_path / "out", force=True)
    assert names(tmp_path / "out") == ["_lookalike.json", "a.jsonl"]
    assert json.loads((tmp_path / "out/_lookalike.json").read_text())["files"] == ["a.jsonl"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in", "out"]
    assert not (tmp_path / "out/deep").exists()


@pytest.mark.parametrize("foreign", ["mine.txt", "deep/mine.txt", ".mine", "link"])
def test_files_of_others_are_never_replaced(tmp_path, result, foreign):
    result.write(tmp_path / "out")
    path = tmp_path / "out" / foreign
    path.parent.mkdir(exist_ok=True)
    path.symlink_to(tmp_path / "in") if foreign == "link" else path.write_text("precious")
    with pytest.raises(la.errors.OutputError, match=rf"1 file that no earlier run wrote \({foreign}\)"):
        result.write(tmp_path / "out", force=True)
    assert os.path.lexists(path) and (tmp_path / "out/a.jsonl").exists() and (tmp_path / "in/a.jsonl").exists()


def test_a_folder_that_is_not_ours_is_refused(tmp_path, result):
    fill(tmp_path / "photos", a=C, b=C)
    with pytest.raises(la.errors.OutputError, match=r"2 files but no _lookalike\.json that lists"):
        check_output(tmp_path / "photos", force=True)
    (tmp_path / "photos/_lookalike.json").write_text('{"files": "all"}')
    with pytest.raises(la.errors.OutputError, match="3 files"):
        result.write(tmp_path / "photos", force=True)
    assert (tmp_path / "photos/a.jsonl").read_text() == (tmp_path / "photos/b.jsonl").read_text()
    (tmp_path / "empty").mkdir()
    result.write(tmp_path / "empty", force=True)
    assert names(tmp_path / "empty") == ["_lookalike.json", "a.jsonl"]


def test_what_appears_while_a_job_runs_stays(tmp_path, result):
    result.write(tmp_path / "out")
    with pytest.raises(la.errors.OutputError, match="mine"), atomic_directory(tmp_path / "out", replace=True) as folder:
        with folder.file("a.jsonl") as stream:
            stream.write(b"new")
        (tmp_path / "out/mine").write_text("precious")
    assert names(tmp_path / "out") == ["_lookalike.json", "a.jsonl", "mine"]
    assert (tmp_path / "out/a.jsonl").read_bytes() != b"new"


@pytest.mark.parametrize("moment", range(6))
def test_a_killed_run_leaves_the_old_folder_or_the_new(tmp_path, moment):
    """Killed at each rename, and while the old folder is removed."""
    source = fill(tmp_path / "in", a=A, b=B)
    la.dedup(source).write(tmp_path / "out")
    old = {name: (tmp_path / "out" / name).read_bytes() for name in names(tmp_path / "out")}
    (source / "b.jsonl").unlink()
    fill(source, c=C)
    code = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from lookalike.files.disk import atomic_directory\n"
        "left = int(sys.argv[2])\n"
        "def counting(do):\n"
        "    def counted(*args, **more):\n"
        "        global left\n"
        "        if any('.old' in str(a) or '.tmp' in str(a) for a in args):\n"
        "            if left == 0:\n"
        "                os.kill(os.getpid(), signal.SIGKILL)\n"
        "            left -= 1\n"
        "        return do(*args, **more)\n"
        "    return counted\n"
        "os.rename, os.unlink = counting(os.rename), counting(os.unlink)\n"
        "with atomic_directory(Path(sys.argv[1]), replace=True) as folder:\n"
        "    for name in ('a.jsonl', 'c.jsonl', '_lookalike.json'):\n"
        "        with folder.file(name) as stream:\n"
        '            stream.write(b\'{"files": ["a.jsonl", "c.jsonl"]}\')\n'
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "out"), str(moment)], check=False)
    assert done.returncode in (-signal.SIGKILL, 0)
    with pytest.raises(la.errors.OutputError, match="exists"):
        check_output(tmp_path / "out", force=False)  # puts it back, if it was not there
    found = {name: (tmp_path / "out" / name).read_bytes() for name in names(tmp_path / "out")}
    assert found == old or sorted(found) == ["_lookalike.json", "a.jsonl", "c.jsonl"]
    la.dedup(source).write(tmp_path / "out", force=True)
    assert names(tmp_path / "out") == ["_lookalike.json", "a.jsonl", "c.jsonl"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in", "out"]


@pytest.mark.parametrize("left", range(6))
def test_a_saved_result_that_is_replaced_leaves_nothing(tmp_path, monkeypatch, left):
    """Stopped after so many files of the older one are gone: the list of them goes last, and the next run removes the rest."""
    result = la.dedup(fill(tmp_path / "in", a=A, b=B))
    result.save(tmp_path / "saved")
    unlink, allowed = Path.unlink, iter(range(left))

    def stopping(path, missing_ok=False):
        if next(allowed, None) is None:
            raise KeyboardInterrupt
        unlink(path, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", stopping)
    with contextlib.suppress(KeyboardInterrupt):
        result.save(tmp_path / "saved", force=True)
    monkeypatch.undo()
    assert len(list(tmp_path.glob(".saved.*.old"))) == (left < 5)
    result.save(tmp_path / "saved", force=True)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in", "saved"]
    assert "_lookalike.json" not in json.loads((tmp_path / "saved/_lookalike.json").read_bytes())["files"]


def test_a_rename_that_fails_puts_the_old_folder_back(tmp_path, result, monkeypatch):
    result.write(tmp_path / "out")
    before = names(tmp_path / "out")
    rename = os.rename

    def failing(source, target):
        if str(source).endswith(".tmp"):
            raise OSError(errno.EIO, "Input/output error")
        rename(source, target)

    monkeypatch.setattr(os, "rename", failing)
    with pytest.raises(la.errors.OutputError, match="Input/output error"):
        result.write(tmp_path / "out", force=True)
    assert names(tmp_path / "out") == before and sorted(p.name for p in tmp_path.iterdir()) == ["in", "out"]


def test_an_input_named_like_our_description_survives(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "_lookalike.json").write_text(B)
    (folder / "b.json").write_text(A)
    result = la.dedup([folder / "_lookalike.json", folder / "b.json"], format="txt")
    with pytest.raises(la.errors.OutputError, match=r"an input is named _lookalike\.json"):
        result.write(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_description_takes_no_file_of_others(tmp_path, result):
    mine = tmp_path / "out.jsonl_lookalike.json"
    mine.write_text('["precious"]')
    for force in (False, True):
        with pytest.raises(la.errors.OutputError, match=r"out\.jsonl_lookalike\.json exists, and no earlier run wrote it"):
            result.write(tmp_path / "out.jsonl", force=force)
    assert mine.read_text() == '["precious"]' and not (tmp_path / "out.jsonl").exists()
    mine.unlink()
    result.write(tmp_path / "out.jsonl")
    (tmp_path / "out.jsonl").unlink()
    result.write(tmp_path / "out.jsonl")  # the description alone is no output


def test_an_output_is_no_input(tmp_path):
    """By the same name, another name, a link or a hard link; a reference; the description of an output."""
    folder = fill(tmp_path / "in", a=A, b=A)
    (tmp_path / "link").symlink_to(folder / "a.jsonl")
    (tmp_path / "link.jsonl").symlink_to(folder / "a.jsonl")
    os.link(folder / "a.jsonl", tmp_path / "hard.jsonl")
    before = (folder / "a.jsonl").read_text()
    result = la.dedup(folder / "b.jsonl", against=folder / "a.jsonl")
    for output in (folder / "a.jsonl", tmp_path / "in/../in/a.jsonl", tmp_path / "link.jsonl", tmp_path / "hard.jsonl"):
        with pytest.raises(la.errors.OutputError, match=r"would replace the input .*a\.jsonl"):
            result.write(output, force=True)
    with pytest.raises(la.errors.OutputError, match="another suffix"):
        result.write(tmp_path / "link", force=True)
    found = la.decontaminate(folder / "b.jsonl", against=folder / "a.jsonl")
    with pytest.raises(la.errors.OutputError, match="would replace the input"):
        found.write(folder / "a.jsonl", force=True)
    from listing import find_pairs

    with pytest.raises(la.errors.OutputError, match="would replace the input"):
        find_pairs(folder).write(folder / "b.jsonl", force=True)
    assert (folder / "a.jsonl").read_text() == before == (folder / "b.jsonl").read_text()


def test_output_folders_and_inputs_lie_apart(tmp_path, monkeypatch):
    folder = fill(tmp_path / "in", a=A, b=B)
    result = la.dedup(folder)
    (tmp_path / "link").symlink_to(folder)
    for output in (folder / "clean", tmp_path / "link" / "deep" / "clean", folder):
        with pytest.raises(la.errors.OutputError, match=r"is inside the input folder|exists|but no _lookalike"):
            result.write(output)
        with pytest.raises(la.errors.OutputError, match="is inside the input folder"):
            check_apart(output, result._job.sources)
    assert names(folder) == ["a.jsonl", "b.jsonl"]
    result.write(tmp_path / "out")
    monkeypatch.chdir(tmp_path)
    for given in ("out/a.jsonl", tmp_path / "out/a.jsonl", "in/../out/a.jsonl"):
        with pytest.raises(la.errors.OutputError, match=r"contains the input .*a\.jsonl"):
            la.dedup(Path(given)).write("out", force=True)
    with pytest.raises(la.errors.OutputError, match="contains the input"):
        la.dedup(folder / "a.jsonl", against=tmp_path / "out/b.jsonl").write("out", force=True)
    assert names(tmp_path / "out") == ["_lookalike.json", "a.jsonl", "b.jsonl"]


def test_two_inputs_of_one_name_get_two_outputs(tmp_path):
    for name, text in (("a", A), ("b", B), ("C", C)):
        fill(tmp_path / name, x=text)
    (tmp_path / "C/x.jsonl").rename(tmp_path / "C/X.jsonl")
    la.dedup(sorted(tmp_path.glob("*/*.jsonl"))).write(tmp_path / "out")
    assert names(tmp_path / "out") == ["C/X.jsonl", "_lookalike.json", "a/x.jsonl", "b/x.jsonl"]


def test_a_file_and_a_folder_of_one_name_are_refused(tmp_path):
    fill(tmp_path / "one", x=A)
    fill(tmp_path / "two" / "x.jsonl", y=B)
    result = la.dedup([tmp_path / "one", tmp_path / "two"])
    with pytest.raises(la.errors.OutputError, match="another into a folder of that name"):
        result.write(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_file_system_that_ignores_case_loses_nothing(tmp_path):
    """Each file of a new folder is made anew, or not at all."""
    with (
        pytest.raises(la.errors.OutputError, match=r"two inputs would be written as x\.jsonl"),
        atomic_directory(tmp_path / "out", replace=True) as new,
    ):
        for _ in range(2):
            with new.file("x.jsonl") as stream:
                stream.write(b"text")
    assert not list(tmp_path.iterdir())


def test_odd_outputs_are_refused_before_any_work(tmp_path):
    (tmp_path / "file").write_text("mine")
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for output, words in (
        (tmp_path / "file/out.jsonl", "is not a folder|Not a directory"), (tmp_path / "pipe.jsonl", "is a pipe or a device"),
        (tmp_path / ("n" * 300 + ".jsonl"), "name too long"), (tmp_path / ("n" * 245 + ".jsonl"), "name too long"),
        (tmp_path / "a\0b.jsonl", "cannot be written"), (tmp_path / "loop/x.jsonl", "symbolic links|not a folder"),
    ):  # fmt: skip
        with pytest.raises(la.errors.OutputError, match=words):
            check_output(output, force=True)
    read, write = os.pipe()
    (tmp_path / "stdout").symlink_to(f"/proc/self/fd/{write}")  # what /dev/stdout is to a pipe: a link to no name
    for output in (tmp_path / "stdout", tmp_path / "pipe.jsonl"):
        with pytest.raises(la.errors.OutputError, match="is a pipe or a device"):
            check_output(output, force=False)
    os.close(read)
    os.close(write)


def test_a_long_name_that_is_allowed(tmp_path, result):
    """Names may have 255 bytes; a temporary one beside it must not need more."""
    output = tmp_path / ("ä" * 116 + ".jsonl")
    result.write(output)
    result.write(tmp_path / ("n" * 255))
    assert output.exists() and (tmp_path / ("n" * 255)).is_dir()


def test_links_lead_to_outputs(tmp_path, result):
    """What a link names is replaced, and the link stays."""
    (tmp_path / "disk").mkdir()
    for name in ("out", "out.jsonl"):
        (tmp_path / name).symlink_to(tmp_path / "disk" / name)
        for force in (False, True):
            result.write(tmp_path / name, force=force)
        assert (tmp_path / name).is_symlink() and (tmp_path / "disk" / name).exists()
    assert disk.check_folder(tmp_path / "out") is None


def test_a_saved_sketch_is_replaced_whatever_its_name(tmp_path):
    """Sketch files have no suffix of their own: what they are does not depend on it."""
    signatures = la.sketches.FastSimilarity(permutations=64).sign(la.shingle([A]))
    for name in ("s", "s.jsonl", "s.txt", "s.sig.gz", "s.GZ", "s.zst"):
        for force in (False, True):
            la.sketches.save(signatures, tmp_path / name, force=force)
        assert (la.sketches.load(tmp_path / name).values == signatures.values).all()
        assert (tmp_path / name).read_bytes()[:8] == b"LOOKASIG"


def test_the_list_of_a_folder_is_the_same_in_every_locale(tmp_path):
    """Names are bytes, which a process without UTF-8 reads as it can."""
    listed = ["caf\u00e9.jsonl", os.fsdecode(b"\xe9.jsonl")]
    code = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from lookalike.files.disk import as_listed, check_folder\n"
        "folder = Path(sys.argv[1])\n"
        "check_folder(folder)\n"
        "print(ascii(as_listed(name for name in os.listdir(folder) if name[0] != '_')))\n"
    )
    for name in listed:
        (tmp_path / name).write_text(A)
    (tmp_path / "_lookalike.json").write_text(json.dumps({"files": disk.as_listed(listed)}))
    environment = os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    for env in (environment, os.environ | {"PYTHONUTF8": "1"}):
        done = subprocess.run([sys.executable, "-c", code, tmp_path], env=env, capture_output=True, text=True, check=True)
        assert done.stdout == "['caf\\xe9.jsonl', '\\udce9.jsonl']\n"
