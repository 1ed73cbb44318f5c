"""1 - R is a metric (arXiv:0910.3349, section 1)."""

from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from lookalike.theory import minhash, set_distance

SETS = [
    ({1, 2, 3}, {2, 3, 4, 5}),
    ({1}, {1, 2, 3}),
    ({1, 2, 3, 4}, {3, 4}),
    ({1, 2}, {3, 4, 5}),
    ({1, 2, 3}, {1, 2, 3}),
]


def test_identities_of_sets():
    for left, right in SETS:
        sizes, common, union = (len(left), len(right)), len(left & right), len(left | right)
        r = common / union
        assert minhash.resemblance(common, *sizes) == pytest.approx(r)
        assert minhash.intersection(r, *sizes) == pytest.approx(common)
        assert minhash.containment(r, *sizes) == pytest.approx(common / len(left))
        assert set_distance.distance(r, *sizes) == pytest.approx(len(left ^ right))
        assert set_distance.resemblance(len(left ^ right), *sizes) == pytest.approx(r)
        equal = [min(left, key=order.index) == min(right, key=order.index) for order in permutations(sorted(left | right))]
        assert np.mean(equal) == pytest.approx(r)
    assert np.isnan(minhash.resemblance(0, 0, 0))


def test_variance_of_equal_slots_is_binomial():
    for r in (0.0, 0.2, 0.7, 1.0):
        for k in (1, 5, 200):
            assert minhash.variance(r, k) == pytest.approx(stats.binom.var(k, r) / k**2)
            assert minhash.standard_error(r, k) == pytest.approx(stats.binom.std(k, r) / k)


def test_intervals_are_those_of_scipy():
    for (matches, trials), confidence in product([(0, 9), (1, 9), (5, 9), (8, 9), (9, 9), (300, 400)], [1e-17, 0.9, 0.99]):
        exact = stats.binomtest(matches, trials).proportion_ci(confidence, "exact")
        assert minhash.exact_interval(matches, trials, confidence) == pytest.approx((exact.low, exact.high), abs=1e-9)
        assert minhash.exact_interval(matches, trials) == minhash.exact_interval(matches, trials, 0.95)


# Few members: sets often share some; sets that nest and chains, for which the triangle is tight, come up too.
ANY_SET = st.frozensets(st.integers(0, 11), min_size=1, max_size=12)


def distance(one, other):
    return 1.0 - float(minhash.resemblance(len(one & other), len(one), len(other)))


@given(ANY_SET, ANY_SET, ANY_SET)
def test_resemblance_distance_is_a_metric(one, other, third):
    assert distance(one, other) == distance(other, one)
    assert (distance(one, other) == 0.0) == (one == other)
    assert distance(one, third) <= distance(one, other) + distance(other, third) + 1e-15
    assert distance(one, other) == 1.0 - float(Fraction(len(one & other), len(one | other)))
