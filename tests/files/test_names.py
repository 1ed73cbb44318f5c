"""Names of files: suffixes, names as text, and what is below a folder."""

import os
from pathlib import Path

import pytest

import lookalike as la
from lookalike.files.names import (
    Patterns,
    expanded,
    is_glob,
    is_marker,
    left_out,
    list_suffixes,
    show_path,
    suffix_of,
    walk,
    with_compressed,
)

KNOWN = (".csv", ".gz", ".csv.gz", ".txt")


@pytest.mark.parametrize(
    ("name", "suffix"),
    [
        ("a.csv", ".csv"), ("a.csv.gz", ".csv.gz"), ("dir/A.CSV.Gz", ".csv.gz"), ("a.gz", ".gz"), ("a.b.csv.txt", ".txt"),
        ("a", None), (".csv", None), ("dir.csv/a", None), ("a.csvx", None), ("acsv", None), (".csv.gz", ".gz"), ("", None),
    ],
)  # fmt: skip
def test_the_longest_known_suffix_counts(name, suffix):
    assert suffix_of(name, KNOWN) == suffix_of(Path(name), KNOWN[::-1]) == suffix


def test_no_suffix_is_known():
    assert suffix_of("a.csv", ()) is None


def test_any_name_can_be_shown():
    assert show_path("é/中.txt") == "é/中.txt"
    assert show_path(os.fsdecode(b"caf\xe9.txt")) == r"caf\xe9.txt"
    assert show_path(Path("a")) == "a"
    assert show_path("\ud800").isascii()  # no name that a file can have


def test_a_walk_finds_what_is_there(tmp_path):
    for name in ("a/b/c/1", "a/2", "3", ".hid/4", "empty/x"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / "empty/x").unlink()
    (tmp_path / "link").symlink_to(tmp_path / "a")
    found = {name: entry.is_dir(follow_symlinks=False) for name, entry in walk(tmp_path)}
    slow = {os.path.relpath(os.path.join(at, name), tmp_path): True for at, folders, _ in os.walk(tmp_path) for name in folders}
    slow |= {os.path.relpath(os.path.join(at, name), tmp_path): False for at, _, files in os.walk(tmp_path) for name in files}
    assert found == slow | {"link": False}
    entered = {name for name, _ in walk(tmp_path, lambda entry: entry.name not in ("b", ".hid"))}
    assert entered == found.keys() - {"a/b/c", "a/b/c/1", ".hid/4"}


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("*.md", ["*.md"]), ("*.{md,txt}", ["*.md", "*.txt"]), ("{a,b}/{c,d}", ["a/c", "a/d", "b/c", "b/d"]),
        ("x{,.gz}", ["x", "x.gz"]), ("{a,{b,c}}", ["a", "b", "c"]), ("{a}", ["{a}"]), ("{a,a}", ["a"]), ("a,b}", ["a,b}"]),
    ],
)  # fmt: skip
def test_braces_hold_alternatives(pattern, names):
    assert expanded(pattern) == names
    assert is_glob(pattern) == ("*" in pattern or len(names) > 1 or pattern == "{a,a}")


def test_very_many_alternatives_are_refused():
    assert len(expanded("{a,b,c,d,e,f,g,h,i,j}" * 3)) == 1000
    with pytest.raises(la.errors.ParameterError, match="at most 1,000 patterns"):
        expanded("{a,b}" * 100)


@pytest.mark.parametrize(
    ("name", "patterns", "reason"),
    [
        ("a.csv", [], None), ("_a.csv", [], None), ("__init__.txt", [], None), ("sub/_x/a.csv", [], None),
        (".a.csv", [], "hidden"), (".git/a.csv", [], "hidden_folder"), ("a.pdf", [], "other_suffix"),
        ("a.csv", ["*.txt"], "not_matched"), ("a.md", ["*.txt", "*.md"], None), ("x/y/a.md", ["y/*"], None),
        ("x/y/a.md", ["x/*"], "not_matched"), ("x/y/a.md", ["x/**"], None), ("x/y/a.md", ["**/y/**/a.*"], None),
        (".a.csv", ["*.csv"], "hidden"), (".a.csv", [".*"], None), (".github/a.md", ["*.md"], "hidden_folder"),
        (".github/a.md", [".github/*.md"], None), ("x/.github/a.md", [".github/*.md"], None),
        ("_lookalike.json", ["*.json"], "marker"), ("a.csv_lookalike.json", [], "marker"), ("my_lookalike.csv", [], None),
        ("_SUCCESS", [], "marker"), ("_committed_12", [], "marker"), ("_delta_log/0.csv", [], "marker"),
        ("Thumbs.db", [], "marker"), ("a/thumbs.DB", ["*.db"], "marker"), (".DS_Store", [], "marker"), ("~$a.csv", [], "marker"),
        ("my_thumbs.csv", [], None), ("~a.csv", [], None),
    ],
)  # fmt: skip
def test_which_files_of_a_folder_are_read(name, patterns, reason):
    assert left_out(name.split("/"), Patterns(patterns), KNOWN) == reason


def test_only_names_of_accounts_are_markers():
    assert not any(
        map(
            is_marker,
            ("my_lookalike.json", "_lookalike.jsonl", "a_SUCCESS", "_x", "__init__.py", "lookalike.json", "_started_up.jsonl"),
        )
    )
    assert all(
        map(is_marker, ("a.json_lookalike.json", "a.jsonl.gz_lookalike.json", "_temporary", "_started_5", "_committed_vacuum7"))
    )


def test_suffixes_are_listed_shortly():
    formats = {"one": with_compressed(".a", ".b"), "many": [f".{i}" for i in range(20)], "last": [".z"]}
    assert list_suffixes(formats, 3) == ".a, .b, .0, .1, .2, ..., .z; compressed also with .gz, .zst, .bz2, .xz"
