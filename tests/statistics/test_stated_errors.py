"""A stated error of 0.85 of what it is lowers the coverage of 1.96 errors from .95 to .90."""

from itertools import product

import numpy as np
from statistics_sets import estimated

from lookalike.sketches import BBit, FastSimilarity, Fractional, MinHash, OnePermutation, Shingles, Signatures

N = 3000
# the least and the most that a median error may be of the spread
WHOLE = [(packing, 0.95, 1.06) for packing in (*(BBit(bits=b) for b in (1, 2, 4, 8)), Fractional([(1, 0.5), (4, 0.5)]))]
MIXED = [(Fractional(shares), 0.97, 1.16) for shares in ([(1, 0.5), (0.5, 0.5)], [(2, 0.25), (0.25, 0.75)])]


def signatures_of(rng, resemblance, slots):
    """N pairs of independent slots: rows 2i and 2i + 1."""
    values = rng.integers(0, 1 << 32, (2 * N, slots), "uint32")
    values[1::2] = np.where(rng.random((N, slots), "float32") < resemblance, values[::2], values[1::2])
    return Signatures(values, MinHash(permutations=slots))


def test_errors_of_packed_bits_hold(rng):
    slack, spread = 3 * (0.95 * 0.05 / N) ** 0.5, 3 * (0.5 / N) ** 0.5
    for resemblance, (packing, least, most) in product((0.3, 0.6, 0.9), [*WHOLE, *MIXED]):
        packed = packing.pack(signatures_of(rng, resemblance, 1024))
        for likely in (False, True):
            found, error = estimated(packed, with_error=True, most_likely=likely)
            assert 0.93 - slack <= (np.abs(found - resemblance) <= 1.96 * error + 1e-12).mean() <= 0.97 + slack
            assert least - spread <= np.median(error) / found.std() <= most + spread


def test_errors_of_few_members_are_as_large_as_the_true_ones(rng):
    """Squared, on average: bins of bits that few members fill, and slots that later rounds fill, state little more."""
    n = 20_000
    for size, common in {2: 1, 3: 2, 9: 6, 15: 10, 30: 20, 96: 64}.items():
        pool = rng.integers(0, 1 << 63, (n, 2 * size - common), "uint64")
        sets = np.concatenate([pool[:, :size], pool[:, size - common :]], 1)
        shingles = Shingles(sets.ravel(), size * np.arange(2 * n + 1))
        bits = BBit().pack(OnePermutation(permutations=64).sign(shingles))
        for kind in (bits, FastSimilarity(permutations=64).sign(shingles)):
            found, error = estimated(kind, with_error=True)
            assert 0.95 < (error**2).mean() / ((found - common / (2 * size - common)) ** 2).mean() < 1.6
