"""Sketches that mix whole slots with combined ones err as the theory says: 3/4 bit and other fractions."""

from itertools import product

import numpy as np
import pytest
from fractional.forms import three_quarter_resemblance, three_quarter_variance
from theory.sampler import agrees, minima

import lookalike as la
from lookalike.theory import mixture, xor_bits

N = 4000


def packed_pairs(rng, resemblance, densities, shares, slots):
    """Sketches of N pairs of sets of given densities, by true minima: rows i and i + N are a pair."""
    left, right = minima(rng, resemblance, *densities, (N, slots))
    scheme = la.sketches.PermutationMinHash(universe=1 << 40, permutations=slots)
    carried = np.repeat(densities, N).astype(np.float64)
    signatures = la.sketches.Signatures(np.concatenate([left, right]).astype(np.uint64), scheme, "minima", carried)
    return la.sketches.Fractional(shares).pack(signatures)


@pytest.mark.parametrize(
    ("resemblance", "densities"), [(0.6, (1e-6, 1e-6)), (0.9, (1e-6, 1e-6)), (0.8, (0.5, 0.45)), (0.6, (0.3, 0.3))]
)
def test_three_quarter_bits_have_their_variance(rng, resemblance, densities):
    """(36)-(38) and the variance that the paper leaves out, from sketches."""
    slots = 1536
    packed = packed_pairs(rng, resemblance, densities, 0.75, slots)
    stored = packed.layout[:, 1].tolist()
    assert stored == [512, 512]
    rows = np.arange(N)
    found = packed.estimated_resemblance(rows, rows + N)
    share = packed.matches(rows, rows + N).sum(-1) / 1024
    np.testing.assert_allclose(found, three_quarter_resemblance(share, *densities), atol=1e-9)
    variance = three_quarter_variance(resemblance, 1024, *densities)
    parts = [mixture.Part(slots=512), mixture.Part(slots=512, combined=2)]
    assert mixture.variance(resemblance, parts, *densities) == pytest.approx(variance)
    agrees(found, resemblance, variance, 0.01)
    likely = packed.estimated_resemblance(rows, rows + N, most_likely=True)
    agrees(likely, resemblance, mixture.least_variance(resemblance, parts, *densities), 0.01)


@pytest.mark.parametrize(
    "shares",
    [1.25, [(1, 0.5), (8, 0.5)], [(1, 0.5), (0.5, 0.5)], [(2, 0.25), (0.25, 0.75)], [(0.5, 0.5), (1 / 4, 0.5)]],
    ids=str,
)
@pytest.mark.parametrize(("resemblance", "densities"), [(0.7, (1e-6, 1e-6)), (0.9, (1e-6, 1e-6)), (0.85, (0.4, 0.38))])
def test_any_mixture_has_the_variances_of_theory(rng, shares, resemblance, densities):
    packed = packed_pairs(rng, resemblance, densities, shares, 2048)
    parts, rows = packed.packing.parts(2048), np.arange(N)
    assert np.average([share * bits for bits, share in packed.packing.shares]) * 2 * 2048 == sum(
        p.slots * p.bits for p in parts
    )
    for likely, variance in ((False, mixture.variance), (True, mixture.least_variance)):
        found, error = packed.estimated_resemblance(rows, rows + N, most_likely=likely, with_error=True)
        expected = float(variance(resemblance, parts, *densities))
        agrees(found, resemblance, expected, 0.01)
        assert np.median(error) / expected**0.5 == pytest.approx(1.04, abs=0.08)


def test_the_bound_is_below_the_pooled_variance():
    for parts in (
        [mixture.Part(slots=8), mixture.Part(slots=8, combined=2)],
        [mixture.Part(slots=8, bits=4), mixture.Part(slots=4, combined=8)],
    ):
        r = np.linspace(0.05, 0.95, 19)
        assert (mixture.least_variance(r, parts) <= mixture.variance(r, parts) * (1 + 1e-12)).all()
    one = [mixture.Part(slots=100, combined=4)]
    np.testing.assert_allclose(mixture.variance(r, one), xor_bits.variance(r, 4, 100))
    np.testing.assert_allclose(mixture.least_variance(r, one), xor_bits.variance(r, 4, 100))


def test_the_pooled_share_rises_from_where_it_is_said_to():
    for densities, combined in product([(0.0, 0.0), (0.5, 0.45), (0.9, 0.2)], [[1, 2], [1, 3], [1, 2, 5], [2, 3], [4, 8]]):
        parts = [mixture.Part(slots=10 * m, combined=m) for m in combined]
        least, c = mixture.rises_from(parts, *densities), min(densities) / max(max(densities), 1e-9) if max(densities) else 1.0
        r = np.linspace(least, max(c, least), 400)
        curve = sum(p.slots * mixture.curve(p, r, *densities)[0] for p in parts) / sum(p.slots for p in parts)
        assert (np.diff(curve) > -1e-15).all()
        np.testing.assert_allclose(mixture.resemblance(curve[curve <= 1], parts, *densities), r[curve <= 1], atol=1e-4)
        if all(m == 1 or m % 2 == 0 for m in combined):
            below = sum(p.slots * mixture.curve(p, least - 0.01, *densities)[0] for p in parts) / sum(p.slots for p in parts)
            assert below > curve[0], "one step below, matches fall"
