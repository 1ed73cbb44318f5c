"""What was decided about each row, beside the rows: the layout of Dolma."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import row_files
from cli.commands import status
from formats.jobs import put, refused
from json_lines import parse_lines

import lookalike as la

TEXTS = [
    f"text number {n // 2} is like the one before it, and text {n // 2} says so in twelve words {n // 2}" for n in range(8)
]


@pytest.fixture
def corpus(tmp_path):
    """Documents as Dolma keeps them, and a file of another format."""
    folder = tmp_path / "corpus/documents"
    (folder / "wiki").mkdir(parents=True)
    rows = [{"id": f"d{n}", "text": text, "source": "made"} for n, text in enumerate(TEXTS)]
    row_files.write(folder / "wiki/0.json.gz", row_files.lines(rows[:3]))
    row_files.write(folder / "wiki/1.jsonl", row_files.lines(rows[3:6]))
    pq.write_table(pa.Table.from_pylist(rows[6:]), folder / "2.parquet")
    return tmp_path / "corpus"


def lines(path):
    return parse_lines(row_files.read(path))


def test_each_row_has_its_line_in_a_file_of_the_same_name(corpus):
    out, names = corpus / "attributes/near", ["2.parquet.jsonl", "wiki/0.json.gz", "wiki/1.jsonl"]
    given = ["dedup", corpus / "documents", "--id", "id", "--set", "attributes=true", "-o", out, "--quiet"]
    assert not status(*given)
    assert sorted(str(p.relative_to(out)) for p in out.rglob("*.js*") if p.name[0] != "_") == names
    found = [row for name in names for row in lines(out / name)]
    assert [row["id"] for row in found] == ["d6", "d7", "d0", "d1", "d2", "d3", "d4", "d5"]
    assert [row["attributes"]["near_duplicate"] for row in found] == 4 * [False, True]
    assert found[1]["attributes"] == {"near_duplicate": True, "duplicate_of": "d6", "resemblance": 1.0, "cluster": "d6"}
    assert json.loads((out / "_lookalike.json").read_text())["files"] == names
    assert status(*given) == 1, "it exists"


def test_compression_is_kept_and_skipped_rows_have_no_line(tmp_path):
    rows = [{"text": TEXTS[0]}, {"text": "long " * 999}, {"text": TEXTS[1]}]
    path = row_files.write(tmp_path / "in.jsonl.gz", row_files.lines(rows))
    result = la.dedup(path, max_document=500, on_error="skip")
    result.write(tmp_path / "out", attributes=True)
    told = [(row["id"], row["attributes"]["near_duplicate"]) for row in lines(tmp_path / "out/in.jsonl.gz")]
    assert told == [(f"{path}:1", False), (f"{path}:3", True)]
    path.write_bytes(b"")
    refused("changed", result.write, tmp_path / "again", attributes=True)
    assert not (tmp_path / "again").exists()


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ("-o out.jsonl", "name a folder"), ("", "name it with -o"), ("-o out/ --annotate", "without --annotate"),
        ("-o -", "name a folder"), ("-o out/ --engine spark", "one machine"),
    ],
)  # fmt: skip
def test_where_they_cannot_be_written(corpus, capsys, monkeypatch, more, why):
    monkeypatch.chdir(corpus)
    monkeypatch.setattr("lookalike.recipes.job.open_job", None)  # refused before the job
    status("dedup", "documents", "--set", "attributes=true", *more.split())
    assert why in capsys.readouterr().err and not (corpus / "out").exists()


def test_documents_that_are_files_have_none(tmp_path):
    result = la.dedup(put(tmp_path / "a.txt", "a text"))
    said = r"a\.txt is a document itself"
    refused(said, result.write, tmp_path / "out", attributes=True, error=la.errors.OutputError)
