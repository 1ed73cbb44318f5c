"""``la.exact_pairs``, ``la.verify`` and ``la.decide`` on their own."""

from unittest.mock import patch

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import walk as naive
from steps.made import as_shingles

import lookalike as la
from lookalike.search import Pairs

thresholds = st.sampled_from([1e-9, 0.1, 0.3, 0.5, 0.6, 2 / 3, 0.75, 0.8, 0.9, 1.0])
few = st.lists(st.lists(st.integers(0, 12), max_size=10), max_size=30)
near = st.builds(  # parts of one set, with members of their own
    lambda n, parts: [[*range(a, n - b), *range(1000 + 9 * i, 1000 + 9 * i + c)] for i, (a, b, c) in enumerate(parts)],
    st.integers(8, 300), st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9)), max_size=25),
)  # fmt: skip


def told(pairs):
    return dict(zip(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True), pairs.resemblance.tolist(), strict=True))


@settings(max_examples=150)
@given(few | near, thresholds, st.integers(1, 40))
def test_all_pairs_are_found_and_verified(sets, threshold, room):
    wanted, shingles = naive.all_pairs(list(map(set, sets)), threshold), as_shingles(sets)
    with patch("lookalike.steps.keep.VALUES", room):
        assert list(told(la.exact_pairs(shingles, threshold=threshold)).items()) == sorted(wanted.items())
    every = Pairs(*np.triu_indices(len(sets), 1), len(sets))
    assert told(la.verify(every, shingles, threshold=threshold)) == wanted


def test_a_pair_at_the_threshold_counts():
    """The boundary: intersection / union in float64 equals the threshold to the last bit."""
    for common in range(1, 11):
        shingles, threshold = as_shingles([range(10), range(10 - common, 20 - common)]), common / (20 - common)
        pair = Pairs([0], [1], 2)
        assert told(la.verify(pair, shingles, threshold=threshold)) == {(0, 1): threshold}
        assert threshold == 1 or not told(la.verify(pair, shingles, threshold=float(np.nextafter(threshold, 2))))


@settings(max_examples=200)
@given(st.integers(0, 12), st.dictionaries(st.tuples(st.integers(0, 11), st.integers(0, 11)),
                                           st.sampled_from([0.0, 0.5, 0.75, 0.75, 1.0]), max_size=30))  # fmt: skip
def test_keep_equals_twin(n, raw):
    pairs = {(min(p), max(p)): r for p, r in raw.items() if p[0] != p[1] and max(p) < n}
    left, right = (np.array([p[i] for p in pairs], "int64") for i in (0, 1))
    kept = la.decide(Pairs(left, right, n, np.array(list(pairs.values()), "float64")))
    assert kept.keeper.tolist() == naive.keep(n, pairs)
    assert kept.resemblance.tolist() == [1.0 if k == d else pairs[k, d] for d, k in enumerate(kept.keeper.tolist())]
    assert kept.mask.tolist() == [k == d for d, k in enumerate(kept.keeper.tolist())]
