"""Texts of several columns, in any format and in memory; tests/jobs/text-columns.job has how they are joined."""

import json
import sqlite3

import pyarrow as pa
import pyarrow.feather
import pyarrow.orc
import pyarrow.parquet as pq
import pytest
from json_lines import write_lines

import lookalike as la
from lookalike.errors import InputDataError, ParameterError

BODY = "one two three four five six seven"
ROWS = [
    {"key": key, "title": title, "body": body}
    for key, title, body in (("a", "alpha beta", BODY), ("b", "zeta eta", BODY), ("c", "alpha beta", BODY), ("d", None, BODY),
                             ("f", "", BODY), ("g", BODY, None), ("h", None, None))
]  # fmt: skip
KEPT = ["a", "b", "d", "h"]
BOTH = {"text": ["title", "body"], "id": "key"}


def as_database(rows, path):
    with sqlite3.connect(path) as database:
        database.execute("create table pages (key text, title text, body text)")
        database.executemany("insert into pages values (:key, :title, :body)", rows)
    database.close()


WRITERS = {
    "jsonl": lambda rows, path: write_lines(path, rows), "json": lambda rows, path: path.write_text(json.dumps(rows)),
    "parquet": lambda rows, path: pq.write_table(pa.Table.from_pylist(rows), path), "sqlite": as_database,
    "arrow": lambda rows, path: pa.feather.write_feather(pa.Table.from_pylist(rows), path),
    "orc": lambda rows, path: pa.orc.write_table(pa.Table.from_pylist(rows), path),
}  # fmt: skip


def test_texts_of_several_columns_are_joined_in_any_format(tmp_path):
    for suffix, write in WRITERS.items():
        write(ROWS, path := tmp_path / f"in.{suffix}")
        result = la.dedup(path, **BOTH)
        assert result.kept["id"].to_pylist() == KEPT and result.summary.empty == 1, suffix
        with pytest.raises(InputDataError, match=rf"in\.{suffix}.*'titel' is missing"):
            la.dedup(path, text=["title", "body", "titel"])
        result.save(tmp_path / f"saved {suffix}")
        loaded = la.Result.load(tmp_path / f"saved {suffix}")
        assert loaded.settings.text == ("title", "body") and loaded.keep.tolist() == result.keep.tolist()
    for rows in (ROWS, pa.Table.from_pylist(ROWS)):
        assert la.dedup(rows, **BOTH).kept["id"].to_pylist() == KEPT
    assert la.dedup([BODY] * 8, text=["title", "body"]).kept["id"].to_pylist() == [0]


def test_names_that_are_none_are_refused():
    for wrong, said in ((["title", "title"], "names a column twice"), ([], "at least"), ([1], "list of str"), (None, "a str")):
        with pytest.raises(ParameterError, match=said):
            la.dedup(ROWS, text=wrong)
