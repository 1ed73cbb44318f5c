"""What the engine on Spark asks of a session."""

from types import SimpleNamespace

import pytest

from lookalike.engines.spark.session import N_TASKS, USUAL, settings_for, usual_tasks


def session_of(settings):
    def get(name, *default):
        assert all(value is None or isinstance(value, str) for value in default)  # Spark takes no other
        return settings.get(name, *default)

    conf = SimpleNamespace(get=get, set=settings.__setitem__, unset=lambda name: settings.pop(name, None))
    return SimpleNamespace(conf=conf)


@pytest.mark.parametrize(
    ("given", "found"), [({N_TASKS: "7"}, 7), ({N_TASKS: "auto"}, USUAL), ({}, USUAL), ({N_TASKS: "0"}, USUAL)]
)
def test_the_number_of_tasks_may_be_left_to_the_cluster(given, found):
    assert usual_tasks(session_of(given)) == found


@pytest.mark.parametrize(("adaptive", "found"), [(False, "false"), (True, "as it was")])
def test_shuffles_of_ours_are_not_planned_anew(adaptive, found):
    held = {"spark.sql.adaptive.enabled": "as it was"}
    with settings_for(session_of(held), adaptive):
        assert held["spark.sql.adaptive.enabled"] == found
    assert held == {"spark.sql.adaptive.enabled": "as it was"}


def test_settings_are_put_back_after_an_error():
    before = {"spark.sql.execution.arrow.maxRecordsPerBatch": "5", "other": "1"}
    held = dict(before)
    with pytest.raises(ValueError, match="inside"), settings_for(session_of(held)):
        assert held != before
        raise ValueError("inside")
    assert held == before
