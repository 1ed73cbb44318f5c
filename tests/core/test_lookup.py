"""``tests/index/test_answers.py`` holds what is found in whole tables to a twin."""

import numpy as np
from raising import assert_raises

from lookalike import core


def tables_of(keys, rows, starts, codes, removed=()):
    return core.SegmentTables(keys, np.array(rows, np.uint32), np.array(starts, np.uint32), codes, np.array(removed, np.bool_))


def test_a_damaged_table_is_reported_and_not_read_beyond():
    """Rows at and beyond the end of the codes, runs that end beyond the keys or before they begin."""
    keys, codes, none = np.zeros((1, 3), np.uint64), np.zeros((2, 4), np.uint16), np.empty((0, 0), np.uint32)
    for rows, starts in [
        ([1, 2, 0], [0, 3, 3]),
        ([1, 0, 9], [0, 3, 3]),
        ([1, 0, 1], [0, 7, 7]),
        ([1, 0, 1], [3, 2, 3]),
        ([1, 0, (1 << 32) - 1], [0, (1 << 32) - 1, 0]),
    ]:
        damaged, whole = (tables_of(keys, [r], [s], codes) for r, s in ((rows, starts), ([1, 0, 1], [0, 3, 3])))
        for number, files in enumerate(([damaged], [whole, damaged])):
            assert core.look_up(files, keys[:, :1], codes[:1], np.zeros(1, np.bool_), none, 0, 0, 16, 0)[0] == number


def test_tables_fit_together():
    codes = np.zeros((2, 4), np.uint16)
    for keys, rows, starts, removed in ((2, 3, 3, 0), (3, 2, 3, 0), (3, 3, 4, 0), (3, 3, 1, 0), (3, 3, 3, 1)):
        assert_raises(
            ValueError,
            "do not fit",
            tables_of,
            np.zeros((1, keys), np.uint64),
            [[0] * rows],
            [[0] * starts],
            codes,
            [False] * removed,
        )
