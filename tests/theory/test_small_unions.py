"""One permutation hashing of unions so small that all that can happen is counted."""

from collections import Counter
from fractions import Fraction
from itertools import permutations, product
from math import comb

import numpy as np
import pytest

from lookalike.theory import one_permutation as oph


def placements(union, bins):
    """All ways in which members fall into bins: members of each bin, all equally likely."""
    return [[[m for m in range(union) if place[m] == b] for b in range(bins)] for place in product(range(bins), repeat=union)]


def raw_estimates(union, bins, common):
    """Each way: (share of filled bins whose smallest member is common, matches, empty bins); the order of members varies too."""
    found = []
    for ways in placements(union, bins):
        for order in permutations(range(union)):
            least = [min(members, key=lambda m: order[m]) for members in ways if members]
            equal = sum(m < common for m in least)
            found.append((equal / len(least), equal, bins - len(least)))
    return np.array(found)


@pytest.mark.parametrize(("union", "bins", "common"), [(1, 3, 1), (2, 2, 1), (2, 4, 1), (3, 3, 1), (4, 3, 3), (5, 2, 2)])
def test_raw_bins_by_enumeration(union, bins, common):
    shares, matches, empty = raw_estimates(union, bins, common).T
    r = common / union
    assert shares.mean() == pytest.approx(r)
    assert shares.var() == pytest.approx(oph.variance(r, union, bins), abs=1e-12)
    assert matches.mean() == pytest.approx(oph.expected_matches(r, union, bins))
    assert empty.mean() == pytest.approx(oph.expected_empty(union, bins))
    assert (1 / (bins - empty)).mean() == pytest.approx(oph.expected_inverse_filled(union, bins))
    assert [Counter((bins - empty).tolist())[m] / len(empty) for m in range(bins + 1)] == pytest.approx(
        oph.occupancy(union, bins).tolist()
    )
    np.testing.assert_allclose(shares, [oph.resemblance(m, e, bins) for m, e in zip(matches, empty, strict=True)])


def optimal_copies(filled, bins):
    """All choices of empty bins among filled ones: expected sum of squared numbers of bins that hold the same."""
    copies = [Counter([*filled, *choice]) for choice in product(filled, repeat=bins - len(filled))]
    return np.mean([sum(n * n for n in one.values()) for one in copies])


def rotated_copies(filled, bins):
    """Each empty bin takes what the next filled one on the right, going round, holds."""
    taken = Counter(next((b + step) % bins for step in range(bins) if (b + step) % bins in filled) for b in range(bins))
    return sum(n * n for n in taken.values())


@pytest.mark.parametrize(
    ("variance", "copies"), [(oph.optimal_variance, optimal_copies), (oph.rotation_variance, rotated_copies)]
)
@pytest.mark.parametrize(("union", "bins", "common"), [(2, 2, 1), (2, 4, 1), (3, 4, 2), (4, 4, 1)])
def test_filled_bins_by_enumeration(variance, copies, union, bins, common):
    """Pairs of bins: the same member with certainty, else two of the union, of which common ones are drawn without repeat."""
    r, other = common / union, (common - 1) / (union - 1)
    squares = np.mean([copies([b for b in range(bins) if ways[b]], bins) for ways in placements(union, bins)])
    both = (squares * r + (bins**2 - squares) * r * other) / bins**2
    assert variance(r, union, bins) == pytest.approx(both - r**2, abs=1e-12)
    assert oph.copied_variance(r, union, bins, squares) == pytest.approx(both - r**2, abs=1e-12)


@pytest.mark.parametrize(("union", "bins", "universe"), [(0, 3, 6), (1, 3, 6), (2, 3, 6), (5, 2, 8), (4, 4, 4)])
def test_empty_bins_of_a_finite_universe(union, bins, universe):
    """Bins of universe / bins places, and all orders of as many members' places."""
    places = list(permutations(range(universe), union))
    empty = np.mean([bins - len({place * bins // universe for place in one}) for one in places])
    assert oph.expected_empty(union, bins, universe) == pytest.approx(empty)


@pytest.mark.parametrize(("union", "bins"), [(30, 8), (200, 32), (5, 5)])
def test_filled_bins_by_inclusion_and_exclusion(union, bins):
    law = [
        comb(bins, m) * sum((-1) ** j * comb(m, j) * Fraction(m - j, bins) ** union for j in range(m + 1))
        for m in range(bins + 1)
    ]
    assert oph.expected_inverse_filled(union, bins) == pytest.approx(
        float(sum(p / m for m, p in enumerate(law) if m)), rel=1e-12
    )


def test_estimates_of_few_filled_bins():
    assert oph.resemblance(1, 3, 4) == 1.0 and oph.resemblance(0, 3, 4) == 0.0


def test_bits_of_structures():
    assert oph.space_bits(1024, 4) == oph.space_bits(1024, 4, 1)
    assert oph.space_bits(1024, 4, 3) == {
        "naive": 1024, "minwise": 4 * 1024 * 10 + 4 * 10, "b-bit minwise": 4 * 1024 * 10 + 4 * 3, "one permutation": 1024 * 10 + 4 * 8,
    }  # fmt: skip
    assert oph.space_bits(2, 4)["one permutation"] == 2.0, "a bin of less than a place takes no bit"


def test_variances_of_a_single_member_are_nought():
    for variance in (oph.variance, oph.rotation_variance, oph.optimal_variance):
        assert variance(1.0, 1, 4) == variance(0.0, 1, 4) == 0.0
