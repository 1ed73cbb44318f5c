"""Exact verification and the walk equal set arithmetic."""

from itertools import pairwise

import numpy as np
import pytest
from conftest import JIT_OFF
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import walk as naive
from semblance.pipeline import keep as keep_module
from semblance.pipeline.keep import NO_PAIRS, Buckets, Walk, join_scored

from semblance.kernels import keep as keep_kernel
from semblance.kernels import resemblance as kernel
from semblance.methods.exact_sets import RowSets


def arrays(sets):
    return [x for s in sets for x in sorted(s)], np.cumsum([0, *map(len, sets)])


def test_numbering_survives_growth_and_zero(rng):
    size = 40 if JIT_OFF else 9000
    values = rng.permutation(np.arange(size, dtype=np.uint64)) << np.uint64(20)
    offsets = np.array([0, size // 2, size, 2 * size])
    sets = RowSets.from_values(np.concatenate([values, values[::-1]]), offsets)
    assert sets.rows.sizes.tolist() == [size // 2, size - size // 2, size]
    out = sets.compare(np.array([0, 0, 1]), np.array([1, 2, 2]), 0.0)
    assert out.tolist() == [0.0, (size // 2) / size, (size - size // 2) / size]


@pytest.mark.skipif(JIT_OFF, reason="a hundred thousand pairs are for compiled code")
def test_a_hundred_thousand_random_pairs_equal_set_arithmetic(rng):
    universe = 60
    matrix = rng.random((500, universe)) < rng.uniform(0.2, 0.95, (500, 1))
    matrix[0] = matrix[1]
    sets = [frozenset(np.flatnonzero(row).tolist()) for row in matrix]
    left, right = (rng.integers(0, 500, 100_000) for _ in range(2))
    values, offsets = arrays(sets)
    packed = RowSets.from_values(np.array(values, np.uint64) * np.uint64(0x9E3779B97F4A7C15), offsets)
    common = (matrix[left] & matrix[right]).sum(1)
    union = (matrix[left] | matrix[right]).sum(1)
    expected = common / np.maximum(union, 1)
    for threshold in (0.0, 0.5, 0.8):
        found = packed.compare(left, right, threshold)
        assert ((found >= threshold) == (expected >= threshold)).all()
        assert (found[found >= threshold] == expected[expected >= threshold]).all()


def test_pieces_make_the_same_sets_as_one(rng):
    values = rng.integers(0, 60, 300, dtype=np.uint64)
    offsets = np.arange(0, 301, 20)
    whole = RowSets.from_values(values, offsets)
    parts = RowSets.from_pieces(
        [(values[:100], offsets[:6]), (values[100:100], offsets[:1]), (values[100:], offsets[5:] - 100)]
    )
    for name in ("sizes", "offsets", "blocks", "words"):
        assert getattr(whole.rows, name).tolist() == getattr(parts.rows, name).tolist(), name


def test_signatures_as_sets_count_equal_slots(rng):
    signatures = rng.integers(0, 3, (6, 50), dtype=np.uint32)
    sets = RowSets.from_signatures(signatures)
    left, right = np.triu_indices(6, 1)
    expected = (signatures[left] == signatures[right]).mean(1)
    assert sets.compare(left, right, 0.0).tolist() == expected.tolist()


def test_values_are_numbered_by_first_appearance_while_tables_grow(rng):
    """Values that meet in the table, zero among them, repeated in runs and at random."""
    fresh = (rng.permutation(700) << 5).astype(np.uint64)
    values = np.concatenate([fresh[:300], fresh[100:200], rng.choice(fresh, 500), fresh])
    table, numbers = np.zeros(16, np.uint64), np.zeros(16, np.int32)
    after, out, done, used = np.zeros(8, np.int32), np.empty(len(values), np.int32), 0, 0
    while True:
        done, used = kernel.number_values(values, done, table, numbers, after, used, out)
        if done == len(values):
            break
        larger = np.zeros(2 * len(table), np.uint64), np.zeros(2 * len(table), np.int32)
        kernel.move_table(table, numbers, *larger)
        (table, numbers), after = larger, np.concatenate([after, np.zeros(len(after), np.int32)])
    met = {}
    assert out.tolist() == [met.setdefault(v, len(met)) for v in values.tolist()] and used == len(met)


def test_rows_of_numbers_in_any_order(rng):
    """Members of a row whose blocks do not ascend, some repeated."""
    rows = [rng.choice(400, size) for size in [0, 1, *[2] * 12, *rng.integers(3, 60, 20).tolist()]]
    values = np.concatenate([rng.permutation(400), *rows]).astype(np.uint64)
    sets = RowSets.from_values(values, np.cumsum([0, 400, *map(len, rows)]))
    left, right = np.triu_indices(len(rows), 1)
    found = sets.compare(left + 1, right + 1, 0.0)
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


def walk_buckets(sets, inside, threshold, n_reference, cuts=()):
    """Walk rows that share large buckets (lists of rows), in the order of their numbers, without ready pairs, cut into slices."""
    n = len(sets)
    sizes = [len(members) for members in inside]
    rows = np.concatenate(inside)
    bucket, place = np.repeat(np.arange(len(inside)), sizes), np.concatenate([np.arange(size) for size in sizes])
    order = np.argsort(rows, kind="stable")
    member_offsets = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))])
    buckets = Buckets(np.concatenate([[0], np.cumsum(sizes)]), member_offsets, bucket[order], place[order])
    walk, met = Walk(n, n_reference, threshold, buckets), []
    for begin, end in pairwise(sorted({0, n, *cuts})):
        kept = walk.kept_members
        outside = [NO_PAIRS]
        for some in np.split(kept, [len(kept) // 3]):
            values, offsets = arrays([sets[row] for row in some] + sets[begin:end])
            outside.append(walk.outside(begin, end, some, RowSets.from_values(np.array(values, np.uint64), offsets)))
            for a, b, r in zip(outside[-1].left, outside[-1].right, outside[-1].score, strict=True):
                assert a in some and begin <= b < end and r == naive.resemblance(sets[a], sets[b]) >= threshold
        values, offsets = arrays(sets[begin:end])
        met.append(
            walk.advance(begin, end, NO_PAIRS, RowSets.from_values(np.array(values, np.uint64), offsets), join_scored(outside))
        )
    return walk.finish(), join_scored(met)


@settings(max_examples=15 if JIT_OFF else 150)
@given(st.lists(st.frozensets(st.integers(0, 12), min_size=1, max_size=8), min_size=1, max_size=12))
def test_walk_over_a_large_bucket_equals_twin(sets):
    walked, met = walk_buckets(sets, [range(len(sets))], 0.5, 0)
    assert walked.keeper.tolist() == naive.keep(len(sets), naive.all_pairs(sets, 0.5))
    assert walked.skipped.sum() == 0
    for a, b, r in zip(met.left, met.right, met.score, strict=True):
        assert r == naive.resemblance(sets[a], sets[b])


def test_crowded_bucket_counts_what_it_skips(monkeypatch):
    monkeypatch.setattr(keep_module, "COMPARE_ALL", 4)
    monkeypatch.setattr(keep_module, "COMPARE_NEAREST", 1)
    sets = [frozenset(range(10 * i, 10 * i + 10)) for i in range(9)] + [frozenset(range(70, 80)), frozenset(range(9))]
    walked, _ = walk_buckets(sets, [range(11)], 0.5, 0)
    assert walked.keeper.tolist()[:9] == list(range(9)), "documents that resemble nothing stay"
    assert walked.keeper[9] == 9, "the nearest kept place is 8; 7 was skipped, and that is counted"
    assert walked.skipped[:, 0].tolist() == [0, 0, 0, 0, 0, 4, 5, 6, 7, 8, 9]
    assert walked.skipped[:, 1].tolist() == [0] * 5 + [1] * 6


def test_reference_rows_are_kept_and_not_compared_with_each_other():
    sets = [frozenset(range(5))] * 4
    walked, met = walk_buckets(sets, [[0, 1, 2, 3]], 0.5, 2)
    assert walked.keeper.tolist() == [0, 1, 0, 0]
    assert sorted(zip(met.left.tolist(), met.right.tolist(), strict=True)) == [(0, 2), (0, 3), (1, 2), (1, 3)]


@pytest.mark.parametrize("compare_all", [2, 1024])
def test_slices_decide_as_the_whole(rng, monkeypatch, compare_all):
    """A group cut into slices, of which one is there at a time: the same keepers, pairs and counts."""
    monkeypatch.setattr(keep_module, "COMPARE_ALL", compare_all)
    monkeypatch.setattr(keep_module, "COMPARE_NEAREST", 1)
    for _ in range(5 if JIT_OFF else 40):
        n = int(rng.integers(2, 25))
        sets = [frozenset(rng.choice(14, int(rng.integers(1, 9)), replace=False).tolist()) for _ in range(n)]
        members = [np.flatnonzero(rng.random(n) < 0.7).tolist() or [0] for _ in range(int(rng.integers(1, 4)))]
        n_reference = int(rng.integers(0, 3))
        whole, pairs = walk_buckets(sets, members, 0.5, n_reference)
        cut, cut_pairs = walk_buckets(sets, members, 0.5, n_reference, rng.choice(n, 3).tolist())
        for name in ("keeper", "resemblance", "skipped"):
            assert getattr(whole, name).tolist() == getattr(cut, name).tolist(), name
        for name in ("left", "right", "score"):
            assert getattr(pairs, name).tolist() == getattr(cut_pairs, name).tolist(), name
        assert whole.n_compared == cut.n_compared


def test_nearest_kept_are_those_on_either_side(rng):
    for _ in range(200):
        size = int(rng.integers(1, 12))
        kept = np.where(rng.random(size) < 0.6, rng.permutation(size), -1).astype(np.int32)
        place, wanted, out = int(rng.integers(size)), int(rng.integers(1, 4)), np.full(8, -9, np.int32)
        below = [k for k in kept[:place][::-1].tolist() if k >= 0][:wanted]
        above = [k for k in kept[place + 1 :].tolist() if k >= 0][:wanted]
        assert keep_kernel.nearest_kept(kept, place, wanted, size, out) == len(below + above)
        assert out[: len(below + above)].tolist() == below + above


def test_walk_over_several_buckets_equals_twin(rng):
    """Only rows that share some bucket are compared, each pair once; slices and reference rows change nothing of that."""
    for _ in range(5 if JIT_OFF else 60):
        n = int(rng.integers(2, 25))
        sets = [frozenset(rng.choice(12, int(rng.integers(1, 9)), replace=False).tolist()) for _ in range(n)]
        inside = [np.flatnonzero(rng.random(n) < 0.5).tolist() or [0] for _ in range(int(rng.integers(1, 4)))]
        shared = {(a, b) for members in inside for a in members for b in members if a < b}
        every = naive.all_pairs(sets, 0.5)
        walked, met = walk_buckets(sets, inside, 0.5, 0, rng.choice(n, 2).tolist())
        wanted = naive.keep(n, {pair: r for pair, r in every.items() if pair in shared})
        assert walked.keeper.tolist() == wanted
        assert walked.resemblance.tolist() == [1.0 if k == d else every[k, d] for d, k in enumerate(wanted)]
        kept = {row for row in range(n) if wanted[row] == row}
        expected = sorted((a, b, every[a, b]) for a, b in shared if (a, b) in every and a in kept)
        assert sorted(zip(met.left.tolist(), met.right.tolist(), met.score.tolist(), strict=True)) == expected
        assert walked.n_compared == sum(a in kept for a, _ in shared) and walked.skipped.sum() == 0
