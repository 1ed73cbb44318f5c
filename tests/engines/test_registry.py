"""Engines by name: the local one, and those of other packages; and how long stages take."""

import time
from importlib.metadata import EntryPoint

import pytest
from toy_engine import ToyEngine

import lookalike as la
from lookalike.engines import registry
from lookalike.engines.clock import Clock
from lookalike.engines.local.engine import LocalEngine
from lookalike.engines.memory import Memory
from lookalike.engines.registry import Running, make_engine, names
from lookalike.files.workspace import Workspace

RUNNING = Running(threads=3, memory=Memory(1 << 30), workspace=Workspace(), progress=lambda name, amount: None)


def installed(monkeypatch, **values):
    """Some packages are installed: {name of an engine: where it comes from, one or several}."""
    points = [
        EntryPoint(name, value, registry.GROUP)
        for name, some in values.items()
        for value in ([some] if isinstance(some, str) else some)
    ]

    def added(group):
        assert group == "lookalike.engines"
        return sorted(points, key=lambda point: point.name)

    monkeypatch.setattr(registry, "added", added)


class Half:
    """An engine that lacks most operations."""

    joins_in_place = True

    def __init__(self, running):
        self.running = running

    def source(self):
        """Nothing."""


def test_the_local_engine_has_what_a_job_may_use(monkeypatch):
    monkeypatch.setattr(registry, "added", lambda group: pytest.fail("other packages are looked through"))
    made = make_engine("local", RUNNING)
    assert type(made) is LocalEngine
    assert (made.threads, made.memory, made.workspace, made.progress) == (
        3,
        RUNNING.memory,
        RUNNING.workspace,
        RUNNING.progress,
    )
    assert all(hasattr(made, operation) for operation in registry._OPERATIONS)


def test_an_engine_of_another_package(monkeypatch):
    installed(monkeypatch, toy="toy_engine:make", another="toy_engine:make")
    assert names() == ("local", "spark", "another", "toy")
    assert isinstance(make_engine("toy", RUNNING), ToyEngine)
    texts = ["one two three four five", "One two three four five", "else"]
    assert la.dedup(texts, engine="toy").keep.tolist() == la.dedup(texts).keep.tolist() == [True, False, True]
    installed(monkeypatch, toy=["toy_engine:make", "toy_engine:make"])
    assert isinstance(make_engine("toy", RUNNING), ToyEngine), "one package, found twice"


@pytest.mark.parametrize(
    ("points", "said"),
    [
        ({}, "engine must be one of local, spark; got 'toy'"),
        ({"dask": "x:make"}, "engine must be one of local, spark, dask; got 'toy'"),
        ({"toy": ["x:make", "y:make"]}, "engine 'toy' comes from several packages: uninstall all but one"),
        (
            {"toy": "no_such_module:make"},
            "engine 'toy' cannot be loaded: ModuleNotFoundError: No module named 'no_such_module'",
        ),
        ({"toy": "toy_engine:nothing"}, "engine 'toy' cannot be loaded: AttributeError"),
    ],
)
def test_engines_that_are_not_there_are_named(monkeypatch, points, said):
    installed(monkeypatch, **points)
    with pytest.raises(la.ParameterError, match=said):
        make_engine("toy", RUNNING)


def test_an_engine_that_lacks_operations_is_refused(monkeypatch):
    installed(monkeypatch, half="toy_engine:make")
    monkeypatch.setattr("toy_engine.make", Half)
    with pytest.raises(
        la.ParameterError, match="engine 'half' lacks rows, map, meet, join, union, fold, rank, store, components, "
    ):
        make_engine("half", RUNNING)


def test_a_clock_gives_all_time_to_stages(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    clock = Clock()
    for stage, seconds in (("one", 2.0), ("two", 0.5), ("one", 0.25)):
        now[0] += seconds
        clock.lap(stage)
    assert clock.seconds == {"one": 2.25, "two": 0.5}
    kept = clock.seconds
    now[0] += 7.0
    clock.restart()
    now[0] += 1.0
    clock.lap("two")
    assert clock.seconds == {"two": 1.0} and kept == {"one": 2.25, "two": 0.5}, "what was told stays"


def test_the_engine_on_spark_says_what_to_call():
    with pytest.raises(
        la.ParameterError, match=r"call lookalike\.spark\.dedup .* or the command lookalike dedup --engine spark"
    ):
        la.dedup(["a", "b"], engine="spark")
