"""Nothing is left out without being counted and named."""

import json
import os
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from json_lines import write_lines
from raising import assert_raises

import lookalike as la
from lookalike.errors import InputDataError, ParameterError
from lookalike.formats.sources import open_sources

A = "one two three four five six seven"
refused = partial(assert_raises, InputDataError)
ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


def fill(folder, *names, text="other"):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps({"text": text}) + "\n" if name.endswith(".jsonl") else text)
    return folder


def test_what_is_left_out_is_counted_and_named(tmp_path):
    others = ("_SUCCESS", ".b.jsonl", ".git/config.txt", "paper.rtf", "Other.RTF", "old.tar.lz", "README")
    folder = fill(tmp_path / "in", "a.jsonl", *others)
    Path("elsewhere").mkdir()
    for name, target in (("gone.jsonl", "nowhere"), ("self.jsonl", "self.jsonl"), ("linked", tmp_path / "elsewhere")):
        (folder / name).symlink_to(target)
    (folder / "picture.txt").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\r")
    os.mkfifo(folder / "pipe.jsonl")
    one_each = dict.fromkeys(("hidden", "marker", "hidden_folder", "linked_folder", "binary", "not_regular"), 1)
    result = la.dedup(folder)
    said = result.summary.to_dict()["skipped"]
    names = said.pop("names")
    assert len(result) == 1 and len(names) == 10 and all(name.startswith(str(folder)) for name in names)
    reasons = {"by_reason": one_each | {"other_suffix": 4, "broken_link": 2}, "by_suffix": {".rtf": 2, "": 1, ".lz": 1}}
    assert said == {"files": 12} | reasons
    listed = "files not read: 12 (2 .rtf, 1 without suffix, 1 .lz: of no known text format; "
    assert listed in str(result.summary) and "1 binary" in str(result.summary)
    nothing = la.dedup([folder / "{a,none}.*"]).summary
    assert nothing.skipped == {"files": 0, "by_reason": {}, "by_suffix": {}, "names": []} and "not read" not in str(nothing)


def test_what_may_not_be_read_is_an_error(tmp_path, monkeypatch):
    """A folder that cannot be listed, and one that a glob cannot look into."""
    fill(tmp_path, "a/1.jsonl", "b/1.jsonl")
    scandir, access = os.scandir, os.access

    def closed(path):
        if Path(path).name == "b":
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    said = "b: cannot be read: Permission denied"
    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", closed)
        refused(said, open_sources, [tmp_path])
    monkeypatch.setattr(os, "access", lambda path, mode: access(path, mode) and not str(path).endswith("/b"))
    for pattern in ("*/*.jsonl", "**/*.jsonl"):
        refused(said, open_sources, [str(tmp_path / pattern)])


@pytest.mark.skipif(ROOT, reason="the superuser may read every file")
def test_modes_that_forbid_to_read_are_an_error(tmp_path):
    fill(tmp_path, "b/1.jsonl")
    for name in ("b/1.jsonl", "b"):
        (tmp_path / name).chmod(0)
        refused(rf"{name}: cannot be read: Permission denied", la.dedup, tmp_path)
        (tmp_path / name).chmod(0o700)


def test_what_is_no_path(tmp_path):
    fill(tmp_path, "a.jsonl")
    refused("no file matches$", open_sources, ["a*.x*"])
    Path("loop").symlink_to("loop")
    for given, words in {
        "x" * 5000: "File name too long",
        "a.jsonl/b.jsonl": "Not a directory",
        "loop": "symbolic links",
        "a\0b": "null",
        "none.jsonl": "No such file",
        "\ud800.jsonl": "surrogates",
    }.items():
        refused(f"{words}|no file of that name", open_sources, [given])
        refused("symbolic links" if given == "loop" else "no file of that name", la.dedup, given)


def test_links_and_hard_links(tmp_path):
    """A link to a file that is read anyway is counted; hard links are files of their own."""
    fill(tmp_path, "a.jsonl")
    os.link(tmp_path / "a.jsonl", tmp_path / "hard.jsonl")
    for name, target in (("link.jsonl", "a.jsonl"), ("to-hard.jsonl", "hard.jsonl")):
        (tmp_path / name).symlink_to(target)
    result = la.dedup(tmp_path)
    assert result.keep.tolist() == [True, False] and result.summary.skipped["by_reason"] == {"linked_twice": 2}
    Path("again").symlink_to(tmp_path)
    assert la.dedup([tmp_path, tmp_path / "again"]).summary.skipped["by_reason"] == {"linked_folder": 2, "linked_twice": 6}
    for twice in ([tmp_path, tmp_path / "a.jsonl"], [tmp_path / "a.jsonl", f"{tmp_path}/../{tmp_path.name}/a.jsonl"]):
        refused(r"a\.jsonl is given twice", la.dedup, twice)


@pytest.mark.parametrize("suffix", [".txt", ".jsonl", ".jsonl.zst", ".csv", ".parquet"])
def test_odd_names(tmp_path, suffix):
    """Ids and messages show bytes that are not UTF-8 as escapes; outputs have the very name."""
    names = [os.fsdecode(name + suffix.encode()) for name in (b"l\xe9", b"q'\"[x]\n*")]
    fill(Path("in"), "given.jsonl", f"{names[0]}")
    if suffix != ".txt":
        la.dedup("in/given.jsonl").write(tmp_path / "in" / names[0], force=True)
    Path("in/given.jsonl").unlink()
    shutil.copy(tmp_path / "in" / names[0], tmp_path / "in" / names[1])
    for name in names:
        la.dedup([tmp_path / "in" / name]).write("out", force=True)
        assert {*os.listdir("out")} == {name, "_lookalike.json"}
    result = la.dedup(tmp_path / "in")
    shown = f"{tmp_path}/in/l\\xe9{suffix}" + (":1" if suffix != ".txt" else "")
    assert result.removed["duplicate_of"].to_pylist() == [shown]
    result.write(tmp_path / os.fsdecode(b"o\xe9.jsonl"), annotate=True)
    la.pairs(tmp_path / "in")
    json.dumps(result.summary.to_dict(), ensure_ascii=False).encode()


def test_each_text_file_is_held_against_what_it_was():
    """Not their sum, nor the last change among them; nor does a job go on with files that changed."""
    one, two = (fill(Path("in"), name) / name for name in ("a.txt", "b.txt"))

    def change(act):
        act()
        os.utime(two, ns=(2**61, 2**61))

    for act in (lambda: (one.write_text("x" * 5), two.write_text("y" * 9)), lambda: os.utime(one, ns=(1, 1))):
        change(lambda: (one.write_text("y" * 9), two.write_text("x" * 5)))
        result = la.dedup("in/")
        change(act)
        for output in ("out", "out.jsonl"):
            refused(r"a\.txt: the file changed", result.write, output)
        assert os.listdir() == ["in"]
    one.write_text("y" * 9)
    la.dedup("in/", work="w")
    one.write_text("c" * 9)
    assert_raises(ParameterError, r"inputs\[0\]\.digest was", la.dedup, "in/", work="w")


def test_few_open_files_are_enough(tmp_path):
    Path("in").mkdir()
    for i in range(60):
        write_lines(tmp_path / f"in/{i:03}.jsonl", [f"{i} {A} {i * i}"])
    command = [sys.executable, "-W", "ignore", "-m", "lookalike", "dedup", "in", "-t", "1.0", "-o", "out", "--threads", "1"]
    done = subprocess.run(["bash", "-c", 'ulimit -n 24; "$@"', "bash", *command], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    assert len(os.listdir("out")) == 61
