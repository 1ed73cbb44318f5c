from itertools import chain, combinations, islice, pairwise, product

import numpy as np

from lookalike.core import KeyGroups, sort_distinct
from lookalike.search.banding import find_candidates


def groups_of(keys):
    rows_of = {}
    for row, key in enumerate(keys.tolist()):
        rows_of.setdefault(key, []).append(row)
    return [rows for _, rows in sorted(rows_of.items()) if len(rows) > 1]


def by_dictionary(keys):
    return {pair for column in keys.T for rows in groups_of(column) for pair in combinations(rows, 2)}


def listed(keys, threads=1):
    left, right = find_candidates(keys, threads)
    pairs = list(zip(left.tolist(), right.tolist(), strict=True))
    assert len(pairs) == len(set(pairs)), "a pair is listed twice"
    return set(pairs)


def test_keys_that_differ_in_any_bit_share_no_bucket(rng):
    """Buckets are made of all 64 bits, however many of them the entries have room for, in few parts and in many."""
    for (n, distinct), shift in product(
        [(0, 1), (1, 1), (2, 2), (63, 2), (64, 40), (65, 40), (130, 40), (1000, 40), (9000, 4000)], [0, 4, 52]
    ):
        table = rng.integers(0, distinct, (n, 3), dtype=np.uint64) << np.uint64(shift)
        table[:, 1] = table[rng.permutation(n), 1] | np.uint64(1 << 63)
        table[-3:, 2] = np.uint64((1 << 64) - 1)  # no key stands for none
        assert listed(table) == listed(table, threads=3) == by_dictionary(table)


def test_groups_come_by_key_whole_and_in_portions(rng):
    """Of keys that differ in their lowest bits alone, or in their highest, nearly all in one part; and of equal ones."""
    cases = product([0, 1, 2, 4095, 4096, 4097, 70_000], [0, 40, 63], [1, 1000, 1 << 20])
    for n, shift, most in islice(cases, 0, None, 4):  # all values of each are among them
        column = rng.integers(0, max(1, n), n, dtype=np.uint64) << np.uint64(shift)
        column[: n // 3] = column[n // 3 : n // 3 + 1]
        groups, found = KeyGroups(column), []
        while len(rows := groups.next(most)):
            found.append(rows.tolist())
        assert [*chain(*found)] == [*chain(*groups_of(column))]
        assert all(len(rows) >= most for rows in found[:-1])
        ends = [column[rows[-1]] != column[more[0]] for rows, more in pairwise(found)]
        assert all(ends), "a group is in one portion"


def test_distinct_numbers_come_sorted(rng):
    for n, (low, high) in product([0, 1, 2, 5000], [(0, 1), (-5, 5), (1 << 40, (1 << 40) + 3000), (-(1 << 63), (1 << 63) - 1)]):
        numbers = rng.integers(low, high, n)
        distinct = np.unique(numbers)
        assert sort_distinct(numbers) == len(distinct)
        assert np.array_equal(numbers[: len(distinct)], distinct)
