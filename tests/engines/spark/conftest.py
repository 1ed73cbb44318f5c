"""What tests of the engine of clusters have in common."""

import pytest

from lookalike.engines.spark.engine import SparkEngine


@pytest.fixture(autouse=True)
def _tasks_do_all(monkeypatch):
    """The driver leaves small tables to the tasks, but where a test says otherwise."""
    monkeypatch.setattr(SparkEngine, "few_bytes", -1)
