import pickle
from contextlib import closing

import pyarrow as pa
import pytest
from corpora import planted

pytest.importorskip("pyspark", reason="pyspark is not installed")
from toy_frames import ToySession

import lookalike as la


@pytest.fixture
def corpus(tmp_path, rng):
    texts = [*planted(rng, n_families=30, lengths=(20, 60)), "", "a b"]
    table = pa.table({"id": [f"d{i:03}" for i in range(len(texts))], "text": texts})
    return table.slice(20), table.slice(0, 20)


def on_spark(tables, tmp_path, **given):
    session = ToySession()
    data, references = (session.frame(table, 3) for table in tables)
    return closing(la.dedup(data, against=references, id="id", threshold=0.6, engine=session, work=tmp_path / "work", **given))


def local(tables, **given):
    return la.dedup(tables[0], against=tables[1], id="id", threshold=0.6, **given)


@pytest.mark.parametrize("evidence", ["keepers", "all"])
def test_what_comes_to_the_driver_is_what_one_machine_finds(corpus, tmp_path, evidence):
    wanted = local(corpus, evidence=evidence)
    with on_spark(corpus, tmp_path, evidence=evidence) as result:
        assert isinstance(result, la.Result) and result.keep.tolist() == wanted.keep.tolist() and not result.keep.all()
        assert result.clusters.tolist() == wanted.clusters.tolist()
        assert result.annotations.drop("duplicate_source").equals(wanted.annotations.drop("duplicate_source"))
        assert result.least_alike(5).num_rows == 5 and result.sample(3).num_rows == 3
        result.save(tmp_path / "saved")
        result.report(tmp_path / "page.html")
        again = pickle.loads(pickle.dumps(result))
        strict = result.rethreshold(0.8) if evidence == "all" else None
    loaded = la.Result.load(tmp_path / "saved")
    assert type(again) is la.Result and again.decisions.equals(loaded.decisions)
    ours, theirs = (
        table.drop(["source", "row", "number", "duplicate_source"]) for table in (loaded.decisions, wanted.decisions)
    )
    assert [name for name in ours.column_names if not ours[name].equals(theirs[name])] == []
    assert loaded.pairs.equals(wanted.pairs) and loaded.groups.equals(wanted.groups)
    assert "values in memory, a pipe or part of an archive" in (tmp_path / "page.html").read_text()
    assert strict is None or strict.keep.tolist() == wanted.rethreshold(0.8).keep.tolist()


def test_what_a_cluster_cannot_do_is_said(corpus, tmp_path):
    with on_spark(corpus, tmp_path) as result:
        with pytest.raises(la.errors.ParameterError, match="is that of a data frame: write the frame to files"):
            result.audit(5)
        with pytest.raises(la.errors.ParameterError, match=r"result\.clean\(frame\)\.write\.parquet"):
            result.write("out")
        with pytest.raises(la.errors.ParameterError, match="needs all verified pairs: run dedup with evidence='all'"):
            result.rethreshold(0.9)
    with pytest.raises(la.errors.ParameterError, match="write, or cache, its data frames before close"):
        result.save(tmp_path / "late")
    with pytest.raises(la.errors.ParameterError, match="is closed"):
        result.write("out")
