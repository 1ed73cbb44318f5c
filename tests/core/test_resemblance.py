"""Exact verification equals set arithmetic."""

from itertools import product

import numpy as np
import pytest

from lookalike.core import Rows
from lookalike.methods.method import CONTAINMENT, JACCARD, OVERLAP, rows_of_pieces, rows_of_signatures


def test_scores_of_random_pairs_equal_set_arithmetic(rng):
    matrix = rng.random((300, 900)) < rng.uniform(0.0, 0.95, (300, 1))
    matrix[0], matrix[1] = matrix[2], False
    cuts = np.array_split(np.arange(300), 3)  # in pieces, while tables grow; each value twice, in a run or apart
    sides = [np.append(np.flatnonzero(row), rng.permutation(np.flatnonzero(row))) for row in matrix]
    values = [np.concatenate([sides[row] for row in cut]).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) for cut in cuts]
    pieces = [(some, np.cumsum([0, *(len(sides[row]) for row in cut)])) for some, cut in zip(values, cuts, strict=True)]
    left, right = (rng.integers(0, 300, 50_000) for _ in range(2))
    common, union, sizes = (matrix[left] & matrix[right]).sum(1), (matrix[left] | matrix[right]).sum(1), matrix.sum(1)
    resemblance = common / np.maximum(union, 1)
    wholes = {JACCARD: union, CONTAINMENT: sizes[right], OVERLAP: np.minimum(sizes[left], sizes[right])}
    for (kind, whole), threshold, floor in product(wholes.items(), (0.1, 0.5, 0.8), (0.0, 0.3, 0.7)):
        if kind == JACCARD and floor:
            continue
        found, expected = rows_of_pieces(pieces, kind, floor).compare(left, right, threshold), common / np.maximum(whole, 1)
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
    with pytest.raises(IndexError, match="a number is below 0"):
        rows.add(np.array([-1], np.int32), np.array([0, 1]))
    assert len(rows) == 0
