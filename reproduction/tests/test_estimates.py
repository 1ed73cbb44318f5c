"""Helpers of the experiments: pairs of sets, minima under true permutations, estimates, and their errors."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from estimates import (
    batches,
    equal_sets,
    estimates,
    first_slots,
    pair_of,
    pooled_ratio,
    signatures_of,
    sparse_signatures_of,
    xored,
)
from jackknife import share
from permuting import permuted_minima

import lookalike as la
from lookalike.theory import xor_bits


def test_a_pair_has_the_sizes_and_the_resemblance_asked_for():
    pair = pair_of(np.random.default_rng(1), 10_000, 0.2, 0.1, 0.25)
    assert pair.densities == (0.2, 0.1) and pair.total == 3000
    common = len(set(pair.left.tolist()) & set(pair.right.tolist()))
    assert common == 600 and pair.resemblance == 600 / 2400 and pair.distance == 1800


@pytest.mark.parametrize("make", [signatures_of, sparse_signatures_of])
def test_signatures_carry_densities_and_match_as_often_as_they_resemble(make):
    pair = pair_of(np.random.default_rng(2), 4096, 0.02, 0.01, 0.3)
    signatures = make(np.random.default_rng(3), pair, 100, 200)
    assert len(signatures) == 200 and signatures.densities[:2].tolist() == list(pair.densities)
    share = (signatures.values[::2] == signatures.values[1::2]).mean()
    assert abs(share - pair.resemblance) < 4 * (pair.resemblance * (1 - pair.resemblance) / 20_000) ** 0.5
    assert (first_slots(signatures, 7).values == signatures.values[:, :7]).all()


def test_estimates_take_the_first_samples_and_xored_bits_more_slots():
    pair = pair_of(np.random.default_rng(4), 512, 0.1, 0.1, 0.8)
    packings = {"half": la.sketches.XorBits(combined=2), "one": la.sketches.BBit(bits=1), "whole": None}
    found = estimates(np.random.default_rng(5), pair, 30, [64, 512], packings)
    signatures = signatures_of(np.random.default_rng(5), pair, 30, 1024)
    rows = np.arange(0, 60, 2)
    whole = (signatures.values[rows, :64] == signatures.values[rows + 1, :64]).mean(1)
    np.testing.assert_allclose(found["whole"][0], whole)
    half = la.sketches.XorBits(combined=2).pack(signatures)
    np.testing.assert_allclose(found["half"][1], half.estimated_resemblance(rows, rows + 1))
    np.testing.assert_allclose(found["half"][1], xored(half))
    assert found["one"].shape == (2, 30)


def test_batches_cover_all_repetitions():
    assert list(batches(10, 1 << 18)) == [(0, 4), (4, 8), (8, 10)]
    assert list(batches(2, 1 << 30)) == [(0, 1), (1, 2)]


def test_pooled_ratio_tells_a_wrong_variance():
    samples = np.random.default_rng(6).normal(0, 2, (5, 4000))
    ratio, error = pooled_ratio(samples, np.full(5, 4.0))
    assert abs(ratio - 1) < 4 * error and error == pytest.approx((2 / 20_000) ** 0.5, rel=0.1)
    assert abs(pooled_ratio(samples, np.full(5, 4.4))[0] - 1) > 4 * error


def test_equal_sets_are_pairs_of_the_size_and_resemblance_asked_for():
    shingles, exact = equal_sets(np.random.default_rng(7), 3, 100, 0.25)
    assert exact == 40 / 160
    assert shingles.sizes.tolist() == [100] * 6
    assert all(shingles.resemblance(2 * i, 2 * i + 1) == exact for i in range(3))
    assert shingles.resemblance(0, 2) == 0.0


def test_xored_estimates_use_the_densities_even_where_the_library_has_nan():
    pair = pair_of(np.random.default_rng(8), 4096, 0.9, 0.1, 0.03)
    packed = la.sketches.XorBits(combined=2).pack(signatures_of(np.random.default_rng(9), pair, 20, 8192))
    rows = np.arange(0, 40, 2)
    assert np.isnan(packed.estimated_resemblance(rows, rows + 1)).all()
    mirrored = 2 * xor_bits.least_resemblance(*pair.densities) - pair.resemblance
    assert mirrored - pair.resemblance > 0.08 and abs(xored(packed).mean() - mirrored) < 0.02


def drawn(rng, pages=40, versions=4):
    """Pairs of versions of the same page; some pages are chosen with all their pairs, so pairs are far from independent."""
    left = np.repeat(np.arange(pages), versions)
    part = np.repeat(rng.random(pages) < 0.3, versions)
    return part, np.ones(len(left), bool), left, left, pages


def test_its_error_is_that_of_repetitions():
    rng = np.random.default_rng(0)
    found = [share(*drawn(rng)) for _ in range(600)]
    spread = np.std([one.value for one in found], ddof=1)
    assert np.mean([one.error**2 for one in found]) == pytest.approx(spread**2, rel=5 * (2 / 600) ** 0.5)


def test_pairs_between_pages_go_with_either_page():
    part, whole = np.array([True, False, True]), np.ones(3, bool)
    one = share(part, whole, np.array([0, 0, 1]), np.array([0, 1, 2]), 3)
    assert one.value == pytest.approx(2 / 3)
    assert np.allclose(one.without, [1, 1, 1 / 2])


def test_a_share_minus_itself_is_zero_without_error():
    one = share(*drawn(np.random.default_rng(1)))
    assert one.above(one) == (0.0, 0.0)


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
