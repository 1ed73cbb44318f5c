"""Which files an input means: nothing is left out without being counted and named."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cli.commands import status
from raising import assert_raises

import lookalike as la
from lookalike.errors import InputDataError, ParameterError
from lookalike.formats.sources import open_sources

A, B = "one two three four five six seven", "quite another text of several words"
ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


def line(text):
    return json.dumps({"text": text}) + "\n"


@pytest.fixture
def folder(tmp_path):
    """One file that is read, and one of each kind that is not."""
    inside = tmp_path / "in"
    (inside / ".git").mkdir(parents=True)
    (inside / "a.jsonl").write_text(line(A))
    (inside / ".git/config.txt").write_text("hidden")
    for name in ("_SUCCESS", ".b.jsonl"):
        (inside / name).write_text(line(B))
    for name in ("paper.rtf", "Other.RTF", "old.tar.lz", "README"):
        (inside / name).write_text("other")
    (inside / "gone.jsonl").symlink_to("nowhere")
    (inside / "self.jsonl").symlink_to("self.jsonl")
    (tmp_path / "elsewhere").mkdir()
    (inside / "linked").symlink_to(tmp_path / "elsewhere")
    (inside / "picture.txt").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\r")
    os.mkfifo(inside / "pipe.jsonl")
    return inside


ONE_EACH = ("hidden", "marker", "hidden_folder", "linked_folder", "binary", "not_regular")
EXPECTED = dict.fromkeys(ONE_EACH, 1) | {"other_suffix": 4, "broken_link": 2}


def test_what_is_left_out_is_counted_and_named(folder):
    result = la.dedup(folder)
    said = result.summary.to_dict()["skipped"]
    assert len(result) == 1 and said["files"] == sum(EXPECTED.values()) and said["by_reason"] == EXPECTED
    assert len(said["names"]) == 10 and all(name.startswith(str(folder)) for name in said["names"])
    assert said["by_suffix"] == {".rtf": 2, "": 1, ".lz": 1}
    listed = "files not read: 12 (2 .rtf, 1 without suffix, 1 .lz: of no known text format; "
    assert listed in str(result.summary) and "1 binary" in str(result.summary)
    nothing = la.dedup(folder / "a.jsonl").summary
    assert nothing.skipped == {"files": 0, "by_reason": {}, "by_suffix": {}, "names": []} and "not read" not in str(nothing)


def test_every_command_says_so(folder, tmp_path, capfd, monkeypatch):
    monkeypatch.chdir(tmp_path)
    la.Index.create("ix").close()
    os.mkdir("other")
    Path("other/a.jsonl").write_text(line(A))
    Path("other/notes.rtf").touch()
    for command, n in {
        "dedup in": 12,
        "dedup in --json": 12,
        "pairs in": 12,
        "decontaminate in --against other": 13,
        "index add ix in": 12,
        "index query ix in": 12,
    }.items():
        assert not status(*command.split())
        said = capfd.readouterr()
        if "--json" in command:
            assert json.loads(said.out)["skipped"]["by_reason"] == EXPECTED
        else:
            assert f"files not read: {n} (" in (said.out if command == "dedup in" else said.err)


def test_a_folder_of_which_nothing_is_read_says_why(tmp_path):
    """Also a glob of folders alone, as Spark writes them: the folder itself is named."""
    (tmp_path / "notes.rtf").write_text("x")
    for name in ("a.parquet", "b.parquet"):
        (tmp_path / "spark" / name).mkdir(parents=True)
    rtf = r"skipped: 1 \(1 .rtf: of no known text format: .*notes\.rtf\); \.rtf is not read: .*pandoc"
    folders = r"no file matches; skipped: 2 .*a\.parquet.*; name a folder itself, without"
    for said, path, glob in (
        (rf"no file with a known suffix .*{rtf}", "", None),
        (rf"no file is read; {rtf}", "", "*.r*"),
        (r"no file that matches '\*\.x'; skipped: 1 \(1 not matched by the glob", "", "*.x"),
        ("no file matches$", "spark/a.parquet/*.x*", None),
        *((folders, f"spark/{glob}", None) for glob in ("*.parquet", "?.parquet", "{a,b}.parquet")),
    ):
        assert_raises(InputDataError, said, open_sources, [f"{tmp_path}/{path}"], glob=glob)
    (tmp_path / "x.txt").write_bytes(b"\0")
    assert_raises(InputDataError, r"all files are binary, such as .*x\.txt", open_sources, [tmp_path], glob="*.txt")


def test_the_order_of_a_folder_is_that_of_its_names(tmp_path):
    for name in ("b/x.txt", "b.txt", "a/z.txt", "B.txt", "b-c/y.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    (source,) = open_sources([tmp_path])
    assert [p.path for p in source.places] == sorted(tmp_path.rglob("*.txt"))


def test_globs(folder):
    (folder / "sub.md").mkdir()
    for name in ("notes.md", "sub.md/c.md", "_x.md", "__init__.md", ".y.md", "d.rst"):
        (folder / name).write_text(f"{B} {name}")
    texts = ["__init__.md", "_x.md", "notes.md", "c.md"]
    for glob, names in (
        *((glob, texts) for glob in ("*.md", ["*.md"], ("*.m[d]", "c.md"), "{*.md,*.none}")),
        (".*.md", [".y.md"]),
        *((glob, [*texts[:2], "d.rst", *texts[2:]]) for glob in ("*.{md,rst}", ["*.md", "*.rst"])),
    ):
        assert [p.path.name for p in la.dedup(folder, glob=glob)._job.sources[0].places] == names
    result = la.dedup(str(folder / "*.md"))
    assert len(result) == 3 and result.summary.skipped["by_reason"] == {"folder": 1}
    assert len(la.dedup(str(folder / "{*.md,d.*}"))) == len(la.dedup([folder / "{*.md,d.*}"])) == 4
    for pattern in ("", "/x/*.md", str(folder / "*.md")):
        assert_raises(ParameterError, "glob must be a pattern of names inside the folder", la.dedup, folder, glob=pattern)


def test_a_binary_file_given_by_name_is_an_error(folder, tmp_path):
    (folder / "nul.txt").write_bytes(b"words\0words")
    (tmp_path / "elsewhere/late.txt").write_bytes(b"word " * 5000 + b"\0")
    for said, given in (
        (r"picture\.txt: is a PNG image", folder / "picture.txt"),
        (r"late\.txt: NUL", tmp_path / "elsewhere"),
        (r"nul\.txt: NUL, which no text contains, at byte 5 of the file", folder / "nul.txt"),
    ):
        assert_raises(InputDataError, said, la.dedup, given)
    assert len(la.dedup(folder / "nul.txt", encoding_errors="replace")) == 1


def test_what_may_not_be_read_is_an_error(tmp_path, monkeypatch):
    """A folder that cannot be listed, and one that a glob cannot look into."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "1.jsonl").write_text(line(name + A))
    scandir = os.scandir
    access = os.access

    def refused(path):
        if Path(path).name == "b":
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", refused)
        assert_raises(InputDataError, "b: cannot be read: Permission denied", open_sources, [tmp_path])
    with monkeypatch.context() as patch:
        patch.setattr(os, "access", lambda path, mode: access(path, mode) and not str(path).endswith("/b"))
        for pattern in ("*/*.jsonl", "**/*.jsonl"):
            assert_raises(InputDataError, "/b: cannot be read: Permission denied", open_sources, [str(tmp_path / pattern)])


@pytest.mark.skipif(ROOT, reason="the superuser may read every file")
def test_modes_that_forbid_to_read_are_an_error(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "b/1.jsonl").write_text(line(B))
    for name in ("b/1.jsonl", "b"):
        (tmp_path / name).chmod(0)
        assert_raises(InputDataError, rf"{name}: cannot be read: Permission denied", la.dedup, tmp_path)
        (tmp_path / name).chmod(0o700)


def test_what_is_no_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.jsonl").write_text(line(A))
    Path("loop").symlink_to("loop")
    for given, words in {
        "x" * 5000: "File name too long",
        "a.jsonl/b.jsonl": "Not a directory",
        "loop": "symbolic links",
        "a\0b": "null",
        "none.jsonl": "No such file",
        "\ud800.jsonl": "surrogates",
    }.items():
        assert_raises(InputDataError, f"{words}|no file of that name", open_sources, [given])
        assert_raises(InputDataError, "symbolic links" if given == "loop" else "no file of that name", la.dedup, given)


def test_links_and_hard_links(tmp_path):
    """A link to a file that is read anyway is counted; hard links are files of their own, and exact duplicates."""
    (tmp_path / "a.jsonl").write_text(line(A))
    os.link(tmp_path / "a.jsonl", tmp_path / "hard.jsonl")
    assert la.dedup(tmp_path).keep.tolist() == [True, False]
    (tmp_path / "link.jsonl").symlink_to("a.jsonl")
    (tmp_path / "to-hard.jsonl").symlink_to("hard.jsonl")
    result = la.dedup(tmp_path)
    assert result.keep.tolist() == [True, False] and result.summary.skipped["by_reason"] == {"linked_twice": 2}
    (tmp_path / "again").symlink_to(tmp_path)
    assert la.dedup([tmp_path, tmp_path / "again"]).summary.skipped["by_reason"] == {"linked_folder": 2, "linked_twice": 6}
    for twice in ([tmp_path, tmp_path / "a.jsonl"], [tmp_path / "a.jsonl", f"{tmp_path}/../{tmp_path.name}/a.jsonl"]):
        assert_raises(InputDataError, r"a\.jsonl is given twice", la.dedup, twice)


@pytest.mark.parametrize("suffix", [".txt", ".jsonl", ".jsonl.zst", ".csv", ".parquet"])
def test_names_that_are_not_utf_8(tmp_path, suffix):
    """Ids and messages show such bytes as escapes; outputs have the very name."""
    folder = tmp_path / "in"
    odd = os.fsdecode(b"l\xe9" + suffix.encode())
    folder.mkdir()
    if suffix == ".txt":
        (folder / odd).write_text(A)
    else:
        (tmp_path / "given.jsonl").write_text(line(A))
        la.dedup("given.jsonl").write(tmp_path / f"made{suffix}")
        (tmp_path / f"made{suffix}").rename(folder / odd)
    shutil.copy(folder / odd, folder / f"z{suffix}")
    result = la.dedup(folder)
    first = f"{folder}/l\\xe9{suffix}" + ("" if suffix == ".txt" else ":1")
    assert result.removed["duplicate_of"].to_pylist() == [first]
    for force in (False, True):
        result.write("out", force=force)
    assert os.fsencode(odd) in os.listdir(os.fsencode(tmp_path / "out"))
    result.write(tmp_path / os.fsdecode(b"o\xe9.jsonl"), annotate=True)
    la.pairs(folder)
    json.dumps(result.summary.to_dict(), ensure_ascii=False).encode()


def test_names_with_line_feeds(tmp_path):
    names = ["a\nb.jsonl", "q'\"[x]*.jsonl"]
    for name in names:
        (tmp_path / name).write_text(line(A + name))
    result = la.dedup([tmp_path / name for name in names], threshold=1.0)
    for force in (False, True):
        result.write("out", force=force)
    assert {*os.listdir("out")} == {*names, "_lookalike.json"}


def test_each_text_file_is_held_against_what_it_was(tmp_path):
    """Not their sum, nor the last change among them."""
    one = tmp_path / "in/a.txt"
    two = tmp_path / "in/b.txt"
    one.parent.mkdir()
    for change in (lambda: (one.write_text("x" * 5), two.write_text("y" * 9)), lambda: os.utime(one, ns=(1, 1)), one.unlink):
        one.write_text("y" * 9)
        two.write_text("x" * 5)
        os.utime(two, ns=(2**61, 2**61))
        result = la.dedup(one.parent)
        change()
        os.utime(two, ns=(2**61, 2**61))
        for output in ("out", "out.jsonl"):
            assert_raises(InputDataError, r"a\.txt: (the file changed|cannot be read)", result.write, tmp_path / output)
        assert os.listdir() == ["in"]


def test_text_files_that_changed_do_not_resume(tmp_path):
    (tmp_path / "in").mkdir()
    for name in ("a", "b"):
        (tmp_path / "in" / f"{name}.txt").write_text(name * 9)
    os.utime(tmp_path / "in/b.txt", ns=(2**61, 2**61))
    la.dedup("in", work="w")
    (tmp_path / "in/a.txt").write_text("c" * 9)
    assert_raises(ParameterError, r"inputs\[0\]\.digest was", la.dedup, "in", work="w")


def test_many_files_take_few_calls(tmp_path, monkeypatch):
    """A fixed number of looks at each file, however many there are."""
    counts = []
    for n in (40, 80):
        folder = tmp_path / str(n)
        calls = []
        folder.mkdir()
        for i in range(n):
            (folder / f"{i}.txt").write_text(f"{i} some text of document {i * i}")
        with monkeypatch.context() as patched:
            for name in ("stat", "lstat", "open", "scandir", "listdir"):
                call = getattr(os, name)
                patched.setattr(
                    os, name, lambda *args, call=call, calls=calls, **more: (calls.append(1), call(*args, **more))[1]
                )
            la.dedup(folder, threads=1).write(tmp_path / f"out{n}")
        counts.append(len(calls))
    assert counts[1] - counts[0] <= 40 * 6, counts


def test_few_open_files_are_enough(tmp_path):
    (tmp_path / "in").mkdir()
    for i in range(60):
        (tmp_path / f"in/{i:03}.jsonl").write_text(line(f"{i} {A} {i * i}"))
    command = [sys.executable, "-W", "ignore", "-m", "lookalike", "dedup", "in", "-t", "1.0", "-o", "out", "--threads", "1"]
    done = subprocess.run(["bash", "-c", 'ulimit -n 24; "$@"', "bash", *command], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    assert len(os.listdir("out")) == 61
