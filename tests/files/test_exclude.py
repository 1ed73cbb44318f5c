"""``exclude``: which files of a folder, glob, archive or table are left out, counted and named."""

import zipfile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli.commands import status
from json_lines import parse_lines
from raising import assert_raises

import lookalike as la
from lookalike.errors import InputDataError, ParameterError

TEXT = "one two three four five six seven"


@pytest.fixture
def folder(tmp_path):
    for name in ("a.txt", "old/b.txt", "old/deep/c.txt", "new/old.txt", "new/d.md"):
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / name).write_text(f"{TEXT} {name}")
    (tmp_path / "in/config.json").write_text('{"debug": true}')
    return tmp_path / "in"


OPTIONS = ("--set", "exclude=*.json", "--set", "exclude=old")


def names_of(result):
    return sorted(place.relative for split in result._job.sources for place in split.places)


def test_what_matches_a_name_or_a_path_is_left_out(folder):
    every = {"a.txt", "new/d.md", "new/old.txt", "old/b.txt", "old/deep/c.txt"}
    for patterns, left in (
        (["config.json"], set()),
        (["*.json", "old"], {"old/b.txt", "old/deep/c.txt"}),
        (["*.json", "old/"], {"old/b.txt", "old/deep/c.txt"}),
        (["*.json", "./old/*.txt"], {"old/b.txt"}),
        (["*.json", "**/deep"], {"old/deep/c.txt"}),
        (["*.{json,md}", "in/old"], {"new/d.md", "old/b.txt", "old/deep/c.txt"}),
        (["*.json", "ol?", "[n]ew"], every - {"a.txt"}),
    ):
        assert names_of(la.dedup(folder, exclude=patterns)) == sorted(every - left)
    for pattern in ("", "/", "./"):
        assert_raises(ParameterError, "exclude must be a pattern of names", la.dedup, folder, exclude=pattern)


def test_it_is_counted_and_named(folder, capsys):
    found = la.dedup(folder, exclude=["*.json", "old"]).summary.skipped
    assert found["by_reason"] == {"excluded": 2} and found["names"] == [f"{folder}/config.json", f"{folder}/old/"]
    for command in ("pairs", "repeats", "dedup"):
        assert not status(command, folder, *OPTIONS), capsys.readouterr().err
    assert "files not read: 2 (2 excluded: " in capsys.readouterr().out


def test_paths_as_messages_say_them_and_whole_ones(folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    for pattern in ("in/config.json", str(folder / "config.json"), f"../{folder.parent.name}/in/config.json"):
        assert len(la.dedup("in", exclude=pattern)) == 5
    monkeypatch.chdir(folder)
    assert len(la.dedup(".", exclude="./config.json")) == 5


def test_globs_and_files_that_are_named(folder, capsys):
    assert names_of(la.dedup(str(folder / "**/*.txt"), exclude="old")) == ["a.txt", "old.txt"]
    assert len(la.dedup([folder / "a.txt", folder / "config.json"], exclude="*.json")) == 1
    assert_raises(
        InputDataError, r"no file is read; skipped: 1 \(1 excluded: .*a\.txt\)$", la.dedup, folder / "a.txt", exclude="a.*"
    )
    assert len(la.dedup(folder / "a.txt", exclude="in")) == 1, "folders above a file that is named do not count"


def test_folders_that_are_named_and_folders_of_which_nothing_is_left(folder, monkeypatch):
    found = la.dedup([folder / "a.txt", folder / "old", folder / "new"], exclude=["old", "*.md"])
    assert names_of(found) == ["a.txt", "old.txt"] and found.summary.skipped["by_reason"] == {"excluded": 2}
    assert names_of(la.dedup([folder / "old", folder / "new"], exclude="old/**")) == ["d.md", "old.txt"]
    assert_raises(
        InputDataError,
        r"no file is read; skipped: 2 \(2 excluded: [^;]*$",
        la.dedup,
        [folder / "new"],
        exclude=["*.md", "*.txt"],
    )
    monkeypatch.chdir(folder / "old")
    assert names_of(la.dedup(".", exclude="old")) == ["b.txt", "deep/c.txt"]


def test_brackets_in_a_name_stand_for_themselves_too(folder):
    (folder / "new/d [1].md").write_text(f"{TEXT} copy")
    assert names_of(la.dedup(folder / "new", exclude="d [1].md")) == ["d.md", "old.txt"]
    assert names_of(la.dedup(folder / "new", glob="d [1].md")) == ["d [1].md"]


def test_archives_and_references(folder, tmp_path):
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as made:
        for name in ("a.txt", "old/b.txt", "c.json"):
            made.writestr(name, TEXT if name != "c.json" else "{}")
    assert names_of(la.dedup("x.zip", exclude=["c.json", "old"])) == ["x.zip/a.txt"]
    result = la.dedup([TEXT], against=folder, exclude=["*.json", "old"])
    assert result.summary.reference == 3


def test_an_excluded_folder_is_not_entered(folder):
    (folder / "closed").mkdir(mode=0)
    try:
        assert len(la.dedup(folder, exclude=["*.json", "closed"])) == 5
    finally:
        (folder / "closed").chmod(0o700)


def test_the_error_of_a_stray_file_advises_it(folder, capsys):
    assert_raises(
        InputDataError,
        r"config\.json, row 1: field 'text' is missing; .*or leave the file out: exclude=$",
        la.dedup,
        folder,
    )
    (folder / "config.json").write_text(f'{{"text": "{TEXT}"}}')
    (folder / "stray.csv").write_text("a,b\n1,2\n")
    status("dedup", folder)
    advice = "columns found: a, b; name another with --text; or leave the file out: --set exclude=PATTERN"
    assert f"column 'text' is missing; {advice}" in capsys.readouterr().err
    (folder / "stray.csv").unlink()
    pq.write_table(pa.table({"a": [1]}), folder / "stray.parquet")
    for given, advised in ((folder, True), (folder / "stray.parquet", False)):  # alone, nothing else would be left
        with pytest.raises(InputDataError) as error:
            la.dedup(given)
        assert ("exclude=" in str(error.value)) == advised


def test_an_index_takes_it(folder, tmp_path, capsys):
    index = str(tmp_path / "x.idx")
    for arguments in (["create", index], ["add", index, str(folder), "--set", "exclude=*.json"]):
        assert not status("index", *arguments)
    assert "5 documents added" in capsys.readouterr().out
    status("index", "query", index, folder, *OPTIONS)
    found = {row["query"].rpartition("/")[2] for row in parse_lines(capsys.readouterr().out)}
    assert found == {"a.txt", "old.txt", "d.md"}
