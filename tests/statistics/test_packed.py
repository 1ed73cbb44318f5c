"""Packed, one-permutation and weighted estimates lie within the errors that theory gives."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
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
    PermutationMinHash,
    Shingles,
    WeightedSets,
    XorBits,
    weigh,
)
from lookalike.theory import bbit, one_permutation, xor_bits


def test_b_bit_variance_is_the_scheme_s_plus_the_chance_matches(rng):
    """Also for tiny sets: the lowest bits of an affine hash would inflate it tenfold (E17)."""
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
    universe, left, right, common = 1000, 570, 554, 489
    n, k = 300, 64
    pools = rng.permuted([range(universe)] * n, axis=1)
    values = np.hstack([pools[:, :left], pools[:, left - common : left - common + right]]).ravel()
    scheme = PermutationMinHash(universe=universe, permutations=k, seed=2)
    signatures = scheme.sign_sets(values, np.cumsum([0, *[left, right] * n]))
    exact = common / (left + right - common)
    packed = BBit(bits=1).pack(signatures)
    found = estimated(packed)
    clipped, likely = estimated(packed, clip=True), estimated(packed, most_likely=True)
    assert_allclose(likely, clipped, atol=1e-9)  # one part: the same, cut to what the densities allow
    error = (bbit.variance(exact, 1, k, left / universe, right / universe) / n) ** 0.5
    assert abs(found.mean() - exact) < 4 * error + 0.55 / universe
    blind = PackedSignatures(packed.words, packed.layout, packed.packing, packed.scheme, "integers")
    assert estimated(blind).mean() - exact == pytest.approx(-0.089, abs=0.01)
    rough = packed.with_quantized_densities(4)
    bias = bbit.quantization_bias(exact, left / universe, bbit.quantized(left / universe, 16))
    assert abs((estimated(rough) - found).mean() - bias) < 0.01
    assert clipped.max() <= right / left + 1e-12
    with pytest.raises(ParameterError):
        packed.with_quantized_densities(0)
    whole = estimated(signatures)
    assert abs(whole.mean() - exact) < 4 * (exact * (1 - exact) / k / n) ** 0.5


@pytest.mark.parametrize("combined", [2, 3, 4])
def test_xored_bits(rng, combined):
    n, samples = 3000, 1024
    shingles, exact = pairs_of_sets(rng, n, 200, 0.9)
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
    """Copies of one value get different bits: variance as theory says (.791 / k), not 1.059 / k."""
    n, k, union = 6000, 64, 32
    shingles, exact = pairs_of_sets(rng, n, union, 0.5)
    signatures = OnePermutation(permutations=k, seed=4, densify="optimal").sign(shingles)
    found = estimated(BBit(bits=1).pack(signatures))
    agrees(found, exact, bbit.scheme_variance(one_permutation.densified_variance(exact, union, k, "optimal"), exact, 1, k))


def test_raw_bins_merge_and_filled_ones_do_not(rng):
    values = rng.integers(0, 1 << 64, 50, dtype=np.uint64)
    one, two, both = (Shingles(v, np.array([0, len(v)])) for v in (values[:30], values[20:], values))
    scheme = OnePermutation(permutations=64, seed=2)
    assert (scheme.sign(one).merge(scheme.sign(two)).values == scheme.sign(both).values).all()
    filled = OnePermutation(permutations=64, seed=2, densify="optimal")
    with pytest.raises(IncompatibleSketchError, match="cannot be merged"):
        filled.sign(one).merge(filled.sign(two))
    sampled = DartMinHash(permutations=4).sign(WeightedSets.from_arrays([1], [1.0], [0, 1]))
    with pytest.raises(IncompatibleSketchError, match="cannot be merged"):
        sampled.merge(sampled)


def test_clipping_trades_bias_for_error(rng):
    """R = .05, b = 1, k = 128: MSE .0078 raw, .0048 clipped, bias +.016."""
    shingles, exact = pairs_of_sets(rng, 6000, 400, 0.05)
    packed = BBit(bits=1).pack(MinHash(permutations=128, seed=8).sign(shingles))
    raw, clipped = (estimated(packed, clip=clip) for clip in (False, True))
    assert raw.min() < 0 <= clipped.min()
    assert ((raw - exact) ** 2).mean() == pytest.approx(0.00778, rel=0.08)
    assert ((clipped - exact) ** 2).mean() == pytest.approx(0.00479, rel=0.08)
    assert clipped.mean() - exact == pytest.approx(0.016, abs=0.004)


def weighted_pair(rng, n=40):
    left = rng.lognormal(0, 1, n)
    right = left * np.exp(rng.normal(0, 0.5, n))
    right[30:] = 0
    return WeightedSets.from_arrays([*range(n), *range(n)], [*left, *right], [0, n, 2 * n]), left, right


def test_exact_weighted_resemblances(rng):
    sets, left, right = weighted_pair(rng)
    assert sets.resemblance(0, 1) == pytest.approx(np.minimum(left, right).sum() / np.maximum(left, right).sum())
    counts = WeightedSets.from_arrays([5, 5, 6, 5, 7], [1, 1, 1, 1, 0], [0, 3, 5])
    assert counts.weights.tolist() in ([2.0, 1.0, 1.0], [1.0, 2.0, 1.0])
    assert counts.resemblance(0, 1) == 1 / 3


@pytest.mark.parametrize("scale", [1e-3, 1.0, 300.0])
def test_dartminhash(rng, scale):
    """Unbiased, with the variance of independent slots, whatever the weights' scale; scaling both sets changes nothing but it."""
    sets, _, _ = weighted_pair(rng)
    sets = WeightedSets(sets.values, sets.weights * scale, sets.offsets)
    exact, n, k = sets.resemblance(0, 1), 2000, 64
    found = np.array([DartMinHash(permutations=k, seed=s).sign(sets).estimated_resemblance(0, 1) for s in range(n)])
    agrees(found, exact, exact * (1 - exact) / k)


def test_darts_of_weights_without_bounds_are_refused():
    with pytest.raises(ParameterError, match=r"at least 2\^-40.*got 1e-13"):
        DartMinHash().sign(WeightedSets.from_arrays([1, 2], [1.0, 1e-13], [0, 2]))
    for weights in ([5e307] * 4, [1.0, 1.0, 1.0, 1e308], [1e151, 1.0, 1.0, 1.0]):
        with pytest.raises(ParameterError, match=r"at most 2\^500"):
            DartMinHash(permutations=16).sign(WeightedSets.from_arrays([1, 2, 3, 4], weights, [0, 4]))
    ends = WeightedSets.from_arrays([1, 2, 3], [2.0**-40, 1e12, 2.0**500], [0, 1, 2, 3])
    assert DartMinHash(permutations=8).sign(ends).estimated_resemblance([0, 0], [1, 2]).tolist() == [0, 0]


def test_inverse_frequencies_count_boilerplate_less():
    """Pages of one template and texts of their own: alike by plain shingles, apart by weights."""
    template, words = " ".join(f"menu{i}" for i in range(80)), [[f"t{page}w{i}" for i in range(40)] for page in range(40)]
    texts = [f"{template} {' '.join(own)}" for own in words]
    plain = DartMinHash(permutations=512).sign(weigh(texts, frequencies=None, cap=1e-3))
    weighted = DartMinHash(permutations=512).sign(weigh(texts))
    assert plain.estimated_resemblance(0, 1) > 0.4
    assert weighted.estimated_resemblance(0, 1) < 0.25
