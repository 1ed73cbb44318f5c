"""Engines by name, and those that are given."""

import pytest
from toy_engine import ToyEngine

import lookalike as la
from lookalike.engines.engine import check_engine
from lookalike.engines.local.engine import LocalEngine
from lookalike.engines.memory import Memory
from lookalike.files.workspace import Workspace

TEXTS = ["one two three four five", "One two three four five", "else"]


class Half:
    """An engine that lacks most operations."""

    joins_in_place = True

    def source(self):
        """Nothing."""


def test_the_local_engine_has_what_a_job_may_use():
    check_engine(LocalEngine(threads=3, memory=Memory(1 << 30), workspace=Workspace(), progress=print))


def test_an_engine_of_another_package():
    assert (
        la.dedup(TEXTS, engine=ToyEngine()).keep.tolist()
        == la.dedup(TEXTS, engine="local").keep.tolist()
        == [True, False, True]
    )


@pytest.mark.parametrize(
    ("engine", "said"),
    [
        ("toy", "engine must be one of local, spark; got 'toy'"),
        (Half(), "engine Half lacks rows, map, meet, join, union, fold, rank, store, close, slices, components"),
    ],
)
def test_what_is_no_engine_is_refused(engine, said):
    with pytest.raises(la.ParameterError, match=said):
        la.dedup(TEXTS, engine=engine)
