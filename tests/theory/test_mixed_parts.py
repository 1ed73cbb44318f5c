"""Mixtures of whole and combined bits against the same slots told otherwise, and against grids."""

import numpy as np
import pytest
from theory.test_likelihood import match

from lookalike.theory import likelihood, mixture
from lookalike.theory.mixture import Part

DENSITIES = [(0.0, 0.0), (0.35, 0.25), (0.5, 0.5)]


@pytest.mark.parametrize(("bits", "combined"), [(1, 1), (4, 1), (1, 2), (1, 3)])
@pytest.mark.parametrize("densities", DENSITIES)
def test_one_kind_of_slots_told_as_two_is_the_same(bits, combined, densities):
    """Where slots are all alike it tells nothing, which of them are counted together."""
    equal = np.array([[30, 5], [37, 19], [40, 20]])
    one = likelihood.most_likely(equal.sum(1)[:, None], [Part(slots=60, bits=bits, combined=combined)], *densities)
    parts = [Part(slots=40, bits=bits, combined=combined), Part(slots=20, bits=bits, combined=combined)]
    for whole, split in zip(one, likelihood.most_likely(equal, parts, *densities), strict=True):
        np.testing.assert_allclose(split, whole, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("densities", DENSITIES)
@pytest.mark.parametrize("equal", [(6, 15), (9, 16), (10, 20)])
def test_errors_of_mixtures_are_half_their_intervals(densities, equal):
    """The likelihood with two matches and two mismatches more, shared among the parts, falls by 1.96^2 / 2 at the wider end."""
    parts = [Part(slots=10, bits=1), Part(slots=20, combined=2)]
    c = [(equal[i] + 4 / 30 * part.slots / 2, part.slots * (1 + 4 / 30)) for i, part in enumerate(parts)]

    def unlikely(r):
        shares = [match(part, r, *densities) for part in parts]
        return -sum(x * np.log(p) + (n - x) * np.log(1 - p) for (x, n), p in zip(c, shares, strict=True))

    grid = np.linspace(0.0, min(densities) / max(densities) if densities[0] else 1.0, 20_001)[1:-1]
    slopes = np.diff(sum(part.slots * match(part, grid, *densities) for part in parts))
    grid = grid[np.argmax(slopes > 0) :]  # the resemblances of which no lower one makes as many matches
    loss = unlikely(grid)
    best = np.argmin(loss)
    inside = grid[loss - loss[best] <= 1.96**2 / 2]
    error = max(inside[-1] - grid[best], grid[best] - inside[0]) / 1.96
    assert likelihood.most_likely(equal, parts, *densities)[1] == pytest.approx(error, abs=2e-4)


@pytest.mark.parametrize("combined", [1, 2])
def test_errors_have_the_shape_of_what_is_asked(combined):
    """One number for one pair of documents, a table for a table."""
    parts = [Part(slots=10, bits=1), Part(slots=20, combined=combined)]
    table = np.array([[[8, 13], [9, 17], [10, 20]], [[7, 19], [5, 10], [9, 16]]])
    found, error = likelihood.most_likely(table, parts, 0.3, 0.4)
    assert found.shape == error.shape == (2, 3)
    for i, j in np.ndindex(2, 3):
        each = likelihood.most_likely(table[i, j], parts, 0.3, 0.4)
        assert np.shape(each[0]) == np.shape(each[1]) == ()
        assert each == pytest.approx((found[i, j], error[i, j]), abs=1e-12)


@pytest.mark.parametrize("parts", [
    [Part(slots=10, bits=1), Part(slots=15, bits=4), Part(slots=60, combined=2)],
    [Part(slots=10, bits=1), Part(slots=20, bits=2), Part(slots=60, combined=4)],
    [Part(slots=12, bits=8), Part(slots=60, combined=2), Part(slots=40, combined=4)],
    [Part(slots=5, bits=1), Part(slots=5, bits=1), Part(slots=80, combined=6)],
    [Part(slots=50, bits=1), Part(slots=40, bits=2), Part(slots=20, combined=2)],
])  # fmt: skip
@pytest.mark.parametrize("densities", DENSITIES)
def test_the_share_of_matches_rises_from_its_least_value(parts, densities):
    """Of all resemblances, negative ones too, at which single bits match with probabilities from 0 to 1/2."""
    single = Part(slots=1)
    slope = match(single, 1.0, *densities) - match(single, 0.0, *densities)
    ends = [(e - match(single, 0.0, *densities)) / slope for e in (0.0, 0.5)]
    grid = np.linspace(*ends, 100_001)
    pooled = sum(part.slots * match(part, grid, *densities) for part in parts)
    assert mixture.rises_from(parts, *densities) == pytest.approx(grid[np.argmin(pooled)], abs=3e-4)


MIXED = [
    [Part(slots=40, bits=1), Part(slots=30, bits=3)],
    [Part(slots=40, bits=2), Part(slots=60, combined=2)],
    [Part(slots=20, bits=1), Part(slots=50, combined=3), Part(slots=10, bits=8)],
]


@pytest.mark.parametrize("parts", MIXED)
@pytest.mark.parametrize("densities", [(0.0, 0.0), (0.35, 0.25), (0.1, 0.5)])
def test_pooled_estimates_are_where_so_many_matches_are_expected(parts, densities):
    """Sets of unlike sizes too: the probability of a match by chance is not the one that the slope has."""
    highest = min(densities) / max(densities) if densities[0] else 1.0
    r = np.linspace(0.5 * highest, highest, 7)
    share = sum(part.slots * match(part, r, *densities) for part in parts) / sum(part.slots for part in parts)
    np.testing.assert_allclose(mixture.resemblance(share, parts, *densities), r, atol=1e-12)


@pytest.mark.parametrize("parts", MIXED)
def test_documents_that_match_in_all_slots_resemble_each_other_by_1(parts):
    """Not nearly: 1."""
    assert mixture.resemblance(1.0, parts) == 1.0
    assert mixture.estimate([part.slots for part in parts], parts)[0] == 1.0


def test_64_bits_a_slot_and_no_more():
    """Slots are words of 64 bits."""
    mixture.check_shares([(64, 0.5), (1, 0.5)])
    with pytest.raises(ValueError, match=r"bits in 1\.\.64"):
        mixture.check_shares([(65, 1.0)])
