import numpy as np
import pytest
from fractional.forms import three_quarter_resemblance, three_quarter_variance
from numpy.testing import assert_allclose
from samples import one_in
from statistics_sets import estimated
from theory.sampler import agrees, minima

from lookalike.sketches import Fractional, PermutationMinHash, Signatures
from lookalike.theory import mixture

N = 4000


def packed_pairs(rng, resemblance, densities, shares, slots):
    """Rows 2i and 2i + 1 are a pair."""
    values = np.stack(minima(rng, resemblance, *densities, (N, slots)), axis=1).reshape(2 * N, slots).astype("uint64")
    scheme = PermutationMinHash(universe=1 << 40, permutations=slots)
    return Fractional(shares).pack(Signatures(values, scheme, "minima", np.tile(densities, N).astype("float64")))


@pytest.mark.parametrize(
    ("resemblance", "densities"), [(0.6, (1e-6, 1e-6)), (0.9, (1e-6, 1e-6)), (0.8, (0.5, 0.45)), (0.6, (0.3, 0.3))]
)
def test_three_quarter_bits_have_their_variance(rng, resemblance, densities):
    """(36)-(38) and the variance that the paper leaves out."""
    packed = packed_pairs(rng, resemblance, densities, 0.75, 1536)
    assert packed.layout[:, 1].tolist() == [512, 512]
    rows, found = np.arange(0, 2 * N, 2), estimated(packed)
    share = packed.matches(rows, rows + 1).sum(-1) / 1024
    assert_allclose(found, three_quarter_resemblance(share, *densities), atol=1e-9)
    variance = three_quarter_variance(resemblance, 1024, *densities)
    parts = [mixture.Part(slots=512), mixture.Part(slots=512, combined=2)]
    assert mixture.variance(resemblance, parts, *densities) == pytest.approx(variance)
    agrees(found, resemblance, variance, 0.01)
    agrees(estimated(packed, most_likely=True), resemblance, mixture.least_variance(resemblance, parts, *densities), 0.01)


@pytest.mark.parametrize(
    ("shares", "resemblance", "densities"),
    one_in(
        3,
        [1.25, [(1, 0.5), (8, 0.5)], [(1, 0.5), (0.5, 0.5)], [(2, 0.25), (0.25, 0.75)], [(0.5, 0.5), (1 / 4, 0.5)]],
        [(0.7, (1e-6, 1e-6)), (0.9, (1e-6, 1e-6)), (0.85, (0.4, 0.38))],
    ),
)
def test_any_mixture_has_the_variances_of_theory(rng, shares, resemblance, densities):
    packed = packed_pairs(rng, resemblance, densities, shares, 2048)
    parts = packed.packing.parts(2048)
    assert np.average([share * bits for bits, share in packed.packing.shares]) * 2 * 2048 == sum(
        p.slots * p.bits for p in parts
    )
    for likely, variance in ((False, mixture.variance), (True, mixture.least_variance)):
        found, error = estimated(packed, most_likely=likely, with_error=True)
        expected = float(variance(resemblance, parts, *densities))
        agrees(found, resemblance, expected, 0.01)
        assert np.median(error) / expected**0.5 == pytest.approx(1.04, abs=0.08)
