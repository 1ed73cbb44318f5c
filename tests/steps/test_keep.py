"""``la.verify`` and ``la.decide`` on their own, against set arithmetic and the naive walk."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import walk as naive
from steps.made import as_shingles

import lookalike as la

small_sets = st.lists(st.frozensets(st.integers(0, 40), max_size=12), max_size=14)


def verified(sets, left, right, threshold):
    """{pair: resemblance} of the pairs that reach the threshold."""
    found = la.verify(la.search.Pairs(np.array(left), np.array(right), len(sets)), as_shingles(sets), threshold=threshold)
    return dict(zip(zip(found.left.tolist(), found.right.tolist(), strict=True), found.resemblance, strict=True))


@settings(max_examples=150)
@given(small_sets, st.sampled_from([0.1, 0.25, 1 / 3, 0.5, 0.6, 2 / 3, 0.75, 0.8, 1.0]))
def test_verified_pairs_equal_set_arithmetic(sets, threshold):
    found = verified(list(map(sorted, sets)), *np.triu_indices(len(sets), 1), threshold)
    assert found == naive.all_pairs(sets, threshold)


@pytest.mark.parametrize("common", range(1, 11))
def test_a_pair_at_the_threshold_counts(common):
    """The boundary: intersection / union in float64 equals the threshold to the last bit."""
    sets, threshold = [range(10), range(10 - common, 20 - common)], common / (20 - common)
    assert verified(sets, [0], [1], threshold) == {(0, 1): threshold}
    assert threshold == 1 or not verified(sets, [0], [1], float(np.nextafter(threshold, 2)))


@settings(max_examples=200)
@given(st.integers(0, 12), st.dictionaries(st.tuples(st.integers(0, 11), st.integers(0, 11)),
                                           st.sampled_from([0.0, 0.5, 0.75, 0.75, 1.0]), max_size=30))  # fmt: skip
def test_keep_equals_twin(n, raw):
    pairs = {(min(p), max(p)): r for p, r in raw.items() if p[0] != p[1] and max(p) < n}
    left, right = (np.array([p[i] for p in pairs], np.int64) for i in (0, 1))
    kept = la.decide(la.search.Pairs(left, right, n, np.array(list(pairs.values()), np.float64)))
    assert kept.keeper.tolist() == naive.keep(n, pairs)
    assert kept.resemblance.tolist() == [1.0 if k == d else pairs[k, d] for d, k in enumerate(kept.keeper.tolist())]
    assert kept.mask.tolist() == [k == d for d, k in enumerate(kept.keeper.tolist())]


@pytest.mark.parametrize("scores", [None, [1.5], [-0.5], [float("nan")]])
def test_keep_wants_verified_pairs(scores):
    resemblance = None if scores is None else np.array(scores)
    with pytest.raises(la.errors.ParameterError, match="verify"):
        la.decide(la.search.Pairs(np.array([0]), np.array([1]), 2, resemblance))


def test_verify_refuses_pairs_of_other_documents():
    with pytest.raises(la.errors.ParameterError, match="3 documents"):
        la.verify(la.search.Pairs(np.array([0]), np.array([1]), 3), as_shingles([[1], []]), threshold=0.5)
