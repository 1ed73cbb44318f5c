import gc
import re
import sys
import traceback

import pytest

import lookalike
from lookalike.engines.spark import tasks as spark_tasks
from lookalike.engines.spark.tasks import explained, keep_modules, raised_again
from lookalike.errors import InputDataError, LookalikeError, OutputError, ParameterError, RowError


class FromSparkError(Exception):
    __module__ = "pyspark.errors.exceptions.captured"


def through_spark(error):
    try:
        with explained():
            raise error
    except Exception:
        said = traceback.format_exc()
    assert "raise TaskError" in said, "the traceback quotes the line that raises"
    with raised_again():
        raise FromSparkError(f"Job aborted: {said}")


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (InputDataError("a.jsonl, row 2: }>> <<lookalike e30=>> \ud800 \n text"), InputDataError),
        (ParameterError("work must name another folder"), ParameterError),
        (OutputError("the disk is full"), LookalikeError),
    ],
)
def test_messages_arrive_whole(error, kind):
    with pytest.raises(LookalikeError) as found:
        through_spark(error)
    assert type(found.value) is kind and str(found.value) == str(error)


def test_rows_are_named_by_the_driver():
    with pytest.raises(RowError) as found:
        through_spark(RowError(7, 8, "the tokenizer failed: é"))
    assert (found.value.position, found.value.row, found.value.reason) == (7, 8, "the tokenizer failed: é")


JavaError = type("Py4JJavaError", (Exception,), {"__module__": "py4j.protocol"})
LOST = "Lost task 0.3 in stage 77.0 (TID 84) (10.0.0.7 executor 0): java.io.IOException: "
MISSING = "Traceback:\n  File x, line 1, in loads\nModuleNotFoundError: No module named '{}'\n\tat java"


@pytest.mark.parametrize(
    ("error", "kind", "said"),
    [
        (
            FromSparkError(MISSING.format("lookalike.steps.decide")),
            LookalikeError,
            f"package lookalike: install lookalike {re.escape(lookalike.__version__)} in the Python",
        ),
        (
            FromSparkError(MISSING.format("snowballstemmer")),
            LookalikeError,
            "package snowballstemmer: install snowballstemmer in the Python that they use",
        ),
        (
            JavaError(f"{LOST}No space left on device\n\tat java.base"),
            OutputError,
            r"no space left on a disk that Spark's worker 10\.0\.0\.7 writes to.*resume",
        ),
        (JavaError("OSError: [Errno 28] No space left on device"), OutputError, "a disk that one of Spark's workers writes to"),
        (JavaError(f"{LOST}Connection reset"), JavaError, "Connection reset"),
        (FromSparkError("a worker was lost"), FromSparkError, "a worker was lost"),
        (ValueError("<<lookalike e30=>>"), ValueError, "lookalike"),
    ],
)
def test_what_workers_lack_is_named_and_other_errors_stay_what_they_are(error, kind, said):
    with pytest.raises(kind, match=said), raised_again():
        raise error


def test_what_a_worker_has_loaded_is_not_looked_through_for_garbage(monkeypatch):
    frozen, freeze = [], gc.freeze
    monkeypatch.setattr(gc, "freeze", lambda: frozen.append(freeze()))
    gc.unfreeze()
    keep_modules()
    assert not frozen, "this is no worker of Spark"
    monkeypatch.setitem(sys.modules, "pyspark.worker", spark_tasks)
    try:
        keep_modules()
        assert len(frozen) == 1 and len(gc.get_objects()) < spark_tasks.MANY_OBJECTS
        keep_modules()
        assert len(frozen) == 1, "there is little more"
    finally:
        freeze()
