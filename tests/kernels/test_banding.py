"""Candidates equal the pairs that share a key, found by dictionaries."""

from itertools import combinations

import numpy as np
import pytest

from semblance.search import candidates
from semblance.search.candidates import find_candidates


def by_dictionary(keys, n_reference=0):
    """All pairs that share a key, and the smallest row each row is connected with."""
    pairs, root = set(), list(range(len(keys)))
    for band in range(keys.shape[1]):
        buckets = {}
        for row, key in enumerate(keys[:, band].tolist()):
            buckets.setdefault(key, []).append(row)
        for rows in buckets.values():
            pairs |= {(a, b) for a, b in combinations(rows, 2) if b >= n_reference}
            smallest = min(root[r] for r in rows)
            old = {root[r] for r in rows}
            root = [smallest if r in old else r for r in root]
    return pairs, root


def keys(rng, n, bands, distinct, shift=40):
    """Keys that differ in some bits only: by default the upper ones."""
    return rng.integers(0, distinct, (n, bands), dtype=np.uint64) << np.uint64(shift)


@pytest.mark.parametrize("n", [0, 1, 2, 63, 64, 65, 130])
@pytest.mark.parametrize("threads", [1, 3])
def test_pairs_equal_dictionaries(rng, n, threads):
    table = keys(rng, n, 4, 50)
    expected, roots = by_dictionary(table)
    found = find_candidates(table.copy(), max_bucket=None, threads=threads)
    pairs = list(zip(found.left.tolist(), found.right.tolist(), strict=True))
    assert len(pairs) == len(set(pairs)), "a pair is listed twice"
    assert set(pairs) == expected
    assert found.roots.tolist() == roots
    assert not found.cut


@pytest.mark.parametrize("n", [2, 63, 64, 65, 130, 1000])
@pytest.mark.parametrize("part_rows_bits", [0, 3, 20])
@pytest.mark.parametrize("distinct", [2, 40])
@pytest.mark.parametrize("shift", [0, 4, 62])
def test_keys_that_differ_in_any_bit_share_no_bucket(rng, monkeypatch, n, part_rows_bits, distinct, shift):
    """Buckets are made of all 64 bits, however many of them the entries have room for, in few parts and in many."""
    monkeypatch.setattr(candidates, "PART_ROWS_BITS", part_rows_bits)
    table = keys(rng, n, 3, min(distinct, 4) if shift == 62 else distinct, shift)
    table[:, 1] = table[rng.permutation(n), 1] | np.uint64(1 << 63)
    expected, roots = by_dictionary(table)
    found = find_candidates(table.copy(), max_bucket=None)
    pairs = list(zip(found.left.tolist(), found.right.tolist(), strict=True))
    assert len(pairs) == len(set(pairs)), "a pair is listed twice"
    assert set(pairs) == expected
    assert found.roots.tolist() == roots
    some = find_candidates(table.copy(), max_bucket=max(1, n // 3))
    large = [
        np.flatnonzero(table[:, band] == key).tolist()
        for band in range(3)
        for key in np.unique(table[:, band])
        if (table[:, band] == key).sum() > max(1, n // 3)
    ]
    members = np.split(some.bucket_members, some.bucket_offsets[1:-1])
    assert sorted(m.tolist() for m in members if len(m)) == sorted(large)
    assert some.roots.tolist() == roots


def test_one_stranger_does_not_hide_a_large_bucket(rng):
    """A key that shares all but its lowest bit with a hundred equal ones makes no pair, whichever row it belongs to."""
    key = np.uint64(0xFEDCBA9876543210)
    for stranger in (0, 50, 100):
        table = np.full((101, 1), key)
        table[stranger] ^= np.uint64(1)
        found = find_candidates(table.copy(), max_bucket=50)
        assert found.bucket_members.tolist() == [row for row in range(101) if row != stranger]
        assert len(found.left) == 0
        assert found.roots[stranger] == stranger
        assert len(find_candidates(table, max_bucket=None).left) == 4950


def test_retired_keys_hide_no_pair_of_a_later_band(rng):
    """Row numbers, the smallest keys there are and the largest: no key stands for "no key"."""
    n = 64
    first = np.full(n, 9, np.uint64)
    first[40:] = np.arange(24, dtype=np.uint64)
    first[60:] = np.uint64(0xFFFFFFFFFFFFFFFF)
    second = np.tile(np.arange(32, dtype=np.uint64), 2)
    table = np.stack([first, second], 1)
    found = find_candidates(table.copy(), max_bucket=20)
    assert found.bucket_bands.tolist() == [0]
    expected = by_dictionary(table[:, 1:])[0] | set(combinations(range(60, 64), 2))
    assert set(zip(found.left.tolist(), found.right.tolist(), strict=True)) == expected


def test_reference_rows_are_not_paired_with_each_other(rng):
    table = keys(rng, 60, 3, 9)
    found = find_candidates(table.copy(), max_bucket=None, n_reference=25)
    assert set(zip(found.left.tolist(), found.right.tolist(), strict=True)) == by_dictionary(table, 25)[0]


def test_large_buckets_are_set_aside_whole(rng):
    table = keys(rng, 80, 3, 40)
    table[10:40, 1] = np.uint64(7) << np.uint64(40)
    found = find_candidates(table.copy(), max_bucket=12)
    assert found.bucket_bands.tolist() == [1]
    members = np.flatnonzero(table[:, 1] == np.uint64(7) << np.uint64(40))
    assert found.bucket_members.tolist() == members.tolist()
    pairs = set(zip(found.left.tolist(), found.right.tolist(), strict=True))
    inside = set(combinations(members.tolist(), 2))
    others = by_dictionary(np.delete(table, 1, 1))[0]
    assert others <= pairs, "a pair that another band holds is lost with the large bucket"
    assert pairs <= others | (by_dictionary(table)[0] - inside)
    assert found.roots.tolist() == by_dictionary(table)[1]


@pytest.mark.parametrize("max_pairs", [1, 5, 100])
def test_a_limit_cuts_and_says_so(rng, max_pairs):
    table = keys(rng, 100, 2, 3)
    found = find_candidates(table, max_bucket=None, max_pairs=max_pairs)
    assert len(found.left) == max_pairs
    assert found.cut
