import numpy as np
import pytest
from numpy.testing import assert_allclose
from theory.test_likelihood import match

from lookalike.sketches import BBit, OnePermutation, PermutationBins, Shingles
from lookalike.theory.mixture import Part


def test_errors_rest_on_the_bins_that_are_filled(rng):
    """Zeros and ones, two of each added, of the bins filled in either document.
    Of bits: the variance of what bins have in common, and that of the bits of unlike ones, which match by chance.
    """
    n = 12
    values = rng.integers(0, 1 << 63, n, "uint64")
    shingles = Shingles.from_arrays(np.concatenate([values, values[: n // 2]]), [0, n, n + n // 2])
    bins = PermutationBins(universe=64 * 64, permutations=64)
    places = rng.choice(64 * 64, n, replace=False)
    for universe, signatures in (
        (2.0**64, OnePermutation(permutations=64).sign(shingles)),
        (64 * 64, bins.sign_sets(np.concatenate([places, places[: n // 2]]), [0, n, n + n // 2])),
    ):
        left, right = signatures.values
        empty = np.iinfo(left.dtype).max
        filled = (left != empty) | (right != empty)
        assert 0 < filled.sum() < 20
        counted = np.concatenate([(left == right)[filled], [True, True, False, False]])
        found, error = signatures.estimated_resemblance(0, 1, with_error=True)
        assert found == (left == right)[filled].mean()
        m, members = int(filled.sum()), -1.0
        for i in range(m + 1):  # until one more is filled
            members += (universe - members) / ((64 - i) * universe / 64 + 1)
        alone = np.exp(m - members)
        spread = (members - m) / (members - 1) * (1 + alone)
        assert error == pytest.approx(counted.std() * (spread / len(counted)) ** 0.5)
        for bits, odds in ((1, 1.0), (3, 1 / 7)):  # of a match by chance
            packed = BBit(bits=bits).pack(signatures)
            equal, both, _ = packed.matches(0, 1)
            differ = both - equal + 2.0
            r = (equal + 2.0 - differ * odds) / (m + 4)
            unlike = (differ - 2.0 + 2.0 * spread) * (1 + odds) + (1 - r) * (members - m) * alone
            error = packed.estimated_resemblance(0, 1, with_error=True)[1]
            assert error**2 == pytest.approx(r * (1 - r) * spread / (m + 4) + unlike * odds / (m + 4) ** 2)


def test_errors_of_bits_of_sets_of_unlike_densities():
    """The error of the share of matches over the rise of its expectation."""
    slots, densities, counts = 40, (0.35, 0.05), np.arange(41)
    p = (counts + 2) / (slots + 4)
    for bits in (1, 2, 4):
        _, error = BBit(bits=bits).estimate(counts[:, None], slots, *(np.full(slots + 1, density) for density in densities))
        none, all_of = (match(Part(slots=slots, bits=bits), r, *densities) for r in (0.0, 1.0))
        assert_allclose(error, (p * (1 - p) / (slots + 4)) ** 0.5 / (all_of - none), rtol=1e-9)
