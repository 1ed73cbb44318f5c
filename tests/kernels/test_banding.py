"""Candidates equal the pairs that share a key, found by dictionaries; components are those of pairs."""

from itertools import combinations

import numpy as np
import pytest
from conftest import JIT_OFF

from lookalike.kernels.banding import find_roots, join_pairs
from lookalike.search import buckets
from lookalike.search.buckets import find_candidates


def by_dictionary(keys):
    """All pairs that share a key."""
    pairs = set()
    for column in keys.T.tolist():
        rows_of = {}
        for row, key in enumerate(column):
            rows_of.setdefault(key, []).append(row)
        pairs |= {pair for rows in rows_of.values() for pair in combinations(rows, 2)}
    return pairs


def listed(keys, threads=1):
    """The candidates, each of which must come once."""
    left, right = find_candidates(keys, threads)
    pairs = list(zip(left.tolist(), right.tolist(), strict=True))
    assert len(pairs) == len(set(pairs)), "a pair is listed twice"
    return set(pairs)


def keys(rng, n, bands, distinct, shift=40):
    """Keys that differ in some bits only: by default the upper ones."""
    return rng.integers(0, distinct, (n, bands), dtype=np.uint64) << np.uint64(shift)


@pytest.mark.parametrize("n", [0, 1, 2, 63, 64, 65, 130])
@pytest.mark.parametrize("threads", [1, 3])
def test_pairs_equal_dictionaries(rng, n, threads):
    table = keys(rng, n, 4, 50)
    assert listed(table, threads) == by_dictionary(table)


@pytest.mark.parametrize("n", [2, 63, 64, 65, 130, *([] if JIT_OFF else [1000])])
@pytest.mark.parametrize("part_rows_bits", [0, 3, 20])
@pytest.mark.parametrize("distinct", [2, 40])
@pytest.mark.parametrize("shift", [0, 4, 62])
def test_keys_that_differ_in_any_bit_share_no_bucket(rng, monkeypatch, n, part_rows_bits, distinct, shift):
    """Buckets are made of all 64 bits, however many of them the entries have room for, in few parts and in many."""
    monkeypatch.setattr(buckets, "PART_ROWS_BITS", part_rows_bits)
    table = keys(rng, n, 3, min(distinct, 4) if shift == 62 else distinct, shift)
    table[:, 1] = table[rng.permutation(n), 1] | np.uint64(1 << 63)
    assert listed(table) == by_dictionary(table)


def test_one_stranger_hides_no_pair():
    """A key that shares all but its lowest bit with a hundred equal ones makes no pair, whichever row it belongs to."""
    for stranger in (0, 50, 100):
        table = np.full((101, 1), np.uint64(0xFEDCBA9876543210))
        table[stranger] ^= np.uint64(1)
        assert listed(table) == set(combinations([row for row in range(101) if row != stranger], 2))


def test_no_key_stands_for_none():
    """Row numbers, the smallest keys there are and the largest."""
    first = np.arange(64, dtype=np.uint64)
    first[60:] = np.uint64(0xFFFFFFFFFFFFFFFF)
    table = np.stack([first, np.tile(np.arange(32, dtype=np.uint64), 2)], 1)
    assert listed(table) == {(row, row + 32) for row in range(32)} | set(combinations(range(60, 64), 2))


def test_components_are_those_of_the_pairs(rng):
    """The root of a row is the smallest that it is connected with."""
    for n_pairs in (0, 10, 30, 60):
        left, right = rng.integers(0, 50, (2, n_pairs))
        parents, expected = np.arange(50), list(range(50))
        for a, b in zip(left.tolist(), right.tolist(), strict=True):
            old = {expected[a], expected[b]}
            expected = [min(old) if root in old else root for root in expected]
        join_pairs(left, right, parents)
        find_roots(parents)
        assert parents.tolist() == expected
