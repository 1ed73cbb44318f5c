"""The kernels that walk, resolve and count, against plain Python."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from conftest import JIT_OFF

from lookalike.kernels.resemblance import FINGERPRINTS, Rows, count_rows
from lookalike.kernels.walk import resolve, walk_bundles

NONE = np.empty(0, np.int32)


def scored_by_bits(words):
    """Rows of which two that differ in d bits have the score 1 - d / 64."""
    n = len(words)
    return Rows(np.ones(n, np.int64), np.arange(n + 1), NONE, words, 1 - np.arange(65) / 64, FINGERPRINTS)


def run_walk(bounds, orders, partners, words, boundary, threshold, every):
    offsets = np.cumsum([0, *map(len, partners)])
    flat = np.array([p for row in partners for p in row], np.int64)
    out = np.empty(len(flat), np.int64), np.empty(len(flat), np.int64), np.empty(len(flat))
    removed = np.ones(len(orders), np.bool_)
    count = walk_bundles(np.array(bounds), np.array(orders), offsets, flat, scored_by_bits(words), boundary, threshold, every,
                         removed, *out)  # fmt: skip
    return count, list(zip(*(a[: max(0, count)].tolist() for a in out), strict=True)), removed.tolist()


@pytest.mark.parametrize("every", [False, True])
def test_bundles_are_walked_as_defined(rng, every):
    for _ in range(5 if JIT_OFF else 100):
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
        assert run_walk(bounds, orders, partners, words, boundary, 63 / 64, every) == (len(expected), expected, gone)


@pytest.mark.parametrize("partner", [-1, 1, 2, 5, 7, 9])
def test_a_partner_that_is_not_there_is_told(partner):
    """Orders 2 and 5 are in another bundle, 7 is the row itself, 9 comes later."""
    words = np.zeros(5, np.uint64)
    assert run_walk([0, 2, 5], [2, 5, 3, 7, 9], [[], [], [], [partner], []], words, 0, 0.5, False)[0] == -1


def test_resolve_equals_a_set(rng):
    for _ in range(5 if JIT_OFF else 100):
        pairs = sorted({(int(b), int(a)) for a, b in np.sort(rng.integers(0, 30, (40, 2)), axis=1) if a < b})
        boundary, bits = int(rng.integers(0, 12)), np.zeros(4, np.uint8)
        removed, expected = set(), []
        for right, left in pairs:
            expected.append(left not in removed)
            if expected[-1] and right >= boundary:
                removed.add(right)
        left, right = (np.array([pair[i] for pair in pairs]) for i in (1, 0))
        kept = np.empty(len(pairs), np.bool_)
        for begin, end in ((0, 10), (10, len(pairs))):
            resolve(left[begin:end], right[begin:end], boundary, bits, kept[begin:end])
        assert kept.tolist() == expected
        assert np.flatnonzero(np.unpackbits(bits, bitorder="little")).tolist() == sorted(removed)


def test_rows_are_counted_in_ascending_order(rng):
    """Numbers that ascend, fall and repeat; a row of none."""
    rows = [[3, 1, 3], [], [0, 2, 5], [5, 5, 5, 5], rng.integers(0, 6, 30).tolist()]
    numbers, offsets = np.concatenate(rows).astype(np.int32), np.cumsum([0, *map(len, rows)])
    sizes, bounds = np.empty(5, np.int64), np.empty(6, np.int64)
    columns, counts = np.empty(len(numbers), np.int32), np.empty(len(numbers), np.uint64)
    count_rows(numbers, offsets, np.zeros(6, np.uint64), np.full(30, -1), sizes, bounds, columns, counts)
    for i, row in enumerate(rows):
        found = list(zip(columns[bounds[i] : bounds[i + 1]].tolist(), counts[bounds[i] : bounds[i + 1]].tolist(), strict=True))
        assert found == sorted(Counter(row).items()) and sizes[i] == sum(c * c for c in Counter(row).values())
