"""Compiled loops of the retrieval experiments against plain Python."""

from itertools import pairwise

import numpy as np
import pytest
from families import FourUniversal, MultiplyShift, shuffled
from retrieval.estimation_kernels import POPCOUNTS, by_samples, by_table, lanes, zero_lanes
from retrieval.signing_kernels import FAMILIES, draw_parameters, pack_bits

from lookalike.hashing import derive

LEFT, RIGHT = np.array([0, 1, 2, 3, 4, 5]), np.array([1, 1, 0, 2, 5, 4])


def equal_samples(codes):
    return [
        sum(a == b for a, b in zip(codes[i].tolist(), codes[j].tolist(), strict=True)) for i, j in zip(LEFT, RIGHT, strict=True)
    ]


def codes_of(rng, bits, samples):
    codes = rng.integers(0, 1 << bits, (6, samples), dtype=np.uint64)
    codes[1, ::2] = codes[0, ::2]
    codes[4], codes[5] = 0, (1 << bits) - 1
    return codes


@pytest.mark.parametrize("bits", [1, 2, 4, 8, 16])
def test_tables(rng, bits):
    codes = codes_of(rng, bits, 6 * 32 // bits)
    out = np.empty(6, np.int64)
    by_table(lanes(codes, bits), LEFT, RIGHT, zero_lanes(bits), out)
    assert out.tolist() == equal_samples(codes)


@pytest.mark.parametrize("bits", [1, 2, 4])
def test_population_counts(rng, bits):
    samples = 6 * 32 // bits
    codes = codes_of(rng, bits, samples)
    out = np.empty(6, np.int64)
    POPCOUNTS[bits](lanes(codes, bits).view(np.uint64), LEFT, RIGHT, samples, out)
    assert out.tolist() == equal_samples(codes)


@pytest.mark.parametrize("kind", [np.uint32, np.uint64])
def test_whole_samples(rng, kind):
    codes = rng.integers(0, 3, (6, 65)).astype(kind)
    out = np.empty(6, np.int64)
    by_samples(codes, LEFT, RIGHT, out)
    assert out.tolist() == equal_samples(codes)


def test_table_of_zero_lanes():
    assert zero_lanes(1)[[0, 1, 0xFFFF]].tolist() == [16, 15, 0]
    assert zero_lanes(2)[[0, 1, 2, 3, 4, 0x5555]].tolist() == [8, 7, 7, 7, 7, 0]
    assert zero_lanes(16)[[0, 9]].tolist() == [1, 0]


def test_lanes_lie_side_by_side():
    assert lanes(np.array([[1, 0, 3] + [0] * 12 + [2]]), 2).tolist() == [[1 | 3 << 4 | 2 << 30]]


P = (1 << 61) - 1
KEYS = [0, 1, 2, 255, 65535, 65536, 65537, (1 << 31) - 1, 1 << 31, (1 << 32) - 2, (1 << 32) - 1]
OFFSETS = np.array([0, 1, 1, 4, 11])


def signed(family, keys, offsets, parameters):
    out = np.empty((len(offsets) - 1, len(parameters)), np.uint32)
    FAMILIES[family](np.array(keys, np.uint32), offsets, parameters, out)
    return out


def least(images, offsets):
    """Minima of each row of images (k, keys); an empty row has the highest value."""
    return [[min(map(int, one[a:b]), default=0xFFFFFFFF) for one in images] for a, b in pairwise(offsets)]


def test_multiply_shift_is_the_family():
    images = [MultiplyShift(seed=5 + j).hash(np.array(KEYS)) for j in range(3)]
    assert signed("2-universal", KEYS, OFFSETS, draw_parameters("2-universal", 3, 0, 5)).tolist() == least(images, OFFSETS)


@pytest.mark.parametrize("parameters", [None, [[0, 0, 0, 0], [P - 1] * 4, [P - 1, 0, 0, P - 1], [5, 1, 0, 0]]])
def test_polynomials_equal_big_integers(parameters):
    drawn = draw_parameters("4-universal", 4, 0, 9) if parameters is None else np.array(parameters, np.uint64)
    images = [[sum(int(a) * x**power for power, a in enumerate(row)) % P >> 29 for x in KEYS] for row in drawn]
    one_each = np.arange(len(KEYS) + 1)
    assert signed("4-universal", KEYS, one_each, drawn).tolist() == [list(row) for row in zip(*images, strict=True)]
    assert signed("4-universal", KEYS, OFFSETS, drawn).tolist() == least(images, OFFSETS)


def test_tables_are_the_family():
    tables = np.stack([derive(j, "four-universal", 1 << 18) for j in (1, 2)])
    images = [FourUniversal(seed=j).hash(np.array(KEYS)) & np.uint64(0xFFFFFFFF) for j in (1, 2)]
    assert signed("4-universal, tables", KEYS, OFFSETS, tables.astype(np.uint32)).tolist() == least(images, OFFSETS)


def test_permutations_are_tables():
    keys = [0, 1, 2, 3, 50, 99, 98, 97, 7, 8, 9]
    images = [shuffled(100, 3 + j)[keys] for j in range(4)]
    assert signed("full permutations", keys, OFFSETS, draw_parameters("full permutations", 4, 100, 3)).tolist() == least(
        images, OFFSETS
    )


@pytest.mark.parametrize("family", list(FAMILIES))
def test_functions_are_distinct(family):
    parameters = draw_parameters(family, 20, 50, 1)
    assert len({row.tobytes() for row in parameters}) == 20
    other = draw_parameters(family, 1, 50, 21)
    assert other[0].tobytes() not in {row.tobytes() for row in parameters}


@pytest.mark.parametrize("k", [1, 63, 64, 65, 130])
def test_packed_bits(rng, k):
    minima = rng.integers(0, 1 << 32, (3, k), dtype=np.uint32)
    out = np.full((3, (k + 63) // 64), 7, np.uint64)
    pack_bits(minima, out)
    assert [[int(out[row, j // 64]) >> (j % 64) & 1 for j in range(k)] for row in range(3)] == (minima & 1).tolist()
    assert all(int(row[-1]) >> (k - 1) % 64 < 2 for row in out)
