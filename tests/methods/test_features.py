"""Vectors of feature counts and fingerprints against arithmetic with Python's integers."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.core import Rows
from lookalike.methods.method import COSINE, JACCARD, fingerprints_of_words, rows_of_pieces
from lookalike.theory import simhash

texts = st.lists(st.lists(st.integers(0, 9), max_size=20), min_size=1, max_size=8)


def arrays(rows):
    return np.array([x for row in rows for x in row], np.uint64), np.cumsum([0, *map(len, rows)])


def every_pair(n):
    return tuple(side.ravel() for side in np.indices((n, n)))


def cosine(a, b):
    """Of two counters; -1 where one is empty."""
    if not a or not b:
        return -1.0
    dot = sum(a[x] * b[x] for x in a)
    return dot / float(np.sqrt(float(sum(c * c for c in a.values()) * sum(c * c for c in b.values()))))


@settings(max_examples=150)
@given(texts, st.integers(0, 7))
def test_cosines_equal_integer_arithmetic_however_rows_come(rows, cut):
    left, right = every_pair(len(rows))
    counters = [Counter(row) for row in rows]
    expected = [cosine(counters[a], counters[b]) for a, b in zip(left, right, strict=True)]
    cut = min(cut, len(rows))
    for pieces in ([rows], [rows[:cut], rows[cut:]]):
        assert rows_of_pieces(map(arrays, pieces), COSINE).compare(left, right, 0.5).tolist() == expected


@pytest.mark.parametrize("times", [2, 3, 7])
def test_parallel_vectors_have_a_cosine_of_exactly_one(rng, times):
    for _ in range(20):
        row = rng.integers(0, 30, 50).tolist()
        vectors = rows_of_pieces([arrays([row, row, row * times])], COSINE)
        assert vectors.compare(np.array([0, 0]), np.array([1, 2]), 1.0).tolist() == [1.0, 1.0]


@given(st.integers(1, 1 << 31), st.integers(1, 1 << 31), st.integers(0, 1 << 20))
def test_large_counts_lose_nothing_before_the_root(a, b, small):
    """Two features, with the counts (a, small) and (b, 0): products beyond 2^53 are added up exactly."""
    sizes = np.array([a * a + small * small, b * b])
    words = np.array([a, small, b], np.uint64)
    rows = Rows(COSINE, sizes, np.array([0, 2, 3]), np.array([0, 1, 0], np.int32), words, np.empty(0))
    found = rows.compare(np.array([0]), np.array([1]), 0.0)[0]
    squared = Fraction(a * b) ** 2 / (int(sizes[0]) * int(sizes[1]))
    assert abs(found - float(squared) ** 0.5) <= 4 * np.spacing(1.0) and found <= 1 + np.spacing(1.0)


@pytest.mark.parametrize("bits", [64, 100, 128])
def test_fingerprints_score_by_their_distance(rng, bits):
    words = rng.integers(0, 1 << 63, (6, -(-bits // 64)), dtype=np.uint64)
    words[:, -1] &= np.uint64((1 << (bits - 64 * (words.shape[1] - 1))) - 1)
    left, right = every_pair(6)
    distance = np.bitwise_count(words[left] ^ words[right]).sum(1)
    found = fingerprints_of_words(words, bits).compare(left, right, 0.9)
    assert found.tolist() == np.asarray(simhash.cosine(distance, bits)).tolist()


@pytest.mark.parametrize("kind", [JACCARD, COSINE])
def test_no_piece_and_no_row(kind):
    for pieces in ([], [arrays([])]):
        rows = rows_of_pieces(pieces, kind)
        assert len(rows) == 0
        assert len(rows.compare(np.empty(0, np.int64), np.empty(0, np.int64), 0.5)) == 0
    empties = rows_of_pieces([arrays([[], []])], kind)
    assert empties.compare(np.array([0]), np.array([1]), 0.0).tolist() == [-1.0]
