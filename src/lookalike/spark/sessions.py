"""Sessions of Spark: which one a job uses, how one is started, and what must hold of it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import warnings
from typing import Any

from ..engines.spark.tasks import NUMBERS, in_tasks
from ..errors import MissingExtraError, ParameterError
from ..files.folder import put
from ..recipes.progress import Progress

LEAST_JAVA = 17
PANDAS_3 = "PySpark does not yet fully support pandas"
"""How a warning of pyspark begins that does not matter here: it wants pandas to be there, and our tasks make no use of it."""
TRIED = 8
"""Tasks in which workers are tried."""


def spark_sql() -> Any:
    """Return the module ``pyspark.sql``."""
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


def start_session(master: str | None = None, *, name: str = "lookalike", **settings: str) -> Any:
    """Return the session of Spark that there is, or start one whose workers use this Python."""
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


def session_of(given: Any, frames: list[Any], tell: Progress) -> Any:
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


def check_workers(engine: Any) -> None:
    """Try some workers before any work: whether they have this version of lookalike, and see the work folder.

    The others, and those that join later, are checked when they get their first tasks.
    """
    engine.marker = engine.folder / "seen"
    engine.folder.mkdir(parents=True, exist_ok=True)
    put(engine.marker, b"")
    numbers = engine.numbers(min(engine.n_tasks, TRIED))
    engine.act(engine.run_on(numbers, in_tasks(iter, NUMBERS, NUMBERS), NUMBERS).collect)
