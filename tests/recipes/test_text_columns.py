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


def test_texts_of_several_columns_are_joined_in_any_format(tmp_path):
    write_lines(tmp_path / "in.jsonl", ROWS)
    (tmp_path / "in.json").write_text(json.dumps(ROWS))
    table = pa.Table.from_pylist(ROWS)
    for suffix, write in (("parquet", pq.write_table), ("arrow", pa.feather.write_feather), ("orc", pa.orc.write_table)):
        write(table, tmp_path / f"in.{suffix}")
    with sqlite3.connect(tmp_path / "in.sqlite") as database:
        database.execute("create table pages (key text, title text, body text)")
        database.executemany("insert into pages values (:key, :title, :body)", ROWS)
    database.close()
    paths = [*tmp_path.iterdir()]
    for data in (*paths, ROWS, table):
        result = la.dedup(data, **BOTH)
        assert result.kept["id"].to_pylist() == KEPT and result.summary.empty == 1, data
    for path in paths:
        with pytest.raises(InputDataError, match=rf"{path.name}.*'titel' is missing"):
            la.dedup(path, text=["title", "body", "titel"])
    result.save(tmp_path / "saved")
    assert la.Result.load(tmp_path / "saved").settings.text == ("title", "body")
    assert la.dedup([BODY] * 8, text=["title", "body"]).kept["id"].to_pylist() == [0]


def test_names_that_are_none_are_refused():
    for wrong, said in ((["title", "title"], "names a column twice"), ([], "at least"), ([1], "list of str"), (None, "a str")):
        with pytest.raises(ParameterError, match=said):
            la.dedup(ROWS, text=wrong)
