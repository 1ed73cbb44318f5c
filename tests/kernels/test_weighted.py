"""Sketches of weighted sets equal twins written from the paper."""

from itertools import pairwise

import numpy as np
import pytest
from naive import families as naive

import lookalike as la


@pytest.mark.parametrize("seed", [1, (1 << 64) - 1])
def test_consistent_weighted_samples_equal_twin(rng, seed):
    offsets = [0, 1, 3, 43]
    values, weights = rng.integers(0, 1 << 64, 43, dtype=np.uint64), rng.lognormal(0, 2, 43)
    sets = la.WeightedSets.from_arrays(values, weights, offsets)
    elements = list(zip(sets.values.tolist(), sets.weights.tolist(), strict=True))
    found = la.ICWS(permutations=16, seed=seed).sign(sets).values
    assert found.tolist() == [naive.icws(dict(elements[begin:end]), 16, seed) for begin, end in pairwise(offsets)]
