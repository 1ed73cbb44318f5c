"""Combined bits of dense sets that would match as often at a lower resemblance: told as nan by all packings."""

from itertools import product

import numpy as np
from theory.test_likelihood import match

import lookalike as la

PACKINGS = [
    la.sketches.XorBits(combined=2),
    la.sketches.XorBits(combined=4),
    la.sketches.Fractional(shares=[(0.5, 1.0)]),
    la.sketches.Fractional(shares=[(1, 0.2), (0.5, 0.8)]),
]


def expected_share(parts, r, densities):
    """Share of matches among all slots, by Theorem 1."""
    return sum(part.slots * match(part, r, *densities) for part in parts) / sum(part.slots for part in parts)


def test_an_estimate_is_nan_where_a_lower_resemblance_makes_as_many_matches():
    """At any point of the interval; if all resemblances for which there is a lower one lie within an error, that says enough.

    Where the interval begins below the resemblance at which fewest match, it is that one whose other is looked for.
    """
    for packing, densities, likely in product(
        PACKINGS, [(0.5, 0.5), (0.6, 0.45), (0.2, 0.2), (0.1, 0.1), (0.05, 0.05), (0.0, 0.0)], [False, True]
    ):
        permutations = 2000
        parts = packing.parts(permutations)
        shares = np.linspace(0.4, 1.0, 400)[:, None]
        matches = np.rint(shares * [part.slots for part in parts]).astype(np.int64)
        call = packing.most_likely if likely else packing.estimate
        given = [np.full(len(matches), density) for density in densities]
        found, error = call(matches, permutations, *given)
        highest = min(densities) / max(densities) if max(densities) else 1.0
        grid = np.linspace(0.0, highest, 20_001)
        expected = expected_share(parts, grid, densities)
        least = np.argmin(expected)
        double = grid[least:][expected[least:] <= expected[0]]  # resemblances that match as often as a lower one
        assert np.isfinite(error).all()
        plain = la.theory.mixture.resemblance(matches.sum(1) / sum(part.slots for part in parts), parts, *densities)
        if likely:
            plain = la.theory.likelihood.most_likely(matches, parts, *densities)[0]
        edge = double[-1] if least else 0.0
        unclear = (edge > error) & (plain - 1.96 * error <= edge)
        sure = (np.abs(edge - error) > 1e-4) & (np.abs(plain - 1.96 * error - edge) > 1e-4)
        assert (np.isnan(found) == unclear)[sure].all()
        np.testing.assert_array_equal(found[~np.isnan(found)], plain[~np.isnan(found)])
        if densities == (0.5, 0.5):
            assert unclear.any() and not unclear.all()
        if densities == (0.0, 0.0):
            assert not unclear.any()
