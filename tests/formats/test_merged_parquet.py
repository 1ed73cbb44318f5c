import datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from formats.jobs import one_split, put, refused, table_at
from hypothesis import given
from hypothesis import strategies as st
from row_files import MOMENT, column_file

import lookalike as la
from lookalike.formats import merged_parquet
from lookalike.formats.format import Selection
from lookalike.formats.merged_parquet import common_schema, common_tables, row_groups
from lookalike.formats.sources import open_sources


def selections(folder, columns):
    """A column ``x``: JSON lines of strings of JSON, CSV of others, parquet of an Arrow type."""
    found = []
    for number, (form, values) in enumerate(columns):
        path = folder / f"{number}.{form}"
        if form == "jsonl":
            put(path, "".join(f'{{"x": {value}}}\n' for value in values))
        elif form == "csv":
            put(path, "x\n" + "".join(f"{value}\n" for value in values))
        else:
            path = table_at(folder / f"{number}.parquet", {"x": pa.array(values, form)})
        split = one_split(path)
        found.append(Selection(split, np.ones(len(values), np.bool_)))
    return found


LISTS = pa.list_(pa.int64())
MERGED = [
    ([("int8", [1]), ("int32", [2])], "int32", [1, 2]),
    ([("int8", [1]), ("uint8", [2])], "string", ["1", "2"]),
    ([("int64", [1]), ("jsonl", ["2"])], "int64", [1, 2]),
    ([("int64", [1]), ("jsonl", ["2.5"])], "float64", [1.0, 2.5]),
    ([("int64", [1]), ("csv", ["2"])], "string", ["1", "2"]),
    ([("jsonl", ["1"]), ("jsonl", ["null"]), ("jsonl", ["3"])], "int64", [1, None, 3]),
    ([("null", [None]), ("jsonl", ["true"])], "bool", [None, True]),
    ([("large_string", ["a"]), ("jsonl", ['"b"'])], "large_string", ["a", "b"]),
    ([(LISTS, [[1]]), ("jsonl", ["[0.5]"])], pa.list_(pa.float64()), [[1.0], [0.5]]),
    ([(LISTS, [[1]]), ("jsonl", ['"a"'])], "string", ["[1]", "a"]),
    (
        [(pa.list_(pa.decimal128(3, 2)), [[Decimal("1.89")]]), (pa.list_(pa.float64()), [[0.5]])],
        "string",
        ['["1.89"]', "[0.5]"],
    ),
    ([("string", ["x"]), (LISTS, [[1]])], "string", ["x", "[1]"]),
    ([("date32", [0]), ("timestamp[ns]", [MOMENT])], "string", ["1970-01-01", "2023-11-14T22:13:20.123456789"]),
]


@pytest.mark.parametrize(("columns", "kind", "values"), MERGED)
def test_a_type_holds_the_values_of_all_inputs(tmp_path, columns, kind, values):
    chosen = selections(tmp_path, columns)
    schema = common_schema(chosen)
    assert schema.names == ["x"] and schema.field("x").type.equals(kind), schema
    tables = list(common_tables(chosen, schema))
    assert all(table.schema == schema for table in tables)
    assert pa.concat_tables(tables)["x"].to_pylist() == values


@pytest.mark.parametrize(
    ("form", "values", "kind", "said"),
    [
        (
            "jsonl",
            ["1", "2"],
            "bool",
            r"0\.jsonl, row 1, column 'x': not all values up to row 2 fit into bool; write \.jsonl",
        ),
        ("int64", [2**40], "int8", r"0\.parquet, column 'x': its values do not fit into int8.*write to a folder"),
        ("int64", [2**53 + 1], "float64", r"0\.parquet, column 'x': its values do not fit into double"),
    ],
)
def test_values_that_appear_after_the_types_were_found_are_an_error(tmp_path, form, values, kind, said):
    refused(said, list, common_tables(selections(tmp_path, [(form, values)]), pa.schema([("x", kind)])))


@given(st.lists(st.integers(0, 30), max_size=12), st.integers(1, 20), st.integers(1, 300))
def test_small_tables_are_joined_into_row_groups(sizes, rows, n_bytes):
    tables, first = [], 0
    for size in sizes:
        tables.append(pa.table({"x": pa.array(range(first, first + size), "int64")}))
        first += size
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(merged_parquet, "ROW_GROUP", rows)
        patch.setattr(merged_parquet, "GROUP_BYTES", n_bytes)
        groups = list(row_groups(iter(tables)))
    assert [x for group in groups for x in group["x"].to_pylist()] == list(range(first))
    for group in groups[:-1]:
        assert len(group) >= rows or group.nbytes >= n_bytes
    assert len(groups) <= max(1, len(sizes))


def test_an_empty_file_changes_nothing_of_what_is_copied(tmp_path):
    none, path, out = (tmp_path / f"{name}.parquet" for name in ("none", "in", "out"))
    pq.write_table(pa.schema([("text", "string"), ("z", "date32")]).empty_table(), none)
    table_at(path, {"text": pa.array(["a", "b"], "large_string"), "d": [datetime.date(2020, 1, 1)] * 2})
    for inputs in ([none, path], [path, none], [put(tmp_path / "empty.csv", "text,z\n"), path]):
        la.dedup(inputs).write(out, force=True)
        assert pq.read_table(out).equals(pq.read_table(path))


def test_writing_reads_each_row_a_fixed_number_of_times(tmp_path, monkeypatch):
    sources = open_sources([column_file(tmp_path / f"{i}.jsonl", [str(i)], i) for i in range(12)])
    read, own = [], type(sources[0]).records
    monkeypatch.setattr(type(sources[0]), "records", lambda self, *args: read.append(self) or own(self, *args))
    result = la.dedup(sources)
    for name, times in (("out.csv", 1), ("out.parquet", 2), ("out.jsonl", 0)):
        read.clear()
        result.write(tmp_path / name)
        assert len(read) <= 12 * times + 1
    result.write(tmp_path / "all.parquet", annotate=True)
    assert pq.read_table(tmp_path / "all.parquet")["keep"].to_pylist() == 12 * [True]
    assert pq.ParquetFile(tmp_path / "out.parquet").metadata.num_row_groups == 1
