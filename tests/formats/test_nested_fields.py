"""Fields inside others are named with points; a column whose name has points comes first."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from formats.jobs import refused
from json_lines import write_lines
from row_files import A

import lookalike as la
from lookalike.formats.columnar import column_of

ROWS = [
    {"doc": {"text": A, "at": {"n": 1, "day.x": 7}}, "n": 1},
    {"doc": {"text": "completely different words stand here", "at": {"n": 2, "day.x": 7}}, "n": 2},
    {"doc": {"text": A + " more", "at": {"n": 3, "day.x": 7}}, "n": 3},
]


@pytest.mark.parametrize("data", [ROWS, pa.Table.from_pylist(ROWS)], ids=["rows", "table"])
def test_rows_in_memory_have_fields_inside_others(data):
    result = la.dedup(data, text="doc.text", id="doc.at.n", keep="largest:doc.at.n", within="doc.at.day.x")
    assert result.removed.select(["id", "duplicate_of"]).to_pylist() == [{"id": 1, "duplicate_of": 3}]
    assert la.dedup(data, text="doc.text", within="doc.at.n").keep.all()
    assert la.pairs(data, text="doc.text", id="n")["right_id"].to_pylist() == [3]
    for name in ("doc.txt", "n.x", "text"):
        refused(r"found: doc\.text, doc\.at\.n, doc\.at\.day\.x, n;", la.dedup, data, text=name)


def test_a_long_line_of_json(tmp_path):
    rows = [{"doc": {"text": A + "\u00e9 " * 600_000}}, {"doc": {"text": A + "\u00e9 " * 600_001}}]
    assert la.dedup(write_lines(tmp_path / "in.jsonl", rows), text="doc.text", memory="1GB").keep.tolist() == [True, False]


def test_a_slice_of_a_struct_is_read_at_its_place():
    table = pa.Table.from_pylist([{"doc": None}, *({"doc": row["doc"]} for row in ROWS)])
    batch = table.combine_chunks().to_batches()[0].slice(1, 2)
    assert column_of(batch, "doc.at.n").to_pylist() == [1, 2]


@pytest.mark.parametrize(("name", "names"), [("doc.t", "t t at"), ("doc.at.n", "t at"), ("doc.at.other", "t at at")])
def test_a_field_that_is_there_twice_is_refused(tmp_path, name, names):
    """Wherever on the way to the one that is wanted; Arrow names none of the two."""
    texts, numbers = pa.array([A]), pa.array([1])
    fields = {"t": texts, "at": pa.StructArray.from_arrays([numbers, numbers, texts], ["n", "n", "other"])}
    table = pa.table({"doc": pa.StructArray.from_arrays([fields[one] for one in names.split()], names.split())})
    pq.write_table(table, tmp_path / "rows.parquet")
    twice = name.removesuffix(".other").replace(".", r"\.")
    for given in (tmp_path / "rows.parquet", table):
        refused(f"the column '{twice}' appears 2 times; rename all but one", la.dedup, given, text=name)
