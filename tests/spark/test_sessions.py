import re
import sys
from types import SimpleNamespace

import pytest
from engine_kinds import frames_engine

import lookalike as la
from lookalike.engines.spark import engine as engine_module
from lookalike.engines.spark import session as session_module
from lookalike.engines.spark.session import session_of
from lookalike.engines.spark.tasks import NUMBERS
from lookalike.recipes.progress import no_progress
from lookalike.recipes.spark import job as job_module
from lookalike.recipes.spark.job import check_workers

pytest.importorskip("pyspark")


def never():
    pytest.fail("no session was to be started")


@pytest.mark.parametrize("module", ["pyspark.sql", "pandas"])
def test_what_is_not_installed_is_told_before_a_session_is_started(module, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, module, None)
    frame = SimpleNamespace(mapInArrow=None, sparkSession=None)
    for call in (la.start_session, lambda: la.dedup(frame, id="id"), lambda: la.dedup([str(tmp_path)], engine=never)):
        with pytest.raises(la.errors.MissingExtraError, match=r"^Spark needs .*: pip install 'lookalike\[spark\]'$"):
            call()


def test_no_session_is_started_for_inputs_that_are_not_there(tmp_path):
    with pytest.raises(la.errors.InputDataError, match="absent"):
        la.dedup([str(tmp_path / "absent.jsonl")], engine=never)


def test_the_session_of_a_job(monkeypatch):
    said = []
    tell = lambda *report: said.append(report)  # noqa: E731
    monkeypatch.setattr(session_module, "start_session", lambda: "new")
    given, frame = SimpleNamespace(), SimpleNamespace(sparkSession="of the frame")
    assert session_of(given, [frame], tell) is given and session_of(None, [frame], tell) == "of the frame" and not said
    assert session_of(lambda: "made", [frame], tell) == "made" and session_of(None, [], tell) == "new"
    assert said == [("starting Spark", 0)] * 2
    assert session_of(given, [], no_progress) is given


def some_rows(engine):
    return engine.run_on(engine.numbers(3), iter, NUMBERS).collect


def test_workers_that_see_the_work_folder_are_fine(tmp_path):
    engine = frames_engine(tmp_path)
    check_workers(engine)
    assert sorted(row.id for row in engine.act(some_rows(engine))) == [0, 1, 2]


def test_a_work_folder_that_workers_do_not_see_is_refused(tmp_path, monkeypatch):
    """At once, and by workers that join later."""
    engine = frames_engine(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(job_module, "put", lambda *_: None)
        with pytest.raises(la.errors.ParameterError, match=re.escape(f"workers does not see {engine.folder}: work must name")):
            check_workers(engine)
    with pytest.raises(la.errors.ParameterError, match="work must name"):
        engine.act(some_rows(engine))


def test_workers_of_another_version_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(engine_module, "__version__", "9.9")
    said = f"one of Spark's workers has lookalike {la.__version__}, the driver 9.9: install the same"
    with pytest.raises(la.errors.LookalikeError, match=re.escape(said)):
        check_workers(frames_engine(tmp_path))


def test_a_failed_job_can_be_resumed_while_its_error_is_kept(tmp_path, monkeypatch):
    """Notebooks keep the last error, and with it all that its traceback names."""
    from toy_frames import ToySession

    monkeypatch.setattr(job_module, "check_workers", lambda *_: 1 // 0)
    (tmp_path / "a.txt").write_text("a text")
    errors = []
    for _ in range(2):
        with pytest.raises(ZeroDivisionError) as caught:
            la.dedup([str(tmp_path / "a.txt")], work=tmp_path / "work", engine=ToySession())
        errors.append(caught)
