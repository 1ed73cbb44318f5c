"""Rows of tables that are gone through a batch at a time."""

import pyarrow as pa

from semblance.jobs import rows as rows_module


def test_rows_select_and_slice():
    table = pa.table({"a": range(10), "b": [str(i) for i in range(10)]})
    rows = rows_module.HeldRows(table)
    assert rows_module.collect(rows).equals(table) and rows.schema == table.schema
    part = rows.slice(2, 9).select(["b"]).slice(1, 100)
    assert rows_module.collect(part)["b"].to_pylist() == [str(i) for i in range(3, 9)]
    assert part.schema.names == ["b"] and len(rows_module.collect(rows.slice(4, 4))) == 0
    assert rows_module.collect(rows.slice(8, 12))["a"].to_pylist() == [8, 9]
