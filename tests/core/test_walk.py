"""The walk and what resolves matches, against plain Python."""

from itertools import pairwise

import numpy as np
import pytest

from lookalike.core import Resolver, Rows
from lookalike.methods.method import FINGERPRINTS


def run_walk(bounds, orders, partners, words, boundary, threshold, every):
    """Walk rows of which two that differ in d bits have the score 1 - d / 64."""
    n, offsets = len(words), np.cumsum([0, *map(len, partners)])
    flat = np.array([p for row in partners for p in row], np.int64)
    rows = Rows(FINGERPRINTS, np.ones(n, np.int64), np.arange(n + 1), np.empty(0, np.int32), words, 1 - np.arange(65) / 64)
    found = rows.walk(np.array(bounds), np.array(orders), offsets, flat, boundary, threshold, every)
    return list(zip(*(column.tolist() for column in found), strict=True))


@pytest.mark.parametrize("every", [False, True])
def test_bundles_are_walked_as_defined(rng, every):
    for _ in range(100):
        n = int(rng.integers(1, 20))
        bounds = [0, *sorted(set(rng.integers(1, n + 1, 2).tolist()) - {n}), n]
        orders = np.concatenate([np.sort(rng.choice(50, b - a, replace=False)) for a, b in pairwise(bounds)])
        words = rng.integers(0, 8, n, dtype=np.uint64)
        begin = [max(b for b in bounds if b <= row) for row in range(n)]
        earlier = [[orders[o] for o in range(begin[row], row) if rng.random() < 0.7] for row in range(n)]
        partners = [rng.permutation(row).tolist() for row in earlier]
        boundary = int(rng.integers(0, 20))
        expected, gone = [], [False] * n
        for row in range(n):
            for partner in partners[row]:
                other = begin[row] + orders[begin[row] : row].tolist().index(partner)
                score = 1 - int(words[row] ^ words[other]).bit_count() / 64
                if orders[row] >= boundary and (every or not gone[other]) and score >= 63 / 64:
                    expected.append((partner, orders[row], score))
                    gone[row] |= not gone[other]
        assert run_walk(bounds, orders, partners, words, boundary, 63 / 64, every) == expected


def test_a_partner_that_is_not_there_is_told():
    """Orders 2 and 5 are in another bundle, 7 is the row itself, 9 comes later."""
    for partner in [-1, 1, 2, 5, 7, 9]:
        words = np.zeros(5, np.uint64)
        with pytest.raises(RuntimeError, match="not in the bundle"):
            run_walk([0, 2, 5], [2, 5, 3, 7, 9], [[], [], [], [partner], []], words, 0, 0.5, False)


def test_resolve_equals_a_set(rng):
    for _ in range(100):
        pairs = sorted({(int(b), int(a)) for a, b in np.sort(rng.integers(0, 30, (40, 2)), axis=1) if a < b})
        boundary = int(rng.integers(0, 12))
        removed, expected = set(), []
        for right, left in pairs:
            expected.append(left not in removed)
            if expected[-1] and right >= boundary:
                removed.add(right)
        left, right = (np.array([pair[i] for pair in pairs]) for i in (1, 0))
        resolver, kept = Resolver(boundary), []
        for begin, end in ((0, 10), (10, 10), (10, len(pairs))):
            kept += resolver.resolve(left[begin:end], right[begin:end]).view(np.bool_).tolist()
        assert kept == expected
