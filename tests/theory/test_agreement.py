"""How many codes a pair must share, and how many pairs of crowds are found: the limits, and simulations."""

import numpy as np
import pytest
from scipy.stats import binom

from lookalike.planner import plan
from lookalike.theory import banding


@pytest.mark.parametrize("threshold", [0.1, 0.5, 0.8, 0.95, 0.999])
@pytest.mark.parametrize("bands, rows", [(1, 1), (16, 6), (40, 3), (200, 13)])
@pytest.mark.parametrize("recall, above", [(0.99, 0.002), (0.9, 1e-6), (0.999, 0.0005)])
def test_the_largest_number_below_which_few_fall(threshold, bands, rows, recall, above):
    least = banding.least_agreeing(bands, rows, threshold, recall, recall + above)
    agree = threshold + (1 - threshold) / 16
    level = min((1 - recall) / 10, above)
    assert binom.cdf(least - 1, bands * rows, agree) <= level * (1 + 1e-9)
    assert binom.cdf(least, bands * rows, agree) > level * (1 - 1e-9)


def test_known_numbers_and_limits():
    chosen = plan(threshold=0.8, recall=0.99)
    assert (chosen.bands, chosen.rows) == (16, 6)
    assert banding.least_agreeing(16, 6, 0.8, 0.99, chosen.recall_at_threshold) == 65
    assert banding.least_agreeing(16, 6, 0.8, 0.99) == banding.least_agreeing(16, 6, 0.8, 0.999, 1.0) == 63
    assert banding.least_agreeing(16, 6, 1.0, 0.99) == 96
    assert banding.least_agreeing(16, 6, 0.8, 0.99, 0.99) == banding.least_agreeing(16, 6, 0.8, 0.99, 0.99 - 1e-12) == 0


def test_without_crowds_it_is_the_candidate_probability(rng):
    own, crowded = np.ones((1, 16, 6), bool), np.zeros((1, 16), bool)
    for r in (0.0, 0.3, 0.8, 1.0):
        np.testing.assert_allclose(banding.crowded_recall(own, crowded, r), banding.candidate_probability(r, 16, 6), atol=1e-12)


def test_each_crowd_lowers_it_and_nothing_is_found_where_all_is_common(rng):
    own = rng.random((50, 8, 3)) < 0.4
    crowded = np.zeros((50, 8), bool)
    last = banding.crowded_recall(own, crowded, 0.7)
    for band in range(8):
        crowded[:, band] = True
        found = banding.crowded_recall(own, crowded, 0.7)
        assert (found <= last + 1e-12).all() and (found >= 0).all()
        last = found
    assert banding.crowded_recall(np.zeros((1, 8, 3), bool), np.ones((1, 8), bool), 0.7) == 0.0
    # identical documents share their own codes
    assert banding.crowded_recall(np.eye(24, dtype=bool)[:1].reshape(1, 8, 3), np.ones((1, 8), bool), 1.0) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("r", "every", "common"),
    [
        (0.8, 3, 0.9),
        (0.5, 2, 0.75),
        (0.36, 6, 24 * 0.36 / 20),  # common slots alone agree in all that the resemblance allows
    ],
)
def test_it_is_the_probability_of_the_model(rng, r, every, common):
    """Slots agree by the model's probabilities; a pair is found in a small band, or in a crowd if rare codes are shared."""
    own = (np.arange(24) % every == 0).reshape(1, 8, 3)
    crowded = (np.arange(8) % 2 == 0)[None]
    n, o = 100_000, own.sum()
    y = max(0.0, r - (1 - o / 24) * common) * 24 / o
    agree = rng.random((n, 8, 3)) < np.where(own, y, common)
    bands = agree.all(2)
    rare = (rng.random((n, 5)) < y).any(1)  # of eight own codes five are held; independent of the bands, as in the formula
    found = (bands & ~crowded).any(1) | (bands & crowded).any(1) & rare
    p = banding.crowded_recall(own, crowded, r, chosen=5)[0]
    assert abs(found.mean() - p) < 5 * np.sqrt(p * (1 - p) / n)
    assert banding.crowded_recall(own, crowded, r) == banding.crowded_recall(own, crowded, r, chosen=16)


def test_without_a_plan_one_pair_in_ten_thousand_may_have_fewer():
    least = banding.least_agreeing(100, 100, 0.5, 0.99)
    agree = 0.5 + 0.5 / 16
    assert binom.cdf(least - 1, 10_000, agree) <= 1e-4 < binom.cdf(least, 10_000, agree)
    assert binom.cdf(least, 10_000, agree) < 1.1e-4 or binom.cdf(least - 1, 10_000, agree) > 0.9e-4


def test_sixteen_rare_codes_and_a_single_common_slot():
    own, crowded = np.ones((1, 8, 3), bool), np.ones((1, 8), bool)
    default, more = banding.crowded_recall(own, crowded, 0.1), banding.crowded_recall(own, crowded, 0.1, chosen=17)
    assert default == banding.crowded_recall(own, crowded, 0.1, chosen=16) != more
    # of two slots that agree in 0.3 of all the common one takes everything: 0.6
    assert banding.crowded_recall([[[True, False]]], [[False]], 0.3) == pytest.approx(0.0, abs=1e-12)
