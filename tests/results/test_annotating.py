"""A result gives back the rows of its inputs as a table."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lookalike as la

A = " ".join(f"word{i}" for i in range(60))
TABLE = pa.table({"text": [A, "b", A], "n": [1, 2, 3]}, metadata={"made": "here"})


@pytest.mark.parametrize("annotate", [False, True])
def test_the_table_is_what_would_be_written(annotate, tmp_path):
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in TABLE.to_pylist()))
    for data in (TABLE, tmp_path / "in.jsonl", TABLE.to_pylist(), [TABLE["text"][0].as_py(), "b"]):
        result = la.dedup(data)
        result.write(tmp_path / "out.parquet", annotate=annotate, force=True)
        found = result.clean(annotate=annotate)
        assert found.to_pylist() == pq.read_table(tmp_path / "out.parquet").to_pylist()
        assert len(found) == (len(result) if annotate else result.summary.kept)


def test_the_metadata_of_a_table_stay():
    assert la.dedup(TABLE).clean().schema == TABLE.schema
    assert la.dedup(TABLE).clean().schema.metadata == TABLE.schema.metadata


def test_a_table_needs_the_inputs(tmp_path):
    la.dedup(TABLE).save(tmp_path / "saved")
    with pytest.raises(la.ParameterError, match="does not have the inputs"):
        la.Result.load(tmp_path / "saved").clean()
    with pytest.raises(la.InputDataError, match="'keep' is there already"):
        la.dedup(TABLE.append_column("keep", pa.array([1, 2, 3]))).clean(annotate=True)
