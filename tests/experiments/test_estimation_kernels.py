"""Ways to count equal samples of packed words equal a plain comparison."""

import numpy as np
import pytest
from retrieval.estimation_kernels import POPCOUNTS, by_samples, by_table, lanes, zero_lanes

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
