"""The thesis' Algorithm 2, printed and repaired, against all sets; its bounds against all families."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from fingerprints import next_rule as rule
from naive.hamming import flips_by_cost

from lookalike.theory.weak_bits import cheapest_sets


@pytest.mark.parametrize(("top", "size", "printed"), [(10, 2, 9), (10, 3, 8), (14, 6, 9), (5, 1, 5), (4, 4, 1)])
@pytest.mark.excludes
def test_the_printed_rule_leaves_sets_out_and_the_repaired_one_none(top, size, printed):
    every = list(combinations(range(1, top + 1), size))
    found = rule.reached(rule.printed_next, size, top)
    assert len(found) == printed and set(found) <= set(every)
    assert sorted(rule.reached(rule.repaired_next, size, top)) == every


def test_all_increments_repeat():
    """The thesis' example: (1, 3) comes after (0, 3) and after (1, 2), here with ranks from 1."""
    assert (2, 4) in rule.every_increment((1, 4), 9) and (2, 4) in rule.every_increment((2, 3), 9)
    found = rule.reached(rule.every_increment, 3, 6)
    assert set(found) == set(combinations(range(1, 7), 3)) and len(found) > comb(6, 3)


def test_figure_3():
    """The thesis' Figure 3 begins with (1, 2, 3)."""
    assert rule.repaired_next((1, 2, 3), 9) == [(1, 2, 4)]
    assert rule.repaired_next((1, 2, 4), 9) == [(1, 2, 5), (1, 3, 4)]
    assert rule.repaired_next((1, 3, 4), 9) == [(1, 3, 5), (2, 3, 4)]
    assert rule.repaired_next((1, 3, 4), 4) == [(2, 3, 4)]


def test_the_repaired_rule_comes_in_order(rng):
    for _ in range(50):
        top, most, count = int(rng.integers(1, 9)), int(rng.integers(1, 5)), int(rng.integers(1, 60))
        costs = np.sort(rng.random(top)).tolist()
        every = [cost for cost, chosen in flips_by_cost(costs, min(most, top)) if chosen]
        found, largest = rule.cheapest(rule.repaired_next, costs, count, most)
        assert len(set(found)) == len(found) == min(count, len(every)) and largest <= count + most - 1
        np.testing.assert_allclose([sum(costs[i - 1] for i in c) for c in found], every[: len(found)])
        ours = cheapest_sets(np.array(costs), count + 1, most)
        assert [tuple(i + 1 for i in c) for c in ours] == [(), *found]


def test_most_sets_of_a_size():
    for top, size in ((5, 2), (5, 3), (5, 4), (6, 2)):
        fewest = rule.most_by_enumeration(top, size)
        assert fewest == [rule.closure_size(n, size) for n in range(comb(top, size) + 1)]
    assert [rule.most_of_size(k, 3) for k in (11, 18, 32)] == [2, 5, 13]
    assert [rule.printed_most(k, 3) for k in (11, 18, 32)] == [1, 4, 11]
    for size, wrong in ((1, 0), (2, 0), (3, 26), (4, 20)):
        assert sum(rule.printed_most(k, size) != rule.most_of_size(k, size) for k in range(1, 61)) == wrong
