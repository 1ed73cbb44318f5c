"""Jobs against saved sketches say what they say against the documents that these are of."""

import json
import os
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from engine_kinds import KINDS, prepare
from samples import one_in
from weekly import HOW, VARIANTS, forge, job, said, weeks, written

import lookalike as la
from lookalike.errors import InputDataError, ParameterError
from lookalike.inputs import texts as input_texts
from lookalike.inputs.sketches import as_references


def run(data, *, kind="local", monkeypatch=None, against=None, save=None, write=None, **given):
    with job(data, against=against, **given, **prepare(kind, monkeypatch)) as result:
        if save is not None:
            result.save_sketches(save)
        if write is not None:
            result.write(write)
        return said(result)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("weeks")
    return [written(table, folder, f"week{i}") for i, table in enumerate(weeks(1))]


def two_weeks(files, folder, **given):
    seen, clean = folder / "history", folder / "clean"
    run(files[0], save=seen / "w0", write=clean / "w0", **given)
    run(files[1], against=seen, save=seen / "w1", write=clean / "w1", **given)
    return seen, [clean / "w0", clean / "w1"]


def kept_of(folder):
    return [row for split in as_references(folder) for batch in split.data.batches() for row in batch.to_pylist()]


@pytest.mark.parametrize("variant", [*VARIANTS, "ignore"])
def test_two_generations_are_as_good_as_their_documents(variant, files, tmp_path):
    """Also at another threshold, and where references of other kinds come before and after them."""
    given = VARIANTS.get(variant, {"ignore": ["w1 w2", "w30"]})
    seen, clean = two_weeks(files, tmp_path, **given)
    found, wanted = run(files[2], against=seen, **given), run(files[2], against=clean, **given)
    assert found == wanted
    assert variant != "crowds" or wanted[2]["crowded"]
    assert wanted[2]["kept"] < wanted[2]["documents"] and any(row["duplicate_is_reference"] for row in wanted[0])
    if variant == "first":
        between = [files[1][0], seen / "w0", files[1][1]]
        assert run(files[2], against=between) == run(files[2], against=[clean[0], *files[1]])
        with job(files[2], against=seen) as one, job(files[2], against=clean) as other:
            assert said(one.rethreshold(0.9)) == said(other.rethreshold(0.9)) != found
        found, wanted = (la.pairs(files[2], against=some, **HOW) for some in (seen, clean))
        assert found.equals(wanted) and found["left_is_reference"].to_pylist().count(True) > 5


@pytest.mark.parametrize(("variant", "kind"), one_in(4, ["within", "crowds", "keys"], KINDS[1:]))
def test_every_engine_says_the_same(kind, variant, files, tmp_path, monkeypatch):
    """And saves the same, with what it counts for documents of earlier weeks."""
    given = VARIANTS[variant] | {"counts": True}
    seen, clean = two_weeks(files, tmp_path, **given)
    wanted = run(files[2], against=clean, **given)
    assert run(files[2], against=seen, save=tmp_path / "local", **given) == wanted
    assert run(files[2], against=seen, save=tmp_path / "other", kind=kind, monkeypatch=monkeypatch, **given) == wanted
    monkeypatch.undo()
    local, other = (tmp_path / name for name in ("local", "other"))
    assert kept_of(other) == kept_of(local) and len(kept_of(other)) == wanted[2]["kept"]
    assert (local / "sketches-counts.parquet").read_bytes() == (other / "sketches-counts.parquet").read_bytes()


def test_names_of_inputs_in_memory_are_kept(tmp_path):
    """Two generations later too; whether one is named is checked, and before names were kept none was."""
    tables = {name: pa.table({"text": [name * 9]}) for name in ("train", "test", "new")}
    new, history, old = {"new": tables.pop("new")}, tmp_path / "history", tmp_path / "old"
    run(tables, save=history / "w0", id=None)
    run(new, against=history, save=history / "w1", id=None)
    for against in (tables | new, history):
        removed = la.dedup([name * 9 for name in (*tables, *new)], against=against, **HOW | {"id": None}).removed
        assert removed["duplicate_of"].to_pylist() == [f"{name}:0" for name in (*tables, *new)]
        assert removed["duplicate_source"].to_pylist() == [*tables, *new]
    run(new, save=old, id=None)
    forge(old, lambda held: held["inputs"][0].update(named="yes"))
    with pytest.raises(InputDataError, match="named"):
        run(["new" * 9], against=old, id=None)
    forge(old, lambda held: held["inputs"][0].pop("named"))
    assert run(["new" * 9], against=old, id=None)[0][-1]["duplicate_of"] == 0


def test_a_plan_that_finds_enough_is_taken_over(files, tmp_path):
    history, clean = tmp_path / "history", tmp_path / "clean"
    run(files[0], save=history, write=clean)
    held = json.loads((history / "sketches.json").read_bytes())["settings"]
    plan = {name: held[name] for name in ("permutations", "bands", "rows")}
    found, wanted = (run(files[1], against=some, threshold=0.8) for some in (history, clean))
    assert found != wanted and found[2]["recall_planned"] >= 0.99
    assert found == run(files[1], against=clean, threshold=0.8, **plan)


def test_texts_that_changed_behind_its_back(files, tmp_path):
    mine = [shutil.copy2(path, tmp_path) for path in files[0]]
    run(mine, save=tmp_path / "history")
    changed = pq.read_table(mine[1])
    pq.write_table(changed.set_column(0, "text", pa.array(["b" * 99] * len(changed))), mine[1])
    as_it_is = {"bytes": os.stat(mine[1]).st_size, "modified_ns": os.stat(mine[1]).st_mtime_ns}
    forge(tmp_path / "history", lambda held: [file.update(as_it_is) for file in held["inputs"][1]["files"]])
    with pytest.raises(InputDataError, match="has other texts than when it was sketched; .*history needs the file"):
        run(files[1], against=tmp_path / "history", trust=tmp_path)


def test_a_loaded_result_has_no_sketches(files, tmp_path):
    with job(files[1]) as result:
        result.save(tmp_path / "result")
    with pytest.raises(ParameterError, match="was loaded or unpickled, and does not have the sketches"):
        la.Result.load(tmp_path / "result").save_sketches(tmp_path / "other")


def test_web_pages_are_extracted_again_and_so_must_be_in_files(tmp_path):
    """tests/jobs/history-texts.job has those that are."""
    page = "<html><body><nav>menu</nav><p>The river falls into the sea after seven miles.</p></body></html>"
    with (
        job([{"text": page, "id": "p"}], html=True) as result,
        pytest.raises(ParameterError, match="web pages can be saved only if the pages are in files"),
    ):
        result.save_sketches(tmp_path / "history")


def test_sketches_of_a_stranger_read_texts_only_where_the_user_says(files, tmp_path, monkeypatch):
    history, folder = tmp_path / "history", files[0][0].parent
    run(files[0], save=history)
    run(pq.read_table(files[0][0]), save=tmp_path / "with texts")
    mine = run(files[1], against=history)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for error, trust, wrong in (
        (InputDataError, (), r"history: you did not save it on this machine.*trust="),
        (ParameterError, 5, "trust must be a path or a list of paths"),
    ):
        with pytest.raises(error, match=wrong):
            run(files[1], against=history, trust=trust)
    assert run(files[1], against=history, trust=[folder]) == mine
    assert la.pairs(files[1], against=history, trust=folder, **HOW).num_rows
    run(files[1], against=tmp_path / "with texts")  # what lies in the folder itself may be read


def test_only_candidates_are_read_again_and_a_job_that_was_killed_goes_on(files, tmp_path, monkeypatch):
    seen, clean = two_weeks(files, tmp_path)
    opened, read, work = [], input_texts.TextReader._read, {"work": tmp_path / "job"}
    monkeypatch.setattr(input_texts.TextReader, "_read", lambda self, row: opened.append(row) or read(self, row))
    assert run(pa.table({"text": ["nothing of all this here"], "id": ["x"]}), against=seen)[2]["kept"] == 1
    assert not opened
    prepare("spilled", monkeypatch)
    with pytest.raises(ZeroDivisionError), monkeypatch.context() as broken:
        broken.setattr(input_texts.TextReader, "_read", lambda self, row: 1 / 0)
        run(files[2], against=seen, **work)
    assert run(files[2], against=seen, **work) == run(files[2], against=clean) and opened
