import os

import pytest
from engine_kinds import FRAMES, prepare
from samples import one_in
from weekly import HOW, job, said, weeks, written

import lookalike as la
from lookalike.errors import InputDataError, OutputError, ParameterError
from lookalike.files.atomic import create_temporary

KINDS = ("local", "spilled", "toy", FRAMES)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("weeks")
    return [written(table, folder, f"week{i}") for i, table in enumerate(weeks(1))]


@pytest.fixture(scope="module")
def history(files, tmp_path_factory):
    folder = tmp_path_factory.mktemp("history")
    against, clean = None, []
    for i, some in enumerate(files[:2]):
        with job(some, against=against) as result:
            overrides = by_hand(result)
        with job(some, against=against, overrides=overrides) as result:
            result.save_sketches(folder / "sketches" / f"w{i}")
            clean.append(folder / "clean" / f"w{i}")
            result.write(clean[-1])
        against = folder / "sketches"
    return against, clean


def by_hand(result):
    rows = [row for row in result.decisions.to_pylist() if row["reason"] != "reference"]
    removed = [next(row["id"] for row in rows if row["reason"] == reason) for reason in ("exact", "near")]
    kept = [next(row["id"] for row in rows if row["kept"] and bool(row["n_duplicates"]) == many) for many in (True, False)]
    return [{"id": id, "action": "keep"} for id in removed] + [{"id": id, "action": "remove"} for id in kept]


@pytest.mark.parametrize(("kind", "evidence"), one_in(2, KINDS, ["keepers", "all"]))
def test_overrides_of_a_job_against_saved_sketches(kind, evidence, files, history, monkeypatch):
    given = {"evidence": evidence}
    with job(files[2], against=history[1], **given) as result:
        given["overrides"] = by_hand(result)
    with job(files[2], against=history[1], **given) as result:
        wanted, higher = said(result), said(result.rethreshold(0.8))
    assert {"override", "reference"} <= {row["reason"] for row in wanted[0]}
    with job(files[2], against=history[0], **given, **prepare(kind, monkeypatch)) as result:
        assert said(result) == wanted
        assert said(result.rethreshold(0.8)) == higher


@pytest.mark.parametrize("within", [None, "site"])
def test_an_audit_reads_the_texts_of_saved_references(within, files, tmp_path):
    """Two bands of six rows miss many pairs, also such of references. Groups of values in memory are not saved."""
    given, audits = {"within": within, "bands": 2, "rows": 6}, []
    with job(files[0], **given) as result:
        result.save_sketches(tmp_path / "sketches")
        result.write(tmp_path / "clean")
    for against in ("sketches", "clean"):
        with job(files[1], against=tmp_path / against, **given) as result:
            audits.append(result.audit(1000))
            assert any(other < result.summary.reference for _, other, _ in audits[-1]["examples"])
    assert audits[0] == audits[1]
    with job(weeks(1)[0], **given) as result:
        result.save_sketches(tmp_path / "in memory")
    with job(files[1], against=tmp_path / "in memory", **given) as result:
        if within is None:
            assert result.audit(10)["audited"] == 10
        else:
            with pytest.raises(ParameterError, match="came from no file"):
                result.audit(10)


@pytest.mark.parametrize("of_files", [True, False])
def test_texts_of_saved_references_of_a_saved_result(of_files, files, history, tmp_path):
    against = history[0] if of_files else tmp_path / "sketches"
    if not of_files:
        with job(weeks(1)[0]) as result:
            result.save_sketches(against)
    text_of = {row["id"]: row["text"] or "" for table in weeks(1) for row in table.to_pylist()}
    with job(files[2], against=against) as result:
        result.save(tmp_path / "job")
    opened = la.Result.open(tmp_path / "job")
    ids = opened.decisions["id"].to_pylist()
    texts = opened.texts(range(len(ids)))
    assert [text.decode() for text in texts.values()] == [text_of[id] for id in ids]
    assert opened.inputs.places(0) == [] and opened.inputs.places(int(opened.decisions["position"][-1].as_py()) >> 40)


def test_a_page_names_the_folders_of_saved_references(files, history, tmp_path):
    with job(files[2], against=history[0]) as result:
        result.report(tmp_path / "page.html")
    page, folders = (tmp_path / "page.html").read_text(), [f"--against {history[0] / name} " for name in ("w0", "w1")]
    assert "".join(folders) in page and f"--against {files[0][0]}" not in page


def test_a_folder_that_a_killed_run_was_about_to_replace(files, tmp_path):
    """Its week is not passed over in silence; the next run of that week puts it back."""
    for week in range(2):
        with job(files[week], against=tmp_path / "history" if week else None) as result:
            result.save_sketches(tmp_path / "history" / f"w{week}")
    temporary, lock = create_temporary(tmp_path / "history/w0", folder=True)
    temporary.rmdir()
    os.close(lock)
    os.rename(tmp_path / "history/w0", temporary.with_suffix(".old"))  # and then it was killed
    with pytest.raises(InputDataError, match=r"history/w0 is missing: a run was killed .* or rename .*/\.w0\..*\.old to w0"):
        la.dedup(files[2], against=tmp_path / "history", **HOW)
    with job(files[0]) as result, pytest.raises(OutputError, match="w0 exists"):
        result.save_sketches(tmp_path / "history/w0")
    la.dedup(files[2], against=tmp_path / "history", **HOW).close()
