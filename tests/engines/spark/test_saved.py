"""Jobs on clusters save sketches, and are run against those of other jobs, with the decisions of one machine."""

import random
from contextlib import closing

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")
from toy_frames import ToySession
from weekly import COUNTS, HOW, TOLD, VARIANTS, cut_small, said, weeks, written

import lookalike as la

SESSION = {"n_tasks": 4, "batch_rows": 5, "fails_first": True}


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Tasks get few rows, and units are short."""
    cut_small(monkeypatch)


def on_spark(data, folder, *, against=None, save=None, session=None, **given):
    """What a job on a cluster says, of files or a table as a frame; sketches are saved."""
    session = session or ToySession(**SESSION)
    data = session.frame(data, 3) if isinstance(data, pa.Table) else data
    against = session.frame(against, 2) if isinstance(against, pa.Table) else against
    with closing(la.dedup(data, against=against, engine=session, work=folder / "work", **HOW | given)) as result:
        if save is not None:
            result.save_sketches(save)
        job = result._job
        decisions = pa.Table.from_batches(job.decisions.batches(), job.decisions.schema).sort_by("position")
        counts = {name: getattr(result.summary, name) for name in COUNTS}
        return decisions.select([*TOLD, "resemblance"]).to_pylist(), counts


def locally(data, *, against=None, save=None, write=None, **given):
    """The same on one machine."""
    with closing(la.dedup(data, against=against, threads=1, **HOW | given)) as result:
        if save is not None:
            result.save_sketches(save)
        if write is not None:
            result.write(write)
        decisions = result.decisions.select([*TOLD, "resemblance"]).to_pylist()
        said(result)
        return decisions, {name: getattr(result.summary, name) for name in COUNTS}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("weeks")
    return [written(table, folder, f"week{i}") for i, table in enumerate(weeks(1))]


@pytest.mark.parametrize("variant", ["longest", "crowds", "estimates"])
def test_files(variant, files, tmp_path):
    """Each week on the other engine."""
    given, seen, clean = VARIANTS[variant], tmp_path / "seen", tmp_path / "clean"
    on_spark(files[0], tmp_path, save=seen / "w0", **given)
    locally(files[0], write=clean / "w0", **given)
    found = locally(files[1], against=seen, save=seen / "w1", write=clean / "w1", **given)
    assert found == locally(files[1], against=clean / "w0", **given)
    wanted = locally(files[2], against=[clean / "w0", clean / "w1"], **given)
    assert on_spark(files[2], tmp_path, against=seen, **given) == wanted


def by_id(table):
    """The rows in the order that frames have."""
    return pa.Table.from_pylist(sorted(table.to_pylist(), key=lambda row: row["id"].encode()), table.schema)


def kept_of(found, table):
    """The kept documents of a week."""
    kept = {row["id"] for row in found[0] if row["reason"] == "kept"}
    return pa.Table.from_pylist([row for row in table.to_pylist() if row["id"] in kept], table.schema)


@pytest.mark.parametrize("variant", ["first", "within", "crowds", "fingerprints"])
def test_frames(variant, tmp_path):
    """Against saved frames as against the frames of what was kept."""
    given, seen, tables = VARIANTS[variant], tmp_path / "seen", weeks(4, 40)
    first = on_spark(tables[0], tmp_path, save=seen / "w0", **given)
    wanted = locally(by_id(tables[1]), against=by_id(kept_of(first, tables[0])), **given)
    second = on_spark(tables[1], tmp_path, against=seen, save=seen / "w1", **given)
    assert second == wanted
    clean = pa.concat_tables([by_id(kept_of(f, t)) for f, t in ((first, tables[0]), (second, tables[1]))])
    wanted = locally(by_id(tables[2]), against=clean, **given)
    assert on_spark(tables[2], tmp_path, against=[seen], **given) == wanted
    assert locally(by_id(tables[2]), against=seen, **given) == wanted


def test_frames_against_files_and_files_against_frames(files, tmp_path):
    tables = weeks(1)
    on_spark(files[0], tmp_path, save=tmp_path / "files")
    found = on_spark(tables[1], tmp_path, against=tmp_path / "files", save=tmp_path / "frames")
    clean = kept_of(locally(files[0]), tables[0])
    assert found == locally(by_id(tables[1]), against=clean)
    both = [tmp_path / "files", tmp_path / "frames"]
    clean = pa.concat_tables([clean, by_id(kept_of(found, tables[1]))])
    assert on_spark(files[2], tmp_path, against=both) == locally(files[2], against=clean)


def test_old_clusters_write_runs_in_any_order(files, tmp_path):
    """Before Spark 4.1 a task may get several runs, and not those that follow each other."""
    tables = weeks(3)
    random.Random(1).shuffle(order := list(range(60)))
    on_spark(tables[0].take(pa.array(order)), tmp_path, save=tmp_path / "old", session=ToySession(is_old=True, **SESSION))
    on_spark(tables[0], tmp_path, save=tmp_path / "new")
    held = [[pq.read_table(file, columns=["position", "id", "text"]) for file in sorted((tmp_path / name).glob("*.parquet"))]
            for name in ("old", "new")]  # fmt: skip
    assert len(held[0]) > 3
    old, new = (pa.concat_tables(some) for some in held)
    assert old.equals(new) and old["position"].to_pylist() == sorted(old["position"].to_pylist())


def test_ids_of_saved_documents_are_told_under_their_type(tmp_path):
    table = pa.table({"text": ["a b c d", "e f g h"], "id": ["x", "y"]})
    on_spark(table, tmp_path, save=tmp_path / "seen")
    later = pa.table({"text": ["a b c d", "new words here"], "id": pa.array([7, 8], pa.int64())})
    session = ToySession(**SESSION)
    result = la.dedup(session.frame(later, 1), against=tmp_path / "seen", engine=session, work=tmp_path / "work", **HOW)
    with closing(result):
        assert result._job.id_type == "string"
        assert result.summary.kept == 1 and result.summary.exact_duplicates == 1


def test_what_is_refused(files, tmp_path):
    session = ToySession(**SESSION)
    on_spark(files[0], tmp_path, save=tmp_path / "seen")
    frame = session.frame(weeks(1)[1], 2)
    with pytest.raises(la.ParameterError, match="^against must be a data frame or saved sketches"):
        la.dedup(frame, against=files[0], engine=session, work=tmp_path / "work", **HOW)
    with pytest.raises(la.ParameterError, match="seen holds sketches that were made with other settings: seed was 1, is 2"):
        la.dedup(frame, against=tmp_path / "seen", engine=session, work=tmp_path / "other", **HOW, seed=2)
    assert not (tmp_path / "other").exists()
    with pytest.raises(la.OutputError, match="exists; pass --force"):
        on_spark(files[1], tmp_path / "b", save=tmp_path / "seen")
    assert not list(tmp_path.glob(".seen*"))
