import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from raising import assert_raises

from lookalike.errors import InputDataError, ParameterError
from lookalike.values.arrays import number_type, places_of, rows_of
from lookalike.values.cells import cell_keys


def test_the_first_row_that_is_not_there_is_named():
    for rows, first in (([0, 3, 5], 3), ([-1, 2], -1), ([2, -4, 7], -4), (3, 3), ([[0], [9]], 9)):
        assert_raises(ParameterError, rf"rows must be in 0\.\.2, the rows there are; got {first}$", rows_of, rows, 3)
        assert_raises(ParameterError, "there are no rows", rows_of, rows, 0)


@given(st.lists(st.booleans()), st.integers(1, 9))
def test_places_are_those_that_are_set(mask, block):
    found = places_of(np.array(mask, "bool"), block)
    assert found.dtype == np.uint32 and found.tolist() == [place for place, there in enumerate(mask) if there]


def test_numbers_are_kept_in_the_fewest_bytes():
    assert [number_type(n) for n in (0, 1 << 32, (1 << 32) + 1)] == [np.uint32, np.uint32, np.int64]


def test_a_hundred_lists_deep_and_no_deeper():
    nested = [[]]
    while len(nested) < 101:
        nested.append([nested[-1]])
    assert len(set(cell_keys(nested[98:100]))) == 2
    assert_raises(InputDataError, "nested more than 100 deep", cell_keys, nested[100:])


def test_keys_of_numbers_ascend_as_these_do():
    positive = [0.1, 1, 1.5, 1.55, 2, 15, 10**30, 10**30 + 1]
    for numbers in ([*(-n for n in reversed(positive)), 0, *positive], ["-1.55", "-1.5", "-1", "0", "0.10", "1", "1.5"]):
        keys = cell_keys(numbers, untyped=isinstance(numbers[0], str))
        assert keys == sorted({*keys})
