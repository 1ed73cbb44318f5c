"""Loops written out in plain Python find what the library's find, and their steps are those of what they are said to do."""

from math import log2

import numpy as np
import pytest
from fingerprint_words import triples
from matching import counts as counting

import lookalike as la

N, M = 1 << 11, 40


@pytest.fixture
def drawn(rng):
    words = rng.integers(0, 1 << 64, N, dtype=np.uint64)
    queries = np.concatenate([words[: M // 2] ^ np.uint64(1), rng.integers(0, 1 << 64, M - M // 2, dtype=np.uint64)])
    return words, queries, rng.normal(0, 1, (M, 64)).astype(np.float32)


@pytest.mark.parametrize(
    "index",
    [
        la.search.TableIndex(radius=3, lookup="binary"), la.search.TableIndex(radius=3, blocks=5, lead=2), la.search.WeakBitIndex(radius=3, probes=7),
    ],
    ids=["binary", "prefix", "weak"],
)  # fmt: skip
def test_counting_changes_no_answer(drawn, index):
    words, queries, margins = drawn
    index.add(words)
    expected, first = index.query(queries, margins), index.first(queries, margins)
    compiled = index.compared
    with counting.counted_searches() as counts:
        assert triples(index.query(queries, margins)) == triples(expected)
        assert index.first(queries, margins).tolist() == first.tolist()
    assert index.compared == 2 * compiled and counts.total() > 0
    assert index.query(queries, margins).distance.size and not (counts.total() < M), "and the library's are back afterwards"


def test_a_bisection_halves_what_is_left(drawn):
    """Between log2 n and one more; a scan from the beginning would read n / 2."""
    words, queries, _ = drawn
    index = la.search.TableIndex(radius=3, lookup="binary").add(words)
    with counting.counted_searches() as counts:
        index.query(queries)
    looked_up = 4 * M
    steps = counts["keys"] - looked_up - 2 * index.compared
    assert log2(N) <= steps / looked_up <= log2(N) + 1
    assert counts["offsets"] == 0


def test_each_probe_is_one_look_up(drawn):
    words, queries, margins = drawn
    index = la.search.WeakBitIndex(radius=3, probes=9, prefix_bits=8).add(words)
    with counting.counted_searches() as counts:
        index.query(queries, margins)
    assert counts["wanted"] == 9 * M
    assert counts["offsets"] == 2 * 9 * M
    index = la.search.TableIndex(radius=3).add(words)
    with counting.counted_searches() as counts:
        index.query(queries)
    assert counts["offsets"] == 4 * M


def test_bits_are_ordered_by_insertion():
    """As many comparisons as inversions, and one for each bit before which a smaller one stands."""
    for values, inversions in (([1, 2, 3, 4], 0), ([4, 3, 2, 1], 6), ([-2, 1, 4, -3], 2)):
        stops = sum(any(abs(v) <= abs(w) for v in values[:i]) for i, w in enumerate(values))
        margins = np.array([values], np.float32)
        assert counting.ranking_steps(margins, 4).tolist() == [inversions + stops]
        assert counting.ranking_steps(margins, 1).tolist() == [0]
    assert counting.ranking_steps(np.array([[1, 2, 3, 4]], np.float32), 4, 1).tolist() == [3], (
        "the weakest alone: a look at each"
    )


def test_a_heap_takes_logarithmic_steps(rng):
    costs = np.sort(rng.random((3, 26)), axis=1)
    few, many = (counting.heap_steps(costs, probes, 3).mean() for probes in (40, 1280))
    assert 32 < many / few < 32 * log2(1280) / log2(40) * 1.2, "a list that is searched would take 1,024 times as many"
    assert counting.heap_steps(costs, 1, 3).tolist() == [0, 0, 0]
