from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from raising import assert_raises
from statistics_sets import estimated, pairs_of_sets
from theory.sampler import agrees

from lookalike.errors import IncompatibleSketchError, ParameterError
from lookalike.sketches import (
    BBit,
    DartMinHash,
    FastSimilarity,
    MinHash,
    OnePermutation,
    PackedSignatures,
    PermutationBins,
    PermutationMinHash,
    Shingles,
    WeightedSets,
    XorBits,
)
from lookalike.theory import bbit, one_permutation, xor_bits


def test_b_bit_variance_is_the_scheme_s_plus_the_chance_matches(rng):
    """For tiny sets the lowest bits of an affine hash would inflate it tenfold (E17)."""
    for scheme, bits, union in product([MinHash, FastSimilarity], [1, 2, 4], [8, 16, 300]):
        n, k = 5000, 128
        shingles, exact = pairs_of_sets(rng, n, union, 0.5)
        signatures = scheme(permutations=k, seed=9).sign(shingles)
        whole = estimated(signatures)
        found = estimated(BBit(bits=bits).pack(signatures))
        agrees(found, exact, bbit.scheme_variance(whole.var(), exact, bits, k))
        if scheme is MinHash:
            agrees(found, exact, bbit.variance(exact, bits, k))


def test_true_permutations_need_their_densities(rng):
    """E16: OF-AND at D = 1,000: unbiased with the densities, off by -.09 without."""
    universe, left, right, common, n, k = 1000, 570, 554, 489, 300, 64
    pools = rng.permuted([range(universe)] * n, axis=1)
    values = np.hstack([pools[:, :left], pools[:, left - common : left - common + right]]).ravel()
    scheme = PermutationMinHash(universe=universe, permutations=k, seed=2)
    signatures = scheme.sign_sets(values, np.cumsum([0, *[left, right] * n]))
    exact = common / (left + right - common)
    packed = BBit(bits=1).pack(signatures)
    found, clipped, likely = (estimated(packed, **how) for how in ({}, {"clip": True}, {"most_likely": True}))
    assert_allclose(likely, clipped, atol=1e-9)  # one part: the same, cut to what the densities allow
    assert clipped.max() <= right / left + 1e-12
    error = (bbit.variance(exact, 1, k, left / universe, right / universe) / n) ** 0.5
    assert abs(found.mean() - exact) < 4 * error + 0.55 / universe
    blind = PackedSignatures(packed.words, packed.layout, packed.packing, packed.scheme, "integers")
    assert estimated(blind).mean() - exact == pytest.approx(-0.089, abs=0.01)
    bias = bbit.quantization_bias(exact, left / universe, bbit.quantized(left / universe, 16))
    assert abs((estimated(packed.with_quantized_densities(4)) - found).mean() - bias) < 0.01
    assert_raises(ParameterError, "", packed.with_quantized_densities, 0)
    assert abs(estimated(signatures).mean() - exact) < 4 * (exact * (1 - exact) / k / n) ** 0.5


def test_xored_bits(rng):
    n, samples = 3000, 1024
    shingles, exact = pairs_of_sets(rng, n, 200, 0.9)
    for combined in (2, 3, 4):
        packed = XorBits(combined=combined).pack(MinHash(permutations=combined * samples, seed=3).sign(shingles))
        found, error = estimated(packed, with_error=True)
        assert_allclose(estimated(packed, most_likely=True), found, atol=1e-9)
        variance = xor_bits.variance(exact, combined, samples)
        agrees(found, exact + xor_bits.bias(exact, combined, samples), variance, 0.02)
        assert np.median(error) == pytest.approx(variance**0.5, rel=0.05)


def test_one_permutation(rng):
    for union in [2, 8, 32, 64, 300]:
        n, k = 6000, 64
        shingles, exact = pairs_of_sets(rng, n, union, 0.5)
        raw = OnePermutation(permutations=k, seed=4)
        signatures = raw.sign(shingles)
        found, variance = estimated(signatures), one_permutation.variance(exact, union, k)
        for kind in ("none", "rotation", "optimal", "reverse"):
            if kind != "none":
                found = estimated(raw.fill(signatures, kind))
                variance = one_permutation.densified_variance(exact, union, k, kind)
            agrees(found, exact, variance)


def test_bits_of_filled_bins_are_mixed_with_their_place(rng):
    """Copies of one value get different bits: .791 / k as theory says, not 1.059 / k."""
    n, k, union = 6000, 64, 32
    shingles, exact = pairs_of_sets(rng, n, union, 0.5)
    signatures = OnePermutation(permutations=k, seed=4, densify="optimal").sign(shingles)
    found = estimated(BBit(bits=1).pack(signatures))
    agrees(found, exact, bbit.scheme_variance(one_permutation.densified_variance(exact, union, k, "optimal"), exact, 1, k))


def test_raw_bins_merge_and_filled_ones_do_not(rng):
    """As slots of hashes do, and those of samples do not."""
    values = rng.integers(0, 1 << 64, 50, "uint64")
    some = [Shingles(v, np.array([0, len(v)])) for v in (values[:30], values[20:], values)]
    for scheme in (OnePermutation, FastSimilarity, MinHash):
        one, two, both = map(scheme(permutations=64, seed=2).sign, some)
        assert (one.merge(two).values == both.values).all()
    places = PermutationBins(universe=100, permutations=10)
    one, two, both = (places.sign_sets(s, [0, len(s)]) for s in ([1, 2, 3], [3, 50, 99], [1, 2, 3, 50, 99]))
    assert (one.merge(two).values == both.values).all()
    sampled = DartMinHash(permutations=4).sign(WeightedSets.from_arrays([1], [1.0], [0, 1]))
    for signatures in (OnePermutation(permutations=64, densify="optimal").sign(some[0]), sampled):
        assert_raises(IncompatibleSketchError, "cannot be merged", signatures.merge, signatures)


def test_dartminhash(rng):
    left, n, k = rng.lognormal(0, 1, 40), 2000, 64
    right = left * np.exp(rng.normal(0, 0.5, 40)) * (np.arange(40) < 30)
    exact = np.minimum(left, right).sum() / np.maximum(left, right).sum()
    for scale in (1e-3, 1.0, 300.0):
        sets = WeightedSets.from_arrays([*range(40), *range(40)], scale * np.append(left, right), [0, 40, 80])
        assert sets.resemblance(0, 1) == pytest.approx(exact)
        found = np.array([DartMinHash(permutations=k, seed=s).sign(sets).estimated_resemblance(0, 1) for s in range(n)])
        agrees(found, exact, exact * (1 - exact) / k)


def test_weights_are_added_up_and_have_bounds():
    counts = WeightedSets.from_arrays([5, 5, 6, 5, 7], [1, 1, 1, 1, 0], [0, 3, 5])
    assert sorted(counts.weights.tolist()) == [1.0, 1.0, 2.0] and counts.resemblance(0, 1) == 1 / 3
    for weights, said in (
        ([1.0, 1e-13], "least .*got 1e-13"),
        ([5e307] * 4, "most"),
        ([1.0, 1e308], "most"),
        ([1e151], "most"),
    ):
        sets = WeightedSets.from_arrays(range(len(weights)), weights, [0, len(weights)])
        assert_raises(ParameterError, f"at {said}", DartMinHash(permutations=16).sign, sets)
    ends = WeightedSets.from_arrays([1, 2, 3], [2.0**-40, 1e12, 2.0**500], [0, 1, 2, 3])
    assert DartMinHash(permutations=8).sign(ends).estimated_resemblance([0, 0], [1, 2]).tolist() == [0, 0]
