from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from raising import assert_raises
from theory.sampler import agrees, mean_and_variance, parts_of, sparse_matches
from theory.test_likelihood import DENSITIES, PARTS, chance, highest, match, matches

from lookalike.errors import ParameterError
from lookalike.sketches import FastSimilarity, Shingles, XorBits
from lookalike.theory import bbit, likelihood, mixture, xor_bits
from lookalike.theory.mixture import Part

HALF = [(1, 0.5), (2, 0.5)]


def test_pooled_estimate(rng):
    """E1: the variance carries w, not w squared."""
    for r, parts in product([0.3, 0.5, 0.8, 0.95], [HALF, [(1, 0.25), (8, 0.75)], [(1, 0.25), (2, 0.25), (4, 0.5)]]):
        n, k = 5000, 64
        share = sum(w * sparse_matches(rng, r, b, (n, round(w * k))).mean(1) for b, w in parts)
        found = mixture.resemblance(share, parts_of(parts, k))
        agrees(found, r, mixture.variance(r, parts_of(parts, k)))


def test_golden_values_of_the_dossier():
    def per_slot(which, r, shares):
        return 64 * float(which(r, parts_of(shares, 64)))

    assert per_slot(mixture.variance, 0.5, HALF) == pytest.approx(0.540, abs=5e-4)
    three = [(1, 0.25), (2, 0.25), (4, 0.5)]
    assert per_slot(mixture.variance, 0.6, three) == pytest.approx(0.3436, abs=5e-5)
    assert per_slot(mixture.least_variance, 0.6, three) == pytest.approx(0.3407, abs=5e-5)
    wide = [(1, 0.5), (8, 0.5)]
    assert per_slot(mixture.variance, 0.3, wide) == pytest.approx(0.392, abs=5e-4)
    assert per_slot(mixture.least_variance, 0.3, wide) == pytest.approx(0.345, abs=5e-3)
    factors = [mixture.storage_factor(0.5, parts_of([(1, 2 - f), (2, f - 1)], 64)) for f in (1, 1.25, 1.5, 1.75, 2)]
    assert_allclose(factors, [0.750, 0.787, 0.810, 0.824, 0.833], atol=6e-4)


def test_one_part_is_plain_b_bit_hashing():
    for b in (1, 3, 8):
        for which in (mixture.variance, mixture.least_variance):
            assert which(0.4, [Part(slots=7, combined=4)]) == pytest.approx(xor_bits.variance(0.4, 4, 7))
            assert which(0.4, [Part(slots=7, bits=b)]) == pytest.approx(bbit.variance(0.4, b, 7))
        assert mixture.storage_factor(0.4, [Part(slots=7, bits=b)]) == pytest.approx(bbit.storage_factor(0.4, b))
    two = parts_of([(1, 0.4), (1, 0.6)], 10)
    assert mixture.variance(0.771, two, 0.57, 0.554) == pytest.approx(bbit.variance(0.771, 1, 10, 0.57, 0.554))


def test_a_mixture_never_beats_its_better_part():
    for r in (0.1, 0.5, 0.9):
        parts = [bbit.storage_factor(r, b) for b in (1, 2)]
        for share in np.linspace(0, 1, 11):
            mixed = mixture.storage_factor(r, parts_of([(1, share), (2, 1 - share)], 1000), pooled=False)
            assert min(parts) - 1e-12 <= mixed <= max(parts) + 1e-12


def test_most_likely_estimate_at_the_edges():
    parts = [Part(slots=10, bits=1), Part(slots=10, combined=3)]
    assert likelihood.most_likely([10, 10], parts)[0] == 1.0
    assert likelihood.most_likely([3, 2], parts)[0] == 0.0
    table = np.array([[[8, 4], [9, 7], [10, 10]], [[7, 9], [5, 3], [9, 6]]])
    found, error = likelihood.most_likely(table, parts, 0.3, 0.4)
    assert found.shape == error.shape == (2, 3)
    each = likelihood.most_likely(table[1, 2], parts, 0.3, 0.4)
    assert np.shape(each[0]) == np.shape(each[1]) == () and each == pytest.approx((found[1, 2], error[1, 2]), abs=1e-12)
    for wrong in ({"slots": 0}, {"slots": 1, "bits": 2, "combined": 2}, {"slots": 1, "bits": 0}, {"slots": 1, "bits": 65}):
        assert_raises(ParameterError, "", Part, **wrong)
    for found in ([11, 2], [-1, 2], [3]):
        assert_raises(ParameterError, "matches", likelihood.most_likely, found, parts)
    mixture.check_shares([(64, 0.5), (1, 0.5)])
    for shares in ([(65, 1.0)], [(1, 0.5), (2, 0.4)]):
        assert_raises(ParameterError, "", mixture.check_shares, shares)


def test_crossovers_with_single_bits():
    for combined, crossover in [(2, 3**-0.5), (4, 0.697), (8, 0.797), (16, 0.871)]:
        below, above = (
            bbit.variance(r, 1, 1) / xor_bits.variance(r, combined, 1) for r in (crossover - 2e-3, crossover + 2e-3)
        )
        assert below < 1 < above


def test_best_number_to_combine():
    r = np.array([0.8, 0.9, 0.95, 0.99])
    best = xor_bits.best_combined(r)
    assert (np.abs(best - 0.797 / (1 - r)) < 1).all()
    assert xor_bits.best_combined(0.2) == 1 and xor_bits.best_combined(0.9999, most=8) == 8
    gains = bbit.variance(r, 1, 1) / xor_bits.variance(r, best, 1)
    assert_allclose(gains, [1.8, 3.4, 6.6, 32.5], rtol=0.03)


def test_dense_sets_below_half_are_refused():
    """E13: at r = .5, R = .1 the probability of matching bits is .4 and the estimate would converge to .4."""
    assert bbit.match_probability(0.1, 1, 0.5, 0.5) == pytest.approx(0.4)
    assert xor_bits.resemblance(xor_bits.match_probability(0.1, 2, 0.5, 0.5), 2, 0.5, 0.5) == pytest.approx(0.4)
    assert_raises(ParameterError, "store single bits", xor_bits.variance, 0.1, 2, 10, 0.5, 0.5)


def test_errors_of_mixtures_are_half_their_intervals():
    """By the information that two matches and two mismatches more would give, shared among the parts; of that about the pooled
    share the wider half, within what is possible.
    """
    parts = [Part(slots=10, bits=1), Part(slots=20, combined=2)]
    for densities, equal in product(DENSITIES, [(6, 15), (9, 16), (10, 20)]):
        c = [(equal[i] + 4 / 30 * part.slots / 2, part.slots * (1 + 4 / 30)) for i, part in enumerate(parts)]
        c1, c2 = chance(1, *densities)
        grid = np.linspace(0.0, (1 - c1) / (1 - c2), 20_001)[1:-1]
        pooled = matches(parts, grid, *densities) / 30
        grid, pooled = grid[np.argmin(pooled) :], pooled[np.argmin(pooled) :]
        shares = [match(part, grid, *densities) for part in parts]
        likely = sum(x * np.log(p) + (n - x) * np.log(1 - p) for (x, n), p in zip(c, shares, strict=True))
        best = np.argmax(np.where(grid <= highest(*densities), likely, -np.inf))
        information = sum(
            n * np.gradient(p, grid)[best] ** 2 / (p * (1 - p))[best] for (_, n), p in zip(c, shares, strict=True)
        )
        reach = 1.96 * information**-0.5
        ends = np.interp(pooled[best] + np.gradient(pooled, grid)[best] * reach * np.array([-1, 1]), pooled, grid)
        found, error = likelihood.most_likely(equal, parts, *densities)
        widest = max(found - grid[0], highest(*densities) - found)
        assert 1.96 * error == pytest.approx(min(max(ends[1] - grid[best], grid[best] - ends[0], reach), widest), abs=1e-3)


def test_the_share_of_matches_rises_from_its_least_value():
    """Negative ones too, at which single bits match with probabilities from 0 to 1/2."""
    for parts, densities in product(
        [
            [Part(slots=10, bits=1), Part(slots=15, bits=4), Part(slots=60, combined=2)],
            [Part(slots=10, bits=1), Part(slots=20, bits=2), Part(slots=60, combined=4)],
            [Part(slots=50, bits=1), Part(slots=40, bits=2), Part(slots=20, combined=2)],
        ],
        DENSITIES,
    ):
        single = Part(slots=1)
        slope = match(single, 1.0, *densities) - match(single, 0.0, *densities)
        ends = [(e - match(single, 0.0, *densities)) / slope for e in (0.0, 0.5)]
        grid = np.linspace(*ends, 100_001)
        pooled = matches(parts, grid, *densities)
        assert mixture.rises_from(parts, *densities) == pytest.approx(grid[np.argmin(pooled)], abs=3e-4)
    assert mixture.rises_from([Part(slots=40), Part(slots=40, combined=2)]) == pytest.approx(-0.5), (
        "sparse where nothing is given"
    )


def test_pooled_estimates_are_where_so_many_matches_are_expected():
    """Sets of unlike sizes too: the probability of a match by chance is not the one that the slope has."""
    for parts, densities in product(PARTS, [*DENSITIES, (0.1, 0.5)]):
        r = highest(*densities) * np.linspace(0.5, 1.0, 7)
        share = matches(parts, r, *densities) / sum(part.slots for part in parts)
        assert_allclose(mixture.resemblance(share, parts, *densities), r, atol=1e-12)
        assert mixture.resemblance(1.0, parts) == mixture.estimate([part.slots for part in parts], parts)[0] == 1.0


def test_xored_bits_are_of_use_where_chance_is_small():
    """From the least resemblance on the bias is a fraction of the error; far below, a multiple."""
    for combined, samples in product([2, 3, 4, 8], [64, 256, 1024]):
        estimates, least = (
            xor_bits.resemblance(np.arange(samples + 1) / samples, combined),
            xor_bits.least_usable(combined, samples),
        )
        for r in (0.0, least, (1 + least) / 2):
            mean, variance = mean_and_variance(estimates, samples, xor_bits.match_probability(r, combined))
            assert (mean - r) / variance**0.5 > 0.5 if r == 0.0 else abs(mean - r) / variance**0.5 < 0.2
        assert xor_bits.least_usable(combined, 15) == 1.0, "of so few none is of use"


def test_low_estimates_of_xored_bits_warn():
    shingles = Shingles.from_arrays(range(300), [0, 100, 200, 300])
    for combined, least in [(2, "0.50"), (4, "0.71")]:
        packed = XorBits(combined=combined).pack(FastSimilarity(permutations=256 * combined).sign(shingles))
        with pytest.warns(RuntimeWarning, match=f"XORs of {combined} bits.* from a resemblance of {least} on") as caught:
            packed.estimated_resemblance(0, [1, 2])
        assert caught[0].filename == __file__
        assert packed.estimated_resemblance(0, 0) == 1.0


def test_xored_bits():
    r, k = 0.85, 1500
    for combined in (2, 3):
        estimates = xor_bits.resemblance(np.arange(k + 1) / k, combined)
        mean, variance = mean_and_variance(estimates, k, (1 + r**combined) / 2)
        assert mean - r == pytest.approx(xor_bits.bias(r, combined, k), rel=0.02)
        assert variance == pytest.approx(xor_bits.variance(r, combined, k), rel=0.02)


def test_ratio_of_variances_tends_to_the_number_combined():
    for m in (2, 4, 8):
        ratio = bbit.variance(0.9999, 1, 1) / xor_bits.variance(0.9999, m, 1)
        assert ratio == pytest.approx(m, rel=0.01)
    assert xor_bits.variance(0.7, 1, 9) == pytest.approx(bbit.variance(0.7, 1, 9))


def test_three_quarter_bits(rng):
    r, n, k = 0.8, 4000, 500
    pairs = sparse_matches(rng, r, 1, (n, k, 2)).sum(2) % 2 == 0
    share = np.concatenate([sparse_matches(rng, r, 1, (n, k)), pairs], 1).mean(1)
    parts = [Part(slots=k), Part(slots=k, combined=2)]
    assert abs(share.mean() - mixture.pooled_curve(parts, r)[0]) < 4 * 0.5 / (2 * n * k) ** 0.5
    agrees(mixture.resemblance(share, parts), r, mixture.variance(r, parts))
