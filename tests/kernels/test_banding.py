"""Candidates equal the pairs that share a key, found by dictionaries."""

from itertools import combinations

import numpy as np
import pytest

from semblance.search.banding import find_candidates


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


def keys(rng, n, bands, distinct):
    """Keys that differ in their upper bits, as hashes do."""
    return rng.integers(0, distinct, (n, bands), dtype=np.uint64) << np.uint64(40)


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
