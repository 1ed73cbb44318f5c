"""``tests/recipes/test_twin.py`` holds what links lead to against the definition."""

import numpy as np

from lookalike import core


def test_links_of_holders_come_in_portions(rng):
    """However small: the same as all at once, each of a member and an earlier one, or any other."""
    for turn in range(60):
        most, heads, both = int(rng.integers(2, 6)), int(rng.integers(0, 4)), turn % 2 == 0
        sizes = rng.integers(1, 25, 3)
        holders = np.concatenate([np.sort(rng.choice(40, n, replace=False)) << 8 for n in sizes])
        holders |= rng.choice([3, 3 | 128], len(holders))
        keys, found = np.repeat([5, -3, 1 << 62], sizes), []
        for room in (1, 3, 10_000):
            at, rows = (0, 0, 0), []
            while at[0] < len(keys):
                *some, at = core.link_holders(keys, holders, (most, 4 * most, 0 if both else heads, 9, both), at, room)
                assert len(some[0]) <= room
                rows += zip(*(column.tolist() for column in some), strict=True)
            found.append(rows)
        assert found[0] == found[1] == found[2] and all(both or other <= code >> 8 for code, other in found[0])
