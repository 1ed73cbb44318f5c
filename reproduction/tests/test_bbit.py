"""The laws by which the experiments judge Theorem 1, and the sketch of sampled coordinates."""

import numpy as np
import pytest
from bbit import laws
from bbit.coordinates import CoordinateSample, prefix_distances

import lookalike as la
from lookalike.theory import bbit

SETS = [(2, 3, 1), (3, 3, 0), (4, 3, 2), (1, 5, 1), (5, 5, 5), (6, 1, 0)]


@pytest.mark.parametrize("bits", [1, 2])
def test_exact_law_equals_enumeration(bits):
    later = laws.later_matches(7, bits)
    for f1, f2, a in SETS:
        agree, of = laws.enumerated(7, f1, f2, a, bits)
        assert laws.exact(later, f1, f2, a) == pytest.approx(agree / of, abs=1e-13)
        assert of == 5040


def test_triples_are_all_there_are():
    found = set(zip(*(x.tolist() for x in laws.triples(6)), strict=True))
    expected = {
        (f1, f2, a) for f1 in range(1, 7) for f2 in range(f1, 7) for a in range(f1 + 1) if f1 + f2 - a <= 6
    }  # fmt: skip
    assert found == expected


def test_series_are_the_limit_of_the_exact_law():
    """Densities .2 and .4, R = .2: the differences from the series halve with 1 / D."""
    apart = []
    for universe in (100, 200):
        f1, f2, a = universe // 5, 2 * universe // 5, universe // 10
        apart.append(laws.exact(laws.later_matches(universe, 1), f1, f2, a) - laws.match(1, 0.2, 0.2, 0.4))
    assert abs(apart[1]) < 0.55 / 200
    assert apart[1] / apart[0] == pytest.approx(0.5, abs=0.02)


def test_dense_sets_of_unlike_sizes_need_c1_and_c2_in_their_places(rng):
    """Sets of half and of a tenth of a universe: exchanged, or with one of the two alone, they would bias the estimate."""
    universe, left, right, common, n, k = 1000, 500, 100, 90, 1000, 64
    pools = rng.permuted(np.tile(np.arange(universe), (n, 1)), axis=1)
    values = np.concatenate([pools[:, :left], pools[:, left - common : left - common + right]], axis=1)
    scheme = la.sketches.PermutationMinHash(universe=universe, permutations=k, seed=5)
    signatures = scheme.sign_sets(values.ravel(), np.append(0, np.cumsum(np.tile([left, right], n))))
    pairs, exact = (np.arange(0, 2 * n, 2), np.arange(1, 2 * n, 2)), common / (left + right - common)
    found = la.sketches.BBit(bits=1).pack(signatures).estimated_resemblance(*pairs).mean()
    error = (bbit.variance(exact, 1, k, left / universe, right / universe) / n) ** 0.5
    assert abs(found - exact) < 4 * error + 0.55 / universe
    c1, c2 = bbit.constants(1, left / universe, right / universe)
    agreement = c1 + (1 - c2) * found
    for one, other in ((c2, c1), (c1, c1), (c2, c2)):
        assert abs((agreement - one) / (1 - other) - exact) > 8 * error


def test_series_sums_to_known_values():
    assert laws.chance(1, 0.5) == pytest.approx(1 / 3)  # 1/4 + 1/16 + ...
    assert laws.chance(1, 1.0) == 0.0
    assert laws.chance(3, 1e-5) == pytest.approx(1 / 8, rel=1e-4)


def test_variance_of_whole_values_and_of_many_bits():
    assert laws.variance(None, 0.3, 0.1, 0.1) == pytest.approx(0.21)
    assert laws.variance(12, 0.3, 0.1, 0.1) == pytest.approx(0.21, rel=1e-9)
    assert laws.variance(1, 0.5, 1e-5, 1e-5) == pytest.approx(0.75, rel=1e-4)


def test_slopes():
    by_bits, by_density = laws.slopes(1, 0.1)
    assert by_density == pytest.approx(-1 / 1.9**2, rel=1e-14)  # of (1 - r) / (2 - r)
    assert by_bits == pytest.approx(2 * np.log(2) * 0.1 * 0.9 * np.log(0.9) / 0.19**2, rel=1e-14)
    assert laws.printed_slope(2, 0.1) == pytest.approx(-0.026460, abs=5e-7)


def test_a_sample_of_all_coordinates_gives_the_exact_distance():
    sample = CoordinateSample(50, np.random.default_rng(1).permutation(50))
    left, right = np.arange(0, 30), np.arange(20, 45)
    assert sample.distance_dense(sample.dense(left), sample.dense(right)) == 35.0
    assert sample.distance_sparse(sample.sparse(left), sample.sparse(right)) == 35.0


@pytest.mark.parametrize("replacement", [False, True])
def test_both_ways_of_storage_agree(replacement):
    rng = np.random.default_rng(2)
    left, right = rng.choice(1000, 300, replace=False), rng.choice(1000, 200, replace=False)
    sample = CoordinateSample.draw(rng, 1000, 77, replacement=replacement)
    assert (len(np.unique(sample.places)) == 77) is not replacement
    dense, sparse = ([sketch(left), sketch(right)] for sketch in (sample.dense, sample.sparse))
    assert len(dense[0]) == 10, "77 bits"
    assert len(sparse[0]) == np.isin(sample.places, left).sum()
    differing = np.isin(sample.places, left) ^ np.isin(sample.places, right)
    assert sample.distance_dense(*dense) == sample.distance_sparse(*sparse) == differing.sum() * 1000 / 77


def test_prefixes_are_samples_themselves():
    rng = np.random.default_rng(3)
    found = prefix_distances(rng, 40, np.arange(10), np.arange(5, 20), np.array([1, 8, 40]), 4000)
    assert (found[2] == 15.0).all(), "all coordinates, without replacement"
    assert set(np.unique(found[0])) == {0.0, 40.0}
    p, k = 15 / 40, 8
    variance = 40**2 * p * (1 - p) / k * (40 - k) / 39
    assert abs(found[1].mean() - 15) < 4 * (variance / 4000) ** 0.5
    assert abs(found[1].var() / variance - 1) < 4 * (2 / 4000) ** 0.5
    again = prefix_distances(rng, 40, np.arange(10), np.arange(5, 20), np.array([40]), 2000, replacement=True)
    assert abs(again.var() / (40**2 * p * (1 - p) / 40) - 1) < 4 * (2 / 2000) ** 0.5
