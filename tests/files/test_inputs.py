"""Which files an input means: nothing is left out without being counted and named."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from cli.commands import status

import lookalike as la
from lookalike.formats.sources import open_sources

A, B = "one two three four five six seven", "quite another text of several words"
ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
as_user = pytest.mark.skipif(ROOT, reason="the superuser may read every file")


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
    assert len(result) == 1
    said = result.summary.to_dict()["skipped"]
    assert said["files"] == sum(EXPECTED.values()) and said["by_reason"] == EXPECTED
    assert len(said["names"]) == 10 and all(name.startswith(str(folder)) for name in said["names"])
    assert said["by_suffix"] == {".rtf": 2, "": 1, ".lz": 1}
    listed = "files not read: 12 (2 .rtf, 1 without suffix, 1 .lz: of no known text format; "
    assert listed in str(result.summary) and "1 binary" in str(result.summary)


def test_nothing_is_said_where_nothing_is_left_out(folder):
    result = la.dedup(folder / "a.jsonl")
    assert result.summary.skipped == {"files": 0, "by_reason": {}, "by_suffix": {}, "names": []}
    assert "not read" not in str(result.summary)


@pytest.mark.parametrize(
    "command",
    ["dedup IN --json", "pairs IN", "decontaminate IN --against OTHER", "index add IX IN", "index query IX IN", "dedup IN"],
)
def test_every_command_says_so(folder, tmp_path, command, capfd):
    la.Index.create(tmp_path / "ix").close()
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.jsonl").write_text(line(A))
    (other / "notes.rtf").touch()
    places = {"IN": str(folder), "OTHER": str(other), "IX": str(tmp_path / "ix")}
    assert not status(*(places.get(word, word) for word in command.split()))
    said = capfd.readouterr()
    if "--json" in command:
        assert json.loads(said.out)["skipped"]["by_reason"] == EXPECTED
    else:
        n = 13 if "decontaminate" in command else 12
        assert f"files not read: {n} (" in (said.out if command == "dedup IN" else said.err)


def test_a_folder_of_which_nothing_is_read_says_why(tmp_path):
    (tmp_path / "notes.rtf").write_text("x")
    with pytest.raises(
        la.errors.InputDataError,
        match=r"no file with a known suffix .*skipped: 1 \(1 .rtf: of no known text format: .*notes\.rtf\); \.rtf is not read: .*pandoc",
    ):
        open_sources([tmp_path])
    with pytest.raises(
        la.errors.InputDataError, match=r"no file is read; skipped: 1 \(1 .rtf: of no known .*rtf is not read: .*pandoc"
    ):
        open_sources([tmp_path], glob="*.r*")
    with pytest.raises(la.errors.InputDataError, match=r"no file that matches '\*\.x'; skipped: 1 \(1 not matched by the glob"):
        open_sources([tmp_path], glob="*.x")
    (tmp_path / "x.txt").write_bytes(b"\0")
    with pytest.raises(la.errors.InputDataError, match=r"all files are binary, such as .*x\.txt"):
        open_sources([tmp_path], glob="*.txt")


def test_the_order_of_a_folder_is_that_of_its_names(tmp_path):
    for name in ("b/x.txt", "b.txt", "a/z.txt", "B.txt", "b-c/y.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    (source,) = open_sources([tmp_path])
    assert [p.path for p in source.places] == sorted(tmp_path.rglob("*.txt"))


def test_a_glob_of_folders_alone(tmp_path):
    """As Spark writes them: the folder itself is named."""
    for name in ("a.parquet", "b.parquet"):
        (tmp_path / name).mkdir()
    for glob in ("*.parquet", "?.parquet", "{a,b}.parquet"):
        with pytest.raises(
            la.errors.InputDataError, match=r"no file matches; skipped: 2 .*a\.parquet.*; name a folder itself, without"
        ):
            la.dedup(tmp_path / glob)
    with pytest.raises(la.errors.InputDataError, match="no file matches$"):
        la.dedup(tmp_path / "a.parquet/*.x*")


def test_globs(folder, tmp_path):
    (folder / "sub.md").mkdir()
    for name in ("notes.md", "sub.md/c.md", "_x.md", "__init__.md", ".y.md", "d.rst"):
        (folder / name).write_text(f"{B} {name}")
    for glob in ("*.md", ["*.md"], ("*.m[d]", "c.md"), "{*.md,*.none}"):
        result = la.dedup(folder, glob=glob)
        assert [p.path.name for p in result._job.sources[0].places] == ["__init__.md", "_x.md", "notes.md", "c.md"]
    for glob in ("*.{md,rst}", ["*.md", "*.rst"]):
        assert [p.path.name for p in la.dedup(folder, glob=glob)._job.sources[0].places][2:] == ["d.rst", "notes.md", "c.md"]
    assert [p.path.name for p in la.dedup(folder, glob=".*.md")._job.sources[0].places] == [".y.md"]
    result = la.dedup(str(folder / "*.md"))
    assert len(result) == 3 and result.summary.skipped["by_reason"] == {"folder": 1}
    assert len(la.dedup(str(folder / "{*.md,d.*}"))) == len(la.dedup([folder / "{*.md,d.*}"])) == 4
    for pattern in ("", "/x/*.md", str(folder / "*.md")):
        with pytest.raises(la.errors.ParameterError, match="glob must be a pattern of names inside the folder"):
            la.dedup(folder, glob=pattern)


def test_a_binary_file_given_by_name_is_an_error(folder):
    with pytest.raises(la.errors.InputDataError, match=r"picture\.txt: is a PNG image"):
        la.dedup(folder / "picture.txt")
    (folder / "nul.txt").write_bytes(b"words\0words")
    with pytest.raises(la.errors.InputDataError, match=r"nul\.txt: NUL, which no text contains, at byte 5 of the file"):
        la.dedup(folder / "nul.txt")
    assert len(la.dedup(folder / "nul.txt", encoding_errors="replace")) == 1


def test_a_file_with_nul_far_inside_is_an_error_and_not_left_out(tmp_path):
    (tmp_path / "late.txt").write_bytes(b"word " * 5000 + b"\0")
    with pytest.raises(la.errors.InputDataError, match=r"late\.txt: NUL"):
        la.dedup(tmp_path)


@as_user
@pytest.mark.parametrize("name", ["a.jsonl", "deep"])
def test_what_may_not_be_read_is_an_error(tmp_path, name):
    (tmp_path / "deep").mkdir()
    (tmp_path / "b.jsonl").write_text(line(B))
    (tmp_path / "a.jsonl").write_text(line(A))
    (tmp_path / name).chmod(0)
    try:
        with pytest.raises(la.errors.InputDataError, match=rf"{name}: cannot be read: Permission denied"):
            la.dedup(tmp_path)
    finally:
        (tmp_path / name).chmod(0o700)


def test_a_folder_that_cannot_be_listed_is_an_error(tmp_path, monkeypatch):
    (tmp_path / "deep").mkdir()
    (tmp_path / "a.jsonl").write_text(line(A))
    scandir = os.scandir

    def refused(path):
        if Path(path).name == "deep":
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refused)
    with pytest.raises(la.errors.InputDataError, match="deep: cannot be read: Permission denied"):
        la.dedup(tmp_path)


@pytest.mark.parametrize(
    ("given", "words"),
    [("x" * 5000, "File name too long"), ("a.jsonl/b.jsonl", "Not a directory"), ("loop", "symbolic links"), ("a\0b", "null"),
     ("none.jsonl", "No such file"), ("\ud800.jsonl", "surrogates")],
)  # fmt: skip
def test_what_is_no_path(tmp_path, monkeypatch, given, words):
    monkeypatch.chdir(tmp_path)
    Path("a.jsonl").write_text(line(A))
    Path("loop").symlink_to("loop")
    with pytest.raises(la.errors.InputDataError, match=f"{words}|no file of that name"):
        open_sources([given])
    with pytest.raises(la.errors.InputDataError, match="symbolic links" if given == "loop" else "no file of that name"):
        la.dedup(given)


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
        with pytest.raises(la.errors.InputDataError, match=r"a\.jsonl is given twice"):
            la.dedup(twice)


@pytest.mark.parametrize("suffix", [".txt", ".jsonl", ".jsonl.zst", ".csv", ".parquet"])
def test_names_that_are_not_utf_8(tmp_path, suffix):
    """Ids and messages show such bytes as escapes; outputs have the very name."""
    import pyarrow as pa

    folder = tmp_path / "in"
    folder.mkdir()
    la.dedup(pa.table({"text": [A]})).write(tmp_path / "made.jsonl")
    if suffix == ".txt":
        (folder / "made.txt").write_text(A)
    else:
        made = la.dedup(tmp_path / "made.jsonl")
        made.write(folder / f"made{suffix}", annotate=False)
        os.remove(folder / f"made{suffix}_lookalike.json") if suffix != ".parquet" else None
    odd = os.fsdecode(b"l\xe9" + suffix.encode())
    (folder / f"made{suffix}").rename(folder / odd)
    (folder / f"z{suffix}").write_bytes((folder / odd).read_bytes())
    result = la.dedup(folder)
    end = "" if suffix == ".txt" else ":1"
    assert result.removed["duplicate_of"].to_pylist() == [f"{folder}/l\\xe9{suffix}{end}"]
    for force in (False, True):
        result.write(tmp_path / "out", force=force)
    assert os.fsencode(odd) in os.listdir(os.fsencode(tmp_path / "out"))
    result.write(tmp_path / os.fsdecode(b"o\xe9.jsonl"), annotate=True)
    la.pairs(folder)
    json.dumps(result.summary.to_dict(), ensure_ascii=False).encode()


def test_names_with_line_feeds(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    for name in ("a\nb.jsonl", "q'\"[x]*.jsonl"):
        (folder / name).write_text(line(A + name))
    result = la.dedup([folder / "a\nb.jsonl", folder / "q'\"[x]*.jsonl"], threshold=1.0)
    result.write(tmp_path / "out")
    assert {p.name for p in (tmp_path / "out").iterdir()} == {"a\nb.jsonl", "q'\"[x]*.jsonl", "_lookalike.json"}
    result.write(tmp_path / "out", force=True)


@pytest.mark.parametrize("change", [
    lambda one, two: (one.write_text("x" * two.stat().st_size), two.write_text("y" * 9)),
    lambda one, two: os.utime(one, ns=(1, 1)),
    lambda one, two: one.unlink(),
])  # fmt: skip
def test_each_text_file_is_held_against_what_it_was(tmp_path, change):
    """Not their sum, nor the last change among them."""
    one, two = tmp_path / "in/a.txt", tmp_path / "in/b.txt"
    one.parent.mkdir()
    one.write_text("y" * 9)
    two.write_text("x" * 5)
    os.utime(two, ns=(2**61, 2**61))
    result = la.dedup(tmp_path / "in")
    change(one, two)
    os.utime(two, ns=(2**61, 2**61))
    for output in ("out", "out.jsonl"):
        with pytest.raises(la.errors.InputDataError, match=r"a\.txt: (the file changed|cannot be read)"):
            result.write(tmp_path / output)
    assert os.listdir(tmp_path) == ["in"]


def test_text_files_that_changed_do_not_resume(tmp_path):
    for name in ("a", "b"):
        (tmp_path / "in").mkdir(exist_ok=True)
        (tmp_path / "in" / f"{name}.txt").write_text(name * 9)
    os.utime(tmp_path / "in/b.txt", ns=(2**61, 2**61))
    la.dedup(tmp_path / "in", work=tmp_path / "w")
    (tmp_path / "in/a.txt").write_text("c" * 9)
    with pytest.raises(la.errors.ParameterError, match=r"inputs\[0\]\.digest was"):
        la.dedup(tmp_path / "in", work=tmp_path / "w")


def test_many_files_take_few_calls(tmp_path, monkeypatch):
    """A fixed number of looks at each file, however many there are."""
    counts = []
    for n in (40, 80):
        folder = tmp_path / str(n)
        folder.mkdir()
        for i in range(n):
            (folder / f"{i}.txt").write_text(f"{i} some text of document {i * i}")
        calls = 0
        with monkeypatch.context() as patched:
            for name in ("stat", "lstat", "open", "scandir", "listdir"):
                plain = getattr(os, name)

                def counting(*args, plain=plain, **more):
                    nonlocal calls
                    calls += 1
                    return plain(*args, **more)

                patched.setattr(os, name, counting)
            result = la.dedup(folder, threads=1)
            result.write(tmp_path / f"out{n}")
        counts.append(calls)
    assert counts[1] - counts[0] <= 40 * 6, counts


def test_few_open_files_are_enough(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    for i in range(60):
        (folder / f"{i:03}.jsonl").write_text(line(f"{i} {A} {i * i}"))
    command = [sys.executable, "-W", "ignore", "-m", "lookalike", "dedup", "in", "-t", "1.0", "-o", "out", "--threads", "1"]
    done = subprocess.run(["bash", "-c", 'ulimit -n 24; "$@"', "bash", *command], cwd=tmp_path, capture_output=True, text=True)
    assert "Traceback" not in done.stderr
    assert done.returncode == 0, done.stderr
    assert len(os.listdir(tmp_path / "out")) == 61


def test_empty_documents_are_said_with_a_way_out(tmp_path):
    (tmp_path / "in.jsonl").write_text(line("") + line("...") + line(A))
    result = la.dedup(tmp_path / "in.jsonl")
    assert result.summary.empty == 2
    assert (
        "empty documents                      2   (nothing to compare: kept, never matched; empty='drop' removes them)"
        in str(result.summary)
    )


def test_a_folder_that_a_glob_cannot_look_into_is_named(tmp_path, monkeypatch):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "1.jsonl").write_text(line(name + A))
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: access(path, mode) and not str(path).endswith("/b"))
    for pattern in ("*/*.jsonl", "**/*.jsonl"):
        with pytest.raises(la.errors.InputDataError, match="/b: cannot be read: Permission denied"):
            open_sources([str(tmp_path / pattern)])
