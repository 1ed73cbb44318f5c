"""The standard errors that estimates state are those they have: intervals cover, and the errors are no wider than they must be.

A stated error of 0.85 of what it is lowers the coverage of 1.96 errors from .95 to .90, and its ratio to the spread by as much.
"""

from itertools import islice, product

import numpy as np
import pytest
from scipy import stats
from statistics_sets import estimated

from lookalike.sketches import BBit, FastSimilarity, Fractional, MinHash, OnePermutation, Shingles, Signatures, XorBits
from lookalike.theory import mixture, xor_bits

N = 3000
RESEMBLANCES = (0.3, 0.6, 0.9)
WHOLE = [*(BBit(bits=b) for b in (1, 2, 4, 8)), Fractional(shares=[(1, 0.5), (4, 0.5)])]
MIXED = [Fractional(shares=[(1, 0.5), (0.5, 0.5)]), Fractional(shares=[(2, 0.25), (0.25, 0.75)])]


def signatures_of(rng, resemblance, slots):
    """N pairs of signatures of independent slots: rows 2i and 2i + 1."""
    values = rng.integers(0, 1 << 32, (2 * N, slots), dtype=np.uint32)
    values[1::2] = np.where(rng.random((N, slots), np.float32) < resemblance, values[::2], values[1::2])
    return Signatures(values, MinHash(permutations=slots))


def holds(found, error, resemblance, least_ratio, most_ratio):
    """Coverage in [.93, .97] and the median error near the spread, both within three standard errors of the simulation."""
    slack = 3 * (0.95 * 0.05 / len(found)) ** 0.5
    cover = (np.abs(found - resemblance) <= 1.96 * error + 1e-12).mean()
    assert 0.93 - slack <= cover <= 0.97 + slack
    spread = 3 * (0.5 / len(found)) ** 0.5
    assert least_ratio - spread <= np.median(error) / found.std() <= most_ratio + spread


@pytest.mark.parametrize(("packings", "ratios"), [(WHOLE, (0.95, 1.06)), (MIXED, (0.97, 1.16))], ids=["whole", "mixed"])
def test_errors_of_packed_bits_hold(rng, packings, ratios):
    for resemblance, packing in product(RESEMBLANCES, packings):
        packed = packing.pack(signatures_of(rng, resemblance, 1024))
        for likely in (False, True):
            holds(*estimated(packed, with_error=True, most_likely=likely), resemblance, *ratios)


@pytest.mark.parametrize(("size", "common"), [(2, 1), (3, 2), (9, 6), (15, 10), (30, 20), (96, 64)])
def test_errors_of_few_members_are_as_large_as_the_true_ones(rng, size, common):
    """Squared, on average: bins of bits that few members fill, and slots that later rounds fill, state little more."""
    n = 20_000
    pool = rng.integers(0, 1 << 63, (n, 2 * size - common), dtype=np.uint64)
    sets = np.concatenate([pool[:, :size], pool[:, size - common :]], 1)
    shingles = Shingles(sets.ravel(), size * np.arange(2 * n + 1))
    bits = BBit().pack(OnePermutation(permutations=64).sign(shingles))
    for kind in (bits, FastSimilarity(permutations=64).sign(shingles)):
        found, error = estimated(kind, with_error=True)
        assert 0.95 < (error**2).mean() / ((found - common / (2 * size - common)) ** 2).mean() < 1.6


def law_of(packing, samples, resemblance, likely):
    """The exact law of the estimates of combined bits: (probability, estimate, error) of each number of matches."""
    x, zeros = np.arange(samples + 1), np.zeros(samples + 1)
    how = packing.most_likely if likely else packing.estimate
    found, error = how(x[:, None], samples * packing.combined, zeros, zeros)
    return stats.binom.pmf(x, samples, xor_bits.match_probability(resemblance, packing.combined)), found, error


def test_errors_of_combined_bits_cover_by_the_exact_law():
    """0.1 covered .80 with eight combined at a resemblance of .5: the delta method knows nothing of a root near 0."""
    cases = product([False, True], [*RESEMBLANCES, 0.1, 0.5, 0.8, 0.95], [1, 2, 3, 4, 8, 16], [64, 128, 512])
    for likely, resemblance, combined, samples in islice(cases, 0, None, 5):  # all values of each are among them
        chance, found, error = law_of(XorBits(combined=combined), samples, resemblance, likely)
        assert chance[np.abs(found - resemblance) <= 1.96 * error + 1e-12].sum() > 0.93
        mean = (chance * found).sum()
        spread = (chance * (found - mean) ** 2).sum() ** 0.5
        middle = error[np.searchsorted(np.cumsum(chance), 0.5)]
        share = xor_bits.match_probability(resemblance, combined)
        sure = (2.0 * share - 1.0) * samples**0.5
        if sure > 8.0 and samples * (1.0 - share) > 40.0:  # far from chance, and from where all match
            assert 0.97 < middle / spread < 1.16
            parts = XorBits(combined=combined).parts(samples * combined)
            assert middle / float(mixture.variance(resemblance, parts)) ** 0.5 == pytest.approx(1.06, abs=0.1)
        if sure < 0.1:
            assert middle > 0.6 * spread, "they say next to nothing, and say so"
