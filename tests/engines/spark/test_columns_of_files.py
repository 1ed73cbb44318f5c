"""Lists of a fixed size, nulls among them, go through files of tables as other lists do."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lookalike.engines.spark.columns import changed, stored_schema


@pytest.mark.parametrize("rows", [[[1, 2], None, [3, 4], None], [None], [[1, 2]], [None, [1, 2]], []], ids=str)
@pytest.mark.parametrize("start", [0, 1])
def test_nulls_among_lists_of_a_fixed_size(tmp_path, rows, start):
    schema = pa.schema([("codes", pa.list_(pa.int8(), 2)), ("n", pa.int64())])
    batch = pa.RecordBatch.from_arrays([pa.array(rows, schema[0].type), pa.array(range(len(rows)))], schema=schema).slice(start)
    stored = stored_schema(schema)
    pq.write_table(pa.Table.from_batches([changed(batch, stored)]), tmp_path / "a.parquet")
    back = [changed(one, schema) for one in pq.read_table(tmp_path / "a.parquet", schema=stored).to_batches()]
    assert pa.Table.from_batches(back, schema).to_pylist() == batch.to_pylist()
