"""Exact verification equals set arithmetic."""

from itertools import pairwise, product

import numpy as np
import pytest
from naive import walk as naive

from lookalike.core import Rows
from lookalike.methods.method import CONTAINMENT, JACCARD, OVERLAP, rows_of_pieces, rows_of_signatures


def arrays(sets):
    return [x for s in sets for x in sorted(s)], np.cumsum([0, *map(len, sets)])


def test_scores_of_random_pairs_equal_set_arithmetic(rng):
    matrix = rng.random((300, 60)) < rng.uniform(0.0, 0.95, (300, 1))
    matrix[0], matrix[1] = matrix[2], False
    values, offsets = arrays([np.flatnonzero(row).tolist() for row in matrix])
    pieces = [(np.array(values, np.uint64) * np.uint64(0x9E3779B97F4A7C15), offsets)]
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


def test_values_are_numbered_by_first_appearance_while_tables_grow(rng):
    """Zero among them, repeated in runs and at random, in pieces: rows are those of numbers, and of Python's sets."""
    for size in [1, 63, 64, 65, 128, 700, 9000]:
        fresh = (rng.permutation(size) << 5).astype(np.uint64)
        pieces, numbered, met, sets = [(fresh[:0], np.zeros(1, np.int64))], [], {}, []
        for _ in range(3):
            values = np.concatenate([fresh[: size // 2], fresh[size // 7 : size // 3], rng.choice(fresh, size), fresh])
            offsets = np.array([0, 0, size // 5, size, len(values)])
            pieces.append((values, offsets))
            numbers = [met.setdefault(v, len(met)) for v in values.tolist()]
            numbered.append((np.array(numbers, np.int32), offsets))
            sets += [set(numbers[a:b]) for a, b in pairwise(offsets)]
        left, right = (side.ravel() for side in np.indices((len(sets), len(sets))))
        expected = [
            naive.resemblance(sets[a], sets[b]) if sets[a] | sets[b] else -1.0 for a, b in zip(left, right, strict=True)
        ]
        for some in (pieces, numbered):
            assert rows_of_pieces(some).compare(left, right, 0.0).tolist() == expected


def test_no_number_is_below_0():
    rows = Rows(JACCARD)
    with pytest.raises(IndexError, match="a number is below 0"):
        rows.add(np.array([-1], np.int32), np.array([0, 1]))
    assert len(rows) == 0
