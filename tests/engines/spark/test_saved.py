import json
import random
from contextlib import closing
from unittest.mock import patch

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from raising import assert_raises

from lookalike.errors import OutputError, ParameterError

pytest.importorskip("pyspark")
from object_store import held, put_folder
from samples import one_in
from toy_frames import ToySession, decisions_of
from weekly import COUNTS, HOW, TOLD, VARIANTS, cut_small, weeks, written

import lookalike as la
from lookalike.files.disk import SIDECAR
from lookalike.files.store import PLANNED
from lookalike.files.urls import Url
from lookalike.inputs.sketch_rows import DESCRIPTION, ROWS
from lookalike.inputs.sketches import saved_in

SESSION = {"n_tasks": 4, "batch_rows": 5, "fails_first": True}


@pytest.fixture(autouse=True)
def small(monkeypatch):
    cut_small(monkeypatch)


@pytest.fixture
def place(request, tmp_path):
    return tmp_path if getattr(request, "param", "disk") == "disk" else request.getfixturevalue("bucket")


@pytest.fixture
def tables(place):
    """Fewer at a store, where each task costs some requests, which take longer than all else."""
    return weeks(1, 25 if isinstance(place, Url) else 60)


@pytest.fixture
def files(place, tables, tmp_path):
    (tmp_path / "in").mkdir()
    paths = [written(table, tmp_path / "in", f"week{i}") for i, table in enumerate(tables)]
    if place != tmp_path:
        put_folder(tmp_path / "in", place / "in")
    return [[named(place / "in" / path.name) for path in some] for some in paths]


def named(where):
    return [named(one) for one in where] if isinstance(where, list) else str(where) if isinstance(where, Url) else where


def said(result, decisions):
    counts = {name: getattr(result.summary, name) for name in COUNTS}
    return decisions.select([*TOLD, "resemblance"]).to_pylist(), counts


def on_spark(data, place, *, against=None, save=None, session=None, **given):
    session = session or ToySession(**SESSION | ({"n_tasks": 2} if isinstance(place, Url) else {}))
    data = session.frame(data, 3) if isinstance(data, pa.Table) else data
    with closing(la.dedup(data, against=named(against), engine=session, work=named(place / "work"), **HOW | given)) as result:
        if save is not None:
            result.save_sketches(named(save))
        return said(result, decisions_of(result))


def locally(data, *, against=None, save=None, write=None, **given):
    with closing(la.dedup(data, against=named(against), threads=1, **HOW | given)) as result:
        if save is not None:
            result.save_sketches(named(save))
        if write is not None:
            result.write(write)
        return said(result, result.decisions)


def by_id(table):
    return table.sort_by("id")


def kept_of(found, table):
    kept = [row["id"] for row in found[0] if row["reason"] == "kept"]
    return table.filter(pc.is_in(table["id"], pa.array(kept)))


def assert_whole(folder):
    names = held(folder)
    rows = [file["name"] for file in json.loads(names[DESCRIPTION])["files"]]
    assert set(names) == {DESCRIPTION, SIDECAR, "secret", *rows}
    assert all(name.startswith(f"{ROWS}/") for name in rows) and rows == sorted(rows)
    assert {*json.loads(names[SIDECAR])["files"]} == {DESCRIPTION, "secret", f"{ROWS}/", *rows}
    return rows


@pytest.mark.parametrize(
    ("place", "variant"),
    one_in(4, [("store", "longest"), ("disk", "longest"), ("disk", "crowds"), ("disk", "estimates")]),
    indirect=["place"],
)
def test_files(variant, files, place, tmp_path):
    """Each week on the other engine; of its two attempts each task leaves one file."""
    given, seen, clean = VARIANTS[variant], place / "history", tmp_path / "clean"
    on_spark(files[0], place, save=seen / "w0", **given)
    locally(files[0], write=clean / "w0", **given)
    found = locally(files[1], against=seen, save=seen / "w1", write=clean / "w1", **given)
    assert found == locally(files[1], against=clean / "w0", **given)
    wanted = locally(files[2], against=[clean / "w0", clean / "w1"], **given)
    assert on_spark(files[2], place, against=seen, save=seen / "w2", **given) == wanted
    if isinstance(place, Url):
        assert len(assert_whole(seen / "w0")) >= 2 and assert_whole(seen / "w2")
        assert {name.split("/")[0] for name in held(place)} == {"in", "history"}


@pytest.mark.parametrize("variant", one_in(3, ["first", "within", "crowds", "fingerprints", "keys"]))
def test_frames(variant, place):
    """As against the frames of what was kept; texts lie beside the sketches."""
    given, seen, tables = VARIANTS[variant], place / "history", weeks(4, 40)
    first = on_spark(tables[0], place, save=seen / "w0", **given)
    wanted = locally(by_id(tables[1]), against=by_id(kept_of(first, tables[0])), **given)
    second = on_spark(tables[1], place, against=seen, save=seen / "w1", **given)
    assert second == wanted
    clean = pa.concat_tables([by_id(kept_of(f, t)) for f, t in ((first, tables[0]), (second, tables[1]))])
    wanted = locally(by_id(tables[2]), against=clean, **given)
    assert on_spark(tables[2], place, against=[seen], **given) == wanted
    assert locally(by_id(tables[2]), against=seen, **given) == wanted


def test_frames_against_files_and_files_against_frames(files, tables, tmp_path):
    on_spark(files[0], tmp_path, save=tmp_path / "files")
    found = on_spark(tables[1], tmp_path, against=tmp_path / "files", save=tmp_path / "frames")
    clean = kept_of(locally(files[0]), tables[0])
    assert found == locally(by_id(tables[1]), against=clean)
    clean = pa.concat_tables([clean, by_id(kept_of(found, tables[1]))])
    both = [tmp_path / "files", tmp_path / "frames"]
    for data, same in ((tables[2], by_id(tables[2])), (files[2], files[2])):
        assert on_spark(data, tmp_path, against=both) == locally(same, against=clean)


def test_old_clusters_write_runs_in_any_order(tmp_path):
    """Before Spark 4.1 a task may get several runs, and not those that follow each other."""
    table, order, held = weeks(3)[0], list(range(60)), []
    random.Random(1).shuffle(order)
    for name, is_old, rows in (("old", True, table.take(pa.array(order))), ("new", False, table)):
        on_spark(rows, tmp_path, save=tmp_path / name, session=ToySession(is_old=is_old, **SESSION))
        files = sorted((tmp_path / name).glob("*.parquet"))
        held.append(pa.concat_tables(pq.read_table(file, columns=["position", "id", "text"]) for file in files))
        assert len(files) > 3
    assert held[0].equals(held[1]) and held[0]["position"].to_pylist() == sorted(held[0]["position"].to_pylist())


def test_what_is_refused(files, tables, tmp_path):
    session, seen = ToySession(**SESSION), tmp_path / "history"
    on_spark(files[0], tmp_path, save=seen)
    for against, seed, said in (
        (files[0], 1, "^against must be a data frame or saved sketches"),
        (seen, 2, "history holds sketches that were made with other settings: seed was 1, is 2"),
    ):
        assert_raises(
            ParameterError, said, on_spark, tables[1], tmp_path / "other", against=against, session=session, seed=seed
        )
        assert not (tmp_path / "other").exists()
    assert_raises(OutputError, "exists; pass force=True", on_spark, files[1], tmp_path / "b", save=seen)
    assert not list(tmp_path.glob(".seen*"))


def test_saves_that_are_killed_late_or_not_allowed(bucket):
    """What one leaves is no folder of sketches, and the next one replaces it; one that is whole it replaces on demand alone."""
    table, seen = weeks(1, 20)[0], bucket / "history"
    session = ToySession(**SESSION | {"n_tasks": 2})
    with closing(la.dedup(session.frame(table, 3), engine=session, work=str(bucket / "work"), **HOW)) as result:
        with patch("lookalike.files.store.OutputObjects.take", side_effect=KeyboardInterrupt):
            # all tasks have written, each of them twice
            assert_raises(KeyboardInterrupt, "", result.save_sketches, str(seen / "w0"))
        left = set(held(seen / "w0"))
        assert PLANNED in left and DESCRIPTION not in left and len(left) > 3 and saved_in(str(seen)) == []
        result.save_sketches(str(seen / "w0"))
        assert not left & set(assert_whole(seen / "w0")) and saved_in(str(seen)) == [seen / "w0"]
        before = held(seen)
        assert_raises(OutputError, "w0 exists; pass force=True", result.save_sketches, str(seen / "w0"))
        assert held(seen) == before
        (seen / "w0" / ROWS / "00000000-late.parquet").write_bytes(b"of a task that is late, and counts for nothing")
        result.save_sketches(str(seen / "w0"), force=True)
        assert not set(before) & {f"w0/{name}" for name in assert_whole(seen / "w0")}
        assert_raises(ParameterError, "wasb://lake/history: no store is known", result.save_sketches, "wasb://lake/history")
