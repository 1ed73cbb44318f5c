"""1 - R is a metric, of sets and of their signatures (Li & König, arXiv:0910.3349, section 1)."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from lookalike.theory import minhash

# Few members, so that sets often share some; sets that nest and chains, for which the triangle is tight, come up too.
SETS = st.frozensets(st.integers(0, 11), min_size=1, max_size=12)


def distance(one, other):
    """1 - R by the library's formula."""
    return 1.0 - float(minhash.resemblance(len(one & other), len(one), len(other)))


@given(SETS, SETS, SETS)
def test_resemblance_distance_is_a_metric(one, other, third):
    assert distance(one, other) == distance(other, one)
    assert (distance(one, other) == 0.0) == (one == other)
    assert distance(one, third) <= distance(one, other) + distance(other, third) + 1e-15
    assert distance(one, other) == 1.0 - float(Fraction(len(one & other), len(one | other)))


def test_triangle_can_be_tight():
    """Two disjoint sets and their union: 1/2 + 1/2 = 1, so no smaller multiple of the sum would do."""
    one, third = frozenset({0, 1}), frozenset({2, 3})
    assert distance(one, one | third) + distance(one | third, third) == distance(one, third) == 1.0


def test_overlap_over_the_smaller_set_is_no_metric():
    """The other usual measure fails for the same three sets: the property is one of the resemblance."""
    one, third = frozenset({0, 1}), frozenset({2, 3})

    def apart(a, b):
        return 1 - len(a & b) / min(len(a), len(b))

    assert apart(one, third) > apart(one, one | third) + apart(one | third, third)


@given(SETS, SETS, SETS)
def test_estimates_keep_the_triangle(one, other, third):
    """The share of unequal slots is a normalized Hamming distance, whatever the number of slots."""
    sets = [sorted(s) for s in (one, other, third)]
    offsets = np.cumsum([0, *map(len, sets)])
    signed = la.PermutationMinHash(universe=12, permutations=16).sign_sets(np.concatenate(sets), offsets)
    left, right, across = 1.0 - signed.estimated_resemblance([0, 1, 0], [1, 2, 2])
    assert across <= left + right + 1e-15
    assert (left == 0.0) or one != other
