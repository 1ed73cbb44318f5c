"""Estimates that know the sizes: laws against sums over all permutations and simulation, variances against the spread."""

from itertools import pairwise, permutations

import numpy as np
import pytest

import lookalike as la
from lookalike.theory import bit_pairs, known_sizes, minhash

CASES = [(100, 100, 50), (100, 300, 90), (100, 1000, 90), (1000, 100, 30)]  # sizes, common


def minima(rng, shape, left, right, common):
    """Minima of exponential variables of two sets with members in common."""
    alone_left, alone_right, both = (rng.exponential(1.0 / n, shape) for n in (left - common, right - common, common))
    return np.minimum(alone_left, both), np.minimum(alone_right, both)


def test_sizes_keep_16_bits():
    sizes = np.array([0, 1, 2, 3, 1000, 999_999, (1 << 32) - 1])
    kept = known_sizes.sizes_of(known_sizes.size_steps(sizes))
    assert kept[0] == 0 and kept[1] == 1 and kept[2] == 2
    assert np.abs(kept[1:] / sizes[1:] - 1).max() < 1.7e-4
    np.testing.assert_array_equal(known_sizes.size_steps(np.rint(kept)[:2]), known_sizes.size_steps(sizes[:2]))
    np.testing.assert_array_equal(known_sizes.size_steps(kept[:-1]), known_sizes.size_steps(sizes[:-1]))
    with pytest.raises(la.ParameterError, match="sizes must be in"):
        known_sizes.size_steps([1 << 32])


@pytest.mark.parametrize(("left", "right", "common"), CASES)
def test_three_counts_attain_their_variance(rng, left, right, common):
    """The spread of 4,000 estimates from 512 slots is that of theory within 5 percent, and 95 percent of intervals hold."""
    x, y = minima(rng, (4000, 512), left, right, common)
    found, error = known_sizes.most_likely((x == y).sum(1), (x < y).sum(1), (x > y).sum(1), left, right)
    theory = known_sizes.variance(common, left, right, 512) ** 0.5
    assert found.std() == pytest.approx(theory, rel=0.05)
    assert abs(found.mean() - common) < 0.1 * theory
    assert 0.94 <= (np.abs(found - common) <= 1.96 * error).mean() <= 0.975


@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize(("left", "right", "common"), CASES[:3])
def test_codes_attain_their_variance(rng, left, right, common, bits):
    slots, n = 512, 300
    x, y = minima(rng, (n, slots), left, right, common)
    codes = [known_sizes.code_of(-np.expm1(-z), size, bits) for z, size in ((x, left), (y, right))]
    found, error = known_sizes.most_likely_of_codes(*codes, np.full(n, left), np.full(n, right), bits)
    theory = known_sizes.code_variance(common, left, right, bits, slots) ** 0.5
    if theory < 0.3 * min(common, left - common):  # otherwise the ends of the range bend it
        assert found.std() == pytest.approx(theory, rel=0.15)
        assert abs(found.mean() - common) < 4 * theory / n**0.5 + 0.05 * theory
    assert (np.abs(found - common) <= 1.96 * error).mean() >= 0.92


@pytest.mark.parametrize("bits", [1, 2, 4])
@pytest.mark.parametrize("common", [0, 100])
def test_intervals_reach_the_ends_that_fit(rng, bits, common):
    """Disjoint sets, and one within the other: .95 of intervals and more hold the end itself, not what is a little beside it."""
    n, left, right = 200, 100, 1000
    alone = rng.exponential(1.0 / (right - common), (n, 64))
    x = rng.exponential(1.0 / left, (n, 64))
    y = np.minimum(alone, x) if common else alone
    codes = [known_sizes.code_of(-np.expm1(-z), size, bits) for z, size in ((x, left), (y, right))]
    found, error = known_sizes.most_likely_of_codes(*codes, np.full(n, left), np.full(n, right), bits)
    assert (np.abs(found - common) <= 1.96 * error + 1e-12).mean() > 0.93


def by_hand(likelihood, top):
    """Where a likelihood on [0, top] is highest, and the wider half of where it is within 1.96 squared over 2, over 1.96: by a grid."""
    grid = np.linspace(0, top, 100_001)
    values = likelihood(grid)
    fit = grid[values.max() - values < 1.96**2 / 2]
    found = grid[values.argmax()]
    return found, max(found - fit[0], fit[-1] - found) / 1.96


@pytest.mark.parametrize(
    "counts", [(50, 100, 362), (3, 200, 309), (1, 20, 43), (0, 5, 3), (200, 0, 312), (30, 1, 97), (64, 1, 700), (40, 400, 0)]
)
def test_peaks_and_their_reach_are_those_of_a_grid(counts):
    """Of three counts: peaks within and at both ends, near them, and intervals that reach an end or do not."""
    equal, first, second = counts
    left, right = 100, 300

    def likelihood(a):
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = [n * np.log(x) if n else 0.0 for n, x in ((equal, a), (first, left - a), (second, right - a))]
        return sum(terms) - sum(counts) * np.log(left + right - a)

    found = known_sizes.most_likely(*counts, left, right)
    assert found == pytest.approx(by_hand(likelihood, left), abs=0.003)


@pytest.mark.parametrize("common", [0, 3, 60, 97, 100])
def test_peaks_of_codes_are_those_of_a_grid(rng, common):
    """Of one row of codes, by the law of pairs of codes."""
    left, right, bits = 100, 300, 2
    x, y = (
        minima(rng, 48, left, right, common)
        if 0 < common < left
        else (rng.exponential(1 / left, 48), rng.exponential(1 / right, 48))
    )
    y = np.minimum(x, rng.exponential(1 / (right - left), 48)) if common == left else y
    one, other = (known_sizes.code_of(-np.expm1(-z), size, bits).astype(int) for z, size in ((x, left), (y, right)))
    laws = [known_sizes.code_probabilities(a, left, right, bits)[one, other] for a in np.linspace(0, left, 1001)]

    def likelihood(a):
        return np.interp(a, np.linspace(0, left, 1001), np.log(np.maximum(laws, 1e-300)).sum(1))

    found = known_sizes.most_likely_of_codes(one, other, left, right, bits)
    assert np.shape(found) == (2,) and found == pytest.approx(by_hand(likelihood, left), abs=0.06)


def test_the_largest_minimum_has_the_last_code():
    assert known_sizes.code_of([0.0, 0.5, 1.0], [1, 1, 9], 3).tolist() == [0, 4, 7]


def test_one_size_for_all_rows():
    codes = np.random.default_rng(1).integers(0, 16, (2, 5, 64))
    each = known_sizes.most_likely_of_codes(*codes, np.full(5, 100), np.full(5, 300), 4)
    for one, found in zip(each, known_sizes.most_likely_of_codes(*codes, 100, 300, 4), strict=True):
        np.testing.assert_array_equal(one, found)


@pytest.mark.parametrize(("left", "right", "common"), CASES)
def test_codes_follow_their_law(rng, left, right, common):
    n, bits = 200_000, 2
    x, y = minima(rng, n, left, right, common)
    codes = [known_sizes.code_of(-np.expm1(-z), size, bits).astype(int) for z, size in ((x, left), (y, right))]
    counted = np.bincount(4 * codes[0] + codes[1], minlength=16).reshape(4, 4)
    law = known_sizes.code_probabilities(common, left, right, bits)
    assert law.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(law.sum(1), 0.25)
    np.testing.assert_allclose(law.sum(0), 0.25)
    assert (np.abs(counted - n * law) <= 4.5 * np.sqrt(n * law * (1 - law)) + 1e-6).all()


def test_sizes_tell_more_of_what_is_contained():
    """Beside the plain estimate: as good for equal sizes, ten times less variance at .95 in a set a hundred times as large."""
    for left, right, common, ratio in ((100, 100, 50, 1.0), (100, 1000, 90, 7.75), (100, 10_000, 95, 19.4)):
        r = minhash.resemblance(common, left, right)
        plain = minhash.variance(r, 1) * ((left + right) / (1 + r) ** 2) ** 2
        assert plain / known_sizes.variance(common, left, right, 1) == pytest.approx(ratio, rel=0.01)
    assert known_sizes.variance(100, 100, 1000, 1) == 0.0


def test_codes_of_many_bits_tell_as_much_as_whole_minima():
    for left, right, common in CASES[1:]:
        whole = known_sizes.variance(common, left, right, 1)
        by_bits = [known_sizes.code_variance(common, left, right, bits, 1) / whole for bits in (1, 2, 4, 8, 10)]
        assert all(a > b for a, b in pairwise(by_bits))
        assert by_bits[-1] < 1.05


def test_bits_of_dense_sets_equal_all_permutations():
    """The law of the lowest bits of two minima, for universes so large that it is the limit: all orders of 8 places, scaled."""
    law = bit_pairs.probabilities(1 / 3, 1, 0.5, 0.5)
    assert law.sum() == pytest.approx(1.0)
    universe, left, right = 8, {0, 1, 2, 3}, {2, 3, 4, 5}
    counted = np.zeros((2, 2))
    for order in permutations(range(universe)):
        counted[min(order[i] for i in left) & 1, min(order[i] for i in right) & 1] += 1
    np.testing.assert_allclose(counted / counted.sum(), law, atol=0.06)  # Theorem 1 errs by about half over the universe
    rng = np.random.default_rng(5)
    places = rng.random((20_000, 3, 200))  # a universe of 600 with these densities
    counted = np.zeros((2, 2))
    ranks = places.reshape(len(places), -1).argsort(1).argsort(1).reshape(places.shape)
    i, j = ranks[:, :, :100].min((1, 2)) & 1, np.concatenate([ranks[:, :, :50], ranks[:, :, 100:150]], 2).min((1, 2)) & 1
    np.add.at(counted, (i, j), 1)
    np.testing.assert_allclose(counted / len(places), law, atol=4.5 * (0.25 / len(places)) ** 0.5)


def test_diagonal_of_the_bits_is_theorem_1():
    for r, bits, left, right in ((0.3, 1, 0.2, 0.2), (0.5, 2, 0.4, 0.25), (0.1, 3, 0.05, 0.3)):
        law = bit_pairs.probabilities(r, bits, left, right)
        assert np.trace(law) == pytest.approx(la.theory.bbit.match_probability(r, bits, left, right), abs=1e-12)


def test_bits_of_sparse_sets_tell_nothing_but_their_equality():
    """All pairs of codes: much better than equality alone in dense sets of unlike sizes, hardly in sparse ones."""
    gains = []
    for scale in (1.0, 1e-4):
        left, right, r = 0.05 * scale, 0.5 * scale, 0.08
        plain = la.theory.bbit.variance(r, 4, 1, left, right)
        grouped = bit_pairs.variance(r, 4, left, right, 1)
        every = bit_pairs.variance(r, 4, left, right, 1, grouped=False)
        assert every <= grouped * (1 + 1e-9) <= plain * (1 + 1e-9)
        assert bit_pairs.variance(r, 4, left, right, 64) == pytest.approx(grouped / 64, rel=1e-12)
        gains.append(plain / every)
    assert gains[0] > 2 and gains[1] < 1.001


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: known_sizes.variance(11, 10, 20, 1), "members in common"),
        (lambda: known_sizes.most_likely(1, 1, 1, 0, 5), "size_left must be in"),
        (lambda: bit_pairs.probabilities(0.5, 2, 0.0, 0.1), "density_left must be in"),
        (lambda: known_sizes.code_probabilities(1, 2, 3, 17), "bits must be in"),
    ],
)
def test_impossible_arguments_are_refused(call, message):
    with pytest.raises(la.ParameterError, match=message):
        call()
