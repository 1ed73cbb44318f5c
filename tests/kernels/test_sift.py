"""Sifting by short hashes: no pair that reaches the threshold is left out, and hardly one that is far below it stays."""

from fractions import Fraction

import numpy as np
import pytest

from semblance.kernels.sift import Halves, sift_pairs


def rows_of(sets):
    """The ascending upper halves of 64-bit values, row after row."""
    rows = [np.sort((np.array(sorted(values), np.uint64) >> np.uint64(32)).astype(np.uint32)) for values in sets]
    return Halves(np.concatenate([np.empty(0, np.uint32), *rows]), np.cumsum([0, *map(len, rows)]))


def sifted(lefts, rights, left, right, threshold, slack):
    out = np.zeros(len(left), np.bool_)
    sift_pairs(np.array(left, np.int64), np.array(right, np.int64), lefts, rights, threshold, slack, out)
    return out.tolist()


def resemblance(a, b):
    return Fraction(len(a & b), len(a | b))


@pytest.mark.parametrize("bits", [64, 38])
@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.75, 0.8, 0.95, 1.0])
def test_no_pair_that_reaches_the_threshold_is_left_out(bits, threshold):
    """Also where the upper halves of many members are equal (values of 38 bits have only 64 of them)."""
    rng = np.random.default_rng(7)
    pool = [int(value) << (64 - bits) if bits == 64 else int(value) for value in rng.integers(0, 1 << (bits - 1), 400)]
    sets = []
    for _ in range(60):
        base = set(rng.choice(pool, rng.integers(1, 60), replace=False).tolist())
        sets += [base, set(rng.choice(sorted(base), max(1, len(base) - int(rng.integers(9))), replace=False).tolist())]
    left, right = (side.ravel() for side in np.meshgrid(np.arange(len(sets)), np.arange(len(sets))))
    rows = rows_of(sets)
    stays = sifted(rows, rows, left, right, threshold, 0)
    reached = [resemblance(sets[i], sets[j]) >= Fraction(threshold) for i, j in zip(left, right, strict=True)]
    assert sum(reached) > len(sets) - 1
    assert all(stay for stay, reach in zip(stays, reached, strict=True) if reach)
    if bits == 64:
        assert stays == reached, "where all upper halves differ, nothing else stays"


def test_pairs_exactly_at_the_threshold_stay():
    """For every fraction of small numbers, however it is rounded."""
    rng = np.random.default_rng(3)
    values = [int(value) for value in rng.integers(0, 1 << 63, 200)]
    for union in range(1, 61):
        for common in range(1, union + 1):
            a = set(values[: common + (union - common) // 2])
            b = set(values[:common] + values[common + (union - common) // 2 : union])
            lefts, rights = rows_of([a]), rows_of([b])
            assert sifted(lefts, rights, [0], [0], common / union, 0) == [True]
            assert sifted(lefts, rights, [0], [0], min(1.0, (common + 0.5) / union), 0) == [common == union]


def test_slack_counts_as_common():
    sets = [set(range(0, 100 << 32, 1 << 32)), set(range(20 << 32, 120 << 32, 1 << 32))]  # 80 in common, of 120
    rows = rows_of(sets)
    needed = [sifted(rows, rows, [0], [1], threshold, 0)[0] for threshold in (80 / 120, 81 / 119, 82 / 118, 83 / 117)]
    assert needed == [True, False, False, False]
    assert [sifted(rows, rows, [0], [1], threshold, 2)[0] for threshold in (82 / 118, 83 / 117)] == [True, False]


def test_empty_rows_and_no_pairs():
    rows = rows_of([set(), {1 << 40}])
    assert sifted(rows, rows, [], [], 0.8, 0) == []
    assert sifted(rows, rows, [0, 1], [1, 1], 0.8, 0) == [False, True]
