"""Sketches on an object store: jobs save them there, and are run against them, with the decisions of one machine."""

import json
from contextlib import closing

import pyarrow as pa
import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")
from object_store import held, put_folder
from toy_frames import ToySession
from weekly import COUNTS, HOW, TOLD, VARIANTS, cut_small, weeks, written

import lookalike as la
from lookalike.files.disk import SIDECAR
from lookalike.files.store import PLANNED, NewObjects
from lookalike.files.urls import Url
from lookalike.inputs.sketch_rows import DESCRIPTION, ROWS
from lookalike.inputs.sketches import saved_in


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Tasks get few rows, and units are short."""
    cut_small(monkeypatch)


@pytest.fixture
def files(tmp_path, bucket):
    """Files of three weeks, on the store."""
    (tmp_path / "in").mkdir()
    paths = [written(table, tmp_path / "in", f"week{i}") for i, table in enumerate(weeks(1))]
    put_folder(tmp_path / "in", bucket / "in")
    return [[str(bucket / "in" / path.name) for path in some] for some in paths]


def said(result, decisions):
    counts = {name: getattr(result.summary, name) for name in COUNTS}
    return decisions.select([*TOLD, "resemblance"]).to_pylist(), counts


def on_spark(data, bucket, *, against=None, save=None, **given):
    """What a job on a cluster says, of files or a table as a frame, whose work folder is on the store."""
    session = ToySession(n_tasks=4, batch_rows=5, fails_first=True)
    data = session.frame(data, 3) if isinstance(data, pa.Table) else data
    against = str(against) if isinstance(against, Url) else against
    with closing(la.dedup(data, against=against, engine=session, work=str(bucket / "work"), **HOW | given)) as result:
        if save is not None:
            result.save_sketches(str(save))
        decisions = pa.Table.from_batches(result._job.decisions.batches(), result._job.decisions.schema).sort_by("position")
        return said(result, decisions)


def locally(data, *, against=None, save=None, write=None, **given):
    against = str(against) if isinstance(against, Url) else against
    with closing(la.dedup(data, against=against, threads=1, **HOW | given)) as result:
        if save is not None:
            result.save_sketches(str(save))
        if write is not None:
            result.write(write)
        return said(result, result.decisions)


def assert_whole(folder):
    """There is what the description names, and no more."""
    names = held(folder)
    described = json.loads(names[DESCRIPTION])
    rows = [file["name"] for file in described["files"]]
    assert set(names) == {DESCRIPTION, SIDECAR, "secret", *rows}
    assert all(name.startswith(f"{ROWS}/") for name in rows) and rows == sorted(rows)
    assert {*json.loads(names[SIDECAR])["files"]} == {DESCRIPTION, "secret", f"{ROWS}/", *rows}
    return rows


@pytest.mark.parametrize("variant", ["longest", "crowds"])
def test_files(variant, files, bucket, tmp_path):
    """Each week on the other engine; of its two attempts each task leaves one file."""
    given, seen, clean = VARIANTS[variant], bucket / "seen", tmp_path / "clean"
    on_spark(files[0], bucket, save=seen / "w0", **given)
    assert len(assert_whole(seen / "w0")) >= 2
    locally(files[0], write=clean / "w0", **given)
    found = locally(files[1], against=seen, save=seen / "w1", write=clean / "w1", **given)
    assert found == locally(files[1], against=clean / "w0", **given)
    wanted = locally(files[2], against=[clean / "w0", clean / "w1"], **given)
    assert on_spark(files[2], bucket, against=seen, save=seen / "w2", **given) == wanted
    assert_whole(seen / "w2")
    assert {name.split("/")[0] for name in held(bucket)} == {"in", "seen"}


def by_id(table):
    """The rows in the order that frames have."""
    return pa.Table.from_pylist(sorted(table.to_pylist(), key=lambda row: row["id"].encode()), table.schema)


def kept_of(found, table):
    kept = {row["id"] for row in found[0] if row["reason"] == "kept"}
    return pa.Table.from_pylist([row for row in table.to_pylist() if row["id"] in kept], table.schema)


@pytest.mark.parametrize("variant", ["within"])
def test_frames(variant, bucket):
    """Against saved frames, whose texts lie beside the sketches, as against the frames of what was kept."""
    given, seen, tables = VARIANTS[variant], bucket / "seen", weeks(4, 40)
    first = on_spark(tables[0], bucket, save=seen / "w0", **given)
    wanted = locally(by_id(tables[1]), against=by_id(kept_of(first, tables[0])), **given)
    second = on_spark(tables[1], bucket, against=seen, save=seen / "w1", **given)
    assert second == wanted
    clean = pa.concat_tables([by_id(kept_of(f, t)) for f, t in ((first, tables[0]), (second, tables[1]))])
    wanted = locally(by_id(tables[2]), against=clean, **given)
    assert on_spark(tables[2], bucket, against=seen, **given) == wanted
    assert locally(by_id(tables[2]), against=seen, **given) == wanted


def test_files_against_frames_and_frames_against_files(files, bucket):
    tables = weeks(1)
    first = on_spark(files[0], bucket, save=bucket / "files")
    clean = kept_of(first, tables[0])
    found = on_spark(tables[1], bucket, against=bucket / "files", save=bucket / "frames")
    assert found == locally(by_id(tables[1]), against=clean)
    clean = pa.concat_tables([clean, by_id(kept_of(found, tables[1]))])
    both = [str(bucket / "files"), str(bucket / "frames")]
    assert on_spark(files[2], bucket, against=both) == locally(files[2], against=clean)


def test_saves_that_are_killed_late_or_not_allowed(bucket, monkeypatch):
    """What one leaves is no folder of sketches, and the next one replaces it; one that is whole it replaces on demand alone."""
    table, seen = weeks(1)[0], bucket / "seen"
    session = ToySession(n_tasks=4, batch_rows=5, fails_first=True)
    with closing(la.dedup(session.frame(table, 3), engine=session, work=str(bucket / "work"), **HOW)) as result:
        with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
            patched.setattr(NewObjects, "take", stopped)  # all tasks have written, each of them twice
            result.save_sketches(str(seen / "w0"))
        left = set(held(seen / "w0"))
        assert PLANNED in left and DESCRIPTION not in left and len(left) > 3 and saved_in(str(seen)) == []
        result.save_sketches(str(seen / "w0"))
        assert not left & set(assert_whole(seen / "w0")) and saved_in(str(seen)) == [seen / "w0"]
        before = held(seen)
        with pytest.raises(la.OutputError, match="w0 exists; pass --force"):
            result.save_sketches(str(seen / "w0"))
        assert held(seen) == before
        (seen / "w0" / ROWS / "00000000-late.parquet").write_bytes(b"of a task that is late, and counts for nothing")
        result.save_sketches(str(seen / "w0"), force=True)
        assert not set(before) & {f"w0/{name}" for name in assert_whole(seen / "w0")}
        with pytest.raises(la.ParameterError, match="wasb://lake/seen: no store is known"):
            result.save_sketches("wasb://lake/seen")


def stopped(*args):
    raise KeyboardInterrupt
