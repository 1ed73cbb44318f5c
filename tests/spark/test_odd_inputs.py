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
def both(folder, data, on_cluster=None, **given):
    """The cluster may get the same documents in other files."""
    given |= {"threads": 1}
    engine = spark_engine(folder)
    with closing(la.dedup(data, **given)) as wanted, closing(la.dedup(on_cluster or data, engine=engine, **given)) as found:
        yield wanted, found


@pytest.mark.parametrize("keep", ["first", "longest"])
def test_hardly_any_documents(keep, cluster, tmp_path):
    for n, few in enumerate([[], ["", "", "!"], ["a b"], ["a b", "a b"], ["", "a b c", "a b d"], None]):
        more = {"against": ["a b", "b c"]} if few is None else {}
        with both(tmp_path / str(n), few or [], keep=keep, threshold=0.5, width=1, **more) as (wanted, found):
            same_job(found, wanted)


def test_the_same_documents_in_more_files(cluster, tmp_path):
    rows = corpus("mixed", 1200)
    for name in ("one", "many"):
        (tmp_path / name).mkdir()
    one, many = files(rows, tmp_path / "one", "jsonl"), files(rows, tmp_path / "many", "parquet", 7)
    with both(tmp_path, one, many, id="id", threshold=0.7, keep="smallest:score") as (wanted, found):
        assert found.decisions.select(SAID).equals(wanted.decisions.select(SAID))
        assert found.keep.tolist() == wanted.keep.tolist() and not all(wanted.keep)


def test_tables_and_pieces_of_arrow_files(cluster, tmp_path, monkeypatch):
    deltalake = pytest.importorskip("deltalake", reason="needs the package deltalake")
    monkeypatch.setattr(texts, "UNIT_BYTES", 20_000)
    rows = corpus("mixed", 1200)
    deltalake.write_deltalake(tmp_path / "table", rows.slice(0, 700))
    deltalake.DeltaTable(tmp_path / "table").delete("id like '%3'")
    with pa.ipc.new_file(tmp_path / "b.arrow", rows.schema) as out:
        out.write_table(rows.slice(700), max_chunksize=50)
    inputs = [tmp_path / "table", tmp_path / "b.arrow"]
    assert len(units_of(open_sources(inputs))) > 4
    with both(tmp_path, inputs, id="id", threshold=0.7) as (wanted, found):
        same_job(found, wanted)
        found.write(tmp_path / "out/")
        wanted.write(tmp_path / "wanted/")
    for path in (tmp_path / "wanted").rglob("*.[ap]*"):
        assert path.read_bytes() == (tmp_path / "out" / path.relative_to(tmp_path / "wanted")).read_bytes()
