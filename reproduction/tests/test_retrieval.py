"""Counting for retrieval equals the package's estimates; the model equals enumeration; numbers of slots are those of a curve."""

import numpy as np
import pytest
from retrieval.counting import DEPTHS, classify, count_matches, segments
from retrieval.estimates import jackknife, near, needed, normal_error
from retrieval.model import Spread, by_normals, matches_reach
from retrieval.schemes import NAMES, NO_TIE, SCHEMES, SIZES, THRESHOLDS, bounds, cuts, rows
from scipy import stats

import lookalike as la
from lookalike.theory import bbit


@pytest.fixture(scope="module")
def shingles():
    members = [list(range(200)), list(range(50, 250)), list(range(100, 300)), list(range(150, 190)), list(range(190))]
    return la.sketches.Shingles.from_arrays([x for row in members for x in row], np.cumsum([0, *map(len, members)]))


@pytest.fixture(scope="module")
def counted(shingles):
    """(left, right, matches at all cuts)."""
    slots = int(SIZES[-1])
    left, right = np.triu_indices(len(shingles), 1)
    words = la.sketches.BBit(bits=32).pack(la.sketches.MinHash(permutations=slots, seed=3).sign(shingles)).words
    counts = np.empty((len(left), len(cuts()), len(DEPTHS)), np.int16)
    count_matches(words, slots, left, right, segments(cuts()), counts)
    return left, right, counts


@pytest.mark.parametrize("k", [8, 60, 76, 192, 480])
def test_matches_are_those_of_sketches_of_k_slots(shingles, counted, k):
    left, right, counts = counted
    signatures = la.sketches.MinHash(permutations=k, seed=3).sign(shingles)
    for i, bits in enumerate(DEPTHS):
        packed = la.sketches.BBit(bits=int(bits)).pack(signatures)
        assert counts[:, np.searchsorted(cuts(), k), i].tolist() == packed.matches(left, right)[:, 0].tolist()


def test_segments_end_at_cuts_and_words():
    first, masks, at = segments(np.array([3, 64, 70, 130]))
    assert first.tolist() == [0, 2, 4, 5]
    assert [bin(int(mask)).count("1") for mask in masks] == [3, 61, 6, 58, 2]
    assert at.tolist() == [0, 1, 2, -1, 3]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("k", [8, 20, 240])
def test_pairs_are_retrieved_as_the_sketches_estimate(shingles, counted, name, k):
    left, right, counts = counted
    table = np.zeros((len(NAMES), len(SIZES), len(left), len(THRESHOLDS) + 1), np.int64)
    classify(counts, rows(), bounds(), np.arange(len(left)), table)
    signatures = la.sketches.MinHash(permutations=k, seed=3).sign(shingles)
    parts = SCHEMES[name]
    packing = la.sketches.BBit(bits=parts[0][0]) if len(parts) == 1 else la.sketches.Fractional(shares=parts)
    estimates = packing.pack(signatures).estimated_resemblance(left, right)
    passed = (estimates[:, None] >= THRESHOLDS - (0.0 if name == NO_TIE else 1e-9)).sum(1)
    assert table[NAMES.index(name), np.searchsorted(SIZES, k)].argmax(1).tolist() == passed.tolist()
    assert (table.sum(3) == 1).all()


def test_ties_count_as_reached():
    least = bounds()[NAMES.index("32 bits")]
    assert least[np.searchsorted(SIZES, 20)].tolist() == [6, 8, 10, 12, 14, 16, 18]
    assert bounds()[NAMES.index(NO_TIE), np.searchsorted(SIZES, 20)].tolist() == [7, 9, 11, 13, 15, 17, 19]
    assert bounds()[NAMES.index("b = 1"), np.searchsorted(SIZES, 20)].tolist() == [13, 14, 15, 16, 17, 18, 19]


@pytest.mark.parametrize("parts", [[(1, 0.75), (2, 0.25)], [(1, 0.5), (4, 0.5)]])
def test_two_binomials_add_up(parts):
    k, r = 40, np.array([0.0, 0.3, 0.77, 1.0])
    least = np.array([0, 1, 15, 30, 39, 40])
    chances = [bbit.match_probability(r, bits) for bits, _ in parts]
    counts = [round(share * k) for _, share in parts]
    expected = [
        [
            sum(stats.binom.pmf(x, counts[0], p) * stats.binom.sf(m - x - 1, counts[1], q) for x in range(counts[0] + 1))
            for p, q in zip(*chances, strict=True)
        ]
        for m in least
    ]
    np.testing.assert_allclose(matches_reach(least, parts, k, r), expected, atol=1e-13)


def test_one_binomial_and_large_numbers():
    r = np.array([0.2, 0.5])
    np.testing.assert_allclose(matches_reach(np.array([3]), [(32, 1.0)], 4, r), [4 * r**3 * (1 - r) + r**4], rtol=1e-8)
    halves = matches_reach(np.array([1824]), [(1, 0.5), (1, 0.5)], 2432, r)
    np.testing.assert_allclose(halves, matches_reach(np.array([1824]), [(1, 1.0)], 2432, r), rtol=1e-9, atol=1e-15)


def test_spread_keeps_thresholds_apart():
    spread = Spread.of(np.array([0.29999, 0.3, 0.3001, 1.0, 0.0]), np.array([20.0, 1.0, 3.0, 1.0, 1.0]))
    assert spread.weight.tolist() == [1.0, 20.0, 4.0, 1.0]
    np.testing.assert_allclose(spread.resemblance, [0.0, 0.29999, (0.3 + 3 * 0.3001) / 4, 1.0])
    found = spread.retrieved(np.ones((len(THRESHOLDS), 4)))
    assert found[0].tolist() == [5.0, 26.0, 5.0]
    assert found[-1].tolist() == [1.0, 26.0, 1.0]


def test_normals_depend_on_the_scale_of_k_only():
    """With one variance for all pairs, curves of any b are one curve over k / Var."""
    spread = Spread.of(np.linspace(0.1, 0.95, 200), np.linspace(5, 1, 200))
    k = np.array([50.0, 500.0])
    for t, threshold in enumerate(THRESHOLDS):
        more = bbit.variance(threshold, 1, 1) / bbit.variance(threshold, 32, 1)
        np.testing.assert_allclose(
            by_normals(spread, 1, k * more, True)[:, t], by_normals(spread, 32, k, True)[:, t], rtol=1e-9
        )
    assert (by_normals(spread, 1, k, False) > by_normals(spread, 32, k, False)).all()


def test_needed_slots_of_a_power_law():
    sizes = np.array([10, 20, 40, 80, 160, 320, 640])
    wrong = 2.0 / np.sqrt(sizes)
    chosen = near(wrong, 0.2)
    assert chosen.tolist() == [False, True, True, True, True, True, True]
    assert needed(wrong, sizes, 0.2, chosen) == pytest.approx(100)
    assert not near(wrong, 0.07).any() and np.isnan(needed(wrong, sizes, 0.07, near(wrong, 0.07)))


def test_jackknife_of_a_mean_is_the_standard_error(rng):
    x = rng.normal(3, 1, (20, 2))
    value, error = jackknife(x, lambda mean: mean)
    np.testing.assert_allclose(value, x.mean(0))
    np.testing.assert_allclose(error, x.std(0, ddof=1) / 20**0.5)


def test_errors_from_few_repetitions_are_larger():
    found, error = np.array([0.0, 1e-6, 3.0, 6.0, -6.0]), np.ones(5)
    wide = normal_error(found, np.zeros(5), error, 10)
    assert (wide > 1).all() and wide[3] == wide[4] > wide[2] > wide[1]
    assert stats.norm.sf(6.0 / wide[3]) == pytest.approx(stats.t.sf(6.0, 9))
    assert normal_error(found, np.zeros(5), error, 10**7)[2] == pytest.approx(1, abs=1e-3)
