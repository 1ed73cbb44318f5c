"""Look-up in sorted tables and inverted lists equals plain searches."""

from itertools import product

import numpy as np
import pytest

from lookalike import core

NONE = np.empty((0, 0), np.uint32)


def tables_of(keys, rows, starts, codes, removed=()):
    return core.SegmentTables(keys, np.array(rows, np.uint32), np.array(starts, np.uint32), codes, np.array(removed, np.bool_))


def search(files, keys, codes, *how, empty=None):
    """Search in files; return which is damaged, or -1, and query, file, row and score of the matches."""
    damaged, found = core.look_up(files, keys, codes, np.zeros(len(keys), np.bool_) if empty is None else empty, NONE, *how)
    return damaged, found.tolist()


def test_search_equals_a_plain_one(rng):
    """The best of all files, or the first of the first file that has one; a query without shingles finds nothing."""
    for lane, most, copies, width in product([16, 1, 2, 4, 8], [0, -1, 1, 3, 50], [1, 12, 60], [4, 37]):
        differing, cuts = lane == 1, (9, 9, 50)
        width = 4 if differing else width
        n, tables, prefix_bits, radius = 120, 4, 16, 3 if differing else 0
        codes = rng.integers(0, 1 << 16, (n, width)).astype(np.uint16)
        if differing:
            codes[1::2] = codes[::2] ^ (np.uint16(1) << rng.integers(0, 16, (n // 2, 4)).astype(np.uint16)) * (
                rng.random((n // 2, 4)) < 0.6
            )
            words = codes.copy().view(np.uint64)
            turns = (16 * np.arange(tables)).astype(np.uint64)
            keys = (words << turns) | ((words >> np.uint64(1)) >> (np.uint64(63) - turns))
        else:
            keys = rng.integers(0, 30, (n, tables)).astype(np.uint64) << np.uint64(55)
            codes = codes % 3 if lane == 16 else (codes % 2) << rng.integers(0, 16, (n, width)).astype(np.uint16)
        same = np.arange(n) // copies * copies  # copies of rows that stand together, and of some that do not
        same[5::7] = same[0]
        keys, codes = keys[same], codes[same]
        if lane not in (1, 16):  # copies of the keys whose codes differ in a single bit, whichever of its lane
            some = np.flatnonzero(rng.random(n) < 0.3)
            codes[some, 0] ^= np.uint16(1) << rng.integers(0, 16, len(some)).astype(np.uint16)
        files, removed, empty = [], rng.random(n) < 0.2, rng.random(n) < 0.1
        for part in np.split(np.arange(n), cuts):
            order = np.argsort(keys[part], axis=0, kind="stable").T.copy()
            ordered = np.take_along_axis(keys[part].T, order, 1)
            starts = [core.start_runs(of_table, prefix_bits) for of_table in ordered]
            files.append(tables_of(ordered, order, starts, codes[part], removed[part]))
        least = -radius if differing else width // 2 if lane == 16 else -width * 2 // 3
        damaged, found = search(files, keys, codes, radius, least, lane, most, empty=empty)
        lanes = (codes[..., None] >> np.arange(0, 16, lane, np.uint16)).astype(np.uint32) % (1 << lane)
        equal = (lanes[:, None] == lanes).sum((2, 3))
        scores = equal if lane == 16 else equal - lanes[0].size
        near = np.bitwise_count(codes[:, None] ^ codes).sum(2) <= radius if differing else (keys[:, None] == keys).any(2)
        expected, file = [], np.searchsorted(cuts, np.arange(n), side="right")
        rows = np.arange(n) - np.array([0, *cuts])[file]
        for q in np.flatnonzero(~empty).tolist():
            mine = np.flatnonzero(near[q] & ~removed & (scores[q] >= least)).tolist()
            mine = [[q, int(file[r]), int(rows[r]), int(scores[q, r])] for r in mine]
            expected += mine[:1] if most < 0 else sorted(mine, key=lambda match: -match[3])[: most or None]
        assert damaged == -1 and found == expected and len(found) > n // 3


def test_a_damaged_table_is_reported_and_not_read_beyond():
    """Rows at and beyond the end of the codes, runs that end beyond the keys or before they begin."""
    for rows, starts in [
        ([1, 2, 0], [0, 3, 3]),
        ([1, 0, 9], [0, 3, 3]),
        ([1, 0, 1], [0, 7, 7]),
        ([1, 0, 1], [3, 2, 3]),
        ([1, 0, (1 << 32) - 1], [0, (1 << 32) - 1, 0]),
    ]:
        keys, codes = np.zeros((1, 3), np.uint64), np.zeros((2, 4), np.uint16)
        damaged, whole = (tables_of(keys, [r], [s], codes) for r, s in ((rows, starts), ([1, 0, 1], [0, 3, 3])))
        for files, number in (([damaged], 0), ([whole, damaged], 1)):
            assert search(files, np.zeros((1, 1), np.uint64), codes[:1], 0, 0, 16, 0)[0] == number


def test_tables_fit_together():
    codes = np.zeros((2, 4), np.uint16)
    for keys, rows, starts, removed in ((2, 3, 3, 0), (3, 2, 3, 0), (3, 3, 4, 0), (3, 3, 1, 0), (3, 3, 3, 1)):
        with pytest.raises(ValueError, match="do not fit"):
            tables_of(np.zeros((1, keys), np.uint64), [[0] * rows], [[0] * starts], codes, [False] * removed)
