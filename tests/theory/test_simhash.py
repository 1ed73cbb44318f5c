from itertools import combinations, product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from raising import assert_raises
from scipy import stats

from lookalike.errors import ParameterError
from lookalike.sketches import Shingles, SimHash
from lookalike.theory import blocks, simhash, weak_bits


def test_any_number_of_bits():
    """Binomial coefficients of 1,200 bits are beyond the range of floats."""
    cosines = np.array([-1.0, 0.0, 0.1, 0.9, 1.0])
    for bits in (1, 64, 1200):
        for radius in {0, bits // 3, bits // 2, bits - 1}:
            expected = stats.binom.cdf(radius, bits, np.arccos(cosines) / np.pi)
            assert_allclose(simhash.within_radius(cosines, radius, bits), expected, rtol=1e-9, atol=1e-300)


def test_distance_and_cosine(rng):
    n, features, cosine = 1500, 300, 0.8
    common, *own = np.split(rng.integers(0, 1 << 62, (n, 360), dtype=np.uint64), [240, 300], axis=1)
    sets = np.concatenate([part for mine in own for part in (common, mine)], 1).ravel()
    prints, left = (
        SimHash(bits=128).sign(Shingles.from_arrays(sets, np.arange(0, len(sets) + 1, features))),
        np.arange(0, 2 * n, 2),
    )
    distance, p = prints.distance(left, left + 1), simhash.differ_probability(cosine)
    assert abs(distance.mean() / 128 - p) < 4 * (p * (1 - p) / (128 * n)) ** 0.5 + 0.002
    assert abs(distance.var() / (128 * p * (1 - p)) - 1) < 4 * (2 / n) ** 0.5
    found = prints.estimated_cosine(left, left + 1)
    assert_allclose(found, np.cos(np.pi * np.bitwise_count(prints.words[::2] ^ prints.words[1::2]).sum(1) / 128), atol=1e-12)
    assert abs(found.var() / simhash.cosine_variance(cosine, 128) - 1) < 0.2


def test_ties_do_not_lean(rng):
    """E15: ten equal weights tie on a quarter of the bits; without a tie word ones come with probability .375."""
    shingles = Shingles.from_arrays(rng.integers(0, 1 << 62, 40_000, dtype=np.uint64), np.arange(0, 40_001, 10))
    ones = np.mean([np.bitwise_count(SimHash(seed=s).sign(shingles).words) for s in range(8)]) / 64
    assert abs(ones - 0.5) < 0.03
    margins = SimHash(margins=True).sign(shingles).margins
    assert [(margins == 0).mean(), (margins > 0).mean()] == pytest.approx([0.246, 0.377], abs=0.005)


def test_combinations_of_blocks_cover_the_radius():
    for parts, radius in product(range(2, 9), range(5)):
        for lead in range(1, min(parts - 1, parts - radius) + 1):
            choices = list(combinations(range(parts), lead))
            assert blocks.block_tables(parts, lead, radius) == len(choices)
            for touched in combinations(range(parts), min(radius, parts)):
                assert any(not set(touched) & set(choice) for choice in choices)


def test_numbers_of_the_thesis():
    assert blocks.block_tables(6, 3, 3) == 20, "combinations; permutations would be 120"
    assert blocks.combinations_within(26, 3) == 2952
    assert blocks.block_candidates(2.0**34, 64, 4, 1) == pytest.approx(4 * 2**18)
    assert blocks.block_candidates(2.0**34, 64, 5, 2) == pytest.approx(3584)
    assert blocks.block_candidates(2.0**34, 64, 6, 3) == 88
    widths = (13, 12, 13, 13, 13)
    assert blocks.block_candidates(2.0**34, 64, widths, 2) == pytest.approx(3584), "in any order"
    assert blocks.block_candidates(2.0**34, 64, (34, 20, 10), 1) == 1 + 2**14 + 2**24
    assert weak_bits.table_equivalents(2.0**26, 26) == 2.0
    assert weak_bits.weak_bit_candidates(2.0**26, 26, 23) == 23
    for lead, said in ((2, "radius 3"), (4, "lead must")):
        assert_raises(ParameterError, said, blocks.block_tables, 4, lead, 3)
    for wrong in ((32, 31), (64, 0), (), (65, -1)):
        assert_raises(ParameterError, "add up to 64 bits", blocks.block_sizes, 64, wrong)


def test_found_share_equals_enumeration():
    for tables, distance in product([((5, 1), (5, 1)), ((4, 0), (3, 1)), ((2, 0),), ()], range(5)):
        starts = [sum(prefix for prefix, _ in tables[:i]) for i in range(len(tables))]
        found = [
            any(
                sum(start <= b < start + prefix for b in flipped) <= flips
                for start, (prefix, flips) in zip(starts, tables, strict=True)
            )
            for flipped in combinations(range(12), distance)
        ]
        assert blocks.found_share(12, distance, tables) == pytest.approx(np.mean(found))


def test_two_tables_with_one_flip_are_exact_at_radius_3():
    assert blocks.found_share(64, 3, [(32, 1), (32, 1)]) == 1.0
    assert blocks.found_share(64, 4, [(32, 1), (32, 1)]) < 1.0
    assert_raises(ParameterError, "64 bits together", blocks.found_share, 64, 3, [(32, 1), (33, 1)])
    assert_raises(ParameterError, "lead must", blocks.block_candidates, 9.0, 64, 4, 5)
    assert blocks.combinations_within(26, 1) * 2 == 54


def test_weak_bits_flip_as_the_model_says():
    sigma = 1.5
    for margin in (0.1, 1.0, 2.5):
        assert weak_bits.flip_probability(margin, sigma) == pytest.approx(stats.norm.cdf(-margin / sigma), rel=1e-9)
    printed = 1 - 0.01 / 4.0  # (4.5) for a weak bit
    assert printed > 0.99 > 0.5 > weak_bits.flip_probability(0.01, sigma), "no flip is likelier than one half"


def test_radius_3_is_precise_but_not_complete():
    for cosine, expected in [(0.90, 0.013), (0.95, 0.101), (0.98, 0.411), (0.99, 0.674), (0.995, 0.853)]:
        assert simhash.within_radius(cosine, 3) == pytest.approx(expected, abs=6e-4)


def test_half_of_the_pairs_at_cosine_984():
    assert simhash.within_radius(0.984, 3) == pytest.approx(0.5, abs=0.01)
    assert simhash.within_radius(0.9977, 3) == pytest.approx(0.95, abs=0.005)
