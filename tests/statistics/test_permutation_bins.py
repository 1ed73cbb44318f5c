"""Bins of one true permutation: the estimate is unbiased, and errs by (32), at a small universe."""

import numpy as np
import pytest

from lookalike.sketches import PermutationBins
from lookalike.theory import one_permutation


@pytest.mark.parametrize(
    ("universe", "bins", "left", "right", "common"), [(32, 8, 12, 10, 7), (64, 16, 40, 36, 30), (24, 12, 6, 5, 2)]
)
def test_the_estimate_is_unbiased_with_the_variance_of_the_report(universe, bins, left, right, common):
    """(25), (26) and (32) at a small universe: within five standard errors, by 10,000 permutations of the library."""
    values = [*range(left), *range(left - common, left - common + right)]
    n, union = 10_000, left + right - common
    exact = common / union
    found = np.empty(n)
    for seed in range(n):
        scheme = PermutationBins(universe=universe, permutations=bins, seed=seed)
        found[seed] = scheme.sign_sets(values, [0, left, left + right]).estimated_resemblance(0, 1)
    expected = float(one_permutation.variance(exact, union, bins, universe))
    assert abs(found.mean() - exact) < 5 * (expected / n) ** 0.5
    fourth = ((found - found.mean()) ** 4).mean() / found.var() ** 2
    spread = 5 * ((fourth - 1) / n) ** 0.5
    assert abs(found.var() / expected - 1) < spread
    endless = float(one_permutation.variance(exact, union, bins))
    assert abs(endless / expected - 1) > spread, "members take places: fewer bins are empty than with hashes"
