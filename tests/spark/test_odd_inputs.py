"""Hardly any documents, and the same documents in other files, on a cluster."""

from contextlib import closing, contextmanager

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


@contextmanager
def both(inputs, folder, **given):
    """The results of one machine, and of the cluster."""
    given = {"threads": 1} | given
    with closing(la.dedup(inputs, **given)) as wanted, closing(la.dedup(inputs, engine=spark_engine(folder), **given)) as found:
        yield wanted, found


@pytest.mark.parametrize("texts", [[], ["", "", "!"], ["a b", "a b"], ["", "a b c", "a b d"]], ids=str)
@pytest.mark.parametrize("given", [{"keep": "first"}, {"keep": "longest", "against": ["a b", "b c"]}], ids=str)
def test_hardly_any_documents(texts, given, cluster, tmp_path):
    with both(texts, tmp_path, threshold=0.5, width=1, **given) as (wanted, found):
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
    rows, inputs = corpus("mixed", 1200), [tmp_path / "table", tmp_path / "b.arrow"]
    deltalake.write_deltalake(inputs[0], rows.slice(0, 700))
    deltalake.DeltaTable(inputs[0]).delete("id like '%3'")
    with pa.ipc.new_file(inputs[1], rows.schema) as out:
        out.write_table(rows.slice(700), max_chunksize=50)
    assert len(units_of(open_sources(inputs))) > 4
    with both(inputs, tmp_path, id="id", threshold=0.7) as (wanted, found):
        same_job(found, wanted)
        found.write(tmp_path / "out/")
        wanted.write(tmp_path / "wanted/")
    for path in (tmp_path / "wanted").rglob("*.[ap]*"):
        assert path.read_bytes() == (tmp_path / "out" / path.relative_to(tmp_path / "wanted")).read_bytes()
