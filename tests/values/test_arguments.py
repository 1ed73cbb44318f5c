"""What callers pass in is right or refused: no row is read that is not there, no number is taken for another one."""

from functools import partial
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import lookalike as la
from lookalike.errors import IncompatibleSketchError, ParameterError
from lookalike.hashing import Permutation
from lookalike.search import BandingIndex, Pairs
from lookalike.sketches import (
    BBit,
    DartMinHash,
    FastSimilarity,
    Fingerprints,
    Fractional,
    MinHash,
    OnePermutation,
    PackedSignatures,
    PermutationMinHash,
    Shingles,
    Signatures,
    SimHash,
    WeightedSets,
    XorBits,
)
from lookalike.values import drop_repeats

VALUES = np.array([1, 2, 3, 5, 7, 9], np.uint64)
OFFSETS = [
    [0, 7], [0, -1, 6], [0, 4, 2, 6], [1, 6], [0, 5], [-1, 6], [], [[0, 6]], 6, [0.0, 6.0], ["0", "6"], [0, 1 << 62, 6],
    np.array([0, (1 << 64) - 1], np.uint64), np.array([True, False]),
]  # fmt: skip
TAKERS = [
    Shingles,
    Shingles.from_arrays,
    lambda values, offsets: WeightedSets(values, np.ones(np.size(values)), offsets),
    lambda values, offsets: WeightedSets.from_arrays(values, np.ones(np.size(values)), offsets),
    PermutationMinHash(universe=10, permutations=4).sign_sets,
]


def test_offsets_that_do_not_rise_from_0_to_the_number_of_values_are_refused():
    for take, offsets in product([*TAKERS, drop_repeats], OFFSETS):
        with pytest.raises(ParameterError, match="offsets must"):
            take(VALUES, offsets)


@pytest.mark.parametrize("values", [3, [[1, 2]], [1.5, 2.0], ["1"], [True, False], [None]], ids=str)
def test_values_that_are_no_row_of_integers_are_refused(values):
    for take in TAKERS:
        with pytest.raises(ParameterError, match="values must"):
            take(values, [0, np.size(values)])


def test_arrays_in_any_order_of_bytes_and_any_stride_mean_their_numbers():
    values, offsets = np.arange(1, 41, dtype=np.uint64), np.array([0, 0, 10, 40])
    weights, spread = np.linspace(0.5, 3.0, 40), np.tile(values[:, None], 3)
    locked = values.copy()
    locked.flags.writeable = False
    bare = b" " + values.tobytes(), b" " + offsets.tobytes()  # no element lies where a processor likes it
    same = [
        (np.frombuffer(bare[0], np.uint64, 40, 1), np.frombuffer(bare[1], np.int64, 4, 1)),
        (values.astype(">u8"), offsets.astype(">i4")),
        (spread[:, 1], offsets[::1].astype(np.uint16)),
        (locked, offsets.tolist()),
    ]
    for v, o in same:
        for take in TAKERS[:4]:
            found, expected = take(v, o), take(values, offsets)
            assert found.values.flags.aligned and found.offsets.flags.aligned
            assert found.values.tolist() == expected.values.tolist() and found.offsets.tolist() == expected.offsets.tolist()
            assert np.diff(found.offsets).tolist() == [0, 10, 30] and found.values.dtype == np.uint64
        for make in (WeightedSets, WeightedSets.from_arrays):
            found, expected = make(v, weights.astype(">f8"), o), make(values, weights, offsets)
            assert found.weights.tolist() == expected.weights.tolist()
        permuted = PermutationMinHash(universe=50, permutations=8)
        assert_array_equal(permuted.sign_sets(v, o).values, permuted.sign_sets(values, offsets).values)


SHINGLES = Shingles.from_arrays([1, 2, 3, 2, 3, 4], [0, 3, 6])
WEIGHTED = WeightedSets.from_arrays([1, 2, 2, 3], [1.0, 2.0, 1.0, 1.0], [0, 2, 4])
COMPARE = [
    *(scheme().sign(SHINGLES).estimated_resemblance for scheme in (FastSimilarity, OnePermutation)),
    *(BBit().pack(scheme().sign(SHINGLES)).estimated_resemblance for scheme in (FastSimilarity, OnePermutation)),
    DartMinHash().sign(WEIGHTED).estimated_resemblance,
    PermutationMinHash(universe=9).sign_sets([1, 2, 2, 3], [0, 2, 4]).estimated_resemblance,
    SimHash().sign(SHINGLES).distance,
    SimHash().sign(SHINGLES).estimated_cosine,
    WEIGHTED.cosine,
    WEIGHTED.resemblance,
]


def test_rows_that_are_not_there_are_refused():
    for compare, row in product(COMPARE, [-1, 2, 1 << 40, 1.0, "1", True, np.nan]):
        for pair in ((0, row), (row, 0), ([0, 1], [0, 1, 0])):
            with pytest.raises(ParameterError):
                compare(*pair)
        assert np.isfinite(compare(np.int32(0), np.uint8(1)))


def test_signatures_of_other_parameters_do_not_meet():
    one = FastSimilarity().sign(SHINGLES)
    for scheme in (FastSimilarity(seed=2), MinHash()):
        for meet in (one.merge, lambda other: one.estimated_resemblance(0, 0, other=other)):
            with pytest.raises(IncompatibleSketchError):
                meet(scheme.sign(SHINGLES))


def test_cosines_of_several_pairs_broadcast():
    table = [[WEIGHTED.cosine(left, right) for right in (0, 1)] for left in (0, 1)]
    assert_array_equal(WEIGHTED.cosine(0, [0, 1]), table[0])
    assert_array_equal(WEIGHTED.cosine([[0], [1]], [0, 1]), table)


@pytest.mark.parametrize("make", [WeightedSets, WeightedSets.from_arrays])
def test_weights_are_finite_and_not_negative(make):
    for weight in [np.nan, np.inf, -np.inf, -1.0]:
        with pytest.raises(ParameterError, match="number 1 is"):
            make([1, 2], [1.0, weight], [0, 2])
    with pytest.raises(ParameterError):
        make([1, 2], [1.0], [0, 2])


def test_weights_beyond_all_numbers_are_refused_and_large_ones_are_not():
    with pytest.raises(ParameterError, match="finite"):
        WeightedSets.from_arrays([1, 1], [1e308, 1e308], [0, 2])
    for scale in (8e307, 1e-300):
        sets = WeightedSets.from_arrays([1, 2, 2, 3], scale * np.array([1.0, 2.0, 1.0, 1.0]), [0, 2, 4])
        assert sets.cosine(0, 1) == pytest.approx(WEIGHTED.cosine(0, 1))
        assert sets.resemblance(0, 1) == pytest.approx(WEIGHTED.resemblance(0, 1))
        assert_array_equal(SimHash().sign(sets).words, SimHash().sign(WEIGHTED).words)


def test_sums_of_large_weights_keep_their_signs():
    """Two infinite sums of unlike sign would make a tie of every bit."""
    values, ratios = np.arange(40), np.linspace(1.0, 1.7, 40)
    plain, large = (WeightedSets.from_arrays(values, scale * ratios, [0, 30, 40]) for scale in (1.0, 1e308))
    assert_array_equal(SimHash().sign(large).words, SimHash().sign(plain).words)


def test_rows_without_weight_are_empty():
    sets = WeightedSets.from_arrays([1, 2, 3], [0.0, 0.0, 1.0], [0, 2, 3])
    assert np.diff(sets.offsets).tolist() == [0, 1]
    assert np.isnan(sets.cosine(0, 1)) and np.isnan(sets.cosine(0, 0))
    with pytest.raises(ParameterError, match="positive; number 0 is 0"):
        WeightedSets([1, 2], [0.0, 1.0], [0, 2])


def test_weighted_rows_ascend():
    for values in ([2, 1], [1, 1]):
        with pytest.raises(ParameterError, match="row 1"):
            WeightedSets([7, *values, 5], np.ones(4), [0, 1, 3, 4])
    assert len(WeightedSets([7, 1, 2, 5], np.ones(4), [0, 1, 1, 3, 4])) == 4, "they ascend within each row"


def test_keys_of_permutations_are_integers_of_the_universe():
    for wrong in ([1.5], ["1"], [True], [10], [-1], -3):
        with pytest.raises(ParameterError, match="keys must"):
            Permutation(universe=10).apply(wrong)
    for name, wrong in [*product(["seed"], (-1, 1 << 64, 1.0, True)), ("universe", 0)]:
        with pytest.raises(ParameterError, match=name):
            Permutation(**{"universe": 3} | {name: wrong})


def test_elements_of_a_universe_are_in_it_and_once_in_a_set():
    scheme = PermutationMinHash(universe=10)
    for wrong in ([10, 1], [-1, 1], [3, 3]):
        with pytest.raises(ParameterError):
            scheme.sign_sets(wrong, [0, 2])
    assert scheme.sign_sets([3, 3], [0, 1, 2]).densities.tolist() == [0.1, 0.1]


def test_pairs_of_rows_that_are_not_there_are_refused():
    for pair in [(0, 2), (2, 0), (-1, 1), (0, -1)]:
        pairs = Pairs(left=[0, pair[0]], right=[1, pair[1]], n_rows=2, resemblance=[1.0, 1.0])
        with pytest.raises(ParameterError, match="pair 1 is"):
            la.verify(pairs, SHINGLES, threshold=0.5)
        with pytest.raises(ParameterError, match="pair 1 is"):
            la.decide(pairs)


def test_pairs_are_kept_in_order_only():
    for left, right in ((1, 0), (1, 1)):
        with pytest.raises(ParameterError, match="left < right"):
            la.decide(Pairs(left=[left], right=[right], n_rows=2, resemblance=[0.9]))
    for wrong in (np.nan, -0.1, 1.1):
        with pytest.raises(ParameterError, match="in \\[0, 1\\]"):
            la.decide(Pairs(left=[0], right=[1], n_rows=2, resemblance=[wrong]))


def test_columns_of_pairs_have_one_length_and_their_types():
    assert len(Pairs([], [], 0)) == Pairs([], [], 0).n_rows == 0
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
        with pytest.raises(ParameterError):
            Pairs(**{"left": [0], "right": [1], "n_rows": 2} | wrong)


def test_words_and_margins_have_the_shape_that_bits_ask_for():
    words = np.zeros((3, 1), np.uint64)
    for wrong in (
        (words[:, 0], 64), (words, 65), (words, 0), (words, 64.0), (words.astype(np.int64), 64), (np.zeros((3, 2), np.uint64), 64),
    ):  # fmt: skip
        with pytest.raises(ParameterError):
            Fingerprints(*wrong, None)
    for margins in (np.zeros((3, 63), np.float32), np.zeros((2, 64), np.float32), np.zeros((3, 64), np.int64)):
        with pytest.raises(ParameterError, match="margins"):
            Fingerprints(words, 64, None, margins=margins)


def test_packed_words_are_enough_for_their_layout():
    packed = BBit(bits=2).pack(FastSimilarity(permutations=128).sign(SHINGLES))
    made_by = packed.packing, packed.scheme
    for words, layout in (
        (packed.words[:, :3], packed.layout), (packed.words, [[0, 64, 2]]), (packed.words, [[0, 64, 2], [2, 64, 2]]),
        (packed.words, [0, 128, 2]), (packed.words.astype(np.int64), packed.layout), (packed.words[0], packed.layout),
    ):  # fmt: skip
        with pytest.raises(ParameterError):
            PackedSignatures(words, np.array(layout), *made_by)
    with pytest.raises(ParameterError, match="densities"):
        PackedSignatures(packed.words, packed.layout, *made_by, densities=np.zeros(3))
    with pytest.raises(ParameterError, match="words per document"):
        PackedSignatures(packed.words, packed.layout, *made_by, has_empty=True)


def test_bits_with_and_without_a_plane_of_filled_slots_are_not_compared():
    packed = BBit().pack(OnePermutation().sign(SHINGLES))
    bare = PackedSignatures(packed.words[:, :2], packed.layout, packed.packing, packed.scheme, packed.shingling)
    for one, other in ((packed, bare), (bare, packed)):
        with pytest.raises(IncompatibleSketchError):
            one.estimated_resemblance(1, 1, other=other)


def test_slots_are_a_table_of_unsigned_integers():
    for wrong in (np.zeros(3, np.uint32), np.zeros((2, 3)), np.zeros((2, 3), np.int64), [[1, 2]]):
        with pytest.raises(ParameterError, match="values must"):
            Signatures(wrong, FastSimilarity(permutations=3))


SCHEMES = (FastSimilarity, MinHash, OnePermutation, DartMinHash, partial(PermutationMinHash, universe=9))
INTEGERS = [
    *product(SCHEMES, ["permutations", "seed"]), (la.plan, "permutations"), (SimHash, "seed"), (SimHash, "bits"), (BBit, "bits"),
    (XorBits, "combined"), *product((partial(BandingIndex, bands=1, rows=1), partial(la.plan, bands=1, rows=1)), ["bands", "rows"]),
]  # fmt: skip
TOO_MUCH = {"permutations": 65537, "seed": 1 << 64, "bits": 257}


def test_integer_parameters_are_integers_in_their_range():
    for make, name in INTEGERS:
        for wrong in (-1, TOO_MUCH.get(name, -3), 1.0, "1", True, np.nan, [1], np.float64(8), *([] if name == "seed" else [0])):
            with pytest.raises(ParameterError, match=name):
                make(**{name: wrong})
        made = make(**{name: np.uint64({"bits": 32, "seed": (1 << 64) - 1}.get(name, 8))})
        assert type(getattr(made, name)) is int, "what is stored can be written as JSON"


@pytest.mark.parametrize("wrong", ["0.8", None, True, np.nan, [0.8], 0, 1.5], ids=str)
def test_thresholds_are_numbers(wrong):
    for call in (
        lambda: la.plan(threshold=wrong),
        lambda: la.verify(Pairs(left=[0], right=[1], n_rows=2), SHINGLES, threshold=wrong),
    ):
        with pytest.raises(ParameterError, match="threshold"):
            call()
    assert la.plan(threshold=np.float32(0.5)).threshold == 0.5


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
        with pytest.raises(ParameterError):
            Fractional(shares=shares)
