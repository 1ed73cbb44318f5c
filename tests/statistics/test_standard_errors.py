import numpy as np
import pytest
from scipy import stats

from lookalike.sketches import XorBits
from lookalike.theory import minhash, shares, xor_bits


def coverage(trials, share, half_width):
    x = np.arange(trials + 1)
    return stats.binom.pmf(x, trials, share)[np.abs(x / trials - share) <= half_width].sum()


def test_intervals_of_shares_cover_near_the_ends():
    """The plain formula has no width where all slots match: it covers .98 of 64 slots with probability .72."""
    for trials in (64, 128, 256, 1024):
        x = np.arange(trials + 1)
        ours, plain = 1.96 * shares.share_error(x, trials), 1.96 * minhash.standard_error(x / trials, trials)
        assert (ours > 0).all()
        for mismatches in (0.25, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0):
            share = mismatches / trials
            assert coverage(trials, 1.0 - share, ours) > 0.93 and coverage(trials, share, ours) > 0.93
        assert coverage(trials, 1.0 - 1.0 / trials, plain) < 0.65


def test_combined_bits_of_dense_sets_say_nothing_where_two_resemblances_fit():
    """E13: at densities of .5, resemblances of .1 and .4 give the same matches: 0.1 stated .4. Both are in the interval."""
    samples = 500
    for combined, likely, r in [(m, likely, r) for m in (2, 3) for likely in (False, True) for r in (0.05, 0.1, 0.9)]:
        matches, packing = np.arange(samples + 1), XorBits(combined=combined)
        how = packing.most_likely if likely else packing.estimate
        found, error = how(matches[:, None], samples * combined, *np.full((2, samples + 1), 0.5))
        law = stats.binom.pmf(matches, samples, xor_bits.match_probability(r, combined, 0.5, 0.5))
        for fits in {r, max(r, 0.5 - r) if combined == 2 else r}:  # odd powers tell them apart
            assert law[np.abs(found - fits) <= 1.96 * error].sum() > 0.95 - 3 * (0.95 * 0.05 / 300) ** 0.5
        if r == 0.9:
            spread = xor_bits.variance(r, combined, samples, 0.5, 0.5) ** 0.5
            assert law @ found == pytest.approx(r, abs=5 * spread / 300**0.5)
            assert error[np.searchsorted(law.cumsum(), 0.5)] == pytest.approx(spread, rel=0.2)
