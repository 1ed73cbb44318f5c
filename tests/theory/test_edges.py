from itertools import product

import numpy as np
import pytest
from scipy import stats

from lookalike.theory import (
    bbit,
    choose,
    mixture,
    set_distance,
    xor_bits,
)
from lookalike.theory.mixture import Part

SPLIT = [(1, 1), (2, 1), (4, 2)]  # bits, slots


def test_fractional_estimate_inverts_its_probability():
    r, parts = 0.4, [Part(slots=slots, bits=bits) for bits, slots in SPLIT]
    for densities in [(0.0, 0.0), (0.6, 0.5), (0.2, 0.1)]:
        found = mixture.pooled_curve(parts, r, *densities)[0]
        assert found == pytest.approx(sum(slots * bbit.match_probability(r, bits, *densities) for bits, slots in SPLIT) / 4)
        assert mixture.resemblance(found, parts, *densities) == pytest.approx(r)
        assert mixture.storage_factor(r, parts, *densities) == pytest.approx(11 * mixture.variance(r, parts, *densities))


def test_sampling_without_replacement_is_hypergeometric():
    for universe in (2, 5, 30):
        for distance, samples in product(range(universe + 1), range(1, universe + 1)):
            hits = np.arange(universe + 1)
            weights = stats.hypergeom.pmf(hits, universe, distance, samples)
            exact = weights @ (universe / samples * hits - distance) ** 2
            found = set_distance.sampling_variance(distance, universe, samples, replacement=False)
            assert found == pytest.approx(exact, abs=1e-12)


def test_sampling_ratio_compares_the_two_variances():
    """W_b from its parts: sampled coordinates against b-bit slots, each as a distance, over the bits."""
    universe, r, left, right, bits = 1000, 0.5, 0.4, 0.3, 2
    total = (left + right) * universe
    sampled = set_distance.sampling_variance(set_distance.distance(r, left * universe, right * universe), universe, 1)
    hashed = set_distance.variance(r, bbit.variance(r, bits, 1, left, right), total)
    assert set_distance.sampling_ratio(r, bits, left, right) == pytest.approx(sampled / (bits * hashed))
    sparse = set_distance.sparse_sampling_ratio(r, bits, left, right)
    assert sparse == pytest.approx(sampled / (bits * hashed) * 64 * (left + right) / 2)
    for vanishing in (1e-6, 1e-7):
        limit = set_distance.sparse_sampling_ratio_limit(r, bits)
        assert set_distance.sparse_sampling_ratio(r, bits, vanishing, vanishing) == pytest.approx(limit, rel=20 * vanishing)


def test_choices_offered():
    offered = [*choose.candidates(0.9)]
    assert [bits for scheme, bits, _, _ in offered if scheme == "bbit"] == [1, 2, 3, 4, 6, 8, 16, 32]
    assert [combined for scheme, _, combined, _ in offered if scheme == "xor_bits"] == [2, 3, 4, 6, 8, 16, 32, 64]


def test_of_choices_of_the_same_size_the_one_of_fewest_permutations_is_taken():
    for r, wanted in ((0.8, 0.2), (0.9, 0.3), (0.9, 0.2), (0.9, 0.1), (0.1, 0.25)):
        alone = [choose.for_error(r, wanted, bits=(b,), combined=()) for b in choose.BITS]
        alone += [choose.for_error(r, wanted, bits=(), combined=(m,)) for m in (2, 3, 4, 6)]
        sizes = sorted((c.total_bits, c.permutations) for c in alone)
        found = choose.for_error(r, wanted)
        assert (found.total_bits, found.permutations) == sizes[0] and sizes[0][0] == sizes[1][0]


def test_least_budgets():
    assert choose.for_error(0.5, 0.9).slots == 1
    least = choose.for_memory(0.5, 1)
    assert (least.slots, least.bits, least.total_bits) == (1, 1, 1)
    for r in (0.1, 0.5, 0.9):
        found = choose.for_memory(r, 1000)
        assert found.total_bits == found.slots * found.bits <= 1000
        squared = bbit.variance(r, found.bits, found.slots)
        if found.scheme == "xor_bits":
            squared = xor_bits.mean_squared_error(r, found.combined, found.slots)
            assert squared > xor_bits.variance(r, found.combined, found.slots), "the root is not linear"
        assert found.standard_error == pytest.approx(squared**0.5)
        assert choose.for_error(r, found.standard_error).total_bits == found.total_bits
