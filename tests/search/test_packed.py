import tracemalloc
from functools import partial
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from packed_codes import unpack
from raising import assert_raises

import lookalike as la
from lookalike.errors import IncompatibleSketchError, ParameterError
from lookalike.search import BandingIndex, nearest, pairs_above
from lookalike.sketches import (
    BBit,
    FastSimilarity,
    Fractional,
    MinHash,
    OnePermutation,
    PackedSignatures,
    PermutationMinHash,
    Shingles,
    Signatures,
    XorBits,
)
from lookalike.theory import packed_banding

pytestmark = pytest.mark.filterwarnings("ignore:estimates from XORs")  # low ones, too, are those that were asked for
PACKINGS = [
    BBit(bits=1), BBit(bits=3), XorBits(combined=2), XorBits(combined=3), XorBits(combined=4),
    Fractional(shares=[(1, 0.5), (2, 0.5)]), Fractional(shares=[(1, 0.5), (0.5, 0.5)]),
    Fractional(shares=[(1, 0.25), (0.5, 0.5), (1 / 3, 0.25)]),
]  # fmt: skip


def sets(rng, n, universe, size=300):
    """Families of sets, each of which keeps a share of the one before: (values, offsets)."""
    rows = []
    for i in range(n):
        if i % 4 == 0:
            rows.append(rng.choice(universe, int(rng.integers(size // 2, size)), replace=False))
        else:
            kept = rows[-1][rng.random(len(rows[-1])) < rng.uniform(0.6, 1.0)]
            rows.append(np.unique(np.concatenate([kept, rng.choice(universe, size // 12)])))
    return np.concatenate(rows), np.concatenate([[0], np.cumsum([len(row) for row in rows])])


def sparse(rng, n):
    return FastSimilarity(permutations=192).sign(Shingles.from_arrays(*sets(rng, n, 1 << 40)))


def dense(rng, n):
    return PermutationMinHash(universe=700, permutations=192).sign_sets(*sets(rng, n, 700))


def planted(rng, n_pairs, slots, resemblance, n_others=0):
    """Rows 2i and 2i + 1 agree in each slot with a probability, the others by chance."""
    values = rng.integers(0, (1 << 32) - 1, (2 * n_pairs + n_others, slots), dtype=np.uint32)
    values[1 : 2 * n_pairs : 2] = np.where(
        rng.random((n_pairs, slots)) < resemblance, values[0 : 2 * n_pairs : 2], values[1 : 2 * n_pairs : 2]
    )
    return Signatures(values, FastSimilarity(permutations=slots), "made up")


def check_pairs(packed):
    left, right = np.triu_indices(len(packed), 1)
    every = packed.estimated_resemblance(left, right)
    for threshold in (0, 0.45, 0.7, 1.0, max(0.0, float(np.nanquantile(every, 0.999)))):
        found = pairs_above(packed, threshold, threads=2)
        reached = every >= threshold - 1e-12
        assert found.left.tolist() == left[reached].tolist() and found.right.tolist() == right[reached].tolist()
        assert_array_equal(found.resemblance, every[reached])
    return every


def listed(left, right):
    return list(zip(left.tolist(), right.tolist(), strict=True))


@pytest.mark.parametrize("packing", PACKINGS, ids=repr)
def test_pairs_are_those_of_all_estimates(rng, packing):
    check_pairs(packing.pack(sparse(rng, 262)))
    packed = packing.pack(dense(rng, 60))
    assert packed.densities is not None and np.ptp(packed.densities) > 0.2
    assert np.isfinite(check_pairs(packed)).all()
    check_pairs(packed.with_quantized_densities(4))


def test_sizes_of_blocks_and_words(rng):
    """Rows about as many as a block has, slots about as many as a word."""
    for n, slots in product([0, 1, 2, 255, 256, 257], [1, 63, 64, 65, 600]):
        signatures = planted(rng, n // 2, slots, 0.8, n % 2)
        signatures.values[: n // 3] = signatures.values[:1]
        packed = BBit(bits=1 + n % 2).pack(signatures)
        if n > 1:
            check_pairs(packed)
        else:
            assert not len(pairs_above(packed, 0.0))


def test_pairs_of_raw_bins_are_those_of_all_estimates(rng):
    """Also of sets with fewer members than bins, and of empty ones."""
    values, offsets = sets(rng, 120, 1 << 40, 150)
    scheme = OnePermutation(permutations=130)
    some, empty = (scheme.sign(Shingles.from_arrays(values, [0, *bounds])) for bounds in (offsets, [0, 0, len(values)]))
    for bits in (1, 2, 7):
        check_pairs(BBit(bits=bits).pack(some))
        assert np.isnan(check_pairs(BBit(bits=bits).pack(empty))).sum() == 1


def test_nearest_are_the_highest_estimates(rng):
    """Best first, ties by row; what could stand for two resemblances comes last."""
    for packing, signatures in [(BBit(bits=3), sparse(rng, 16)), (PACKINGS[6], dense(rng, 8))]:
        packed = packing.pack(signatures)
        rows, values = nearest(packed, packed, top=len(packed))
        for all_of, first in zip((rows, values), nearest(packed, packed, top=1), strict=True):
            assert_array_equal(first, all_of[:, :1])
        estimates = packed.estimated_resemblance(*np.indices((len(packed), len(packed))))
        order = np.argsort(-estimates, axis=1, kind="stable")
        assert rows.tolist() == order.tolist()
        assert_array_equal(values, np.take_along_axis(estimates, order, 1))


def test_candidates_share_a_band(rng):
    """Bands may be of 85 bits, and of slots of two parts."""
    for packing, bands, rows in (
        (BBit(bits=1), 17, 11),
        (BBit(bits=5), 11, 17),
        (BBit(bits=32), 64, 3),
        (PACKINGS[2], 12, 8),
        (PACKINGS[7], 7, 9),
    ):
        packed = packing.pack(planted(rng, 60, 192, 0.85))
        codes = np.concatenate(unpack(packed), axis=1)[:, : bands * rows].reshape(120, bands, rows)
        share = (codes[:, None] == codes).all(3).any(2)
        expected = [(i, j) for i, j in np.argwhere(share).tolist() if i < j]
        index = BandingIndex(bands=bands, rows=rows).add(packed)
        found = index.pairs()
        assert listed(found.left, found.right) == expected and len(expected) > 20
        assert [(i, j) for i, j in listed(*index.query(packed)) if i < j] == expected


def test_a_recall_finds_pairs_above_the_threshold(rng, monkeypatch):
    """By bands: those candidates whose estimate reaches the threshold; of few documents all pairs are compared."""
    packed = BBit(bits=2).pack(planted(rng, 300, 256, 0.85, 400))
    everything = pairs_above(packed, 0.8)
    assert pairs_above(packed, 0.8, recall=0.95).left.tolist() == everything.left.tolist()
    monkeypatch.setattr(packed_banding, "WORD_COST", 1e6)
    bands, rows = packed_banding.choose_bands(0.8, 0.5, packed.packing.parts(256), len(packed))
    candidates, found = BandingIndex(bands=bands, rows=rows).add(packed).pairs(), pairs_above(packed, 0.8, recall=0.5)
    estimates = dict(zip(listed(everything.left, everything.right), everything.resemblance, strict=True))
    shared = {*listed(candidates.left, candidates.right)} & {*estimates}
    assert {*listed(found.left, found.right)} == shared
    assert found.resemblance.tolist() == [estimates[pair] for pair in listed(found.left, found.right)]
    assert 0.5 * len(everything) < len(found) < len(everything)


def test_what_bands_cannot_do_is_refused(rng):
    signatures = planted(rng, 5, 64, 0.9)
    packed = BBit(bits=1).pack(signatures)
    raw = BBit(bits=1).pack(OnePermutation(permutations=64).sign(la.shingle(["a b c d e f g"])))
    index = BandingIndex(bands=4, rows=8).add(packed)
    for call, *given, message in (
        (partial(pairs_above, recall=0.9), raw, 0.5, "leave recall out, or sign with FastSimilarity"),
        (BandingIndex(bands=2, rows=2).add, raw, "FastSimilarity has no empty slots"),
        (BandingIndex(bands=9, rows=4).add, XorBits().pack(signatures), "36 stored slots; the signatures have 32"),
        (pairs_above, packed, 1.5, "threshold must be"),
        *((partial(pairs_above, recall=recall), packed, 0.8, "recall must be") for recall in (0.0, 1.0, 1.5, np.nan)),
    ):
        assert_raises(ParameterError, message, call, *given)
    for other in (BBit(bits=2).pack(signatures), signatures):
        assert_raises(IncompatibleSketchError, "", index.add, other)
    dense = XorBits().pack(PermutationMinHash(universe=100, permutations=64).sign_sets(np.arange(160) % 80, [0, 80, 160]))
    assert len(pairs_above(dense, 0.1, recall=0.9)) == 1, "below what combined bits tell apart all pairs are compared"


def test_filled_bins_of_small_sets_are_all_compared(rng, monkeypatch):
    """Copies agree together: bands planned for .95 find .4 to .94 of pairs that have one of four members in common."""
    monkeypatch.setattr(packed_banding, "WORD_COST", 1e6)
    n, values = 400, rng.integers(0, 1 << 63, (400, 4))
    sets = np.concatenate([values[:, :3], values[:, [0, 3]]], 1)  # of 3 and 2 members, one in common
    shingles = Shingles.from_arrays(sets.ravel(), np.concatenate([[0], np.cumsum(np.tile([3, 2], n))]))
    for densify in ("rotation", "optimal", "reverse"):
        packed = BBit(bits=16).pack(OnePermutation(permutations=64, densify=densify).sign(shingles))
        banded, every = pairs_above(packed, 0.25, recall=0.95), pairs_above(packed, 0.25)
        assert banded.left.tolist() == every.left.tolist() and len(every) > n / 4
    few = BBit(bits=8).pack(MinHash(permutations=4).sign(shingles))  # no bands reach the recall
    for threshold in (0.0, 0.1):
        assert_array_equal(pairs_above(few, threshold, recall=0.99).left, pairs_above(few, threshold).left)


def test_bands_are_planned_for_the_densest_set_that_is_rounded_to_a_density(rng, monkeypatch):
    """Slots of denser sets match by chance less often: rounded down, a density promised more than there is."""
    sizes, planned = [175, 160, 120], []
    some = np.concatenate([rng.permutation(400)[:size] for size in sizes])
    scheme = PermutationMinHash(universe=400, permutations=128)
    packed = BBit(bits=1).pack(scheme.sign_sets(some, np.cumsum([0, *sizes])))
    monkeypatch.setattr(packed_banding, "choose_bands", lambda *given: planned.append(given[-1]) or (1, 1))
    for bits in (None, 1, 4, 16):
        pairs_above(packed if bits is None else packed.with_quantized_densities(bits), 0.7, recall=0.9)
        assert planned[0] == 175 / 400 <= planned[-1] <= planned[0] + (2.0**-bits if bits else 0.0)


def test_queries_of_equal_rows_name_each_pair_once(rng):
    """A pair is kept for the first band that it shares, so that memory is for pairs, not for pairs and bands."""
    packed = BBit(bits=2).pack(planted(rng, 1, 64, 1.0))
    many = PackedSignatures(np.repeat(packed.words, 300, 0), packed.layout, packed.packing, packed.scheme, packed.shingling)
    index = BandingIndex(bands=16, rows=4).add(many)
    tracemalloc.start()
    asked, stored = index.query(many)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert np.array_equal(asked * 600 + stored, np.arange(600 * 600))
    assert peak < 100 * len(asked), "with all bands at once it was 300 bytes a pair"


def test_a_query_of_an_empty_index_does_not_say_what_it_holds(rng):
    signatures = planted(rng, 5, 64, 0.9)
    index = BandingIndex(bands=4, rows=8)
    assert len(index.query(BBit(bits=1).pack(signatures))[0]) == 0
    assert len(index.add(signatures)) == 10
