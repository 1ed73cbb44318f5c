import pytest


@pytest.fixture(autouse=True)
def _tasks_do_all(monkeypatch):
    """The driver leaves small tables to the tasks, but where a test says otherwise."""
    monkeypatch.setattr("lookalike.engines.spark.engine.SparkEngine.few_bytes", -1)
