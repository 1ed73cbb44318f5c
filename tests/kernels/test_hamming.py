"""SimHash and flip enumeration equal their twins."""

import numpy as np
import pytest
from conftest import JIT_OFF
from naive import hamming as naive

import lookalike as la
from lookalike.kernels import hamming, weak_bits


@pytest.mark.parametrize("bits", [32, 64, 96, 128, 256])
def test_fingerprints_equal_twin(rng, bits):
    sizes = [0, 1, 2, 7, 8, 9, 16, 31, 64]
    values = rng.integers(0, 1 << 64, sum(sizes), dtype=np.uint64)
    weights = rng.random(sum(sizes)) + 0.1
    offsets = np.cumsum([0, *sizes])
    values = np.concatenate([np.sort(part) for part in np.split(values, offsets[1:-1])])
    plain = la.sketches.SimHash(bits=bits, seed=3, margins=True).sign(la.sketches.Shingles(values, offsets))
    weighted = la.sketches.SimHash(bits=bits, seed=3, margins=True).sign(la.sketches.WeightedSets(values, weights, offsets))
    for row in range(len(sizes)):
        part = slice(offsets[row], offsets[row + 1])
        for found, w in ((plain, np.ones(sizes[row])), (weighted, weights[part])):
            expected, margins = naive.simhash(values[part].tolist(), w.tolist(), bits, 3)
            assert sum(int(x) << (64 * i) for i, x in enumerate(found.words[row])) == expected
            np.testing.assert_allclose(found.margins[row], margins, rtol=1e-6, atol=1e-6)


def test_prefixes_are_the_bits_of_their_ranges(rng):
    words = rng.integers(0, 1 << 64, (5, 4), dtype=np.uint64)
    numbers = [sum(int(x) << (64 * i) for i, x in enumerate(row)) for row in words]
    for _ in range(200):
        ranges = []
        for _ in range(int(rng.integers(1, 4))):
            first = int(rng.choice([0, 1, 63, 64, 65, 127, 128, 191, 192, 200]))
            ranges.append((first, int(rng.integers(1, min(21, 257 - first)))))
        out = np.empty(4, np.uint64)
        hamming.prefixes(words, 1, 5, np.array(ranges), out)
        for number, found in zip(numbers[1:], out.tolist(), strict=True):
            expected = 0
            for first, count in ranges:
                expected = (expected << count) | (number >> first & ((1 << count) - 1))
            assert found == expected, ranges


def run_flips(costs, size, count):
    room = count + size + 2
    out = np.empty(count, np.uint64)
    heap = weak_bits.Heap(np.empty(room), np.empty(room, np.uint64), np.empty(room, np.int64))
    n = weak_bits.likely_flips(np.array(costs, float), size, heap, out)
    return [tuple(i for i in range(len(costs)) if int(mask) >> i & 1) for mask in out[:n]]


@pytest.mark.parametrize("n", [0, 1, 2, 5, 9] + ([] if JIT_OFF else [14]))
@pytest.mark.parametrize("size", [0, 1, 2, 3, 6])
def test_each_set_of_flips_comes_once_and_none_is_missing(rng, n, size):
    """As printed the thesis' rule leaves out 9 of 45 pairs of 10 bits."""
    costs = np.sort(rng.random(n))
    every = naive.flips_by_cost(costs.tolist(), min(size, n))
    found = run_flips(costs, size, len(every) + 5)
    assert len(found) == len(set(found)) == len(every)
    assert set(found) == {c for _, c in every}
    assert found[0] == ()


def test_flips_come_in_order_of_cost(rng):
    for _ in range(30 if JIT_OFF else 300):
        n, size = int(rng.integers(1, 12)), int(rng.integers(1, 5))
        costs = np.sort(rng.random(n) ** 2)
        every = naive.flips_by_cost(costs.tolist(), min(size, n))
        count = min(len(every), 40)
        found = [sum(costs[i] for i in c) for c in run_flips(costs, size, count)]
        np.testing.assert_allclose(found, [c for c, _ in every[:count]], atol=1e-12)


@pytest.mark.parametrize("first_bit", [0, 5])
@pytest.mark.parametrize("weighed", [True, False])
@pytest.mark.parametrize("rows", [1, 20])
def test_prefixes_come_in_order_of_cost(rng, first_bit, weighed, rows):
    """Sums of absolute margins of the bits flipped; without margins the last place is flipped first, each at the same cost."""
    bits, radius, probes = 6, 2, 12
    query = rng.integers(0, 1 << 63, (rows, 1), dtype=np.uint64)
    margins = rng.normal(0, 1, (rows, 64)).astype(np.float32)
    order, costs, flips, out = (
        np.empty(bits, np.int64),
        np.empty(bits),
        np.empty(probes, np.uint64),
        np.empty((rows, probes), np.uint32),
    )
    heap = weak_bits.Heap(np.empty(probes), np.empty(probes, np.uint64), np.empty(probes, np.int64))
    given = margins if weighed else np.empty((0, 64), np.float32)
    n = weak_bits.weak_prefixes(query, given, 0, rows, first_bit, bits, radius, order, costs, heap, flips, out)
    assert n == probes
    none = weak_bits.weak_prefixes(query, given, rows, rows, first_bit, bits, radius, order, costs, heap, flips, out)
    assert none == 0, "of no queries"
    for row in range(rows):
        prefix = int(query[row, 0]) >> first_bit & (1 << bits) - 1
        price = np.abs(margins[row, first_bit : first_bit + bits]).astype(float) if weighed else np.ones(bits)
        every = sorted(
            sum(price[b] for b in range(bits) if mask >> b & 1) for mask in range(1 << bits) if mask.bit_count() <= radius
        )
        masks = [int(p) ^ prefix for p in out[row]]
        assert len({*masks}) == probes and all(mask.bit_count() <= radius and mask < 1 << bits for mask in masks)
        found = [sum(price[b] for b in range(bits) if mask >> b & 1) for mask in masks]
        np.testing.assert_allclose(found, every[:probes], atol=1e-6)
        if not weighed:
            assert masks[1] == 1 << bits - 1


@pytest.mark.parametrize("kept", [1, 2, 5, 9])
def test_the_weakest_bits_are_kept_in_order(rng, kept):
    """As many as there is room for; equal ones in the order of their places."""
    for _ in range(50):
        margins = rng.integers(-4, 5, (3, 12)).astype(np.float32)
        order = np.full(kept, -1, np.int64)
        weak_bits.rank_bits(margins, 1, 3, 9, order)
        assert order.tolist() == (3 + np.argsort(np.abs(margins[1, 3:]), kind="stable"))[:kept].tolist()
