"""Exact verification equals set arithmetic."""

import numpy as np
import pytest
from conftest import JIT_OFF
from naive import walk as naive

from lookalike.kernels import resemblance as kernel
from lookalike.methods.comparable import compare_rows, numbered, sets_of_pieces, sets_of_signatures, sets_of_values


def arrays(sets):
    return [x for s in sets for x in sorted(s)], np.cumsum([0, *map(len, sets)])


def test_numbering_survives_growth_and_zero(rng):
    size = 40 if JIT_OFF else 9000
    values = rng.permutation(np.arange(size, dtype=np.uint64)) << np.uint64(20)
    offsets = np.array([0, size // 2, size, 2 * size])
    sets = sets_of_values(np.concatenate([values, values[::-1]]), offsets)
    assert sets.sizes.tolist() == [size // 2, size - size // 2, size]
    out = compare_rows(sets, np.array([0, 0, 1]), np.array([1, 2, 2]), 0.0)
    assert out.tolist() == [0.0, (size // 2) / size, (size - size // 2) / size]


@pytest.mark.skipif(JIT_OFF, reason="a hundred thousand pairs are for compiled code")
def test_a_hundred_thousand_random_pairs_equal_set_arithmetic(rng):
    universe = 60
    matrix = rng.random((500, universe)) < rng.uniform(0.2, 0.95, (500, 1))
    matrix[0] = matrix[1]
    sets = [frozenset(np.flatnonzero(row).tolist()) for row in matrix]
    left, right = (rng.integers(0, 500, 100_000) for _ in range(2))
    values, offsets = arrays(sets)
    packed = sets_of_values(np.array(values, np.uint64) * np.uint64(0x9E3779B97F4A7C15), offsets)
    common = (matrix[left] & matrix[right]).sum(1)
    union = (matrix[left] | matrix[right]).sum(1)
    expected = common / np.maximum(union, 1)
    for threshold in (0.0, 0.5, 0.8):
        found = compare_rows(packed, left, right, threshold)
        assert ((found >= threshold) == (expected >= threshold)).all()
        assert (found[found >= threshold] == expected[expected >= threshold]).all()


@pytest.mark.parametrize("kind", [kernel.CONTAINED, kernel.EITHER])
def test_containment_of_random_pairs_equals_set_arithmetic(rng, kind):
    matrix = rng.random((60, 40)) < rng.uniform(0.0, 0.95, (60, 1))
    matrix[0], matrix[1] = matrix[2], False
    values, offsets = arrays([np.flatnonzero(row).tolist() for row in matrix])
    packed = sets_of_values(np.array(values, np.uint64) * np.uint64(0x9E3779B97F4A7C15), offsets)._replace(kind=kind)
    left, right = (rng.integers(0, 60, 300 if JIT_OFF else 3000) for _ in range(2))
    common, union = (matrix[left] & matrix[right]).sum(1), (matrix[left] | matrix[right]).sum(1)
    sizes = matrix.sum(1)
    whole = sizes[right] if kind == kernel.CONTAINED else np.minimum(sizes[left], sizes[right])
    expected = common / np.maximum(whole, 1)
    for threshold in (0.1, 0.5, 0.8):
        for floor in (0.0, 0.3, 0.7):
            found = compare_rows(packed._replace(scores=np.array([floor])), left, right, threshold)
            match = (expected >= threshold) & (common / np.maximum(union, 1) >= floor)
            assert ((found >= threshold) == match).all() and match.any()
            assert (found[match] == expected[match]).all()


def test_pieces_make_the_same_sets_as_one(rng):
    values = rng.integers(0, 60, 300, dtype=np.uint64)
    offsets = np.arange(0, 301, 20)
    whole = sets_of_values(values, offsets)
    pieces = [(values[:100], offsets[:6]), (values[100:100], offsets[:1]), (values[100:], offsets[5:] - 100)]
    parts = sets_of_pieces(numbered(pieces))
    for name in ("sizes", "offsets", "blocks", "words"):
        assert getattr(whole, name).tolist() == getattr(parts, name).tolist(), name


def test_signatures_as_sets_count_equal_slots(rng):
    signatures = rng.integers(0, 3, (6, 50), dtype=np.uint32)
    sets = sets_of_signatures(signatures)
    left, right = np.triu_indices(6, 1)
    expected = (signatures[left] == signatures[right]).mean(1)
    assert compare_rows(sets, left, right, 0.0).tolist() == expected.tolist()


def test_values_are_numbered_by_first_appearance_while_tables_grow(rng):
    """Values that meet in the table, zero among them, repeated in runs and at random."""
    fresh = (rng.permutation(700) << 5).astype(np.uint64)
    values = np.concatenate([fresh[:300], fresh[100:200], rng.choice(fresh, 500), fresh])
    spread, table, numbers = np.uint64(0x51ED270B9F4E5D35), np.zeros(16, np.uint64), np.zeros(16, np.int32)
    after, out, done, used = np.zeros(8, np.int32), np.empty(len(values), np.int32), 0, 0
    while True:
        done, used = kernel.number_values(values, done, spread, table, numbers, after, used, out)
        if done == len(values):
            break
        larger = np.zeros(2 * len(table), np.uint64), np.zeros(2 * len(table), np.int32)
        kernel.move_table(table, numbers, spread, *larger)
        (table, numbers), after = larger, np.concatenate([after, np.zeros(len(after), np.int32)])
    met = {}
    assert out.tolist() == [met.setdefault(v, len(met)) for v in values.tolist()] and used == len(met)


def test_rows_of_numbers_in_any_order(rng):
    """Members of a row whose blocks do not ascend, some repeated."""
    rows = [rng.choice(400, size) for size in [0, 1, *[2] * 12, *rng.integers(3, 60, 20).tolist()]]
    values = np.concatenate([rng.permutation(400), *rows]).astype(np.uint64)
    sets = sets_of_values(values, np.cumsum([0, 400, *map(len, rows)]))
    left, right = np.triu_indices(len(rows), 1)
    found = compare_rows(sets, left + 1, right + 1, 0.0)
    expected = [naive.resemblance(set(rows[a].tolist()), set(rows[b].tolist())) for a, b in zip(left, right, strict=True)]
    np.testing.assert_allclose(np.nan_to_num(found), expected)


def test_blocks_of_a_row_ascend():
    """Two blocks met in falling order, then in rising; what scratch held before must not decide."""
    numbers, offsets = np.array([130, 3, 3, 130], np.int32), np.array([0, 2, 4])
    sizes, block_offsets = np.empty(2, np.int64), np.empty(3, np.int64)
    blocks, words = np.empty(4, np.int32), np.empty(4, np.uint64)
    kernel.pack_rows(numbers, offsets, np.zeros(3, np.uint64), np.full(4, -1), sizes, block_offsets, blocks, words)
    assert blocks.tolist() == [0, 2, 0, 2] and words.tolist() == [8, 4, 8, 4]
    assert sizes.tolist() == [2, 2] and block_offsets.tolist() == [0, 2, 4]
