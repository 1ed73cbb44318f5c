"""Sketches that a cluster saves of a data frame, and a job of a cluster against them."""

from contextlib import closing

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from weekly import HOW, TOLD, weeks

import lookalike as la

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def test_frames_against_saved_frames(cluster, tmp_path):
    tables, seen = weeks(5, 40), tmp_path / "history"
    first, second = (
        cluster.createDataFrame(table.select(["id", "text"]).to_pylist(), "id string, text string") for table in tables[:2]
    )
    with closing(la.dedup(first, engine=cluster, work=tmp_path / "work", counts=True, **HOW)) as result:
        result.save_sketches(seen)
        counted = pq.read_table(seen / "sketches-counts.parquet")["n_duplicates"].to_pylist()
        assert sum(counted) == sum(row.n_duplicates for row in result.kept.collect()) > 0
        kept = {row.id for row in result.kept.select("id").collect()}
    with closing(la.dedup(second, against=seen, engine=cluster, work=tmp_path / "work", **HOW)) as result:
        found = [tuple(row) for row in result.decisions.orderBy("position").select(*TOLD).collect()]
    by_id = [sorted(table.to_pylist(), key=lambda row: row["id"].encode()) for table in tables[:2]]
    against, data = (
        pa.Table.from_pylist(rows, tables[0].schema) for rows in ([r for r in by_id[0] if r["id"] in kept], by_id[1])
    )
    with closing(la.dedup(data, against=against, threads=1, **HOW)) as wanted:
        assert found == [tuple(row.values()) for row in wanted.decisions.select(TOLD).to_pylist()]
        assert any(row["reason"] == "near" for row in wanted.decisions.to_pylist())
