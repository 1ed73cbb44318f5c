"""SimHash, tables of prefixes and flip enumeration equal their twins."""

from itertools import product

import numpy as np
from naive import hamming as naive

import lookalike as la
from lookalike import core


def test_fingerprints_equal_twin(rng):
    for bits in [32, 64, 96, 128, 256]:
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


def test_tables_are_sorted_by_the_bits_of_their_ranges(rng):
    for n in [0, 1, 63, 64, 65, 300]:
        words = rng.integers(0, 1 << 64, (n, 4), dtype=np.uint64) if n != 64 else np.zeros((n, 4), np.uint64)
        numbers = [sum(int(x) << (64 * i) for i, x in enumerate(row)) for row in words]
        for _ in range(20):
            ranges = []
            for table in sorted(rng.integers(0, 3, 4)):
                first = int(rng.choice([0, 1, 63, 64, 65, 127, 128, 191, 192, 200]))
                ranges.append((table, first, int(rng.integers(1, 5))))
            stored, rows, offsets, bases, low = core.prefix_tables(words, np.array(ranges), 3)
            assert low == 0 and bases[0] == 0 and bases[-1] == len(offsets)
            for table in range(3):
                prefixes, bits = [0] * n, 0
                for _, first, count in (some for some in ranges if some[0] == table):
                    prefixes = [p << count | x >> first & ((1 << count) - 1) for p, x in zip(prefixes, numbers, strict=True)]
                    bits += count
                order = sorted(range(n), key=prefixes.__getitem__)
                assert rows[table * n : (table + 1) * n].tolist() == order
                np.testing.assert_array_equal(stored[table * n : (table + 1) * n], words[order])
                begins = [sum(p < bucket for p in prefixes) for bucket in range((1 << bits) + 1)]
                assert offsets[bases[table] : bases[table + 1]].tolist() == begins


def test_offsets_of_ascending_fingerprints(rng):
    for n in [0, 1, 64, 300]:
        words = np.sort(rng.integers(5 << 58, 9 << 58, n, dtype=np.uint64))[:, None]
        prefixes = [int(x) >> 54 for x in words[:, 0]]
        offsets, low = core.ascending_offsets(words, 54, 10)
        assert low == min(prefixes, default=0)
        assert offsets.tolist() == [sum(p < low + i for p in prefixes) for i in range(max(prefixes, default=0) - low + 2)]


def run_flips(costs, size, count):
    masks = core.cheapest_flip_sets(np.array(costs, float), size, count).tolist()
    return [tuple(i for i in range(len(costs)) if mask >> i & 1) for mask in masks]


def test_each_set_of_flips_comes_once_in_order_of_cost_and_none_is_missing(rng):
    """As printed the thesis' rule leaves out 9 of 45 pairs of 10 bits."""
    for n, size in product([0, 1, 2, 5, 9, 14], [0, 1, 2, 3, 6]):
        costs = np.sort(rng.random(n))
        every = naive.flips_by_cost(costs.tolist(), min(size, n))
        found = run_flips(costs, size, len(every) + 5)
        assert len(found) == len(set(found)) == len(every)
        assert set(found) == {c for _, c in every}
        assert found[0] == () and run_flips(costs, size, 40) == found[:40]
        np.testing.assert_allclose([sum(costs[i] for i in c) for c in found], [c for c, _ in every], atol=1e-12)


def test_prefixes_come_in_order_of_cost(rng):
    """Sums of absolute margins of the bits flipped; without margins the last place is flipped first, each at the same cost."""
    for first_bit, weighed, rows in product([0, 5], [True, False], [1, 20]):
        bits, radius, probes = 6, 2, 12
        query = rng.integers(0, 1 << 63, (rows, 1), dtype=np.uint64)
        margins = rng.normal(0, 1, (rows, 64)).astype(np.float32)
        given = margins if weighed else np.empty((0, 64), np.float32)
        out = np.zeros((rows, probes), np.uint32)
        core.weak_prefixes(query, given, first_bit, bits, radius, out)
        core.weak_prefixes(query[:0], given[:0], first_bit, bits, radius, out[:0])
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


def test_the_weakest_bits_are_kept_in_order(rng):
    """As many as there is room for; equal ones in the order of their places."""
    for kept in [1, 2, 5, 9]:
        for _ in range(50):
            margins = rng.integers(-4, 5, (3, 12)).astype(np.float32)
            out = np.zeros((3, kept + 1), np.uint32)
            core.weak_prefixes(np.zeros((3, 1), np.uint64), margins, 3, 9, 1, out)
            weakest = np.argsort(np.abs(margins[:, 3:]), axis=1, kind="stable")[:, :kept]
            assert out[:, 0].tolist() == [0] * 3
            if (
                np.diff(np.sort(np.abs(margins[:, 3:]), axis=1)[:, : kept + 1]) > 0
            ).all():  # of equal ones a heap gives any first
                np.testing.assert_array_equal(out[:, 1:], 1 << weakest)
            assert [sorted(row) for row in out[:, 1:].tolist()] == [sorted(row) for row in (1 << weakest).tolist()]


def test_where_there_are_fewer_sets_than_probes_the_rest_are_no_prefixes():
    out = np.zeros((1, 5), np.uint32)
    core.weak_prefixes(np.array([[0b101]], np.uint64), np.empty((0, 1), np.float32), 0, 3, 0, out)
    assert out.tolist() == [[0b101] + [(1 << 32) - 1] * 4]
