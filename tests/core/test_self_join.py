from itertools import combinations, product

import numpy as np
import pytest
from fingerprint_words import as_ints, planted, triples
from naive import hamming as naive
from numpy.testing import assert_array_equal

from lookalike.search import HammingIndex, self_join
from lookalike.theory import blocks as theory


def test_every_design_finds_each_pair_once(rng):
    for bits, radius in product([7, 8, 32, 64, 128], [0, 1, 2, 3, 5]):
        words = np.unique(planted(rng, 90, bits, min(bits - 1, radius + 1), 2 / 3, 1), axis=0)
        numbers = as_ints(words)
        expected = sorted((i, j, d) for (i, j), d in naive.within(numbers, numbers, radius).items() if i < j)
        designs = theory.join_designs(bits, radius)
        assert (len(designs) > 3 or bits < 32) and theory.join_candidates(100.0, bits, *designs[0]) == 100 * 100 / 2, (
            "all with all"
        )
        for blocks, choices in designs:
            masks = self_join.block_masks(bits, blocks, choices)
            parts = [self_join._join_table(words, masks, radius, self_join.MOST, table)[:3] for table in range(len(masks))]
            found = sorted(zip(*(np.concatenate(p).tolist() for p in zip(*parts, strict=True)), strict=True))
            assert found == expected, (blocks, len(choices))


def test_threads_change_nothing_and_a_limit_ends_the_search(rng):
    words = np.unique(planted(rng, 200, 64, 4, 2 / 3, 1), axis=0)
    whole, shared = (self_join.near_pairs(words, 64, 3, threads=threads) for threads in (1, 2))
    assert_array_equal(whole[:3], shared[:3])
    assert len(self_join.near_pairs(words, 64, 3, limit=20)[0]) < len(whole[0]), "one more tells that there are more"


def test_steiner_system_leaves_a_choice_untouched():
    """Any three blocks lie outside exactly one of 14 choices, any two outside three, any one outside seven."""
    assert len(theory.STEINER) == 14 and all(len(set(c)) == 4 for c in theory.STEINER)
    for touched, untouched in ((3, 1), (2, 3), (1, 7)):
        for blocks in combinations(range(8), touched):
            assert sum(not set(choice) & set(blocks) for choice in theory.STEINER) == untouched


def test_expected_comparisons():
    designs = {len(choices): (blocks, choices) for blocks, choices in theory.join_designs(64, 3)}
    for tables, expected in [(14, 7.3e6), (20, 1.15e7), (10, 4.7e8), (4, 1.37e11)]:
        assert theory.join_candidates(2.0**26, 64, *designs[tables]) == pytest.approx(expected, rel=0.01)


def test_a_limit_bounds_the_pairs_of_equal_and_of_near_fingerprints(rng):
    index = HammingIndex(radius=2).add(np.repeat(planted(rng, 60, 64, 2), [1, 3] * 30, axis=0))
    every, same = triples(index.pairs()), HammingIndex(radius=2).add(np.zeros(50_000, np.uint64))
    for limit in (1, 7, 100, 10**6):
        some, equal = triples(index.pairs(limit=limit)), same.pairs(limit=limit)
        assert len(some) == min(limit, len(every)) and set(some) <= set(every) and len(every) > 100
        assert len(equal) == limit and (equal.left < equal.right).all() and (equal.distance == 0).all()
