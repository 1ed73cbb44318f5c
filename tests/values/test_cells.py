"""Keys by which values of columns are compared."""

import pytest

from lookalike.errors import InputDataError
from lookalike.values.cells import cell_keys


def nested(deep):
    """A list in a list, so many of them."""
    value = []
    for _ in range(deep - 1):
        value = [value]
    return value


def test_a_hundred_lists_deep_and_no_deeper():
    assert len(set(cell_keys([nested(99), nested(100)]))) == 2
    with pytest.raises(InputDataError, match="nested more than 100 deep"):
        cell_keys([nested(101)])
