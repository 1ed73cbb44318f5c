"""The command repeats: what it prints, what it writes, what it refuses."""

import json
import os
from pathlib import Path

import pytest
from json_lines import parse_lines, read_lines, write_lines

BANNER = "We use cookies on this site"
TEXTS = [f"{BANNER}\nApples are red.", f"{BANNER}\nPears are green.", BANNER, ""]
PASSAGES = "repeats pages.jsonl --unit passage --length 4"


@pytest.fixture(autouse=True)
def _pages():
    write_lines("pages.jsonl", ({"text": text, "url": f"u{i + 1}"} for i, text in enumerate(TEXTS)))


def texts(name):
    return [row["text"] for row in read_lines(name)]


def test_lines(run):
    code, out, err = run("repeats pages.jsonl --id url -o clean.jsonl --list repeated.jsonl")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "4 documents",
        "  removed               2   (lines, 55 bytes)",
        "  repeated              1   (different lines)",
        "  changed               2",
        "  dropped               1   (no word is left)",
        "      count    documents  most frequent lines",
        f"          3            3  {BANNER}",
        "written: clean.jsonl",
        "written: repeated.jsonl",
    ]
    pages, written = (Path(name).read_text().splitlines(keepends=True) for name in ("pages.jsonl", "clean.jsonl"))
    assert [written[0], written[2]] == [pages[0], pages[3]]  # byte for byte
    assert json.loads(written[1]) == {"text": "Pears are green.", "url": "u2"}
    assert read_lines("repeated.jsonl") == [{"text": BANNER, "count": 3, "documents": 3, "id": "u1", "begin": 0}]
    said = json.loads(Path("clean.jsonl_lookalike.json").read_text())
    assert said["parameters"]["min_words"] == 5 and said["summary"]["removed_lines"] == 2


def test_lines_over_a_count_go_everywhere(run):
    assert run("repeats pages.jsonl --drop-over 2 -o clean.jsonl --quiet") == (0, "", "")
    assert texts("clean.jsonl") == ["Apples are red.", "Pears are green.", ""]
    code, out, _ = run("repeats pages.jsonl --drop-over 3 --json")
    assert code == 0 and json.loads(out) == {
        "documents": 4, "changed": 0, "dropped": 0, "skipped": 0, "removed_lines": 0, "removed_bytes": 0, "repeated_lines": 1,
        "top": [{"text": BANNER, "count": 3, "documents": 3, "id": "pages.jsonl:1", "begin": 0}], "output": None, "list": None,
    }  # fmt: skip


def test_passages(run):
    code, out, err = run(f"{PASSAGES} -o clean.jsonl --list removed.csv")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "4 documents",
        "  removed              12   (words in 2 passages, 54 bytes)",
        "  changed               2",
        "  dropped               1   (no word is left)",
        "written: clean.jsonl",
        "written: removed.csv",
    ]
    removed = f"id,begin,end,words,text\npages.jsonl:2,0,27,6,{BANNER}\npages.jsonl:3,0,27,6,{BANNER}\n"
    assert Path("removed.csv").read_text() == removed and texts("clean.jsonl") == [TEXTS[0], "\nPears are green.", ""]
    code, out, err = run(f"{PASSAGES} --mask [...] -o -")
    assert code == 0 and err.startswith("4 documents\n") and "dropped" not in err
    assert [row["text"] for row in parse_lines(out)] == [TEXTS[0], "[...]\nPears are green.", "[...]", ""]
    assert json.loads(run(f"{PASSAGES} --mask '' -o masked.jsonl --json")[1])["dropped"] == 0
    assert json.loads(Path("masked.jsonl_lookalike.json").read_text())["summary"]["dropped"] == 0


@pytest.mark.parametrize("unit", ["line", "passage"])
def test_without_an_output_nothing_is_written(run, unit):
    code, out, err = run(f"repeats pages.jsonl --unit {unit}")
    assert code == 0 and out.startswith("4 documents\n") and err == "nothing was written (no -o, no --list)\n"
    assert os.listdir() == ["pages.jsonl"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("pages.jsonl -o a.jsonl --list a.jsonl", "-o and --list name the same file, a.jsonl"),
        ("pages.jsonl -o pages.jsonl --force", "pages.jsonl"),
        ("pages.jsonl --list pages.jsonl --force", "pages.jsonl"),
        ("pages.jsonl --list a.pdf", "the suffix must be one of"),
        ("pages.jsonl --text body", "body"),
        ("none.jsonl", "none.jsonl"),
        ("pages.jsonl --unit passage --mask x", "--mask changes what is written: name an output with -o"),
        ("pages.jsonl --mask x -o a.jsonl", "--mask is for --unit passage, not for --unit line"),
        ("pages.jsonl --unit paragraph --set fold_case=false", "--set fold_case=... is for --unit passage, not for"),
        ("pages.jsonl --min-words 0", "0 is not in the range"),
        ("pages.jsonl --drop-over 0", "0 is not in the range"),
        ("pages.jsonl --unit passage --length 0", "0 is not in the range"),
        ("pages.jsonl --unit word", "'word' is not one of"),
        ("a.pdf -o out/", "parts of its text cannot be removed"),
    ],
)
def test_what_is_refused(run, given, message):
    Path("a.pdf").write_bytes(b"%PDF-1.4")
    code, out, err = run(f"repeats {given}")
    assert code in (1, 2) and out == "" and message in err
