"""What is saved of sketches is what they were."""

import numpy as np
import pyarrow as pa

from lookalike.inputs.sketch_rows import keys_of
from lookalike.steps.sketch import kept, kept_sketches, kept_sketches_schema
from lookalike.steps.totals import of_inputs

KEYS = pa.array([[1, -2, 3], None, [4, 5, 1 << 62]], pa.list_(pa.int64(), 3))
ROWS = pa.record_batch({
    "position": pa.array([5, 6, (2 << 40) + 1]), "number": pa.array([6, 7, 2]), "bytes": pa.array([10, 0, 30]),
    "digest": pa.array([b"d" * 16, b"e" * 16, b"f" * 16], pa.binary(16)), "empty": pa.array([False, True, False]), "keys": KEYS,
    "priority": pa.array([b"x", b"", b"y"], pa.large_binary()), "order": pa.array([2, 1, 0]),
})  # fmt: skip


def test_keys_are_bytes_and_become_keys_again():
    for rows in (ROWS, ROWS.slice(1), ROWS.slice(0, 1), ROWS.slice(1, 1)):
        (saved,) = kept_sketches(iter([rows]))
        assert saved.schema == kept_sketches_schema(rows.schema)
        assert saved.schema.names == ["position", "number", "bytes", "digest", "keys"]
        assert saved["keys"].type == pa.binary(24)
        assert keys_of(saved["keys"]).to_pylist() == rows["keys"].to_pylist()
        assert saved["digest"].to_pylist() == rows["digest"].to_pylist()


def test_texts_are_saved_where_they_are_a_column():
    rows = ROWS.append_column("text", pa.array([b"a", b"", b"c"], pa.large_binary()))
    (saved,) = kept_sketches(iter([rows]))
    assert saved["text"].to_pylist() == [b"a", b"", b"c"] and saved.schema == kept_sketches_schema(rows.schema)


def test_references_and_removed_documents_are_not_kept():
    reasons = ["kept", "reference", "exact", "near", "empty", "skipped", "kept"]
    rows = pa.record_batch({"order": pa.array(range(7)), "reason": reasons})
    assert [row for batch in kept(iter([rows])) for row in batch["order"].to_pylist()] == [0, 6]


def test_rows_are_counted_by_input():
    fold = of_inputs(4)
    total = fold.start()
    fold.add(total, ROWS)
    fold.add(total, ROWS.slice(2))
    assert total.tolist() == [[2, 0, 2, 0]] and fold.combine(total, total).tolist() == [[4, 0, 4, 0]]
    assert total.dtype == np.int64
