"""Damaged texts of a history are told; tests/jobs/history-texts.job has jobs that read them, where inputs are gone."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from json_lines import write_lines
from weekly import forge

import lookalike as la
from lookalike.errors import InputDataError


def test_damaged_texts_are_told(here):
    words = " ".join(f"w{i}" for i in range(60))
    for name in ("first", "second"):
        write_lines(f"{name}.jsonl", [f"{words} {name}"])
    with la.History("history") as history:
        history.add("first.jsonl", "out1.jsonl", la.Settings()).close()
    path = here / "history/000001/sketches-00000.parquet"
    table = pq.read_table(path)
    other = pa.array([b"x"] * len(table), pa.large_binary())
    pq.write_table(table.set_column(table.schema.get_field_index("text"), "text", other), path)
    forge(path.parent, lambda held: held["files"][0].update(bytes=path.stat().st_size))
    with la.History("history") as history, pytest.raises(InputDataError, match="sketches-00000.parquet"):
        history.add("second.jsonl", "out2.jsonl", la.Settings())
    assert not (here / "out2.jsonl").exists()
