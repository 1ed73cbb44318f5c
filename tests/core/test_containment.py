"""Samples of shingles, and links and counts of who holds them, against plain Python."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from naive.crowds import heads_of
from naive.hashing import fmix64

from lookalike import core

TURNS = 60
ENDS = np.array([0, 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 1], np.uint64)


def rows(rng, n, most):
    """Rows of hashes with repeats, some empty; the values at both ends are among them."""
    values = [rng.choice(np.r_[ENDS, rng.integers(0, 1 << 63, 40, dtype=np.uint64)], rng.integers(0, most)) for _ in range(n)]
    return np.concatenate([np.empty(0, np.uint64), *values]), np.cumsum([0, *map(len, values)]), values


def mixed(row, salt):
    return sorted({fmix64(int(x) ^ int(salt)) >> 1 for x in row})


@pytest.mark.parametrize("sample", [1, 4, 32])
def test_samples_are_the_smallest_hashes(rng, sample):
    for _ in range(TURNS):
        salt = int(rng.integers(0, 1 << 63))
        values, offsets, given = rows(rng, 7, 60)
        for row, found in zip(given, core.sample_rows(values, offsets, salt, sample).tolist(), strict=True):
            least = mixed(row, salt)[:sample]
            assert found == (least + least[-1:] * (sample - len(least)) if least else [0] * sample)


@pytest.mark.parametrize("bits", [6, 9, 16])
def test_holders_of_what_is_looked_for(rng, bits):
    """Whatever else is in the map, the shingles of samples are, and no row is missing or there twice."""
    for _ in range(TURNS):
        salt, groups = int(rng.integers(0, 1 << 63)), rng.integers(0, 3, 9, dtype=np.uint64) << np.uint64(50)
        values, offsets, given = rows(rng, 9, 50)
        orders, first, sample, wide = rng.permutation(30)[:9], 12, 5, 2
        keys = [[h ^ int(g) for h in mixed(row, salt)] for row, g in zip(given, groups, strict=True)]
        looked_for = [key for some, order in zip(keys, orders, strict=True) if order >= first for key in some[:sample]]
        there = np.zeros(1 << (bits - 6), np.uint64)
        core.mark_keys(np.array(looked_for, np.int64), there)
        marked = {key >> (63 - bits) for key in looked_for}
        assert {64 * i + b for i, word in enumerate(there.tolist()) for b in range(64) if word >> b & 1} == marked
        found = core.find_holders(values, offsets, groups, orders, salt, sample, wide, first, there)
        expected = []
        for some, order, group in zip(keys, orders.tolist(), groups.tolist(), strict=True):
            mine = sorted((key ^ group, key) for key in some if key >> (63 - bits) in marked)
            size = min(sample, len(mine)) if order >= first else 0
            for i, (_, key) in enumerate(mine):
                mark = (size if i < size else 0) | (128 if i < min(size, wide) else 0)
                expected.append((key, order << 8 | mark))
        assert list(zip(*(column.tolist() for column in found), strict=True)) == expected


def test_holders_are_linked_as_defined(rng):
    for both, room in product([False, True], [1, 3, 1000]):
        for _ in range(TURNS):
            boundary, heads, most = int(rng.integers(0, 12)), 0 if both else int(rng.integers(0, 4)), int(rng.integers(2, 6))
            groups = [np.sort(rng.choice(40, rng.integers(1, 25), replace=False)) for _ in range(3)]
            marks = [
                [int(rng.choice([0, 3, 3 | 128])) if both or order >= boundary else 0 for order in group] for group in groups
            ]
            holders = np.array(
                [o << 8 | m for group, some in zip(groups, marks, strict=True) for o, m in zip(group, some, strict=True)]
            )
            keys, at, found = np.repeat([5, -3, 1 << 62], [len(group) for group in groups]), (0, 0, 0), []
            while at[0] < len(keys):
                *some, at = core.link_holders(keys, holders, (most, 4 * most, heads, boundary, both), at, room)
                assert len(some[0]) <= room
                found += zip(*(column.tolist() for column in some), strict=True)
            expected = []
            for group, some in zip(groups, marks, strict=True):
                for member, (order, mark) in enumerate(zip(group.tolist(), some, strict=True)):
                    earlier = group[:member].tolist()
                    if both:
                        earlier = [o for o in group.tolist() if o != order]
                    if len(earlier) > (4 * most if mark & 128 else most):
                        earlier = [*heads_of(earlier, boundary, heads), order]
                    if both:
                        earlier = [o for o in earlier if o == order or o >= boundary or order >= boundary]
                    expected += [(order << 8 | (mark & 127), other) for other in earlier if mark]
            assert found == expected


def test_what_is_shared_is_counted(rng):
    needed = np.array([0, 1, 2, 2, 3])
    for _ in range(TURNS):
        looking = np.sort(rng.integers(0, 6, 60) << 8 | 4)
        looking = looking - (looking >> 8 & 1)  # samples of four and of three
        held = rng.integers(0, 6, 60)
        held = held[np.lexsort((held, looking))]
        found = core.count_shared(looking, held, needed)
        expected = []
        for code in sorted(set(looking.tolist())):
            own, size = code >> 8, code & 127
            counts = Counter(held[looking == code].tolist())
            nothing = counts.pop(own, 0)
            if nothing >= needed[size]:
                expected.append((own, own, size, nothing))
            expected += [
                (min(own, o), max(own, o), size, 0) for o, n in sorted(counts.items()) if n >= max(1, needed[size] - nothing)
            ]
        assert list(zip(*(column.tolist() for column in found), strict=True)) == expected
