import os
from pathlib import Path

from raising import assert_raises

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
    with_compressed,
)

KNOWN = (".csv", ".gz", ".csv.gz", ".txt")


def test_the_longest_known_suffix_counts():
    for name, suffix in {
        "a.csv": ".csv",
        "dir/A.CSV.Gz": ".csv.gz",
        "a.gz": ".gz",
        "a.b.csv.txt": ".txt",
        **dict.fromkeys(("", "a", ".csv", "dir.csv/a", "a.csvx", "acsv")),
        ".csv.gz": ".gz",
    }.items():
        assert suffix_of(name, KNOWN) == suffix_of(Path(name), KNOWN[::-1]) == suffix and suffix_of(name, ()) is None


def test_braces_hold_alternatives():
    for pattern, names in {
        "*.md": ["*.md"],
        "*.{md,txt}": ["*.md", "*.txt"],
        "{a,b}/{c,d}": ["a/c", "a/d", "b/c", "b/d"],
        "x{,.gz}": ["x", "x.gz"],
        "{a,{b,c}}": ["a", "b", "c"],
        "{a}": ["{a}"],
        "{a,a}": ["a"],
        "a,b}": ["a,b}"],
    }.items():
        assert expanded(pattern) == names and is_glob(pattern) == (pattern not in ("{a}", "a,b}"))
    assert len(expanded("{a,b,c,d,e,f,g,h,i,j}" * 3)) == 1000
    assert_raises(la.errors.ParameterError, "at most 1,000 patterns", expanded, "{a,b}" * 100)


CASES = {  # why a file is left out of a folder, and names by the pattern that is asked for
    None: {
        "": "a.csv _a.csv __init__.txt sub/_x/a.csv my_lookalike.csv my_thumbs.csv ~a.csv",
        "*.md": "a.md",
        "y/*": "x/y/a.md",
        "x/**": "x/y/a.md",
        "**/y/**/a.*": "x/y/a.md",
        ".*": ".a.csv",
        ".github/*.md": ".github/a.md x/.github/a.md",
    },
    "hidden": {"": ".a.csv", "*.csv": ".a.csv"},
    "hidden_folder": {"": ".git/a.csv", "*.md": ".github/a.md"},
    "other_suffix": {"": "a.pdf"},
    "not_matched": {"*.txt": "a.csv", "x/*": "x/y/a.md"},
    "marker": {
        "": "a.csv_lookalike.json _SUCCESS _committed_12 _delta_log/0.csv Thumbs.db .DS_Store ~$a.csv",
        "*.json": "_lookalike.json",
        "*.db": "a/thumbs.DB",
    },
}


def test_which_files_of_a_folder_are_read():
    for reason, patterns in CASES.items():
        for pattern, names in patterns.items():
            for name in names.split():
                assert left_out(name.split("/"), Patterns([pattern] if pattern else []), KNOWN) == reason
    assert left_out(["a.md"], Patterns(["*.txt", "*.md"]), KNOWN) is None
    others = "my_lookalike.json _lookalike.jsonl a_SUCCESS _x __init__.py lookalike.json _started_up.jsonl"
    ours = "a.json_lookalike.json a.jsonl.gz_lookalike.json _temporary _started_5 _committed_vacuum7"
    assert not any(map(is_marker, others.split())) and all(map(is_marker, ours.split()))


def test_names_and_suffixes_are_shown():
    assert show_path("é/中.txt") == "é/中.txt" and show_path(os.fsdecode(b"caf\xe9.txt")) == r"caf\xe9.txt"
    assert show_path("\ud800").isascii()  # no name that a file can have
    formats = {"one": with_compressed(".a", ".b"), "many": [f".{i}" for i in range(20)], "last": [".z"]}
    assert list_suffixes(formats, 3) == ".a, .b, .0, .1, .2, ..., .z; compressed also with .gz, .zst, .bz2, .xz"
