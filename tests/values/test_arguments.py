"""What callers pass in is right or refused: no row is read that is not there, no number is taken for another one."""

from itertools import product

import numpy as np
import pytest

import lookalike as la
from lookalike.hashing import Permutation
from lookalike.values import drop_repeats

VALUES = np.array([5, 3, 9, 7, 1, 2], np.uint64)
OFFSETS = [
    [0, 7], [0, -1, 6], [0, 4, 2, 6], [1, 6], [0, 5], [-1, 6], [], [[0, 6]], 6, [0.0, 6.0], ["0", "6"], [0, 1 << 62, 6],
    np.array([0, (1 << 64) - 1], np.uint64), np.array([True, False]),
]  # fmt: skip
TAKERS = {
    "Shingles": lambda offsets: la.sketches.Shingles(VALUES, offsets),
    "Shingles.from_arrays": lambda offsets: la.sketches.Shingles.from_arrays(VALUES, offsets),
    "WeightedSets": lambda offsets: la.sketches.WeightedSets(np.sort(VALUES), np.ones(6), offsets),
    "WeightedSets.from_arrays": lambda offsets: la.sketches.WeightedSets.from_arrays(VALUES, np.ones(6), offsets),
    "sign_sets": lambda offsets: la.sketches.PermutationMinHash(universe=10, permutations=4).sign_sets(VALUES, offsets),
    "drop_repeats": lambda offsets: drop_repeats(VALUES, offsets),
}


def test_offsets_that_do_not_rise_from_0_to_the_number_of_values_are_refused():
    for take, offsets in product(TAKERS.values(), OFFSETS):
        with pytest.raises(la.errors.ParameterError, match="offsets must"):
            take(offsets)


@pytest.mark.parametrize("values", [3, [[1, 2]], [1.5, 2.0], ["1"], [True, False], [None]], ids=str)
def test_values_that_are_no_row_of_integers_are_refused(values):
    n = np.size(values)
    for take in (
        lambda: la.sketches.Shingles(values, [0, n]),
        lambda: la.sketches.Shingles.from_arrays(values, [0, n]),
        lambda: la.sketches.WeightedSets(values, np.ones(n), [0, n]),
        lambda: la.sketches.WeightedSets.from_arrays(values, np.ones(n), [0, n]),
        lambda: la.sketches.PermutationMinHash(universe=10).sign_sets(values, [0, n]),
    ):
        with pytest.raises(la.errors.ParameterError, match="values must"):
            take()


def test_arrays_in_any_order_of_bytes_and_any_stride_mean_their_numbers():
    values, offsets = np.arange(1, 41, dtype=np.uint64), np.array([0, 0, 10, 40])
    weights = np.linspace(0.5, 3.0, 40)
    spread = np.zeros((40, 3), np.uint64)
    spread[:, 1] = values
    locked = values.copy()
    locked.flags.writeable = False
    bare = b" " + values.tobytes(), b" " + offsets.tobytes()  # no element lies where a processor likes it
    same = [
        (np.frombuffer(bare[0], np.uint64, 40, 1), np.frombuffer(bare[1], np.int64, 4, 1)),
        (values.astype(">u8"), offsets.astype(">i4")),
        (spread[:, 1], offsets[::1].astype(np.uint16)),
        (locked, offsets.tolist()),
    ]
    scheme = la.sketches.FastSimilarity(permutations=16)
    for v, o in same:
        for make in (la.sketches.Shingles, la.sketches.Shingles.from_arrays):
            assert make(v, o).values.flags.aligned and make(v, o).offsets.flags.aligned
            np.testing.assert_array_equal(scheme.sign(make(v, o)).values, scheme.sign(make(values, offsets)).values)
        for make in (la.sketches.WeightedSets, la.sketches.WeightedSets.from_arrays):
            expected = la.sketches.DartMinHash(permutations=8).sign(make(values, weights, offsets)).values
            found = la.sketches.DartMinHash(permutations=8).sign(make(v, weights.astype(">f8"), o)).values
            np.testing.assert_array_equal(found, expected)
        permuted = la.sketches.PermutationMinHash(universe=50, permutations=8)
        np.testing.assert_array_equal(permuted.sign_sets(v, o).values, permuted.sign_sets(values, offsets).values)


def test_pairs_of_no_documents():
    assert len(la.search.Pairs([], [], 0)) == la.search.Pairs([], [], 0).n_rows == 0
    with pytest.raises(la.errors.ParameterError, match="n_rows"):
        la.search.Pairs([], [], -1)


SHINGLES = la.sketches.Shingles.from_arrays([1, 2, 3, 2, 3, 4], [0, 3, 6])
WEIGHTED = la.sketches.WeightedSets.from_arrays([1, 2, 2, 3], [1.0, 2.0, 1.0, 1.0], [0, 2, 4])
COMPARE = {
    "FastSimilarity": la.sketches.FastSimilarity().sign(SHINGLES).estimated_resemblance,
    "OnePermutation": la.sketches.OnePermutation().sign(SHINGLES).estimated_resemblance,
    "DartMinHash": la.sketches.DartMinHash().sign(WEIGHTED).estimated_resemblance,
    "PermutationMinHash": la.sketches.PermutationMinHash(universe=9).sign_sets([1, 2, 2, 3], [0, 2, 4]).estimated_resemblance,
    "BBit": la.sketches.BBit().pack(la.sketches.FastSimilarity().sign(SHINGLES)).estimated_resemblance,
    "raw bins": la.sketches.BBit().pack(la.sketches.OnePermutation().sign(SHINGLES)).estimated_resemblance,
    "distance": la.sketches.SimHash().sign(SHINGLES).distance,
    "estimated_cosine": la.sketches.SimHash().sign(SHINGLES).estimated_cosine,
    "cosine": WEIGHTED.cosine,
    "weighted resemblance": WEIGHTED.resemblance,
}


def test_rows_that_are_not_there_are_refused():
    for compare, row in product(COMPARE.values(), [-1, 2, 1 << 40, 1.0, "1", True, np.nan]):
        for pair in ((0, row), (row, 0)):
            with pytest.raises(la.errors.ParameterError):
                compare(*pair)
        assert np.isfinite(compare(np.int32(0), np.uint8(1)))


def test_signatures_of_other_parameters_do_not_meet():
    one = la.sketches.FastSimilarity().sign(SHINGLES)
    for scheme in (la.sketches.FastSimilarity(seed=2), la.sketches.MinHash()):
        for meet in (one.merge, lambda other: one.estimated_resemblance(0, 0, other=other)):
            with pytest.raises(la.errors.IncompatibleSketchError):
                meet(scheme.sign(SHINGLES))


def test_cosines_of_several_pairs_broadcast():
    table = [[WEIGHTED.cosine(left, right) for right in (0, 1)] for left in (0, 1)]
    np.testing.assert_array_equal(WEIGHTED.cosine(0, [0, 1]), table[0])
    np.testing.assert_array_equal(WEIGHTED.cosine([[0], [1]], [0, 1]), table)


def test_weights_are_finite_and_not_negative():
    for weight in [np.nan, np.inf, -np.inf, -1.0]:
        with pytest.raises(la.errors.ParameterError, match="number 1 is"):
            la.sketches.WeightedSets.from_arrays([1, 2], [1.0, weight], [0, 2])
        with pytest.raises(la.errors.ParameterError, match="number 1 is"):
            la.sketches.WeightedSets([1, 2], [1.0, weight], [0, 2])


def test_weights_beyond_all_numbers_are_refused_and_large_ones_are_not():
    with pytest.raises(la.errors.ParameterError, match="finite"):
        la.sketches.WeightedSets.from_arrays([1, 1], [1e308, 1e308], [0, 2])
    for scale in (8e307, 1e-300):
        sets = la.sketches.WeightedSets.from_arrays([1, 2, 2, 3], scale * np.array([1.0, 2.0, 1.0, 1.0]), [0, 2, 4])
        assert sets.cosine(0, 1) == pytest.approx(WEIGHTED.cosine(0, 1))
        assert sets.resemblance(0, 1) == pytest.approx(WEIGHTED.resemblance(0, 1))
        np.testing.assert_array_equal(la.sketches.SimHash().sign(sets).words, la.sketches.SimHash().sign(WEIGHTED).words)


def test_sums_of_large_weights_keep_their_signs():
    """Two infinite sums of unlike sign would make a tie of every bit."""
    values, ratios = np.arange(40), np.linspace(1.0, 1.7, 40)
    plain, large = (la.sketches.WeightedSets.from_arrays(values, scale * ratios, [0, 30, 40]) for scale in (1.0, 1e308))
    np.testing.assert_array_equal(la.sketches.SimHash().sign(large).words, la.sketches.SimHash().sign(plain).words)


def test_rows_without_weight_are_empty():
    sets = la.sketches.WeightedSets.from_arrays([1, 2, 3], [0.0, 0.0, 1.0], [0, 2, 3])
    assert np.diff(sets.offsets).tolist() == [0, 1]
    assert np.isnan(sets.cosine(0, 1)) and np.isnan(sets.cosine(0, 0))
    with pytest.raises(la.errors.ParameterError, match="positive; number 0 is 0"):
        la.sketches.WeightedSets([1, 2], [0.0, 1.0], [0, 2])


def test_weighted_rows_ascend():
    for values in ([2, 1], [1, 1]):
        with pytest.raises(la.errors.ParameterError, match="row 1"):
            la.sketches.WeightedSets([7, *values, 5], np.ones(4), [0, 1, 3, 4])
    assert len(la.sketches.WeightedSets([7, 1, 2, 5], np.ones(4), [0, 1, 1, 3, 4])) == 4, "they ascend within each row"


def test_keys_of_permutations_are_integers():
    permutation = Permutation(universe=10)
    for wrong in ([1.5], ["1"], [True]):
        with pytest.raises(la.errors.ParameterError, match="keys must"):
            permutation.apply(wrong)
    for wrong in ([10], [-1], -3):
        with pytest.raises(la.errors.ParameterError, match="keys must be in"):
            permutation.apply(wrong)
    assert sorted(permutation.apply(np.arange(10)).tolist()) == list(range(10))
    for wrong in (-1, 1 << 64, 1.0, True):
        with pytest.raises(la.errors.ParameterError, match="seed"):
            Permutation(universe=3, seed=wrong)
    with pytest.raises(la.errors.ParameterError, match="universe"):
        Permutation(universe=0)


def test_elements_of_a_universe_are_in_it_and_once_in_a_set():
    scheme = la.sketches.PermutationMinHash(universe=10)
    for wrong in ([10, 1], [-1, 1], [3, 3]):
        with pytest.raises(la.errors.ParameterError):
            scheme.sign_sets(wrong, [0, 2])
    assert scheme.sign_sets([3, 3], [0, 1, 2]).densities.tolist() == [0.1, 0.1]


def test_pairs_of_rows_that_are_not_there_are_refused():
    for pair in [(0, 2), (2, 0), (-1, 1), (0, -1)]:
        pairs = la.search.Pairs(left=[0, pair[0]], right=[1, pair[1]], n_rows=2, resemblance=[1.0, 1.0])
        with pytest.raises(la.errors.ParameterError, match="pair 1 is"):
            la.verify(pairs, SHINGLES, threshold=0.5)
        with pytest.raises(la.errors.ParameterError, match="pair 1 is"):
            la.decide(pairs)


def test_pairs_are_kept_in_order_only():
    for left, right in ((1, 0), (1, 1)):
        with pytest.raises(la.errors.ParameterError, match="left < right"):
            la.decide(la.search.Pairs(left=[left], right=[right], n_rows=2, resemblance=[0.9]))
    for wrong in (np.nan, -0.1, 1.1):
        with pytest.raises(la.errors.ParameterError, match="in \\[0, 1\\]"):
            la.decide(la.search.Pairs(left=[0], right=[1], n_rows=2, resemblance=[wrong]))


def test_columns_of_pairs_have_one_length_and_their_types():
    for wrong in [
        {"left": [0.0]},
        {"left": [0, 1]},
        {"left": 0},
        {"right": ["1"]},
        {"n_rows": -1},
        {"n_rows": 2.0},
        {"resemblance": [0.5, 0.5]},
        {"resemblance": ["x"]},
        {"distance": [0.5]},
    ]:
        with pytest.raises(la.errors.ParameterError):
            la.search.Pairs(**{"left": [0], "right": [1], "n_rows": 2} | wrong)


def test_words_and_margins_have_the_shape_that_bits_ask_for():
    words = np.zeros((3, 1), np.uint64)
    for wrong in (
        (words[:, 0], 64), (words, 65), (words, 0), (words, 64.0), (words.astype(np.int64), 64), (np.zeros((3, 2), np.uint64), 64),
    ):  # fmt: skip
        with pytest.raises(la.errors.ParameterError):
            la.sketches.Fingerprints(*wrong, None)
    for margins in (np.zeros((3, 63), np.float32), np.zeros((2, 64), np.float32), np.zeros((3, 64), np.int64)):
        with pytest.raises(la.errors.ParameterError, match="margins"):
            la.sketches.Fingerprints(words, 64, None, margins=margins)


def test_packed_words_are_enough_for_their_layout():
    packed = la.sketches.BBit(bits=2).pack(la.sketches.FastSimilarity(permutations=128).sign(SHINGLES))
    made_by = packed.packing, packed.scheme
    for words, layout in (
        (packed.words[:, :3], packed.layout), (packed.words, [[0, 64, 2]]), (packed.words, [[0, 64, 2], [2, 64, 2]]),
        (packed.words, [0, 128, 2]), (packed.words.astype(np.int64), packed.layout), (packed.words[0], packed.layout),
    ):  # fmt: skip
        with pytest.raises(la.errors.ParameterError):
            la.sketches.PackedSignatures(words, np.array(layout), *made_by)
    with pytest.raises(la.errors.ParameterError, match="densities"):
        la.sketches.PackedSignatures(packed.words, packed.layout, *made_by, densities=np.zeros(3))
    with pytest.raises(la.errors.ParameterError, match="words per document"):
        la.sketches.PackedSignatures(packed.words, packed.layout, *made_by, has_empty=True)


def test_bits_with_and_without_a_plane_of_filled_slots_are_not_compared():
    packed = la.sketches.BBit().pack(la.sketches.OnePermutation().sign(SHINGLES))
    bare = la.sketches.PackedSignatures(packed.words[:, :2], packed.layout, packed.packing, packed.scheme, packed.shingling)
    for one, other in ((packed, bare), (bare, packed)):
        with pytest.raises(la.errors.IncompatibleSketchError):
            one.estimated_resemblance(1, 1, other=other)


def test_slots_are_a_table_of_unsigned_integers():
    for wrong in (np.zeros(3, np.uint32), np.zeros((2, 3)), np.zeros((2, 3), np.int64), [[1, 2]]):
        with pytest.raises(la.errors.ParameterError, match="values must"):
            la.sketches.Signatures(wrong, la.sketches.FastSimilarity(permutations=3))


INTEGERS = {
    "permutations": [lambda x, make=make: make(permutations=x) for make in
                     (la.sketches.FastSimilarity, la.sketches.MinHash, la.sketches.OnePermutation, la.sketches.DartMinHash)]
    + [lambda x: la.sketches.PermutationMinHash(universe=9, permutations=x)]
    + [lambda x: la.plan(permutations=x)],
    "seed": [lambda x, make=make: make(seed=x) for make in
             (la.sketches.FastSimilarity, la.sketches.MinHash, la.sketches.OnePermutation, la.sketches.DartMinHash, la.sketches.SimHash)]
    + [lambda x: la.sketches.PermutationMinHash(universe=9, seed=x)],
    "bits": [lambda x: la.sketches.BBit(bits=x), lambda x: la.sketches.SimHash(bits=x)],
    "combined": [lambda x: la.sketches.XorBits(combined=x)],
    "bands": [lambda x: la.search.BandingIndex(bands=x, rows=1), lambda x: la.plan(bands=x, rows=1)],
    "rows": [lambda x: la.search.BandingIndex(bands=1, rows=x), lambda x: la.plan(bands=1, rows=x)],
}  # fmt: skip
TOO_MUCH = {"permutations": 65537, "seed": 1 << 64, "bits": 257, "combined": -3, "bands": -1, "rows": -1}


def test_integer_parameters_are_integers_in_their_range():
    for name, make in ((name, make) for name, makes in INTEGERS.items() for make in makes):
        for wrong in (-1, TOO_MUCH[name], 1.0, "1", True, np.nan, [1], np.float64(8), *([] if name == "seed" else [0])):
            with pytest.raises(la.errors.ParameterError, match=name):
                make(wrong)
        good = {"bits": 32, "seed": (1 << 64) - 1}.get(name, 8)
        assert make(np.uint64(good)) is not None
        if name != "bands" and hasattr(make(good), name):
            assert type(getattr(make(np.uint64(good)), name)) is int, "what is stored can be written as JSON"


@pytest.mark.parametrize("wrong", ["0.8", None, True, np.nan, [0.8], 0, 1.5], ids=str)
def test_thresholds_are_numbers(wrong):
    for call in (
        lambda: la.plan(threshold=wrong),
        lambda: la.verify(la.search.Pairs(left=[0], right=[1], n_rows=2), SHINGLES, threshold=wrong),
    ):
        with pytest.raises(la.errors.ParameterError, match="threshold"):
            call()
    assert la.plan(threshold=np.float32(0.5)).threshold == 0.5


def test_sides_of_unlike_shapes_are_refused():
    for compare in COMPARE.values():
        with pytest.raises(la.errors.ParameterError):
            compare([0, 1], [0, 1, 0])


def test_shares_are_pairs_of_bits_and_numbers():
    """Bits are a whole number, or one over a whole number; shares are positive, and 1 together."""
    for shares in [
        "x",
        None,
        True,
        0.0,
        64.5,
        [1, 2],
        [(1,)],
        [],
        [(1, "1")],
        [(1, np.nan)],
        [(True, 1.0)],
        [("0.5", 1.0)],
        [(np.nan, 1.0)],
        [(1.5, 1.0)],
        [(0.3, 1.0)],
        [(0, 1.0)],
        [(0.0, 1.0)],
        [(-0.5, 1.0)],
        [(1, 0.5)],
        [(0.5, 0.4)],
        [(1, 1.5), (2, -0.5)],
    ]:
        with pytest.raises(la.errors.ParameterError):
            la.sketches.Fractional(shares=shares)


def test_parameters_of_fingerprint_indexes_are_integers():
    for wrong in [{"radius": 1.5}, {"radius": "3"}, {"radius": True}, {"radius": -1}, {"bits": 0}, {"bits": 64.0}]:
        for kind in (la.search.HammingIndex, la.search.ExhaustiveHammingIndex):
            with pytest.raises(la.errors.ParameterError, match=next(iter(wrong))):
                kind(**({"radius": 3} | wrong))
        with pytest.raises(la.errors.ParameterError, match="limit"):
            la.search.HammingIndex().pairs(limit=1.5)
