"""The command repeats: what it prints, what it writes, what it refuses."""

import json

import pytest
from cli.commands import run
from json_lines import parse_lines, read_lines

BANNER = "We use cookies on this site"
ROWS = [
    {"text": f"{BANNER}\nApples are red.", "url": "u1"},
    {"text": f"{BANNER}\nPears are green.", "url": "u2"},
    {"text": BANNER, "url": "u3"},
    {"text": "", "url": "u4"},
]


@pytest.fixture
def pages(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [json.dumps(row, separators=(", ", ": ")) + "\n" for row in ROWS]
    (tmp_path / "pages.jsonl").write_text("".join(lines))
    return lines


def test_lines(capfd, pages, tmp_path):
    code, out, err = run(capfd, "repeats", "pages.jsonl", "--id", "url", "-o", "clean.jsonl", "--list", "repeated.jsonl")
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
    written = (tmp_path / "clean.jsonl").read_text().splitlines(keepends=True)
    assert [written[0], written[2]] == [pages[0], pages[3]]  # byte for byte
    assert json.loads(written[1]) == {"text": "Pears are green.", "url": "u2"}
    (row,) = read_lines(tmp_path / "repeated.jsonl")
    assert row == {"text": BANNER, "count": 3, "documents": 3, "id": "u1", "begin": 0}
    said = json.loads((tmp_path / "clean.jsonl_lookalike.json").read_text())
    assert said["parameters"]["min_words"] == 5 and said["summary"]["removed_lines"] == 2


def test_lines_over_a_count_go_everywhere(capfd, pages, tmp_path):
    assert run(capfd, "repeats", "pages.jsonl", "--drop-over", "2", "-o", "clean.jsonl", "--quiet") == (0, "", "")
    texts = [row["text"] for row in read_lines(tmp_path / "clean.jsonl")]
    assert texts == ["Apples are red.", "Pears are green.", ""]
    code, out, _ = run(capfd, "repeats", "pages.jsonl", "--drop-over", "3", "--json")
    assert code == 0 and json.loads(out) == {
        "documents": 4, "changed": 0, "dropped": 0, "skipped": 0, "removed_lines": 0, "removed_bytes": 0, "repeated_lines": 1,
        "top": [{"text": BANNER, "count": 3, "documents": 3, "id": "pages.jsonl:1", "begin": 0}], "output": None, "list": None,
    }  # fmt: skip


def test_passages(capfd, pages, tmp_path):
    command = ["repeats", "pages.jsonl", "--unit", "passage", "--length", "4"]
    code, out, err = run(capfd, *command, "-o", "clean.jsonl", "--list", "removed.csv")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "4 documents",
        "  removed              12   (words in 2 passages, 54 bytes)",
        "  changed               2",
        "  dropped               1   (no word is left)",
        "written: clean.jsonl",
        "written: removed.csv",
    ]
    assert (tmp_path / "removed.csv").read_text().splitlines() == [
        "id,begin,end,words,text", f"pages.jsonl:2,0,27,6,{BANNER}", f"pages.jsonl:3,0,27,6,{BANNER}",
    ]  # fmt: skip
    texts = [row["text"] for row in read_lines(tmp_path / "clean.jsonl")]
    assert texts == [ROWS[0]["text"], "\nPears are green.", ""]
    code, out, err = run(capfd, *command, "--mask", "[...]", "-o", "-")
    assert code == 0 and err.startswith("4 documents\n") and "dropped" not in err
    assert [row["text"] for row in parse_lines(out)] == [ROWS[0]["text"], "[...]\nPears are green.", "[...]", ""]
    assert json.loads(run(capfd, *command, "--mask", "", "-o", "masked.jsonl", "--json")[1])["dropped"] == 0
    assert json.loads((tmp_path / "masked.jsonl_lookalike.json").read_text())["summary"]["dropped"] == 0


@pytest.mark.parametrize("unit", ["line", "passage"])
def test_without_an_output_nothing_is_written(capfd, pages, unit, tmp_path):
    before = set(tmp_path.iterdir())
    code, out, err = run(capfd, "repeats", "pages.jsonl", "--unit", unit)
    assert code == 0 and out.startswith("4 documents\n")
    assert err == "nothing was written (no -o, no --list)\n"
    assert set(tmp_path.iterdir()) == before


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
        (
            "pages.jsonl --unit paragraph --set fold_case=false",
            "--set fold_case=... is for --unit passage, not for --unit paragraph",
        ),
        ("pages.jsonl --min-words 0", "0 is not in the range"),
        ("pages.jsonl --drop-over 0", "0 is not in the range"),
        ("pages.jsonl --unit passage --length 0", "0 is not in the range"),
        ("pages.jsonl --unit word", "'word' is not one of"),
    ],
)
def test_what_is_refused(capfd, pages, given, message):
    code, out, err = run(capfd, "repeats", *given.split())
    assert code in (1, 2) and out == "" and message in err


def test_files_that_cannot_be_shortened_are_refused_before_any_work(capfd, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.4")
    code, out, err = run(capfd, "repeats", "a.pdf", "-o", "out/")
    assert (code, out) == (1, "") and "parts of its text cannot be removed" in err
