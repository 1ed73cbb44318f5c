"""Rows of tables that are gone through a batch at a time: held, or made when they are asked for."""

from types import SimpleNamespace

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.recipes.decisions import Decisions
from lookalike.results import rows as rows_module
from lookalike.results.rows import HeldRows, ParquetRows, collect, filtered

TABLE = pa.table({"a": range(10), "b": [str(i) for i in range(10)]})


class Made:
    """Makes rows, and notes which were wanted."""

    def __init__(self):
        self.wanted = []

    def __call__(self, schema, begin, end):
        self.wanted.append((schema.names, begin, end))
        made = TABLE.slice(begin, end - begin).select(schema.names)
        return SimpleNamespace(batches=lambda: iter(made.to_batches(max_chunksize=3)))


def test_rows_select_and_slice():
    rows = HeldRows(TABLE)
    assert collect(rows).equals(TABLE) and rows.schema == TABLE.schema
    part = rows.slice(2, 9).select(["b"]).slice(1, 100)
    assert collect(part)["b"].to_pylist() == [str(i) for i in range(3, 9)]
    assert part.schema.names == ["b"] and len(collect(rows.slice(4, 4))) == 0
    assert collect(rows.slice(8, 12))["a"].to_pylist() == [8, 9]


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "a=b.parquet"
    pq.write_table(TABLE, path, row_group_size=3)
    return path


@given(
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)).map(sorted), max_size=3), st.permutations(["a", "b"]),
    st.integers(1, 2),
)  # fmt: skip
def test_any_parts_of_a_file_are_those_of_a_table(stored, spans, names, n):
    rows, wanted = ParquetRows(stored), HeldRows(TABLE)
    for begin, end in spans:
        rows, wanted = rows.slice(begin, end), wanted.slice(begin, end)
    rows, wanted = rows.select(names[:n]), wanted.select(names[:n])
    assert collect(rows).equals(collect(wanted)) and collect(rows).equals(collect(rows)), "every time"


def test_a_file_stays_the_one_that_was_opened(stored, tmp_path):
    path = tmp_path / "rows.parquet"
    path.write_bytes(stored.read_bytes())
    rows = ParquetRows(path)
    pq.write_table(TABLE.slice(5), tmp_path / "other")
    (tmp_path / "other").rename(path)
    assert collect(rows).equals(TABLE) and len(collect(ParquetRows(path))) == 5


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)).map(sorted), max_size=3), st.booleans(), st.booleans())
def test_any_parts_of_parts_are_those_of_a_list(spans, made, select):
    """Held rows and rows that are made alike; the others are not made."""
    make = Made()
    rows, wanted = Decisions(make, TABLE.schema, 0, 10) if made else HeldRows(TABLE), list(range(10))
    for begin, end in spans:
        rows, wanted = rows.slice(begin, end), wanted[begin:end]
    if select:
        rows = rows.select(["b"])
    found = collect(rows)
    assert found.schema == rows.schema and found["b"].to_pylist() == [str(i) for i in wanted]
    if made and wanted:
        assert make.wanted == [(["b"] if select else ["a", "b"], wanted[0], wanted[-1] + 1)]
    elif made:
        assert not make.wanted, "of no rows none is made"


@given(st.lists(st.integers(0, 9), max_size=30), st.integers(0, 9), st.integers(1, 40))
def test_rows_are_filtered_a_batch_at_a_time(values, least, batch):
    rows, seen = HeldRows(pa.table({"x": pa.array(values, pa.int64())})), []

    def wanted(part):
        seen.append(len(part))
        return pc.greater_equal(part["x"], least)

    before, rows_module.BATCH_ROWS = rows_module.BATCH_ROWS, batch
    try:
        found = filtered(rows, wanted)
    finally:
        rows_module.BATCH_ROWS = before
    assert found["x"].to_pylist() == [x for x in values if x >= least]
    assert sum(seen) == len(values) and max(seen, default=0) <= batch
