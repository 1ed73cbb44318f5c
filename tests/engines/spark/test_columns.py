import pyarrow as pa

from lookalike.engines.spark.columns import decoded


def test_lists_that_are_all_null_come_from_spark_without_values():
    """Keys of a batch of empty documents: Spark sends no buffer for what the lists hold."""
    values = pa.Array.from_buffers(pa.int64(), 0, [None, None])
    lists = pa.Array.from_buffers(pa.list_(pa.int64()), 3, [pa.py_buffer(b"\0"), pa.py_buffer(bytes(16))], children=[values])
    schema = pa.schema([("keys", pa.list_(pa.int64(), 2))])
    (batch,) = decoded(iter([pa.RecordBatch.from_arrays([lists], ["keys"])]), schema)
    assert batch.schema == schema and batch["keys"].to_pylist() == [None] * 3
