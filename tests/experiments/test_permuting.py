"""Minima under Fisher-Yates shuffles have the law of uniformly random permutations."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from permuting import permuted_minima


def test_minima_have_the_law_of_all_permutations():
    left, right = np.array([0, 1]), np.array([1, 2])
    law = Counter((min(p[x] for x in left), min(p[x] for x in right)) for p in permutations(range(5)))
    n = 200_000
    one, other = permuted_minima(np.random.default_rng(1), 5, left, right, n)
    found = Counter(zip(one.tolist(), other.tolist(), strict=True))
    assert set(found) == set(law)
    for places, count in law.items():
        p = count / 120
        assert abs(found[places] / n - p) < 5 * (p * (1 - p) / n) ** 0.5, places


def test_successive_permutations_do_not_depend_on_each_other():
    one, _ = permuted_minima(np.random.default_rng(2), 6, np.array([3]), np.array([3]), (50_000, 2))
    together = np.histogram2d(one[:, 0], one[:, 1], bins=6)[0]
    assert (np.abs(together - 50_000 / 36) < 5 * (50_000 / 36) ** 0.5).all()


def test_shape_and_empty_sets():
    one, other = permuted_minima(np.random.default_rng(3), 10, np.arange(10), np.arange(10), (3, 4))
    assert one.shape == other.shape == (3, 4) and not one.any() and not other.any()
    with pytest.raises(ValueError, match="empty"):
        permuted_minima(np.random.default_rng(3), 10, np.arange(0), np.arange(3), 2)
