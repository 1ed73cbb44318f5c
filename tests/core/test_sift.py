"""Sifting by short hashes: no pair that reaches the threshold is left out, and hardly one that is far below it stays."""

from fractions import Fraction
from itertools import product

import numpy as np

from lookalike.core import sift_pairs
from lookalike.values.shingles import Halves


def rows_of(sets, hashed=lambda value: value):
    """The ascending upper halves of the distinct hashes of 64-bit values, row after row."""
    hashes = [sorted({hashed(value) for value in values}) for values in sets]
    rows = [np.sort((np.array(some, np.uint64) >> np.uint64(32)).astype(np.uint32)) for some in hashes]
    repeats = np.array([len(values) - len(some) for values, some in zip(sets, hashes, strict=True)], np.int64)
    return Halves(np.concatenate([np.empty(0, np.uint32), *rows]), np.cumsum([0, *map(len, rows)]), repeats)


def sifted(lefts, rights, left, right, threshold):
    found = sift_pairs(np.array(left, np.int64), np.array(right, np.int64), lefts, rights, threshold)
    return found.view(np.bool_).tolist()


def resemblance(a, b):
    return Fraction(len(a & b), len(a | b))


def test_no_pair_that_reaches_the_threshold_is_left_out():
    """Also where the upper halves of many members are equal (values of 38 bits have only 64 of them)."""
    for bits, threshold in product([64, 38], [0.3, 0.5, 0.75, 0.8, 0.95, 1.0]):
        rng = np.random.default_rng(7)
        pool = [int(value) << (64 - bits) if bits == 64 else int(value) for value in rng.integers(0, 1 << (bits - 1), 400)]
        sets = []
        for _ in range(60):
            base = set(rng.choice(pool, rng.integers(1, 60), replace=False).tolist())
            sets += [base, set(rng.choice(sorted(base), max(1, len(base) - int(rng.integers(9))), replace=False).tolist())]
        left, right = (side.ravel() for side in np.meshgrid(np.arange(len(sets)), np.arange(len(sets))))
        rows = rows_of(sets)
        stays = sifted(rows, rows, left, right, threshold)
        assert sifted(rows, rows, right, left, threshold) == stays, "with pairs of one left row together, by its map"
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
            assert sifted(lefts, rights, [0], [0], common / union) == [True]
            assert sifted(lefts, rights, [0], [0], min(1.0, (common + 0.5) / union)) == [common == union]


def test_whatever_the_hashes_are_no_match_is_left_out():
    """Members that share a hash, many or all of them, make rows shorter than their sets."""
    for threshold, n_hashes in product([0.3, 0.5, 0.8, 0.95], [3, 40, 300]):
        rng = np.random.default_rng(11)
        chosen = (rng.integers(0, 1 << 62, n_hashes) << 1).tolist()
        hashed = [chosen[i] for i in rng.integers(0, n_hashes, 500)].__getitem__
        sets = []
        for _ in range(40):
            base = set(rng.choice(400, rng.integers(1, 120), replace=False).tolist())
            sets += [base, set(sorted(base)[int(rng.integers(6)) :]) | set(range(400, 400 + int(rng.integers(6)))) or {0}]
        left, right = (side.ravel() for side in np.meshgrid(np.arange(len(sets)), np.arange(len(sets))))
        rows = rows_of(sets, hashed)
        assert rows.repeats.sum() > 0
        stays = sifted(rows, rows, left, right, threshold)
        assert sifted(rows, rows, right, left, threshold) == stays
        reached = [resemblance(sets[i], sets[j]) >= Fraction(threshold) for i, j in zip(left, right, strict=True)]
        assert all(stay for stay, reach in zip(stays, reached, strict=True) if reach)
        assert n_hashes < 300 or sum(stays) < len(stays) / 2


def test_repeats_make_the_bound_weaker_by_no_more_than_they_can_hide():
    """80 entries of 100 in common, 9 hidden: at a threshold of t, (1 - t) / (1 + t) of these may be missing."""
    sets = [set(range(0, 100 << 32, 1 << 32)), set(range(20 << 32, 120 << 32, 1 << 32))]
    plain, without = rows_of(sets), np.array([9, 30])
    hiding = Halves(plain.values, plain.offsets, without)
    for threshold in (0.6, 2 / 3, 0.67, 0.68, 0.69, 0.7, 0.71, 0.75):
        least = (threshold * 200 - (1 - threshold) * 9) / (1 + threshold)
        assert sifted(plain, plain, [0], [1], threshold) == [threshold * 200 / (1 + threshold) - 1e-9 <= 80]
        assert sifted(hiding, hiding, [0], [1], threshold) == [least - 1e-9 <= 80]


def test_empty_rows_and_no_pairs():
    rows = rows_of([set(), {1 << 40}])
    assert sifted(rows, rows, [], [], 0.8) == []
    assert sifted(rows, rows, [0, 1], [1, 1], 0.8) == [False, True]
