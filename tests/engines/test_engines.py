"""Engines by name, and those that are given."""

import pytest

import lookalike as la


class Half:
    """An engine that lacks most operations."""

    joins_keep_order = True

    def source(self):
        """Nothing."""

    def __repr__(self):
        return "half"


@pytest.mark.parametrize(
    ("engine", "said"),
    [
        ("toy", "engine must be one of local, spark; got 'toy'"),
        (Half(), "engine must be one of local, spark; got half"),
    ],
)
def test_what_is_no_engine_is_refused(engine, said):
    with pytest.raises(la.errors.ParameterError, match=said):
        la.dedup(["a text"], engine=engine)


def test_one_machine_has_a_name():
    assert la.dedup(["a text"] * 2, engine="local").keep.tolist() == [True, False]
