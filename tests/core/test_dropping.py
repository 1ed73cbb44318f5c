"""Values that are dropped from rows, by a table and by marks, against plain Python."""

from itertools import pairwise

import numpy as np

from lookalike.core import Dropped


def rows_of(values, offsets):
    return [values[a:b].tolist() for a, b in pairwise(offsets)]


def test_members_of_a_set_are_dropped(rng):
    for n in [0, 1, 15, 16, 17, 31, 32, 500]:
        few = np.array([5, 6, (1 << 64) - 1][: min(3, n // 8)], np.uint64)
        dropped = np.unique(np.append(rng.integers(0, 1 << 64, n, dtype=np.uint64), few))
        values = np.concatenate([rng.integers(0, 8, 40, dtype=np.uint64), np.repeat(dropped, 2), dropped + np.uint64(1)])
        rng.shuffle(values)
        offsets = np.array([0, 0, len(values) // 3, len(values) // 2, len(values)])
        wanted = [[value for value in row if value not in set(dropped.tolist())] for row in rows_of(values, offsets)]
        found = Dropped(dropped).drop(values, offsets)
        assert rows_of(values, found) == wanted
