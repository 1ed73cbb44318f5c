from itertools import product

import numpy as np
from raising import assert_raises

from lookalike.core import Rows
from lookalike.methods.method import CONTAINMENT, JACCARD, OVERLAP, rows_of_pieces, rows_of_signatures

FLOORS = (0.0, 0.3, 0.7)


def test_scores_of_random_pairs_equal_set_arithmetic(rng):
    """Rows come in pieces, while tables grow; each has its members twice, in a run and apart."""
    matrix = rng.random((300, 900)) < rng.uniform(0.0, 0.95, (300, 1))
    matrix[0], matrix[1], pieces = matrix[2], False, []
    for some in np.split(matrix, 3):
        members = [np.append(own, rng.permutation(own)).astype(np.uint64) for own in map(np.flatnonzero, some)]
        pieces.append((np.concatenate(members) * np.uint64(0x9E3779B97F4A7C15), np.cumsum([0, *map(len, members)])))
    left, right = (rng.integers(0, 300, 50_000) for _ in range(2))
    common, union, sizes = (matrix[left] & matrix[right]).sum(1), (matrix[left] | matrix[right]).sum(1), matrix.sum(1)
    resemblance, smaller = common / np.maximum(union, 1), np.minimum(sizes[left], sizes[right])
    for (kind, whole, floors), threshold in product(
        [(JACCARD, union, (0.0,)), (CONTAINMENT, sizes[right], FLOORS), (OVERLAP, smaller, FLOORS)], (0.1, 0.5, 0.8)
    ):
        expected = common / np.maximum(whole, 1)
        for floor in floors:
            found = rows_of_pieces(pieces, kind, floor).compare(left, right, threshold)
            match = (expected >= threshold) & (resemblance >= floor)
            assert ((found >= threshold) == match).all() and match.any()
            assert (found[match] == expected[match]).all()


def test_signatures_count_equal_slots(rng):
    left, right = np.triu_indices(6, 1)
    for slots in (1, 49, 50):
        signatures = rng.integers(0, 3, (6, slots), dtype=np.uint32)
        expected = (signatures[left] == signatures[right]).mean(1)
        assert rows_of_signatures(signatures).compare(left, right, 0.0).tolist() == expected.tolist()


def test_no_number_is_below_0():
    rows = Rows(JACCARD)
    assert_raises(IndexError, "a number is below 0", rows.add, np.array([-1], np.int32), np.array([0, 1]))
    assert len(rows) == 0
