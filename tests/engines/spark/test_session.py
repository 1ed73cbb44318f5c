from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from lookalike.engines.spark.session import (
    N_TASKS,
    USUAL,
    check_versions,
    memory_lacking,
    own_session,
    planned_once,
    usual_tasks,
)
from lookalike.errors import ParameterError

ADAPTIVE, ZONE = "spark.sql.adaptive.enabled", "spark.sql.session.timeZone"
RECORDS = "spark.sql.execution.arrow.maxRecordsPerBatch"


def session_of(settings):
    def get(name, *default):
        assert all(value is None or isinstance(value, str) for value in default)  # Spark takes no other
        return settings.get(name, *default)

    conf = SimpleNamespace(get=get, set=settings.__setitem__, unset=lambda name: settings.pop(name, None))
    return SimpleNamespace(conf=conf)


def test_the_number_of_tasks_may_be_left_to_the_cluster():
    for given, found in (({N_TASKS: "7"}, 7), ({N_TASKS: "auto"}, USUAL), ({}, USUAL), ({N_TASKS: "0"}, USUAL)):
        assert usual_tasks(session_of(given)) == found


def settings_of(session):
    return {name: session.conf.get(name, None) for name in (ADAPTIVE, N_TASKS, RECORDS, ZONE)}


def test_a_session_of_our_own_has_what_tasks_need_and_leaves_that_of_the_user_alone():
    held = {N_TASKS: "7", ZONE: "UTC", ADAPTIVE: "true", RECORDS: "5"}
    session = session_of(dict(held))
    session.newSession = lambda: session_of({})
    own = own_session(session)
    assert settings_of(own) == {N_TASKS: "7", ZONE: "UTC", ADAPTIVE: None, RECORDS: "65536"}
    with pytest.raises(ValueError, match="inside"), planned_once(own):
        assert settings_of(own)[ADAPTIVE] == "false"
        raise ValueError("inside")
    assert settings_of(own)[ADAPTIVE] is None and settings_of(session) == held


def test_a_session_of_connect_is_taken_as_it_is():
    session = type("SparkSession", (SimpleNamespace,), {"__module__": "pyspark.sql.connect.session"})(conf=None)
    assert own_session(session) is session
    with planned_once(session):
        check_versions(session)


@pytest.mark.parametrize(
    ("on_cluster", "fits"),
    {"{}.{}.99": True, "{}.{}": True, "{}.{}.0-amzn-1": True, "{}.9{}.0": False, "9{}.{}.0": False}.items(),
)
def test_the_cluster_runs_what_the_driver_has(on_cluster, fits):
    pyspark = pytest.importorskip("pyspark")
    session = session_of({})
    session.version = on_cluster.format(*pyspark.__version__.split("."))
    said = f"runs Spark {session.version}, and pyspark here is {pyspark.__version__}: install"
    with nullcontext() if fits else pytest.raises(ParameterError, match=said):
        check_versions(session)


@pytest.mark.parametrize(
    ("settings", "there"),
    {
        "": "0.4",
        "spark.executor.memory=16g": "1.7",
        "spark.executor.memory=16g spark.executor.cores=1": None,
        "spark.executor.memory=16384 spark.executor.memoryOverheadFactor=0.4": None,
        "spark.executor.memoryOverhead=3g": None,
        "spark.executor.memoryOverhead=2861": "3.0",
        "spark.executor.memoryOverhead=2862m": None,
        "spark.executor.memoryOverhead=1g spark.executor.pyspark.memory=2g": None,
        "spark.executor.memory=16g spark.task.cpus=2": None,
        "spark.master=spark://host:7077": None,
    }.items(),
)
def test_too_little_memory_beside_the_heap_is_said(settings, there):
    for master in ("yarn", "k8s://https://host:6443"):
        given = dict(setting.split("=") for setting in f"spark.master={master} spark.executor.cores=2 {settings}".split())
        said = memory_lacking(session_of(given), 1_500_000_000)
        if there is None:
            assert said is None
        else:
            assert f"and there are {there} GB in all" in said and said.endswith("spark.executor.memoryOverhead=2862m")
