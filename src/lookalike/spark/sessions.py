"""Sessions of Spark: which one a job uses, how one is started, and what must hold of it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from .. import __version__
from ..engines.spark_tasks import in_tasks
from ..errors import LookalikeError, MissingExtraError, ParameterError
from ..files.anywhere import AnyPath, put

if TYPE_CHECKING:
    from collections.abc import Iterator

LEAST_JAVA = 17
_SEEN = pa.schema([("seen", pa.bool_()), ("version", pa.large_string()), ("python", pa.large_string())])
_NUMBERS = pa.schema([("id", pa.int64())])


def spark_sql() -> Any:
    """Return the module ``pyspark.sql``.

    Raises
    ------
    MissingExtraError
        If it is not installed.
    """
    try:
        import pyspark.sql
    except ImportError as error:
        raise MissingExtraError(f"Spark needs pyspark 4.0 or later ({error}): pip install 'lookalike[spark]'") from None
    return pyspark.sql


def check_java() -> None:
    """Check that there is a Java that Spark runs on.

    Raises
    ------
    ParameterError
        If there is none, or it is too old.
    """
    home = os.environ.get("JAVA_HOME")
    java = os.path.join(home, "bin", "java") if home else shutil.which("java")
    wanted = f"Spark needs Java {LEAST_JAVA} or later: install one (Debian: openjdk-17-jre-headless), or let JAVA_HOME name it"
    if java is None or not os.access(java, os.X_OK):
        raise ParameterError(f"no Java was found{f' at {java}' if java else ''}; {wanted}")
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    found = re.search(r'version "(?:1\.)?(\d+)', said)
    if found is None or int(found[1]) < LEAST_JAVA:
        raise ParameterError(f"{java} is Java {found[1] if found else 'of an unknown version'}; {wanted}")


def start_session(master: str | None = None, *, name: str = "lookalike", **settings: str) -> Any:
    """Return the session of Spark that there is, or start one whose workers use this Python.

    Parameters
    ----------
    master : str, optional
        Such as ``local[4]`` or ``spark://host:7077``. Default: what Spark's own configuration says, else all cores of this
        machine.
    name : str
        Of the application.
    **settings : str
        Spark's own settings, by their names, in which underscores may stand for points: ``spark_executor_memory="4g"``.

    Returns
    -------
    pyspark.sql.SparkSession

    Raises
    ------
    MissingExtraError, ParameterError
        If pyspark, or a Java that it runs on, is missing.
    """
    sql = spark_sql()
    running = sql.SparkSession.getActiveSession()
    if running is not None and master is None and not settings:
        return running
    check_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = sql.SparkSession.builder.appName(name)
    if master is not None:
        builder = builder.master(master)
    for key, value in settings.items():
        builder = builder.config(key if "." in key else key.replace("_", "."), value)
    return builder.getOrCreate()


def session_of(given: Any, frames: list[Any]) -> Any:
    """Return the session of a job: the one given, that of its frames, the active one, or a new one."""
    if given is not None:
        return given
    return frames[0].sparkSession if frames else start_session()


def is_local(session: Any) -> bool:
    """Tell whether all workers are on this machine."""
    return str(session.conf.get("spark.master", "")).startswith("local")


def _look(batches: Iterator[pa.RecordBatch], marker: AnyPath) -> Iterator[pa.RecordBatch]:
    """Say what a worker sees."""
    for _ in batches:
        python = ".".join(map(str, sys.version_info[:2]))
        yield pa.RecordBatch.from_pylist([{"seen": marker.exists(), "version": __version__, "python": python}], _SEEN)


def check_workers(engine: Any) -> None:
    """Check that workers see the work folder, and have this version of lookalike.

    Raises
    ------
    ParameterError, LookalikeError
        If they do not.
    """
    marker = engine.folder / "seen"
    engine.folder.mkdir(parents=True, exist_ok=True)
    put(marker, b"")
    numbers = engine.session.range(0, engine.n_tasks, 1, engine.n_tasks)
    looked = numbers.mapInArrow(in_tasks(partial(_look, marker=marker), _NUMBERS, _SEEN),
                                "seen boolean, version string, python string")  # fmt: skip
    try:
        found = engine.act(looked.distinct().collect)
    except Exception as error:
        if "No module named" in str(error):
            missing = re.search(r"No module named '([\w.]+)'", str(error))
            raise LookalikeError(
                f"Spark's workers lack the Python package {missing[1] if missing else 'lookalike'}: install lookalike, of "
                f"version {__version__}, in the Python that they use (PYSPARK_PYTHON)"
            ) from None
        raise
    for row in found:
        if row.version != __version__:
            raise LookalikeError(f"Spark's workers have lookalike {row.version}, the driver {__version__}: install the same")
        if not row.seen:
            raise ParameterError(
                f"Spark's workers do not see {os.fspath(engine.folder)}: work must name a folder on an object store that they "
                "reach, or on storage that the driver and all workers have mounted"
            )
