"""Texts that are made of several columns."""

import json
import sqlite3

import pyarrow as pa
import pyarrow.feather
import pyarrow.orc
import pyarrow.parquet as pq
import pytest
from cli.commands import run
from json_lines import parse_lines, read_lines, write_lines

import lookalike as la
from lookalike.errors import InputDataError, ParameterError

BOTH = ["--text", "title", "--text", "body"]
BODY = "one two three four five six seven"
ROWS = [
    {"key": "a", "title": "alpha beta gamma delta epsilon", "body": BODY},
    {"key": "b", "title": "zeta eta theta iota kappa", "body": BODY},
    {"key": "c", "title": "alpha beta gamma delta epsilon", "body": BODY},
    {"key": "d", "title": None, "body": BODY},
    {"key": "e", "body": BODY},
    {"key": "f", "title": "", "body": BODY},
    {"key": "g", "title": BODY},
    {"key": "h", "title": None, "body": None},
]
KEPT = ["a", "b", "d", "h"]
"""Equal texts are those of a and c, and those of d, e, f and g, which have one part that is there."""


def filled(rows):
    return [{"title": None, "body": None} | row for row in rows]


def as_csv(rows):
    cells = [[row[name] or "" for name in ("key", "title", "body")] for row in rows]
    return "key,title,body\n" + "".join(",".join(line).removesuffix(",") + "\n" for line in cells)


@pytest.fixture
def files(tmp_path):
    """The same rows in files of several formats."""
    write_lines(tmp_path / "in.jsonl", ROWS)
    (tmp_path / "in.json").write_text(json.dumps(ROWS))
    (tmp_path / "in.csv").write_text(as_csv(filled(ROWS)))
    table = pa.Table.from_pylist(filled(ROWS))
    pq.write_table(table, tmp_path / "in.parquet")
    pa.feather.write_feather(table, tmp_path / "in.arrow")
    pa.orc.write_table(table, tmp_path / "in.orc")
    database = sqlite3.connect(tmp_path / "in.sqlite")
    database.execute("create table pages (key text, title text, body text)")
    database.executemany("insert into pages values (:key, :title, :body)", filled(ROWS))
    database.commit()
    database.close()
    return tmp_path


@pytest.mark.parametrize("suffix", ["jsonl", "json", "csv", "parquet", "arrow", "orc", "sqlite"])
def test_texts_of_several_columns_are_joined(files, suffix):
    """What is null, missing or empty is left out of the join; the rows that are written have their columns."""
    result = la.dedup(files / f"in.{suffix}", text=["title", "body"], id="key")
    assert result.kept["id"].to_pylist() == KEPT and result.summary.empty == 1
    assert result.provenance["parameters"]["text"] == ("title", "body")
    result.write(files / "out.jsonl")
    assert [row["key"] for row in read_lines(files / "out.jsonl")] == KEPT


def test_rows_in_memory_are_joined_and_texts_without_columns_taken_as_they_are():
    for rows in (ROWS, pa.Table.from_pylist(filled(ROWS))):
        assert la.dedup(rows, text=["title", "body"], id="key").kept["id"].to_pylist() == KEPT
    assert la.dedup([BODY] * 8, text=["title", "body"]).kept["id"].to_pylist() == [0]


def test_the_join_is_a_blank_line_and_the_order_is_the_given_one():
    joined = [{"key": "x", "title": f"head\n\n{BODY}"}, {"key": "y", "title": f"{BODY}\n\nhead"}]
    for text, same in ((["title", "body"], "x"), (["body", "title"], "y")):
        result = la.dedup([*joined, {"key": "z", "title": "head", "body": BODY}], text=text, id="key")
        (row,) = result.removed.to_pylist()
        assert (row["id"], row["duplicate_of"], row["resemblance"]) == ("z", same, 1.0)


def test_a_column_that_no_row_has_is_named(files):
    for suffix in ("jsonl", "csv", "parquet", "sqlite"):
        with pytest.raises(InputDataError, match=rf"in\.{suffix}.*'titel' is missing"):
            la.dedup(files / f"in.{suffix}", text=["title", "body", "titel"])
    for rows, said in (
        ([{"title": "a b"}, {"key": 1}], "row 1: field .title. is missing; fields found: key"),
        ([ROWS[0], {"title": 7, "body": "a"}], "row 1: field 'title' must be a string or null; found 7"),
    ):
        with pytest.raises(InputDataError, match=said):
            la.dedup(rows, text=["title", "body"])
    for wrong, said in ((["title", "title"], "names a column twice"), ([], "at least"), ([1], "list of str"), (None, "a str")):
        with pytest.raises(ParameterError, match=said):
            la.dedup(ROWS, text=wrong)


def test_saved_results_and_sketches_read_the_same_texts_again(files):
    result = la.dedup(files / "in.jsonl", text=["title", "body"], id="key")
    result.save(files / "job")
    loaded = la.Result.load(files / "job")
    assert loaded.settings.text == ("title", "body") and loaded.keep.tolist() == result.keep.tolist()
    result.save_sketches(files / "sketches")
    again = la.dedup(files / "in.csv", text=["title", "body"], id="key", against=files / "sketches")
    assert again.kept["id"].to_pylist() == ["h"]


def test_every_search_takes_several_columns(files, capsys):
    found = la.decontaminate(files / "in.jsonl", against=files / "in.csv", text=("title", "body"), id="key")
    assert found.summary["overlapping"] == 7
    assert la.pairs(files / "in.jsonl", text=("title", "body"), id="key").num_rows == 1 + 6
    run(capsys, "index", "create", files / "x.idx")
    run(capsys, "index", "add", files / "x.idx", files / "in.jsonl", *BOTH, "--id", "key")
    _, out, _ = run(capsys, "index", "query", files / "x.idx", files / "in.csv", *BOTH, "--id", "key")
    found = {(row["query"], row["id"]) for row in parse_lines(out)}
    assert {("a", "c"), ("d", "g")} <= found and not {("a", "b"), ("a", "d")} & found


@pytest.mark.parametrize("command", [["repeats"], ["decontaminate", "--against", "in.csv", "--mask", "", "-o", "out.jsonl"]])
def test_what_changes_texts_takes_one_column(files, capsys, command, monkeypatch):
    monkeypatch.chdir(files)
    code, _, error = run(capsys, command[0], "in.jsonl", *BOTH, *command[1:])
    assert code == 2 and "changes the text in its column: name one with --text" in error and "title, body" in error
