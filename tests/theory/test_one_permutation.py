from collections import Counter
from itertools import combinations, permutations, product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from raising import assert_raises
from theory.sampler import agrees, mean_and_variance, minima

from lookalike.errors import ParameterError
from lookalike.theory import bbit, set_distance
from lookalike.theory import one_permutation as oph

RATIOS = [(8, 0.582, 7.135, 1.455), (16, 0.554, 3.809, 1.325), (32, 0.558, 2.025, 1.156), (64, 0.590, 1.151, 0.952),
          (128, 0.661, 0.812, 0.793)]  # fmt: skip


def test_variances_of_the_kinds():
    """Ratios to R (1 - R) / t at t = 64, R = .5 of an independent computation, confirmed by its simulation."""
    for union, *ratios in RATIOS:
        found = (
            oph.variance(0.5, union, 64),
            *(oph.densified_variance(0.5, union, 64, kind) for kind in ("rotation", "optimal")),
        )
        assert_allclose(np.array(found) * 64 / 0.25, ratios, rtol=0, atol=6e-4)


def test_hamming_by_sampling():
    """With replacement; without it ``test_edges.py`` holds them."""
    universe, distance, k = 5000, 600, 400
    estimates = set_distance.sampling_estimate(np.arange(k + 1), universe, k)
    expected = distance, set_distance.sampling_variance(distance, universe, k)
    assert mean_and_variance(estimates, k, distance / universe) == pytest.approx(expected, rel=1e-9)


def test_hamming_identities_and_theorem_3():
    r, tiny = np.linspace(0, 1, 11), 1e-9
    assert_allclose(set_distance.resemblance(set_distance.distance(r, 30, 50), 30, 50), r)
    for bits in (1, 2, 4):
        limit, a = set_distance.sparse_sampling_ratio_limit(r, bits), 2.0**bits
        assert_allclose(set_distance.sparse_sampling_ratio(r[1:-1], bits, tiny, tiny), limit[1:-1], rtol=1e-6)
        assert limit[[0, -1]] == pytest.approx([8 * (a - 1) / bits, 64 * (a - 1) / (bits * a)])
    assert_allclose(set_distance.sparse_sampling_ratio_limit(r, 1), 8 * (1 + r) ** 2)


def test_exact_law_of_minima_matches_the_sampler(rng):
    """The sampler gives Theorem 1's probabilities."""
    left, right, r = 0.3, 0.4, 0.4
    z_left, z_right = minima(rng, r, left, right, 400_000)
    assert abs((z_left == z_right).mean() - r) < 4 * (r * (1 - r) / 400_000) ** 0.5


def placements(union, bins):
    """Of each way: the members of each bin."""
    return [[[m for m in range(union) if place[m] == b] for b in range(bins)] for place in product(range(bins), repeat=union)]


def raw_estimates(union, bins, common):
    """(Share of filled bins whose smallest member is common, matches, empty bins) of each way and order."""
    found = []
    for ways in placements(union, bins):
        for order in permutations(range(union)):
            least = [min(members, key=lambda m: order[m]) for members in ways if members]
            equal = sum(m < common for m in least)
            found.append((equal / len(least), equal, bins - len(least)))
    return np.array(found)


def test_raw_bins_by_enumeration():
    for union, bins, common in [(1, 3, 1), (2, 2, 1), (2, 4, 1), (3, 3, 1), (4, 3, 3), (5, 2, 2)]:
        shares, matches, empty = raw_estimates(union, bins, common).T
        r, law = common / union, np.bincount(bins - empty.astype(int), minlength=bins + 1) / len(empty)
        assert shares.mean() == pytest.approx(r)
        assert shares.var() == pytest.approx(oph.variance(r, union, bins), abs=1e-12)
        assert matches.mean() == pytest.approx(oph.expected_matches(r, union, bins))
        assert empty.mean() == pytest.approx(oph.expected_empty(union, bins))
        assert (1 / (bins - empty)).mean() == pytest.approx(oph.expected_inverse_filled(union, bins))
        assert_allclose(oph.occupancy(union, bins), law, atol=1e-12)
        assert_allclose(shares, oph.resemblance(matches, empty, bins))


def optimal_copies(filled, bins):
    """The mean sum of squared numbers of bins that hold the same, over all choices."""
    copies = [Counter([*filled, *choice]) for choice in product(filled, repeat=bins - len(filled))]
    return np.mean([sum(n * n for n in one.values()) for one in copies])


def rotated_copies(filled, bins):
    """Each empty bin takes what the next filled one on the right, going round, holds."""
    taken = Counter(next((b + step) % bins for step in range(bins) if (b + step) % bins in filled) for b in range(bins))
    return sum(n * n for n in taken.values())


def test_filled_bins_by_enumeration():
    """Pairs of bins: the same member with certainty, else two of the union, of which common ones are drawn without repeat."""
    for (kind, copies), (union, bins, common) in product(
        [("optimal", optimal_copies), ("rotation", rotated_copies)], [(2, 2, 1), (2, 4, 1), (3, 4, 2), (4, 4, 1)]
    ):
        r, other = common / union, (common - 1) / (union - 1)
        squares = np.mean([copies([b for b in range(bins) if ways[b]], bins) for ways in placements(union, bins)])
        both = (squares * r + (bins**2 - squares) * r * other) / bins**2
        assert oph.densified_variance(r, union, bins, kind) == pytest.approx(both - r**2, abs=1e-12)
        assert oph.copied_variance(r, union, bins, squares) == pytest.approx(both - r**2, abs=1e-12)


def test_occupancy_of_a_universe_counts_all_sets():
    for universe, bins, union in [(8, 4, 3), (8, 2, 5), (12, 3, 4), (6, 6, 6), (9, 3, 1)]:
        filled = [len({x * bins // universe for x in some}) for some in combinations(range(universe), union)]
        law, m = np.bincount(filled, minlength=bins + 1) / len(filled), np.arange(bins + 1)
        assert_allclose(oph.occupancy(union, bins, universe), law, atol=1e-12)
        assert_allclose(oph.expected_empty([0, union], bins, universe), [bins, bins - law @ m])
        assert oph.expected_inverse_filled(union, bins, universe) == pytest.approx((law[1:] / m[1:]).sum())


def test_errors_of_filled_bins_are_those_of_as_many_independent_ones():
    """Two matches and two mismatches are added to the share, not to the bins, whose number is that of the error at one half."""
    for kind, filled in product(oph.ALIKE, (1, 20)):
        bins = 0.25 / oph.filled_error(0.5, filled, 64, kind) ** 2
        p = (np.array([0.0, 0.3, 1.0]) * bins + 2) / (bins + 4)
        assert_allclose(oph.filled_error([0.0, 0.3, 1.0], filled, 64, kind), (p * (1 - p) / bins) ** 0.5)
    assert oph.raw_error(1, 1, 64) > 0.0


def test_many_members_in_many_bins():
    """Bins without a member are then few, and their number nearly Poisson distributed."""
    members, bins = 30_000, 2048
    law, empty = oph.occupancy(members, bins), bins * (1 - 1 / bins) ** members
    assert law.sum() == pytest.approx(1, abs=1e-12)
    assert law @ (bins - np.arange(bins + 1)) == pytest.approx(empty, rel=1e-8)
    assert law[-1] == pytest.approx(np.exp(-empty), rel=1e-4)
    assert oph.expected_inverse_filled(1_000_000, 8) == 1 / 8, "of so many members none is empty"
    assert oph.variance(0.5, members, bins) == pytest.approx(0.25 * ((1 + 1 / members) / bins - 1 / members), rel=1e-4)


def test_variance_against_simulation(rng):
    f, t, common, n = 30, 16, 12, 20000
    bins, owner = rng.integers(0, t, (n, f)), rng.random((n, f))
    estimates = np.empty(n)
    for i in range(n):
        order = np.argsort(owner[i])
        _, first = np.unique(bins[i, order], return_index=True)  # of each filled bin
        estimates[i] = (order[first] < common).mean()
    agrees(estimates, common / f, oph.variance(common / f, f, t))


def test_limits():
    assert oph.variance(0.5, 1, 8) == 0.0 == max(oph.densified_variance(1.0, 1, 4, kind) for kind in oph.ALIKE)
    assert oph.variance(0.5, 10**6, 8) == pytest.approx(0.25 / 8, rel=1e-4)
    assert oph.variance([0.0, 1.0], 10, 8).tolist() == [0.0, 0.0]
    balanced = oph.copied_variance(0.5, 40, 64, 64**2 * oph.expected_inverse_filled(40, 64))
    assert balanced == pytest.approx(oph.variance(0.5, 40, 64)), "equal copies give the raw variance"
    assert np.isnan(oph.resemblance(0, 8, 8))
    assert oph.resemblance([1, 0, 1], [1, 0, 0], 4).tolist() == [1 / 3, 0.0, 0.25]


def test_expected_counts():
    assert oph.expected_empty(4, 4, 16) == pytest.approx(4 * (12 / 16) * (11 / 15) * (10 / 14) * (9 / 13))
    assert oph.expected_matches(1.0, 50, 8) == pytest.approx(8 - oph.expected_empty(50, 8))
    assert_raises(ParameterError, "", oph.expected_empty, 20, 4, 16)


def test_space_table():
    bits = oph.space_bits(2**30, 512, 1)
    assert bits["naive"] == 2**30
    assert bits["minwise"] == 512 * 2**30 * 30 + 512 * 30
    assert bits["b-bit minwise"] == 512 * 2**30 * 30 + 512
    assert bits["one permutation"] == 2**30 * 30 + 512 * 21
    assert oph.space_bits(1024, 4) == oph.space_bits(1024, 4, 1)
    assert oph.space_bits(1024, 4, 3)["b-bit minwise"] == 4 * 1024 * 10 + 4 * 3
    assert oph.space_bits(2, 4)["one permutation"] == 2.0, "a bin of less than a place takes no bit"


def test_hamming_from_bits():
    """Variance (19), and the bias that the paper leaves out; at few samples they are larger."""
    for k, off in ((1024, 0.02), (64, 0.3)):
        share, spread = np.arange(k + 1) / k, bbit.variance(0.5, 1, k)
        found = set_distance.distance(np.maximum(bbit.resemblance(share, 1), 0), 500, 500)
        mean, variance = mean_and_variance(found, k, 0.75)
        assert variance == pytest.approx(set_distance.variance(0.5, spread, 1000), rel=off)
        assert mean - 1000 / 3 == pytest.approx(set_distance.bias(0.5, spread, 1000), rel=off)
