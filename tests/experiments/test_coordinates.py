"""The sketch of sampled coordinates: its two ways of storage, its estimate, and its law."""

import numpy as np
import pytest
from bbit.coordinates import CoordinateSample, prefix_distances


def test_a_sample_of_all_coordinates_gives_the_exact_distance():
    sample = CoordinateSample(50, np.random.default_rng(1).permutation(50))
    left, right = np.arange(0, 30), np.arange(20, 45)
    assert sample.distance_dense(sample.dense(left), sample.dense(right)) == 35.0
    assert sample.distance_sparse(sample.sparse(left), sample.sparse(right)) == 35.0


@pytest.mark.parametrize("replacement", [False, True])
def test_both_ways_of_storage_agree(replacement):
    rng = np.random.default_rng(2)
    left, right = rng.choice(1000, 300, replace=False), rng.choice(1000, 200, replace=False)
    sample = CoordinateSample.draw(rng, 1000, 77, replacement=replacement)
    assert (len(np.unique(sample.places)) == 77) is not replacement
    dense, sparse = ([sketch(left), sketch(right)] for sketch in (sample.dense, sample.sparse))
    assert len(dense[0]) == 10, "77 bits"
    assert len(sparse[0]) == np.isin(sample.places, left).sum()
    differing = np.isin(sample.places, left) ^ np.isin(sample.places, right)
    assert sample.distance_dense(*dense) == sample.distance_sparse(*sparse) == differing.sum() * 1000 / 77


def test_prefixes_are_samples_themselves():
    rng = np.random.default_rng(3)
    found = prefix_distances(rng, 40, np.arange(10), np.arange(5, 20), np.array([1, 8, 40]), 4000)
    assert (found[2] == 15.0).all(), "all coordinates, without replacement"
    assert set(np.unique(found[0])) == {0.0, 40.0}
    p, k = 15 / 40, 8
    variance = 40**2 * p * (1 - p) / k * (40 - k) / 39
    assert abs(found[1].mean() - 15) < 4 * (variance / 4000) ** 0.5
    assert abs(found[1].var() / variance - 1) < 4 * (2 / 4000) ** 0.5
    again = prefix_distances(rng, 40, np.arange(10), np.arange(5, 20), np.array([40]), 2000, replacement=True)
    assert abs(again.var() / (40**2 * p * (1 - p) / 40) - 1) < 4 * (2 / 2000) ** 0.5
