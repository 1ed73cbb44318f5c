from itertools import product

import numpy as np
from scipy import stats
from theory.test_likelihood import highest, match, matches

from lookalike.sketches import Fractional, XorBits

PACKINGS = [XorBits(combined=2), XorBits(combined=4), Fractional([(1, 0.2), (0.5, 0.8)])]
DENSITIES = [(0.5, 0.5), (0.6, 0.45), (0.3, 0.06), (0.9, 0.9), (0.9, 0.1), (0.9, 0.2), (0.05, 0.05), (0.0, 0.0)]
PERMUTATIONS = 320


def test_densities_decide_whether_there_are_estimates_and_these_cover():
    """By the exact law; estimates are nan for all pairs or none."""
    for packing, densities, likely in product(PACKINGS, DENSITIES, (False, True)):
        parts = packing.parts(PERMUTATIONS)
        counts = np.stack(np.meshgrid(*(np.arange(part.slots + 1) for part in parts), indexing="ij"), -1)
        counts = counts.reshape(-1, len(parts))
        given = [np.full(len(counts), density) for density in densities]
        found, error = (packing.most_likely if likely else packing.estimate)(counts, PERMUTATIONS, *given)
        lowest, most = max(0.0, sum(densities) - 1), highest(*densities)
        least, best = (matches(parts, r, *densities) for r in (lowest, most))
        assert (np.isnan(found) == (best < least)).all(), "no resemblance makes more matches than the lowest"
        for r in np.linspace(lowest, most, 9) if best >= least else ():
            chances = [stats.binom.pmf(counts[:, i], p.slots, match(p, r, *densities)) for i, p in enumerate(parts)]
            assert np.prod(chances, 0)[np.abs(found - r) <= 1.96 * error + 1e-12].sum() > 0.92
