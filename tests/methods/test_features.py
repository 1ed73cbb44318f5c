from collections import Counter
from fractions import Fraction

import numpy as np
from fingerprint_words import planted
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


def test_parallel_vectors_have_a_cosine_of_exactly_one(rng):
    for _ in range(20):
        row = rng.integers(0, 30, 50).tolist()
        vectors = rows_of_pieces([arrays([row * times for times in (1, 1, 2, 3, 7)])], COSINE)
        assert vectors.compare(np.zeros(4, np.int64), np.arange(1, 5), 1.0).tolist() == [1.0] * 4


@given(st.integers(1, 1 << 31), st.integers(1, 1 << 31), st.integers(0, 1 << 20))
def test_large_counts_lose_nothing_before_the_root(a, b, small):
    """Two features, with the counts (a, small) and (b, 0): products beyond 2^53 are added up exactly."""
    sizes, words = [a * a + small * small, b * b], np.array([a, small, b], np.uint64)
    rows = Rows(COSINE, np.array(sizes), np.array([0, 2, 3]), np.array([0, 1, 0], np.int32), words, np.empty(0))
    found = rows.compare(np.array([0]), np.array([1]), 0.0)[0]
    assert abs(found - float(Fraction(a * b) ** 2 / (sizes[0] * sizes[1])) ** 0.5) <= 4 * np.spacing(
        1.0
    ) and found <= 1 + np.spacing(1.0)


def test_fingerprints_score_by_their_distance(rng):
    left, right = every_pair(6)
    for bits in (64, 100, 128):
        words = planted(rng, 6, bits, bits // 2)
        distance = np.bitwise_count(words[left] ^ words[right]).sum(1)
        found = fingerprints_of_words(words, bits).compare(left, right, 0.9)
        assert found.tolist() == np.asarray(simhash.cosine(distance, bits)).tolist()


def test_no_piece_and_no_row():
    none, one = np.empty(0, np.int64), np.arange(1)
    for kind in (JACCARD, COSINE):
        for pieces in ([], [arrays([])]):
            rows = rows_of_pieces(pieces, kind)
            assert len(rows) == len(rows.compare(none, none, 0.5)) == 0
        assert rows_of_pieces([arrays([[], []])], kind).compare(one, one + 1, 0.0).tolist() == [-1.0]
