"""What commands need to work on a cluster of Spark; nothing here is loaded unless ``--engine spark`` is given."""

from __future__ import annotations

import logging
import signal
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..engines.spark.session import PANDAS_3, first_line, spark_sql, start_session
from ..errors import LookalikeError, ParameterError
from ..recipes.spark.job import THREADS

_QUIET = {"spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}


def check_options(threads: int | None, conf: Sequence[str]) -> dict[str, str]:
    """Refuse options that mean nothing on a cluster; return Spark's settings by name."""
    if threads is not None:
        raise ParameterError(THREADS)
    settings = dict(_QUIET)
    for given in conf:
        name, sign, value = given.partition("=")
        if not name.startswith("spark.") or not sign:
            raise ParameterError(f"conf takes a setting of Spark, such as spark.executor.memory=4g; got {given!r}")
        settings[name] = value
    return settings


@contextmanager
def running(master: str | None, settings: dict[str, str]) -> Iterator[Callable[[], Any]]:
    """Give what returns a session; one that is started for the job ends with it."""
    started: list[Any] = []

    def start() -> Any:
        """Return the session that there is, or start one; this takes seconds, which the job counts."""
        there = spark_sql().SparkSession.getActiveSession()
        if there is not None:
            return there
        started.append(start_session(master, conf=settings))
        signal.signal(signal.SIGINT, signal.default_int_handler)  # pyspark's own talks to the JVM, which is busy
        logging.getLogger().addFilter(lambda record: "while sending command" not in record.getMessage())  # its traceback
        return started[0]

    try:
        with _brief_errors(), warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=PANDAS_3)
            yield start
    except KeyboardInterrupt:
        started.clear()  # the JVM ends with this program; to stop the session would be to wait for what it does
        raise
    finally:
        for session in started:
            session.stop()


@contextmanager
def _brief_errors() -> Iterator[None]:
    """Say in one line what Spark says in hundreds; what Python raised in a task is shown as it is."""
    try:
        yield
    except Exception as error:
        if type(error).__name__ == "PythonException" or not type(error).__module__.startswith(("pyspark", "py4j")):
            raise
        raise LookalikeError(f"Spark gave up: {first_line(error)}") from None
