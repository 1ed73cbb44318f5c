"""Checks of row numbers."""

import pytest

import semblance as sb
from semblance.values.arrays import rows_of


@pytest.mark.parametrize(("rows", "first"), [([0, 3, 5], 3), ([-1, 2], -1), ([2, -4, 7], -4), (3, 3), ([[0], [9]], 9)])
def test_the_first_row_that_is_not_there_is_named(rows, first):
    with pytest.raises(sb.ParameterError, match=rf"rows must be in 0\.\.2, the rows there are; got {first}$"):
        rows_of(rows, 3)
    with pytest.raises(sb.ParameterError, match="there are no rows"):
        rows_of(rows, 0)
