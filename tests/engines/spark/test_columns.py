"""Rows between our steps and Spark, and in files of tables."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lookalike.engines.spark.columns import changed, decoded, stored_schema


def test_lists_that_are_all_null_come_from_spark_without_values():
    """Keys of a batch of empty documents: Spark sends no buffer for what the lists hold."""
    values = pa.Array.from_buffers(pa.int64(), 0, [None, None])
    lists = pa.Array.from_buffers(pa.list_(pa.int64()), 3, [pa.py_buffer(b"\0"), pa.py_buffer(bytes(16))], children=[values])
    schema = pa.schema([("keys", pa.list_(pa.int64(), 2))])
    (batch,) = decoded(iter([pa.RecordBatch.from_arrays([lists], ["keys"])]), schema)
    assert batch.schema == schema and batch["keys"].to_pylist() == [None] * 3


@pytest.mark.parametrize("rows", [[[1, 2], None, [3, 4], None], [None], [[1, 2]], [None, [1, 2]], []], ids=str)
def test_nulls_among_lists_of_a_fixed_size(tmp_path, rows):
    """Files of tables have them as lists of any size."""
    schema = pa.schema([("codes", pa.list_(pa.int8(), 2)), ("n", pa.int64())])
    whole = pa.RecordBatch.from_arrays([pa.array(rows, schema[0].type), pa.array(range(len(rows)))], schema=schema)
    for batch in (whole, whole.slice(1)):
        stored = stored_schema(schema)
        pq.write_table(pa.Table.from_batches([changed(batch, stored)]), tmp_path / "a.parquet")
        back = [changed(one, schema) for one in pq.read_table(tmp_path / "a.parquet", schema=stored).to_batches()]
        assert pa.Table.from_batches(back, schema).to_pylist() == batch.to_pylist()
