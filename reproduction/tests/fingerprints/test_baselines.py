"""Baselines of the thesis against their definitions."""

import numpy as np
from fingerprints.baselines import i_match, middle_lexicon, random_lexicons, spot_signatures

import lookalike as la


def sets_of(*rows):
    """Weighted sets of the given values as they are, ascending in each row."""
    values = np.array([v for row in rows for v in sorted(row)], np.uint64)
    return la.sketches.WeightedSets(values, np.ones(len(values), np.float32), np.cumsum([0, *map(len, rows)]))


def test_the_lexicon_leaves_out_the_rarest_and_the_most_frequent():
    rows = [[1, 2, 3, 4, 5], [2, 3, 4, 5], [3, 4, 5], [4, 5], [5]]  # 5 occurs five times, 1 once
    assert middle_lexicon(sets_of(*rows), share=0.6).tolist() == [2, 3, 4]


def test_signatures_are_equal_where_the_features_of_the_lexicon_are():
    features = sets_of([1, 2, 9], [1, 2, 8], [1, 3], [7], [6])
    codes = i_match(features, [np.array([1, 2]), np.array([1]), np.array([7])])
    assert codes[0, 0] == codes[1, 0] != codes[2, 0]
    assert codes[0, 1] == codes[1, 1] == codes[2, 1]
    assert len(set(codes[3:, 1].tolist())) == 2  # nothing of the lexicon: equal to none
    assert len(set(codes[:, 2].tolist())) == 5


def test_random_lexicons_are_parts_that_differ():
    lexicon = np.arange(10_000)
    parts = random_lexicons(lexicon, 3, keep=0.7)
    assert all(np.isin(part, lexicon).all() and abs(len(part) - 7000) < 5 * (10_000 * 0.21) ** 0.5 for part in parts)
    assert not np.array_equal(parts[0], parts[1])


def test_spot_signatures_are_chains_after_stop_words():
    texts = ["At a rally to kick off the weeks long campaign", "a rally kick the weeks long"]
    spots = spot_signatures(texts, ("a", "the", "to", "at"), chain=2)
    one, two = (spots.values[spots.offsets[row] : spots.offsets[row + 1]] for row in (0, 1))
    chains = {"at rally kick", "a rally kick", "to kick off", "the weeks long"}
    assert len(set(one.tolist())) == len(chains)
    assert len(np.intersect1d(one, two)) == 2  # "a rally kick" and "the weeks long"
