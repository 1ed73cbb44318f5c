"""Standard errors hold where all slots match or none does, and estimates take the densities into account."""

import numpy as np
import pytest
from scipy import stats
from statistics_sets import estimated
from theory.sampler import minima

from lookalike.errors import ParameterError
from lookalike.sketches import (
    BBit,
    DartMinHash,
    FastSimilarity,
    MinHash,
    OnePermutation,
    PermutationMinHash,
    Shingles,
    Signatures,
    WeightedSets,
    XorBits,
)
from lookalike.theory import minhash, shares, xor_bits


def coverage(trials, share, half_width):
    """Probability that the share is within a half-width, one for each number of matches, of the observed one."""
    x = np.arange(trials + 1)
    return stats.binom.pmf(x, trials, share)[np.abs(x / trials - share) <= half_width].sum()


@pytest.mark.parametrize("trials", [64, 128, 256, 1024])
def test_intervals_of_shares_cover_near_the_ends(trials):
    """1.96 standard errors on either side: 93 % and more where fewer than one mismatch to five are expected, exactly computed.

    With the plain formula the interval has no width where all slots match: it covers .98 of 64 slots with probability .72."""
    x = np.arange(trials + 1)
    ours = 1.96 * shares.share_error(x, trials)
    plain = 1.96 * minhash.standard_error(x / trials, trials)
    assert (shares.share_error(x, trials) > 0).all()
    for mismatches in (0.25, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0):
        share = 1.0 - mismatches / trials
        assert coverage(trials, share, ours) > 0.93
        assert coverage(trials, 1.0 - share, ours) > 0.93
    assert coverage(trials, 1.0 - 1.0 / trials, plain) < 0.65


def test_errors_of_shares_of_no_trials():
    assert np.isnan(shares.share_error(0, 0))
    for wrong in ((-1, 5), (6, 5), (1, -1)):
        with pytest.raises(ParameterError):
            shares.share_error(*wrong)


def test_no_estimate_claims_to_be_free_of_error():
    """0.1 stated an error of 0 where all slots match."""
    same = Shingles.from_arrays([1, 2, 3, 1, 2, 3, 4, 5], [0, 3, 6, 8])
    weighted = WeightedSets.from_arrays([1, 2, 1, 2, 3], np.ones(5), [0, 2, 4, 5])
    schemes = (FastSimilarity(), MinHash(), OnePermutation(), OnePermutation(densify="optimal"))
    signed = [
        *(scheme.sign(same) for scheme in schemes),
        DartMinHash().sign(weighted),
        BBit(bits=2).pack(schemes[2].sign(same)),
        PermutationMinHash(universe=9).sign_sets([1, 2, 1, 2, 3], [0, 2, 4, 5]),
    ]
    for signatures in signed:
        for right, expected in ((1, 1.0), (2, 0.0)):
            found, error = signatures.estimated_resemblance(0, right, with_error=True)
            assert found == pytest.approx(expected, abs=0.3) and error > 0.005


@pytest.mark.filterwarnings("ignore:estimates from XORs")
@pytest.mark.parametrize("combined", [2, 3])
def test_combined_bits_of_dense_sets_say_nothing_where_two_resemblances_fit(rng, combined):
    """E13: at densities of .5, resemblances of .1 and .4 give the same matches: 0.1 stated .4, with an error bar. Both are in it."""
    n, samples = 300, 500
    for r in (0.05, 0.1, 0.9):
        slots = np.stack(minima(rng, r, 0.5, 0.5, (n, samples * combined)), axis=1).reshape(2 * n, -1).astype(np.uint64)
        scheme = PermutationMinHash(universe=1 << 40, permutations=samples * combined)
        packed = XorBits(combined=combined).pack(Signatures(slots, scheme, "minima", np.full(2 * n, 0.5)))
        for likely in (False, True):
            found, error = estimated(packed, with_error=True, most_likely=likely)
            for fits in {r, max(r, 0.5 - r) if combined == 2 else r}:  # odd powers tell them apart
                assert (np.abs(found - fits) <= 1.96 * error).mean() > 0.95 - 3 * (0.95 * 0.05 / n) ** 0.5
            if r == 0.9:
                spread = xor_bits.variance(r, combined, samples, 0.5, 0.5) ** 0.5
                assert found.mean() == pytest.approx(r, abs=5 * spread / n**0.5)
                assert np.median(error) == pytest.approx(spread, rel=0.2)
