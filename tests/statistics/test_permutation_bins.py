import numpy as np
from theory.sampler import agrees

from lookalike.sketches import PermutationBins
from lookalike.theory import one_permutation


def test_the_estimate_is_unbiased_with_the_variance_of_the_report():
    """(25), (26) and (32)."""
    n = 10_000
    for universe, bins, left, right, common in [(32, 8, 12, 10, 7), (64, 16, 40, 36, 30), (24, 12, 6, 5, 2)]:
        values, union = [*range(left), *range(left - common, left - common + right)], left + right - common
        schemes = (PermutationBins(universe=universe, permutations=bins, seed=seed) for seed in range(n))
        signed = np.array([scheme.sign_sets(values, [0, left, left + right]).values for scheme in schemes])
        found, _ = PermutationBins(universe=universe, permutations=bins).estimate(signed[:, 0], signed[:, 1])
        expected, endless = (float(one_permutation.variance(common / union, union, bins, u)) for u in (universe, None))
        agrees(found, common / union, expected)
        assert abs(endless / expected - 1) > 5 * (2 / n) ** 0.5, "members take places: fewer bins are empty than with hashes"
