"""``exclude``: which files of a folder, glob, archive or table are left out, counted and named."""

from pathlib import Path

import pytest
from cli.commands import run, status
from document_files import archive
from raising import assert_raises

import lookalike as la
from lookalike.errors import InputDataError, ParameterError

TEXT = "one two three four five six seven"


@pytest.fixture
def folder(tmp_path):
    for name in ("in/a.txt", "in/old/b.txt", "in/old/deep/c.txt", "in/new/old.txt", "in/new/d.md", "odd/d.md", "odd/d [1].md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{TEXT} {name}")
    (tmp_path / "in/config.json").write_text('{"debug": true}')
    (tmp_path / "x.zip").write_bytes(archive(dict.fromkeys(("a.txt", "old/b.txt", "c.json"), "{}")))
    return tmp_path / "in"


LEFT = (  # inputs, what is excluded of them, and what is left
    ("in", ["*.json", "old"], ["a.txt", "new/d.md", "new/old.txt"]),
    ("in", ["*.json", "old/"], ["a.txt", "new/d.md", "new/old.txt"]),
    ("in", ["*.json", "./old/*.txt"], ["a.txt", "new/d.md", "new/old.txt", "old/deep/c.txt"]),
    ("in", ["*.json", "**/deep"], ["a.txt", "new/d.md", "new/old.txt", "old/b.txt"]),
    ("in", ["*.{json,md}", "in/old"], ["a.txt", "new/old.txt"]),
    ("in", ["config.json", "ol?", "[n]ew"], ["a.txt"]),
    ("in", ["in/config.json", "{whole}/old", "../{name}/in/new"], ["a.txt"]),
    ("in/**/*.txt", "old", ["a.txt", "old.txt"]),
    (["in/a.txt", "in/config.json"], "*.json", ["a.txt"]),
    ("in/a.txt", "in", ["a.txt"]),  # folders above a file that is named do not count
    (["in/a.txt", "in/old", "in/new"], ["old", "*.md"], ["a.txt", "old.txt"]),
    (["in/old", "in/new"], ["old/**"], ["d.md", "old.txt"]),
    ("odd", "d [1].md", ["d.md"]),  # brackets in a name stand for themselves too
    ("x.zip", ["c.json", "old"], ["x.zip/a.txt"]),
)


def names_of(result):
    return sorted(place.relative for split in result._job.sources for place in split.places)


def test_what_matches_a_name_or_a_path_is_left_out(folder, tmp_path, monkeypatch):
    for given, patterns, left in LEFT:
        some = [patterns] if isinstance(patterns, str) else patterns
        exclude = [one.replace("{whole}", str(folder)).replace("{name}", tmp_path.name) for one in some]
        paths = given if isinstance(given, str) else [*map(Path, given)]
        assert names_of(la.dedup(paths, exclude=exclude if len(some) > 1 else exclude[0])) == left
    assert la.dedup([TEXT], against="in", exclude=["*.json", "old"]).summary.reference == 3
    assert names_of(la.dedup("odd", glob="d [1].md")) == ["d [1].md"]
    monkeypatch.chdir(folder / "old")
    assert names_of(la.dedup(".", exclude=["old", "./b.txt"])) == ["deep/c.txt"]
    for pattern in ("", "/", "./"):
        assert_raises(ParameterError, "exclude must be a pattern of names", la.dedup, folder, exclude=pattern)


def test_it_is_counted_and_named(folder, capsys):
    found = la.dedup(folder, exclude=["*.json", "old"]).summary.skipped
    assert found["by_reason"] == {"excluded": 2} and found["names"] == [f"{folder}/config.json", f"{folder}/old/"]
    assert not status("index", "create", "x.idx")
    for command in ("pairs", "repeats", "dedup", "index add x.idx", "index query x.idx"):
        code, out, err = run(capsys, *command.split(), folder, "--set", "exclude=*.json", "--set", "exclude=old")
        assert code == 0 and "files not read: 2 (2 excluded: " in out + err
    for given, exclude, n in ((folder / "a.txt", "a.*", 1), ([folder / "new"], ["*.md", "*.txt"], 2)):
        said = rf"no file is read; skipped: {n} \({n} excluded: [^;]*$"
        assert_raises(InputDataError, said, la.dedup, given, exclude=exclude)


def test_an_excluded_folder_is_not_entered(folder):
    (folder / "closed").mkdir(mode=0)
    try:
        assert len(la.dedup(folder, exclude=["*.json", "closed"])) == 5
    finally:
        (folder / "closed").chmod(0o700)


def test_the_error_of_a_stray_file_advises_it(folder):
    """But not where nothing else would be left."""
    (folder / "config.json").rename(folder / "stray.csv")
    for given, advised in ((folder, True), (folder / "stray.csv", False)):
        with pytest.raises(InputDataError, match="column 'text' is missing; columns found: ") as error:
            la.dedup(given)
        assert ("or leave the file out: exclude=" in str(error.value)) == advised
