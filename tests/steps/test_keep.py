"""``la.verify`` and ``la.decide`` on their own, against set arithmetic and the naive walk."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import walk as naive

import lookalike as la

small_sets = st.lists(st.frozensets(st.integers(0, 40), max_size=12), max_size=14)


@settings(max_examples=150)
@given(small_sets, st.sampled_from([0.1, 0.25, 1 / 3, 0.5, 0.6, 2 / 3, 0.75, 0.8, 1.0]))
def test_verified_pairs_equal_set_arithmetic(sets, threshold):
    shingles = la.sketches.Shingles.from_arrays([x for s in sets for x in sorted(s)], np.cumsum([0, *map(len, sets)]))
    left, right = np.triu_indices(len(sets), 1)
    verified = la.verify(la.search.Pairs(left, right, len(sets)), shingles, threshold=threshold)
    found = dict(zip(zip(verified.left.tolist(), verified.right.tolist(), strict=True), verified.resemblance, strict=True))
    assert found == naive.all_pairs(sets, threshold)


@pytest.mark.parametrize("common", range(1, 11))
def test_a_pair_at_the_threshold_counts(common):
    """The boundary: intersection / union in float64 equals the threshold to the last bit."""
    threshold = common / (20 - common)
    shingles = la.sketches.Shingles.from_arrays([*range(10), *range(10 - common, 20 - common)], [0, 10, 20])
    pair = la.search.Pairs(np.array([0]), np.array([1]), 2)
    assert len(la.verify(pair, shingles, threshold=threshold)) == 1
    if threshold < 1:
        assert len(la.verify(pair, shingles, threshold=float(np.nextafter(threshold, 2)))) == 0


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
        la.verify(
            la.search.Pairs(np.array([0]), np.array([1]), 3), la.sketches.Shingles.from_arrays([1], [0, 1, 1]), threshold=0.5
        )
