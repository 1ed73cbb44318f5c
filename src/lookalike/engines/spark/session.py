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

from ...errors import LookalikeError, MissingExtraError, ParameterError

LEAST_JAVA = 17
_LONGEST = 500  # characters of what Spark says
PANDAS_3 = "PySpark does not yet fully support pandas"
"""How a warning of pyspark begins that does not matter here: it wants pandas to be there, and our tasks make no use of it."""
N_TASKS = "spark.sql.shuffle.partitions"
USUAL = 200
"""Tasks of a shuffle where the session leaves it to the cluster: Spark's own default."""
BATCH_BYTES = 16 << 20
_SET = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
    "spark.sql.execution.arrow.maxBytesPerBatch": str(BATCH_BYTES),
}
_TAKEN = (N_TASKS, "spark.sql.session.timeZone")
_ADAPTIVE = "spark.sql.adaptive.enabled"
_MASTERS_WITH_LIMITS = ("yarn", "k8s")
_FACTOR, _LEAST_OVERHEAD = 0.1, 384 << 20
"""What Spark adds to the heap of an executor, by default, for all that is outside of it."""


def usual_tasks(session: Any) -> int:
    """Return how many tasks a shuffle usually has; some clusters say "auto"."""
    given = str(session.conf.get(N_TASKS, str(USUAL)))
    return int(given) if given.isdecimal() and int(given) else USUAL


def is_connected(session: Any) -> bool:
    """Tell whether a session is one of Spark Connect."""
    return type(session).__module__.startswith("pyspark.sql.connect")


def own_session(session: Any) -> Any:
    """Return a session with the settings that our tasks need, in the same application; one of Connect is taken as it is.

    What its frames need of a session, such as files that were added to it, a new one of Connect would lack.
    """
    if is_connected(session):
        return session
    own = session.newSession()
    for name in _TAKEN:
        if (value := session.conf.get(name, None)) is not None:
            own.conf.set(name, value)
    for name, value in _SET.items():
        own.conf.set(name, value)
    return own


@contextmanager
def planned_once(session: Any) -> Iterator[None]:
    """Let a session of our own plan no stage anew: shuffles say how many tasks they have, so that it takes time for nothing."""
    if is_connected(session):
        yield
        return
    session.conf.set(_ADAPTIVE, "false")
    try:
        yield
    finally:
        session.conf.unset(_ADAPTIVE)


def check_versions(session: Any) -> None:
    """Check that the driver's package is of the version that the cluster runs; clients of Connect need not be.

    Raises
    ------
    ParameterError
        If it is not: tasks would fail, or never start.
    """
    from pyspark import __version__ as package

    if not is_connected(session) and release(package) != release(session.version):
        wanted = release(session.version)
        raise ParameterError(
            f"the cluster runs Spark {session.version}, and pyspark here is {package}: install pyspark {wanted}"
        )


def release(version: str) -> str:
    """Return the first two numbers of a version, within which Spark's parts understand each other."""
    return ".".join(re.findall(r"\d+", version)[:2])


def memory_lacking(session: Any, task_bytes: int) -> str | None:
    """Say what to set where executors in containers have less memory beside their heap than their tasks may use."""
    conf = session.conf
    if not str(conf.get("spark.master", "")).startswith(_MASTERS_WITH_LIMITS):
        return None
    heap = _bytes_of(conf.get("spark.executor.memory", "1g"))
    usual = max(_LEAST_OVERHEAD, heap * float(conf.get("spark.executor.memoryOverheadFactor", str(_FACTOR))))
    given = conf.get("spark.executor.memoryOverhead", None)
    python = _bytes_of(conf.get("spark.executor.pyspark.memory", "0"))
    there = (usual if given is None else _bytes_of(given)) + python
    tasks = int(conf.get("spark.executor.cores", "1")) // int(conf.get("spark.task.cpus", "1"))
    if there >= tasks * task_bytes:
        return None
    wanted = -(-tasks * task_bytes >> 20)
    return (
        f"each of {tasks} tasks of an executor may use {task_bytes / 1e9:.1f} GB outside the heap, and there are "
        f"{there / 1e9:.1f} GB in all: containers may be killed; set spark.executor.memoryOverhead={wanted}m"
    )


def _bytes_of(said: str) -> int:
    """Return bytes as Spark says them: "4g", "512m"; a number alone is of megabytes."""
    found = re.fullmatch(r"(\d+) *([kmgt]?)b?", said.strip().lower())
    return int(found[1]) << {"k": 10, "m": 20, "g": 30, "t": 40}.get(found[2], 20) if found else 0


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
            f"Spark needs pyspark 3.5 or later and pandas ({said}): pip install 'lookalike[spark]'"
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

    Raises
    ------
    LookalikeError
        If there is no Java, or Spark cannot be started.
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
    try:
        return builder.getOrCreate()
    except Exception as error:
        from pyspark import __version__ as package

        at = f" with master {master}" if master else ""
        raise LookalikeError(
            f"Spark cannot be started{at}: {first_line(error)} (pyspark here is {package}: a cluster must run the same)"
        ) from error


def first_line(error: Exception) -> str:
    """Return in one line what Spark says in hundreds."""
    java = getattr(error, "java_exception", None)
    said = str(error if java is None else java.toString()).strip().splitlines()
    return (said or [type(error).__name__])[0][:_LONGEST]


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
