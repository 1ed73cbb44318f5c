"""Fields inside others are named with points, in all formats that have them; a column whose name has points comes first."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from formats.jobs import refused
from json_lines import read_lines, write_lines
from row_files import A
from samples import one_in

import lookalike as la
from lookalike.formats.columnar import column_of, leaves_of, names_of, path_of
from lookalike.formats.rows import names_in, value_at

ROWS = [
    {"doc": {"text": A, "at": {"n": 1, "day.x": 7}}, "n": 1},
    {"doc": {"text": "completely different words stand here", "at": {"n": 2, "day.x": 7}}, "n": 2},
    {"doc": {"text": A + " more", "at": {"n": 3, "day.x": 7}}, "n": 3},
]
DOTTED = [{"doc": {"text": "the same"}, "doc.text": row["doc"]["text"]} for row in ROWS]


def as_jsonl(rows, folder):
    return write_lines(folder / "rows.jsonl", rows)


def as_parquet(rows, folder):
    pq.write_table(pa.Table.from_pylist(rows), folder / "rows.parquet", row_group_size=2)
    return folder / "rows.parquet"


FORMS = [lambda rows, _: rows, lambda rows, _: pa.Table.from_pylist(rows), as_jsonl, as_parquet]


@pytest.mark.parametrize("form", FORMS)
def test_text_ids_priorities_and_groups(form, tmp_path):
    data = form(ROWS, tmp_path)
    result = la.dedup(data, text="doc.text", id="doc.at.n", keep="largest:doc.at.n", within="doc.at.day.x")
    assert result.keep.tolist() == [False, True, True]
    assert result.removed.select(["id", "duplicate_of"]).to_pylist() == [{"id": 1, "duplicate_of": 3}]
    assert la.dedup(data, text="doc.text", within="doc.at.n").keep.all()
    assert la.pairs(data, text="doc.text", id="n")["right_id"].to_pylist() == [3]
    result.write(tmp_path / "out.jsonl")
    assert read_lines(tmp_path / "out.jsonl") == ROWS[1:]
    refused(r"doc\.at\.n.*must be", la.dedup, data, text="doc.at.n")
    result = la.dedup(form([*ROWS, {"doc": None, "n": 4}], tmp_path), text="doc.text", within="doc.at.n")
    assert result.summary.empty == 1 and result.keep.all(), "a field inside a null is null"


@pytest.mark.parametrize("form", FORMS)
def test_a_column_of_this_name_comes_first(form, tmp_path):
    assert la.dedup(form(DOTTED, tmp_path), text="doc.text").keep.tolist() == [True, True, False]


@pytest.mark.parametrize(
    ("form", "name"), one_in(2, FORMS, ["doc.txt", "doc.text.more", "doc.at.day", "n.x", ".", "doc.", "text"])
)
def test_a_message_lists_what_there_is(form, name, tmp_path):
    said = r"is missing; (column|field)s found: doc\.text, doc\.at\.n, doc\.at\.day\.x, n;"
    refused(said, la.dedup, form(ROWS, tmp_path), text=name)


def test_a_long_line_of_json(tmp_path):
    rows = [{"doc": {"text": A + "\u00e9 " * 600_000}}, {"doc": {"text": A + "\u00e9 " * 600_001}}]
    assert la.dedup(as_jsonl(rows, tmp_path), text="doc.text", memory="1GB").keep.tolist() == [True, False]


def test_lines_of_json_may_differ(tmp_path):
    """Each line is looked at for itself; annotation is refused by the names of columns, not by those inside."""
    rows = [DOTTED[0], ROWS[1], {"doc": {"text": A + " more"}, "keep": 1}]
    data = as_jsonl(rows, tmp_path)
    assert la.dedup(data, text="doc.text").keep.tolist() == [True, True, False]
    refused("row 3: the field 'keep' already exists", la.dedup, data, text="doc.text", annotate=True)
    assert la.dedup(as_jsonl([{"doc": {"text": A, "keep": 1}}], tmp_path), text="doc.text", annotate=True).keep.all()


def test_paths_and_names():
    inner = {"b.c": pa.int8(), "b": pa.struct({"c": pa.int8(), "d": pa.int8()})}
    schema = pa.schema({"a": pa.struct(inner), "e": pa.int8()})
    paths = {"a.b.c": ("a", "b.c"), "a.b.d": ("a", "b", "d"), "a.c": (), "e.f": (), "b": ()}
    assert {name: path_of(schema, name) for name in paths} == paths
    assert leaves_of(schema, ["a.b.d", "e"]) == [(0, 2), (1, 3)] and leaves_of(schema, ["a.b"]) == [(0, 1), (0, 2)]
    row = {"a": {"b.c": 1, "b": {"c": 2, "d": 3}}, "f": {}}
    assert [value_at(row, name) for name in ("a.b.c", "a.b.d", "f")] == [1, 3, {}]
    assert names_of(schema) == ["a.b.c", "a.b.c", "a.b.d", "e"] and names_in(row) == ["a.b.c", "a.b.c", "a.b.d", "f"]
    refused("x", value_at, row, "f.x", error=KeyError)


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
