"""Names of files: suffixes, names as text, and what is below a folder."""

import os
from pathlib import Path

import pytest

from lookalike.files.names import shown, suffix_of, walk

KNOWN = (".csv", ".gz", ".csv.gz", ".txt")


@pytest.mark.parametrize(
    ("name", "suffix"),
    [
        ("a.csv", ".csv"), ("a.csv.gz", ".csv.gz"), ("dir/A.CSV.Gz", ".csv.gz"), ("a.gz", ".gz"), ("a.csv.txt", ".txt"),
        ("a", None), (".csv", None), ("dir.csv/a", None), ("a.csvx", None), ("acsv", None), (".csv.gz", ".gz"), ("", None),
    ],
)  # fmt: skip
def test_the_longest_known_suffix_counts(name, suffix):
    assert suffix_of(name, KNOWN) == suffix_of(Path(name), reversed(KNOWN)) == suffix


def test_no_suffix_is_known():
    assert suffix_of("a.csv", ()) is None


def test_any_name_can_be_shown():
    assert shown("é/中.txt") == "é/中.txt"
    assert shown(os.fsdecode(b"caf\xe9.txt")) == r"caf\xe9.txt"
    assert shown(Path("a")) == "a"
    assert shown("\ud800").isascii()  # no name that a file can have


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
