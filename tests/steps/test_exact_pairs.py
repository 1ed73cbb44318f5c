"""All pairs of sets: none is missed, whatever the sets are."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from steps.made import as_shingles

import lookalike as la
from lookalike.steps import keep as module

thresholds = st.sampled_from([1e-9, 0.1, 0.3, 0.5, 0.6, 2 / 3, 0.75, 0.8, 0.9, 1.0])
few = st.lists(st.lists(st.integers(0, 12), max_size=10), max_size=30)
near = st.builds(  # parts of one set, with members of their own
    lambda n, parts: [[*range(a, n - b), *range(1000 + 9 * i, 1000 + 9 * i + c)] for i, (a, b, c) in enumerate(parts)],
    st.integers(8, 300), st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9)), max_size=25),
)  # fmt: skip


def told(pairs):
    return list(zip(pairs.left.tolist(), pairs.right.tolist(), pairs.resemblance.tolist(), strict=True))


@settings(max_examples=150)
@given(few | near, thresholds, st.integers(1, 40))
def test_all_pairs_are_found(sets, threshold, room):
    members = [set(some) for some in sets]
    wanted = [(i, j, len(a & b) / len(a | b)) for (i, a), (j, b) in combinations(enumerate(members), 2)
              if a | b and len(a & b) / len(a | b) >= threshold]  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "VALUES", room)
        assert told(la.exact_pairs(as_shingles(sets), threshold=threshold)) == wanted


@pytest.mark.parametrize("size", [40, 2000])  # with bits, and without
@pytest.mark.parametrize("threshold", [0.5, 0.8])
def test_all_pairs_of_many_sets_are_those_of_the_product_of_the_matrix_with_itself(rng, size, threshold):
    """Members as unequally frequent as words, and edited copies."""
    n, vocabulary = 800, 4000
    sets = [np.unique(np.minimum(rng.zipf(1.3, size), vocabulary)) for _ in range(n // 2)]
    sets += [
        np.union1d(rng.permutation(some)[rng.integers(0, 3) :], rng.integers(0, vocabulary, rng.integers(0, 3)))
        for some in sets
    ]
    matrix = sparse.csr_matrix(
        (np.ones(sum(map(len, sets)), np.int64), np.concatenate(sets), np.cumsum([0, *map(len, sets)])), (n, vocabulary + 1)
    )
    common, sizes = (matrix @ matrix.T).toarray(), np.array([len(some) for some in sets])
    resemblance = common / (sizes[:, None] + sizes - common)
    left, right = np.nonzero(np.triu(resemblance >= threshold, 1))
    assert told(la.exact_pairs(as_shingles(sets), threshold=threshold)) == list(
        zip(left.tolist(), right.tolist(), resemblance[left, right].tolist(), strict=True)
    )
    assert len(left) > 200


def test_a_threshold_that_all_pairs_reach_is_refused():
    for threshold in (0, 1.1, float("nan")):
        with pytest.raises(la.errors.ParameterError, match="threshold must be"):
            la.exact_pairs(as_shingles([[1]]), threshold=threshold)
