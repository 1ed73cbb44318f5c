"""Hardly any documents, and the same documents in other files, on a cluster."""

from contextlib import closing

import pyarrow as pa
import pytest
from engine_kinds import spark_engine
from same_results import same_job
from spark.spark_jobs import corpus, files

import lookalike as la
from lookalike.engines.spark import texts
from lookalike.engines.spark.texts import units_of
from lookalike.formats.sources import open_sources

pytestmark = [pytest.mark.spark, pytest.mark.slow]
SAID = ["id", "reason", "duplicate_of", "resemblance"]


@pytest.mark.parametrize("texts", [[], ["", "", "!"], ["a b"], ["a b", "a b"], ["", "a b c", "a b d"]], ids=str)
@pytest.mark.parametrize("keep", ["first", "longest"])
def test_hardly_any_documents(texts, keep, cluster, tmp_path):
    given = {"keep": keep, "threshold": 0.5, "width": 1, "threads": 1}
    with closing(la.dedup(texts, **given)) as wanted, closing(la.dedup(texts, engine=spark_engine(tmp_path), **given)) as found:
        same_job(found, wanted)


def test_nothing_but_references(cluster, tmp_path):
    given = {"against": ["a b", "b c"], "threads": 1}
    with closing(la.dedup([], **given)) as wanted, closing(la.dedup([], engine=spark_engine(tmp_path), **given)) as found:
        same_job(found, wanted)


def test_the_same_documents_in_more_files(cluster, tmp_path):
    rows = corpus("mixed", 1200)
    for name in ("one", "many"):
        (tmp_path / name).mkdir()
    given = {"id": "id", "threshold": 0.7, "keep": "smallest:score", "threads": 1}
    one, many = files(rows, tmp_path / "one", "jsonl"), files(rows, tmp_path / "many", "parquet", 7)
    with closing(la.dedup(one, **given)) as wanted, closing(la.dedup(many, engine=spark_engine(tmp_path), **given)) as found:
        assert found.decisions.select(SAID).equals(wanted.decisions.select(SAID))
        assert found.keep.tolist() == wanted.keep.tolist() and not all(wanted.keep)


def test_tables_and_pieces_of_arrow_files(cluster, tmp_path, monkeypatch):
    """A Delta table with deleted rows, and an Arrow file whose batches are read by several tasks."""
    deltalake = pytest.importorskip("deltalake", reason="needs the package deltalake")
    monkeypatch.setattr(texts, "UNIT_BYTES", 20_000)
    rows = corpus("mixed", 1200)
    deltalake.write_deltalake(tmp_path / "table", rows.slice(0, 700))
    deltalake.DeltaTable(tmp_path / "table").delete("id like '%3'")
    with pa.ipc.new_file(tmp_path / "b.arrow", rows.schema) as out:
        out.write_table(rows.slice(700), max_chunksize=50)
    given = {"id": "id", "threshold": 0.7, "threads": 1}
    inputs = [tmp_path / "table", tmp_path / "b.arrow"]
    assert len(units_of(open_sources(inputs))) > 4
    with (
        closing(la.dedup(inputs, **given)) as wanted,
        closing(la.dedup(inputs, engine=spark_engine(tmp_path), **given)) as found,
    ):
        same_job(found, wanted)
        found.write(tmp_path / "out/")
        wanted.write(tmp_path / "wanted/")
    for path in (tmp_path / "wanted").rglob("*.[ap]*"):
        assert path.read_bytes() == (tmp_path / "out" / path.relative_to(tmp_path / "wanted")).read_bytes()
