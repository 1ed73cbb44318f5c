"""Retrieval of pairs of words: counted pair by pair, and foreseen by binomials."""

from math import comb

import numpy as np
import pytest
from bbit import all_pairs, wordsets

from lookalike.theory import bbit

TEXTS = [" ".join("abcdef"[i] for i in range(6) if (row >> i) & 1 or row % (i + 2) == 0) for row in range(40)]


@pytest.fixture
def sets():
    """Six words of one letter in the documents that have any."""
    return wordsets.word_sets(TEXTS, 40, 1, 6)


def test_tables_count_what_is_found(rng):
    estimates, exact = rng.random(500), rng.random(500)
    found, right = all_pairs._tables(all_pairs.levels(estimates), all_pairs.levels(exact))
    for i, threshold in enumerate(all_pairs.THRESHOLDS):
        assert found[i] == (estimates >= threshold).sum()
        assert right[i] == ((estimates >= threshold) & (exact >= threshold)).sum()


def test_prediction_is_a_sum_over_pairs(sets):
    k = 11
    found = all_pairs.predict(sets, 6, (k,))
    for bits in (1, 3, None):
        for i, threshold in ((0, 0.3), (2, 0.5)):
            total = {"found": 0.0, "right": 0.0}
            for left, right, common in zip(*sets.pairs(6), strict=True):
                f1, f2 = sets.sizes[left], sets.sizes[right]
                r, densities = common / (f1 + f2 - common), (f1 / sets.universe, f2 / sets.universe)
                e = r if bits is None else bbit.match_probability(r, bits, *densities)
                for matches in range(k + 1):
                    estimate = matches / k if bits is None else bbit.resemblance(matches / k, bits, *densities)
                    if estimate >= threshold:
                        share = comb(k, matches) * e**matches * (1 - e) ** (k - matches)
                        total["found"] += share
                        total["right"] += share * (r >= threshold)
            assert found["found"][bits][k][i] == pytest.approx(total["found"], rel=1e-9)
            assert found["right"][bits][k][i] == pytest.approx(total["right"], rel=1e-9)


def test_retrieval_counts_every_pair_once(sets):
    """With 499 minima of sets in a small universe, whole minima find nearly all that is there, and little else."""
    result = all_pairs.retrieve(sets, 6, 2)
    assert result.relevant[0] > result.relevant[-1]
    assert result.found[None][499].shape == (2, 6)
    assert result.right[1][53].shape == (16, 6)
    assert (result.right[None][499] <= np.minimum(result.found[None][499], result.relevant)).all()
    assert (result.found[1][11] <= 15).all()
    precision, error = result.precision(None)
    assert precision.shape == error.shape == (6, 6)
    lost, _ = result.compare("recall", None, None, 53)
    assert (lost == 0).all()


def test_samples_needed():
    assert all_pairs.samples_needed(np.array([0.1, 0.3, 0.5, 0.7, 0.9, 1.0]), 0.7) == pytest.approx(101)
    assert 53 < all_pairs.samples_needed(np.array([0.1, 0.3, 0.5, 0.7, 0.9, 1.0]), 0.6) < 101
    assert all_pairs.samples_needed(np.ones(6), 0.6) == 11
    assert all_pairs.samples_needed(np.full(6, 0.5), 0.6) == np.inf
