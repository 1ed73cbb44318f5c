from functools import partial, reduce
from itertools import product
from math import lgamma

import numpy as np
import pytest
from scipy import stats
from theory.sampler import mean_and_variance
from theory.test_likelihood import match

from lookalike.theory import banding, bbit, set_distance, shares, simhash, xor_bits
from lookalike.theory.mixture import Part


def test_a_threshold_is_reached_by_shares_of_at_least_it():
    thresholds = (0.0, 0.01, 1 / 7, 0.3, 0.5, 0.55, 4 / 7, 0.801, 0.9, 1.0)
    for slots, r, threshold in product((1, 2, 7, 100, 256), (0.0, 0.3, 0.8, 1.0), thresholds):
        matches = np.arange(slots + 1)
        expected = stats.binom.pmf(matches, slots, r)[matches / slots >= threshold - 1e-9].sum()
        assert shares.reach_probability(r, threshold, slots) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_estimates_from_slots_have_the_mean_and_variance_of_their_law():
    """Exactly where they are linear, else to first order, with n so large that what is left out is far below a hundredth."""
    rows = []  # (estimates by the share of matches, n, probability, mean, variance, precision)
    for r, sizes in product([0.2, 0.5, 0.9], [(300, 500), (40, 40)]):
        n, total, spread = 20_000, sum(sizes), r * (1 - r) / 20_000
        mean = (1 - r) / (1 + r) * total, set_distance.bias(r, spread, total)
        rows.append((partial(distance_of, sizes), n, r, mean, set_distance.variance(r, spread, total), 2e-3))
    for bits, some in product([1, 2, 8], [(0.0, 0.0), (0.4, 0.3)]):
        found, p = partial(bbit.resemblance, bits=bits, density_left=some[0], density_right=some[1]), bbit.match_probability
        rows.append((found, 300, p(0.6, bits, *some), (0.6, 0.0), bbit.variance(0.6, bits, 300, *some), 1e-6))
    for (r, m), some in product([(0.6, 2), (0.7, 3), (0.45, 1)], [(0.0, 0.0), (0.6, 0.45), (0.3, 0.4)]):
        n, t = 50_000, xor_bits.match_probability(r, m, *some)
        assert t == pytest.approx(match(Part(slots=1, combined=m), r, *some), rel=1e-12)
        found = partial(xor_bits.resemblance, combined=m, density_left=some[0], density_right=some[1])
        rows.append((found, n, t, (r, xor_bits.bias(r, m, n, *some)), xor_bits.variance(r, m, n, *some), 5e-3))
    for estimates, n, p, (true, bias), variance, precision in rows:
        mean, spread = mean_and_variance(estimates(np.arange(n + 1) / n), n, float(p))
        assert mean - true == pytest.approx(bias, rel=precision, abs=1e-12) and spread == pytest.approx(variance, rel=precision)


def distance_of(sizes, share):
    return set_distance.distance(share, *sizes)


def test_tails_and_their_inverse_are_those_of_scipy():
    """On either side of the mean. Logarithms of factorials round to 2^-53 of themselves."""
    for n in [1, 2, 7, 100, 10**4, 10**6, 10**9]:
        exact = 1e-12 + 3 * 2.0**-53 * lgamma(n + 1)
        for k in sorted({k for k in (1, 2, n // 10, n // 2, n - 1, n) if 1 <= k <= n}):
            for share in (0.3, 0.9, 1.0, 1.1, 3.0):
                if (p := k / (n + 1) * share) < 1.0:
                    assert shares.upper_tail(k, n, p) == pytest.approx(stats.binom.sf(k - 1, n, p), rel=exact, abs=1e-300)
            for tail in (0.5, 0.4, 0.025, 0.0005, 1e-9):
                assert shares.tail_probability(k, n, tail) == pytest.approx(stats.beta.ppf(tail, k, n - k + 1), rel=exact)


def test_upper_tail_of_a_sum_is_that_of_the_convolution():
    """Certain and impossible ones among them, and many trials."""
    some = [((3, 0.3), (4, 0.8)), ((2, 0.0), (3, 0.5), (1, 1.0)), ((5, 1.0),), ((2000, 0.64),), ((1000, 0.6), (1000, 0.7))]
    for parts in some:
        law = reduce(np.convolve, [stats.binom.pmf(np.arange(n + 1), n, p) for n, p in parts])
        for least in {-1, *range(7), 1300, 1310, len(law)}:
            expected = law[max(0, least) :].sum()
            assert shares.upper_tail_of_sum(least, *zip(*parts, strict=True)) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_distances_of_fingerprints_are_binomial():
    """A random plane parts two directions with probability angle / pi; the cosine of a share of bits, to first order."""
    for cosine in [-0.6, 0.0, 0.5, 0.9]:
        angle, bits = np.arccos(cosine), 20_000
        turned = np.linspace(0, 2 * np.pi, 200_000, endpoint=False)  # normals of planes, evenly
        parted = (np.cos(turned) > 0) != (np.cos(turned - angle) > 0)
        p = parted.mean()
        assert simhash.differ_probability(cosine) == pytest.approx(p, abs=2e-5)
        assert simhash.expected_distance(cosine, 96) == pytest.approx(96 * p, abs=2e-3)
        _, variance = mean_and_variance(simhash.cosine(np.arange(bits + 1), bits), bits, p)
        assert variance == pytest.approx(simhash.cosine_variance(cosine, bits), rel=2e-3)
        assert simhash.cosine_error(bits * p, bits) ** 2 == pytest.approx(variance, rel=2e-3)
    for formula, given in ((simhash.expected_distance, 0.3), (simhash.cosine, 7), (simhash.cosine_variance, 0.3)):
        assert formula(given) == formula(given, 64), "where none are given"


def test_error_of_a_share_is_that_of_four_trials_more():
    for matches, trials in [(0, 1), (0, 40), (3, 7), (40, 40), (200, 256)]:
        counted = [1] * (matches + 2) + [0] * (trials - matches + 2)
        assert shares.share_error(matches, trials) == pytest.approx(np.std(counted) / len(counted) ** 0.5, rel=1e-12)
    assert np.isnan(shares.share_error(0, 0))


def test_as_many_bands_as_reach_a_recall_exactly():
    """All of k bands miss with probability (1 - p)^k, which rounding must not make one more."""
    for probability in [0.1, 0.3, 0.5, 0.7, 0.9]:
        recalls = 1 - (1 - probability) ** np.arange(1, 8)
        assert banding.bands_for_recall(probability, recalls, 1).tolist() == [*range(1, 8)]


def test_error_of_a_cosine_is_that_of_four_bits_more():
    """The error of their share, times how fast the cosine falls there."""
    for distance in [0, 1, 5, 20, 32, 63]:
        bits = np.repeat([1.0, 0.0], [distance + 2, 64 - distance + 2])
        step = 1e-6
        fall = (np.cos(np.pi * (bits.mean() - step)) - np.cos(np.pi * (bits.mean() + step))) / (2 * step)
        assert simhash.cosine_error(distance) == pytest.approx(fall * bits.std() / len(bits) ** 0.5, rel=1e-6)
