import numpy as np
import pytest
from raising import assert_raises
from scipy import stats

from lookalike.errors import ParameterError
from lookalike.theory import containment as theory
from lookalike.theory.banding import binomial

CASES = [(t, r) for t in (0.1, 0.3, 0.5, 0.8, 0.9, 0.97, 1.0) for r in (0.5, 0.9, 0.99, 0.999)]


def test_binomial():
    for n, p in [(0, 0.3), (1, 0.5), (32, 0.9), (127, 0.01), (32, 0.0), (32, 1.0)]:
        assert binomial(n, p) == pytest.approx(stats.binom.pmf(np.arange(n + 1), n, p), rel=1e-9)


def test_as_many_of_a_sample_are_asked_for_as_the_recall_allows():
    """Of short documents, which are their own sample, the threshold itself."""
    for threshold, recall in [*CASES, (0.28, 0.9), (0.56, 0.9)]:  # 25 times these is rounded up
        sample, least = theory.plan_sample(threshold, recall)
        reached = [stats.binom.sf(some - 1, sample, threshold) for some in (least, least + 1)]
        assert theory.sample_recall(threshold, sample, least) == pytest.approx(reached[0], rel=1e-9)
        assert theory.sample_recall(threshold, sample, least) >= recall
        assert least + 1 > sample * threshold or reached[1] < recall
        assert sample == 32 or stats.binom.sf(0, sample - 1, threshold) < recall
        needed, sizes = theory.least_shared(threshold, sample, least), np.arange(1, sample)
        assert needed.shape == (sample + 1,) and needed[sample] == least
        assert (needed[1:-1] / sizes >= threshold - 1e-12).all() and (threshold > (needed[1:-1] - 1) / sizes - 1e-12).all()


def test_shingles_that_tell_nothing_cost_no_more_than_stated():
    """At worst they are those that are shared, so that more than these must be."""
    for threshold, recall in [(0.5, 0.9), (0.8, 0.99), (0.9, 0.99)]:
        sample, least = theory.plan_sample(threshold, recall)
        known, needed = theory.crowded_recall(threshold, sample, least), theory.least_shared(threshold, sample, least)
        nothing = np.arange(sample + 1)
        expected = stats.binom.sf(np.maximum(least, nothing + 1) - 1, sample, threshold)
        assert known[sample] == pytest.approx(expected, rel=1e-9, abs=1e-12)
        for size in range(1, sample):
            assert known[size].tolist() == [1.0 if u < needed[size] else 0.0 for u in range(sample + 1)]


def test_a_recall_that_is_just_reached_is_enough():
    """Rounded, what is stated is below or above what is computed."""
    for t in (0.03, 0.05):
        for sample in range(33, 128):
            assert theory.plan_sample(t, 1.0 - (1.0 - t) ** sample) == (sample, 1)
    for t in (0.5, 0.7, 0.9):
        for least in range(int(32 * t) - 6, int(32 * t) + 1):
            assert theory.plan_sample(t, float(stats.binom.sf(least - 1, 32, t))) == (32, least)
    assert theory.plan_sample(0.036, 0.99) == (126, 1)
    assert_raises(
        ParameterError,
        "recall 0.99 by 127 sampled shingles of a document: 152 are needed; raise",
        theory.plan_sample,
        0.03,
        0.99,
    )


def test_rare_shingles_find_a_crowded_document_as_often_as_its_sample_would():
    """The chance, hypergeometric, that all that are looked for are lacking, where as many as may be lack, all of them rare."""
    for threshold, recall in CASES:
        sample, least = theory.plan_sample(threshold, recall)
        sizes, shares = (
            part.ravel() for part in np.meshgrid([1, 2, 10, sample, sample + 1, 200, 3000], [0, 0.05, 0.2, 0.5, 1])
        )
        few = (sizes * shares).astype(np.int64)
        rare, drawn = theory.looked_for(threshold, sample, least, sizes, few)
        lacking = sizes - np.maximum(1, np.ceil(threshold * sizes - 1e-9).astype(np.int64))
        assert (drawn >= 1).all() and (drawn <= rare).all() and (rare <= sizes).all()
        assert (rare[few > lacking] == few[few > lacking]).all()
        missed = stats.hypergeom.pmf(0, rare, rare - lacking, drawn)
        assert (missed <= 1 - theory.sample_recall(threshold, sample, least) + 1e-12).all()
        assert (missed[sizes <= sample] == 0).all()
        one_less = (lacking / rare) ** (drawn - 1)
        assert (
            one_less[(drawn > 1) & (sizes > sample)] > (1 - theory.sample_recall(threshold, sample, least)) * (1 - 1e-9)
        ).all()
