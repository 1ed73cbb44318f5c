import time
from dataclasses import fields, replace
from types import SimpleNamespace

import pyarrow as pa

import lookalike as la
from lookalike.recipes.spark.finished import SparkJob
from lookalike.recipes.spark.job import _of_driver
from lookalike.recipes.spark.result import SparkResult

summary = la.dedup(["one two three four five six"] * 2).summary


def test_the_peak_memory_is_that_of_the_driver():
    mine = _of_driver(summary, {"candidates": 2.0})
    assert "; peak memory of the driver " in str(mine) and "driver" not in str(summary)
    assert replace(mine, kept=7).peak_of == mine.peak_of and mine.to_dict() == summary.to_dict() | {"seconds": mine.seconds}


def test_what_is_written_counts_in_the_summary(monkeypatch):
    monkeypatch.setattr(SparkJob, "write", lambda *_, **__: None)
    none = SimpleNamespace(schema=pa.schema({"id": pa.string()}))
    known = dict.fromkeys(field.name for field in fields(SparkJob))
    known |= {"decisions": none, "pairs": none, "settings": la.Settings(), "n_references": 0}
    result = SparkResult(SparkJob(**known | {"summary": replace(summary, seconds={"summary": 1.0})}))
    ticks = iter((10.0, 13.0, 20.0, 24.0))
    monkeypatch.setattr(time, "perf_counter", lambda: next(ticks))
    result.write("out")
    result.write("again")
    assert result.summary.seconds == {"summary": 1.0, "writing": 7.0} and "8.00 s (" in str(result.summary)
