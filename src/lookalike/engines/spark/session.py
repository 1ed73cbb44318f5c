"""Sessions of Spark: which one a job uses, how one is started, and what the engine asks of it and leaves as it was."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ...errors import MissingExtraError, ParameterError

LEAST_JAVA = 17
PANDAS_3 = "PySpark does not yet fully support pandas"
"""How a warning of pyspark begins that does not matter here: it wants pandas to be there, and our tasks make no use of it."""
N_TASKS = "spark.sql.shuffle.partitions"
USUAL = 200
"""Tasks of a shuffle where the session leaves it to the cluster: Spark's own default."""
BATCH_BYTES = 16 << 20
_WHILE_AT_WORK = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
    "spark.sql.execution.arrow.maxBytesPerBatch": str(BATCH_BYTES),
}
_NOT_ADAPTIVE = {"spark.sql.adaptive.enabled": "false"}
"""Our shuffles say how many tasks they have, so that planning anew after each of them takes time for nothing."""


def usual_tasks(session: Any) -> int:
    """Return how many tasks a shuffle usually has; some clusters say "auto"."""
    given = str(session.conf.get(N_TASKS, str(USUAL)))
    return int(given) if given.isdecimal() and int(given) else USUAL


@contextmanager
def settings_for(session: Any, adaptive: bool = False) -> Iterator[None]:
    """Set what our tasks need, and put it back; with ``adaptive`` Spark plans as the session says."""
    wanted = _WHILE_AT_WORK if adaptive else _WHILE_AT_WORK | _NOT_ADAPTIVE
    before = {name: session.conf.get(name, None) for name in wanted}
    for name, value in wanted.items():
        session.conf.set(name, value)
    try:
        yield
    finally:
        for name, old in before.items():
            if old is None:
                session.conf.unset(name)
            else:
                session.conf.set(name, old)


def spark_sql() -> Any:
    try:
        import pyspark.sql
        from pyspark.sql.pandas.utils import require_minimum_pandas_version

        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=PANDAS_3)
            require_minimum_pandas_version()
    except ImportError as error:
        said = str(error).rpartition("] ")[2].rstrip(".")
        raise MissingExtraError(
            f"Spark needs pyspark 4.0 or later and pandas ({said}): pip install 'lookalike[spark]'"
        ) from None
    return pyspark.sql


def check_java() -> None:
    """Check that there is a Java that Spark runs on."""
    home = os.environ.get("JAVA_HOME")
    java = os.path.join(home, "bin", "java") if home else shutil.which("java")
    wanted = f"Spark needs Java {LEAST_JAVA} or later: install one (Debian: openjdk-17-jre-headless), or let JAVA_HOME name it"
    if java is None or not os.access(java, os.X_OK):
        raise ParameterError(f"no Java was found{f' at {java}' if java else ''}; {wanted}")
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    found = re.search(r'version "(?:1\.)?(\d+)', said)
    if found is None or int(found[1]) < LEAST_JAVA:
        raise ParameterError(f"{java} is Java {found[1] if found else 'of an unknown version'}; {wanted}")


def start_session(master: str | None = None, *, name: str = "lookalike", conf: Mapping[str, str] | None = None) -> Any:
    """Return the session of Spark that there is, or start one whose workers use this Python.

    Parameters
    ----------
    master : str, optional
        Where it runs, such as "spark://HOST:7077" or "local[4]". Default: Spark's own configuration.
    name : str
        Of the application.
    conf : mapping of str to str, optional
        Settings of Spark, such as ``{"spark.executor.memory": "4g"}``.

    Returns
    -------
    pyspark.sql.SparkSession
    """
    sql = spark_sql()
    running = sql.SparkSession.getActiveSession()
    if running is not None and master is None and not conf:
        return running
    check_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = sql.SparkSession.builder.appName(name)
    if master is not None:
        builder = builder.master(master)
    for key, value in (conf or {}).items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def session_of(given: Any, frames: list[Any], tell: Callable[[str, int], None]) -> Any:
    """Return the session of a job: the one given or made by what is given, that of its frames, the active one, or a new one."""
    if given is None and frames:
        return frames[0].sparkSession
    if given is not None and not callable(given):
        return given
    tell("starting Spark", 0)
    return start_session() if given is None else given()


def is_local(session: Any) -> bool:
    """Tell whether all workers are on this machine."""
    return str(session.conf.get("spark.master", "")).startswith("local")
