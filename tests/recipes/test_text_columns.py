"""tests/jobs/text-columns.job has other formats, and how texts are joined."""

import pyarrow as pa
import pyarrow.feather
import pyarrow.orc
import pytest

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


def test_texts_of_several_columns_are_joined(tmp_path):
    table, paths = pa.Table.from_pylist(ROWS), [tmp_path / "in.arrow", tmp_path / "in.orc"]
    pa.feather.write_feather(table, paths[0])
    pa.orc.write_table(table, paths[1])
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
    for wrong, said in (([], "at least"), ([1], "list of str"), (None, "a str")):
        with pytest.raises(ParameterError, match=said):
            la.dedup(ROWS, text=wrong)
