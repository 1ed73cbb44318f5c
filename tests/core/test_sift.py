import numpy as np
import pytest

from lookalike.core import sift_pairs
from lookalike.values.shingles import Halves


def rows_of(sets, hashed=lambda value: value):
    """Upper halves, row after row."""
    hashes = [sorted({hashed(value) for value in values}) for values in sets]
    rows = [np.sort((np.array(some, np.uint64) >> np.uint64(32)).astype(np.uint32)) for some in hashes]
    repeats = np.array([len(values) - len(some) for values, some in zip(sets, hashes, strict=True)], np.int64)
    return Halves(np.concatenate([np.empty(0, np.uint32), *rows]), np.cumsum([0, *map(len, rows)]), repeats)


def sifted(lefts, rights, left, right, threshold):
    found = sift_pairs(np.array(left, np.int64), np.array(right, np.int64), lefts, rights, threshold)
    return found.view(np.bool_).tolist()


@pytest.mark.parametrize(("bits", "n_hashes"), [(64, 400), (38, 400), (64, 3), (64, 40), (64, 300)])
def test_no_pair_that_reaches_the_threshold_is_left_out(rng, bits, n_hashes):
    """Also where the upper halves of many members are equal (values of 38 bits have only 64 of them)."""
    hashes = rng.integers(0, 1 << bits, n_hashes, dtype=np.uint64)
    hashed = (hashes if n_hashes == 400 else rng.choice(hashes, 400)).tolist().__getitem__
    for threshold in [0.3, 0.5, 0.75, 0.8, 0.95, 1.0]:
        sets = []
        for _ in range(60):
            base = set(rng.choice(400, rng.integers(1, 120), replace=False).tolist())
            sets += [base, set(rng.choice(sorted(base), max(1, len(base) - int(rng.integers(9))), replace=False).tolist())]
        left, right = (side.ravel() for side in np.indices((len(sets), len(sets))))
        rows = rows_of(sets, hashed)
        assert (rows.repeats.sum() > 0) == (n_hashes < 400)
        stays = sifted(rows, rows, left, right, threshold)
        assert sifted(rows, rows, right, left, threshold) == stays, "with pairs of one left row together, by its map"
        reached = [len(sets[i] & sets[j]) / len(sets[i] | sets[j]) >= threshold for i, j in zip(left, right, strict=True)]
        assert sum(reached) > len(sets) - 1
        assert all(stay for stay, reach in zip(stays, reached, strict=True) if reach)
        if n_hashes >= 300:
            assert sum(stays) < len(stays) / 2
        if (bits, n_hashes) == (64, 400):
            assert stays == reached, "where all upper halves differ, nothing else stays"


def test_pairs_exactly_at_the_threshold_stay():
    """However the fraction is rounded."""
    rng = np.random.default_rng(3)
    values = [int(value) for value in rng.integers(0, 1 << 63, 200)]
    for union in range(1, 61):
        for common in range(1, union + 1):
            a = set(values[: common + (union - common) // 2])
            b = set(values[:common] + values[common + (union - common) // 2 : union])
            lefts, rights = rows_of([a]), rows_of([b])
            assert sifted(lefts, rights, [0], [0], common / union) == [True]
            assert sifted(lefts, rights, [0], [0], min(1.0, (common + 0.5) / union)) == [common == union]


def test_empty_rows_and_no_pairs():
    rows = rows_of([set(), {1 << 40}])
    assert sifted(rows, rows, [], [], 0.8) == [] and sifted(rows, rows, [0, 1], [1, 1], 0.8) == [False, True]
