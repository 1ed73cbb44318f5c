from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from raising import assert_raises
from scipy import integrate, stats

import lookalike as la
from lookalike.errors import ParameterError
from lookalike.theory import banding, minhash, set_distance


def test_every_plan_reaches_its_recall():
    thresholds = [0.05, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.999, 1.0]
    for threshold, recall, permutations in product(thresholds, [0.5, 0.9, 0.99, 0.999], [None, 128, 1024]):
        try:
            plan = la.plan(threshold=threshold, recall=recall, permutations=permutations)
        except ParameterError:
            assert permutations is not None and banding.bands_for_recall(threshold, recall, 1) > permutations
            continue
        assert plan.recall_at_threshold >= recall
        assert plan.bands * plan.rows <= plan.permutations
        if plan.bands > 1:
            assert banding.candidate_probability(threshold, plan.bands - 1, plan.rows) < recall, "a band too many"


def test_curve_equals_the_binomial():
    """The upper tail of a binomial, however small."""
    r = np.array([0.01, *np.linspace(0, 1, 21)])
    for bands, rows in ((1, 1), (5, 3), (26, 8), (20, 10)):
        expected = stats.binom.sf(0, bands, r**rows)
        assert_allclose(banding.candidate_probability(r, bands, rows), expected, rtol=1e-12)


def test_mean_probability_is_the_integral():
    expected = integrate.quad(lambda s: 1 - (1 - s**8) ** 26, 0, 0.8)[0] / 0.8
    assert banding.mean_candidate_probability(0.8, 26, 8) == pytest.approx(expected, rel=1e-3)


def test_another_way_to_verify_is_refused():
    assert_raises(ParameterError, "verify", la.plan, verify="maybe")


def test_plan_chooses_an_archive_sketch():
    found = la.plan(threshold=0.8, standard_error=0.0265).sketch
    assert found.total_bits < 512, "512 single bits give .0265; four permutations a bit do better"
    assert found.standard_error <= 0.0265
    at_1 = la.plan(threshold=1.0, standard_error=0.001).sketch
    assert 0 < at_1.standard_error <= 0.001 and at_1.slots > 1, "at 1 every sketch would do"
    assert la.plan(threshold=0.5, sketch_bytes=64).sketch.total_bits == 512
    assert la.plan(threshold=0.5).sketch is None


def test_a_plan_states_bytes_of_a_document():
    """Of 16 bands of 6 rows: 8 for a key, 2 for a code, 4 for each of 256 slots of estimates, 64 besides."""
    plans = la.plan(), la.plan(threshold=0.8, verify="sketch")
    assert [plan.bytes_per_document for plan in plans] == [384, 1408]


def test_what_a_plan_says_of_pairs():
    plan = la.plan(threshold=0.7, bands=10, rows=3, documents=1000, verify="none")
    assert plan.recall_at(0.6) == pytest.approx(stats.binom.sf(0, 10, 0.6**3))
    assert plan.false_candidates == pytest.approx(499_500 * stats.binom.sf(0, 10, 0.03**3))


def test_the_largest_number_below_which_few_fall():
    """A tenth of the misses allowed, or what the plan has above its recall; without a plan one pair in ten thousand."""
    shapes = [(1, 1), (16, 6), (40, 3), (200, 13), (100, 100)]
    for threshold, (bands, rows), (recall, above) in product(
        [0.1, 0.5, 0.8, 0.95, 0.999], shapes, [(0.99, 0.002), (0.9, 1e-6), (0.999, 0.0005), (0.99, None)]
    ):
        planned = above and recall + above
        level = min((1 - recall) / 10, above) if above else 1e-4
        least = banding.least_agreeing(bands, rows, threshold, recall, planned)
        agree = threshold + (1 - threshold) / 16
        assert stats.binom.cdf(least - 1, bands * rows, agree) <= level * (1 + 1e-9)
        assert stats.binom.cdf(least, bands * rows, agree) > level * (1 - 1e-9)
    assert banding.least_agreeing(16, 6, 1.0, 0.99) == banding.least_agreeing(16, 6, 1.0, 0.99, 0.99) == 96
    assert banding.least_agreeing(16, 6, 0.8, 0.99, 0.99) == banding.least_agreeing(16, 6, 0.8, 0.99, 0.99 - 1e-12) == 0


def test_it_is_the_probability_of_the_model():
    crowded = np.arange(8) % 2 == 0
    # in the last case common slots alone agree in all that the resemblance allows
    for r, every, common in [(0.8, 3, 0.9), (0.5, 2, 0.75), (0.36, 6, 24 * 0.36 / 20)]:
        own = (np.arange(24) % every == 0).reshape(8, 3)
        o = own.sum()
        y = max(0.0, r - (1 - o / 24) * common) * 24 / o
        differ = 1 - np.where(own, y, common).prod(1)
        rare = 1 - (1 - y) ** 5  # of eight own codes five are held; independent of the bands, as in the formula
        missed = differ[~crowded].prod() * (1 - (1 - differ[crowded].prod()) * rare)
        assert banding.crowded_recall([own], [crowded], r, chosen=5) == pytest.approx(1 - missed, rel=1e-9)


def test_edges_of_the_recall_of_crowded_documents():
    own, crowded = np.ones((1, 8, 3), bool), np.ones((1, 8), bool)
    for r in (0.0, 0.3, 0.8, 1.0):
        plain = banding.candidate_probability(r, 8, 3)
        assert_allclose(banding.crowded_recall(own, ~crowded, r), plain, atol=1e-12)
    default, more = banding.crowded_recall(own, crowded, 0.1), banding.crowded_recall(own, crowded, 0.1, chosen=17)
    assert default == banding.crowded_recall(own, crowded, 0.1, chosen=16) != more
    # of two slots that agree in 0.3 of all the common one takes everything: 0.6
    assert banding.crowded_recall([[[True, False]]], [[False]], 0.3) == pytest.approx(0.0, abs=1e-12)
    assert banding.crowded_recall(~own, crowded, 0.7) == 0.0, "nothing is found where all is common"
    # identical documents share their own codes
    assert banding.crowded_recall(np.eye(24, dtype=bool)[:1].reshape(1, 8, 3), crowded, 1.0) == pytest.approx(1.0)


def test_identities_of_resemblance():
    left, right, common = 30, 50, 20
    r = common / (left + right - common)
    assert set_distance.distance(r, left, right) == pytest.approx(left + right - 2 * common)
    assert minhash.containment(r, left, right) == pytest.approx(common / left)
