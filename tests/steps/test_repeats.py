"""Keys have 128 bits, whose halves can be alike."""

import numpy as np

from lookalike.steps.batches import batch_of
from lookalike.steps.repeats import HEAVY, ROWS, Frequent, Rule, judge


def rows_of(*columns):
    return batch_of(ROWS, *(np.array(column, "int64") for column in columns))


def test_units_of_one_first_key_and_two_second_ones_are_two_sets():
    (found,) = judge(iter([rows_of([5] * 4, [1, 2, 1, 2], range(4))]), rule=Rule(None, np.array([0, 1])))
    assert [found[name].to_pylist() for name in ("first", "count", "documents")] == [[0, 1], [2, 2], [2, 1]]
    assert [np.frombuffer(some, "int64").tolist() for some in found["removed"].to_pylist()] == [[2], [3]]


def test_frequent_keys_are_told_by_both():
    frequent = Frequent(np.array([(5, 1, 9)], HEAVY), Rule(None, np.array([0])))
    (left,) = frequent.others(iter([rows_of([5, 5, 6], [1, 2, 1], range(3))]))
    assert left["unit"].to_pylist() == [1, 2]
