import datetime
import decimal
from itertools import product

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from formats.jobs import put, refused, refused_option
from json_lines import read_lines, write_lines
from row_files import A

import lookalike as la

TEXTS = ["a", "b", "c"]
DAYS = [datetime.date(2026, 11, day) for day in (1, 2, 3)]
ROWS = [
    {"id": f"r{i}", "text": text, "day": day, "tags": ["x", None], "n": np.int32(i)}
    for i, (text, day) in enumerate(zip([A, "something else", A + " more"], DAYS, strict=True))
]


@pytest.mark.parametrize("form", [list, tuple, iter])
def test_dicts_are_rows(form, tmp_path):
    result = la.dedup(form(ROWS), id="id")
    assert result.removed["id"].to_pylist() == ["r2"]
    result.write(tmp_path / "out.jsonl")
    assert read_lines(tmp_path / "out.jsonl")[0] == {"id": "r0", "text": A, "day": "2026-11-01", "tags": ["x", None], "n": 0}
    result.write(tmp_path / "out.parquet")
    assert pq.read_table(tmp_path / "out.parquet")["day"].to_pylist() == DAYS[:2]
    assert la.dedup(form(ROWS)).kept["id"].to_pylist() == [0, 1]
    for column in ("day", "n"):  # of which JSON has no values
        assert la.dedup(form(ROWS), id="n", keep=f"largest:{column}").removed["id"].to_pylist() == [0]
        assert la.dedup(form(ROWS), within=column).keep.all()


def test_dicts_need_not_have_the_same_fields(tmp_path):
    result = la.dedup([{"text": A, "x": 1}, {"y": "z", "text": "something else"}])
    result.write(tmp_path / "out.jsonl")
    names = [list(row) for row in read_lines(tmp_path / "out.jsonl")]
    assert names == [["text", "x"], ["y", "text"]]
    assert result.clean().to_pylist() == [{"text": A, "x": 1, "y": None}, {"text": "something else", "x": None, "y": "z"}]


def test_values_of_several_types_are_refused(tmp_path):
    for value in (DAYS[0], object()):
        rows = [{"text": A, "x": value}, {"text": A, "x": "text"}]
        refused("input, column 'x': the values must be of one type", la.dedup, rows, within="x")
    assert la.dedup([{"text": A, "x": decimal.Decimal(1)}] * 2, within="x").keep.tolist() == [True, False]
    result = la.dedup([{"text": A}, {"text": "b", "x": 1j}])
    refused("input, row 1: a value cannot be written as JSON: .*complex", result.write, tmp_path / "out.jsonl")


@pytest.mark.parametrize("ids", [["a", "b", "c"], [7, 0, -3]])
def test_a_dict_of_texts_has_its_keys_as_ids(ids):
    data = dict(zip(ids, [A, None, A + " more"], strict=True))
    result = la.dedup(data)
    assert result.removed["duplicate_of"].to_pylist() == ids[:1] and result.settings.id == "id"
    assert result.clean().to_pydict() == {"id": ids[:2], "text": [A, None]}
    assert la.dedup(data, overrides=[{"id": ids[2], "action": "keep"}]).keep.all()
    assert la.pairs(data)["right_id"].to_pylist() == ids[2:]


def test_each_side_has_its_own_ids(tmp_path):
    """The other side has its default ones, which may repeat."""
    table, data = pa.table({"text": [A], "id": ["column"]}), {"a": A, "b": "something else"}
    (tmp_path / "c.txt").write_text(A)
    la.dedup(table).save_sketches(tmp_path / "history" / "0")
    la.dedup(["unlike"], against=tmp_path / "history").save_sketches(tmp_path / "history" / "1")  # row 0 too
    la.dedup(table, id="id").save_sketches(tmp_path / "with ids")
    for one, other, ids in (
        (data, [A], ("a", "0")), ({7: A}, [A], (7, 0)), (data, table, ("a", "0")), (data, {"t": table}, ("a", "t:0")),
        (data, tmp_path / "c.txt", ("a", "c.txt")), (data, tmp_path / "history", ("a", "0")),
        (data, tmp_path / "with ids", ("a", "column")), ([A], data, ("0", "a")), (tmp_path / "c.txt", data, ("c.txt", "a")),
    ):  # fmt: skip
        (removed,) = la.dedup(one, against=other).removed.to_pylist()
        assert tuple(str(removed[name]).rpartition("/")[2] for name in ("id", "duplicate_of")) == tuple(map(str, ids))
        assert isinstance(removed["duplicate_of"], type(ids[1]))
        assert len(la.pairs(one, against=other)) >= 1
    result = la.dedup([A, "c"], against=data, overrides=[{"id": 0, "action": "keep"}])
    assert result.keep.all() and result.settings.id is None
    said = "the id '1' appears twice: input, row 0 and input, row 1"
    refused(said, la.dedup, [A, "c"], against={1: A, "1": "b"})
    path = write_lines(tmp_path / "in.jsonl", [A])
    overrides = [{"id": f"{path}:1", "action": "keep"}]
    refused("is made from file and row; the override needs sha256", la.dedup, path, against=data, overrides=overrides)


def test_ids_of_a_dict_are_checked():
    refused("input, row 0: an id must be a str or an int; the column holds list", la.dedup, {(1, 2): A})
    assert len(la.dedup({})) == 0


def test_a_text_without_bytes_is_left_out_alone():
    for data in ([A, "\ud800", A], [{"text": A}, {"text": "\ud800"}, {"text": A}]):
        assert la.dedup(data, on_error="skip").keep.tolist() == [True, False, False]
    refused("^row 1: a text must be a str; this one is int: 5$", la.dedup, [A, 5, "b"], on_error="skip")


FOR_FILES = [{"glob": "*.csv"}, {"format": "csv"}, {"delimiter": ";"}, {"query": "select 1"}]


def test_options_for_files_are_not_for_what_is_in_memory():
    table = pa.table({"text": TEXTS})
    for given, data, job in product(
        FOR_FILES, [TEXTS, ROWS, table, {"a": "b"}, {"one": table}], [la.dedup, la.pairs, la.repeats]
    ):
        refused_option(f"{next(iter(given))} is for files, and the input is in memory", job, data, **given)


def test_options_for_files_are_not_for_data_frames_of_spark():
    pytest.importorskip("pyspark", reason="needs pyspark")
    frame = type("DataFrame", (), {"mapInArrow": None})()
    for given in FOR_FILES:
        said = f"{next(iter(given))} is for files, and the input is a data frame"
        refused_option(said, la.dedup, frame, id="id", **given)


def test_options_for_files_may_be_for_references(tmp_path):
    path, table = put(tmp_path / "a.csv", "text;id\nb;1\n"), pa.table({"text": TEXTS})
    result = la.dedup(table, against=tmp_path, glob="*.csv", delimiter=";")
    assert result.keep.tolist() == [True, False, True]
    assert la.dedup({"here": table, "there": path}, delimiter=";").keep.tolist() == [True, True, True, False]
    refused_option("glob is for files", la.dedup, TEXTS, against=["b"], glob="*.csv")
    other = put(tmp_path / "a.jsonl", '{"text": "b"}\n')
    for job in (la.dedup, la.pairs, la.repeats):
        refused_option("delimiter is for CSV and TSV files, and there is none", job, other, delimiter=";")
