"""No row is read that is not there, no number is taken for another one."""

from functools import partial
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from raising import assert_raises

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

refused = partial(assert_raises, ParameterError)
not_mixed = partial(assert_raises, IncompatibleSketchError, "")
VALUES = np.array([1, 2, 3, 5, 7, 9], "uint64")
OFFSETS = [
    [0, 7], [0, -1, 6], [0, 4, 2, 6], [1, 6], [0, 5], [-1, 6], [], [[0, 6]], 6, [0.0, 6.0], ["0", "6"], [0, 1 << 62, 6],
    np.array([0, (1 << 64) - 1], "uint64"), np.array([True, False]),
]  # fmt: skip
UNIVERSE = PermutationMinHash(universe=10, permutations=4)
TAKERS = [
    Shingles,
    Shingles.from_arrays,
    lambda values, offsets: WeightedSets(values, np.ones(np.size(values)), offsets),
    lambda values, offsets: WeightedSets.from_arrays(values, np.ones(np.size(values)), offsets),
    UNIVERSE.sign_sets,
]


def test_rows_are_integers_between_offsets_that_rise_from_0_to_their_number():
    for take, offsets in product([*TAKERS, drop_repeats], OFFSETS):
        refused("offsets must", take, VALUES, offsets)
    for take, values in product(TAKERS, (3, [[1, 2]], [1.5, 2.0], ["1"], [True, False], [None])):
        refused("values must", take, values, [0, np.size(values)])


def test_arrays_in_any_order_of_bytes_and_any_stride_mean_their_numbers():
    values, offsets, weights = np.arange(1, 41, dtype="uint64"), np.array([0, 0, 10, 40]), np.linspace(0.5, 3.0, 40)
    locked = values.copy()
    locked.flags.writeable = False
    bare = np.frombuffer(b" " + values.tobytes(), "uint64", 40, 1)  # no element lies where a processor likes it
    for v, o in (
        (bare, offsets),
        (values.astype(">u8"), offsets.astype(">i4")),
        (np.tile(values, (3, 1)).T[:, 1], [0, 0, 10, 40]),
        (locked, offsets.astype("uint16")),
    ):
        for make in (*TAKERS[:2], lambda v, o: WeightedSets.from_arrays(v, weights.astype(">f8"), o)):
            found, expected = make(v, o), make(values, offsets)
            assert found.values.flags.aligned and found.offsets.flags.aligned and found.values.dtype == np.uint64
            assert_array_equal(found.values, expected.values)
            assert found.offsets.tolist() == offsets.tolist()
        assert_array_equal(WeightedSets(v, weights.astype(">f8"), o).weights, weights)
        sign = PermutationMinHash(universe=50, permutations=8).sign_sets
        assert_array_equal(sign(v, o).values, sign(values, offsets).values)


SHINGLES = Shingles.from_arrays([1, 2, 3, 2, 3, 4], [0, 3, 6])
WEIGHTED = WeightedSets.from_arrays([1, 2, 2, 3], [1.0, 2.0, 1.0, 1.0], [0, 2, 4])
FAST, BINS = (scheme().sign(SHINGLES) for scheme in (FastSimilarity, OnePermutation))
COMPARE = [
    FAST.estimated_resemblance,
    BINS.estimated_resemblance,
    BBit().pack(FAST).estimated_resemblance,
    BBit().pack(BINS).estimated_resemblance,
    DartMinHash().sign(WEIGHTED).estimated_resemblance,
    UNIVERSE.sign_sets([1, 2, 2, 3], [0, 2, 4]).estimated_resemblance,
    SimHash().sign(SHINGLES).distance,
    SimHash().sign(SHINGLES).estimated_cosine,
    WEIGHTED.cosine,
    WEIGHTED.resemblance,
]


def test_rows_that_are_not_there_are_refused():
    for compare, row in product(COMPARE, [-1, 2, 1 << 40, 1.0, "1", True, np.nan]):
        for pair in ((0, row), (row, 0), ([0, 1], [0, 1, 0])):
            refused("", compare, *pair)
        assert np.isfinite(compare(np.int32(0), np.uint8(1)))


def test_sketches_of_other_parameters_do_not_meet():
    """Nor bits with and without a plane of filled slots."""
    for scheme in (FastSimilarity(seed=2), MinHash()):
        other = scheme.sign(SHINGLES)
        not_mixed(FAST.merge, other)
        not_mixed(FAST.estimated_resemblance, 0, 0, other=other)
    packed = BBit().pack(BINS)
    bare = PackedSignatures(packed.words[:, :2], packed.layout, packed.packing, packed.scheme, packed.shingling)
    not_mixed(packed.estimated_resemblance, 1, 1, other=bare)
    not_mixed(bare.estimated_resemblance, 1, 1, other=packed)


def test_weights_are_finite_and_not_negative():
    for make in (WeightedSets, WeightedSets.from_arrays):
        for weight in (np.nan, np.inf, -np.inf, -1.0):
            refused("number 1 is", make, [1, 2], [1.0, weight], [0, 2])
        refused("", make, [1, 2], [1.0], [0, 2])
    refused("finite", WeightedSets.from_arrays, [1, 1], [1e308, 1e308], [0, 2])
    refused("positive; number 0 is 0", WeightedSets, [1, 2], [0.0, 1.0], [0, 2])
    sets = WeightedSets.from_arrays([1, 2, 3], [0.0, 0.0, 1.0], [0, 2, 3])
    assert sets.offsets.tolist() == [0, 0, 1] and np.isnan(sets.cosine(0, [0, 1])).all(), "a row without weight is empty"


def test_large_and_small_weights_compare_as_others_do():
    """Two infinite sums of unlike sign would make a tie of every bit."""
    for scale in (8e307, 1e-300):
        sets = WeightedSets.from_arrays([1, 2, 2, 3], scale * np.array([1.0, 2.0, 1.0, 1.0]), [0, 2, 4])
        assert sets.cosine(0, 1) == pytest.approx(WEIGHTED.cosine(0, 1))
        assert sets.resemblance(0, 1) == pytest.approx(WEIGHTED.resemblance(0, 1))
    plain, large = (
        WeightedSets.from_arrays(np.arange(40), scale * np.linspace(1.0, 1.7, 40), [0, 30, 40]) for scale in (1.0, 1e308)
    )
    assert_array_equal(SimHash().sign(large).words, SimHash().sign(plain).words)


def test_weighted_rows_ascend():
    for values in ([7, 2, 1, 5], [7, 1, 1, 5]):
        refused("row 1", WeightedSets, values, np.ones(4), [0, 1, 3, 4])
    assert len(WeightedSets([7, 1, 2, 5], np.ones(4), [0, 1, 1, 3, 4])) == 4, "they ascend within each row"


def test_elements_of_a_universe_are_integers_in_it_and_once_in_a_set():
    for wrong in ([1.5], ["1"], [True], [10], [-1], -3):
        refused("keys must", Permutation(universe=10).apply, wrong)
    for name, wrong in [*product(["seed"], (-1, 1 << 64, 1.0, True)), ("universe", 0)]:
        refused(name, Permutation, **{"universe": 3} | {name: wrong})
    for wrong in ([10, 1], [-1, 1], [3, 3]):
        refused("", UNIVERSE.sign_sets, wrong, [0, 2])
    assert UNIVERSE.sign_sets([3, 3], [0, 1, 2]).densities.tolist() == [0.1, 0.1]


def test_pairs_are_of_rows_that_are_there_in_order_with_a_resemblance():
    for pair in [(0, 2), (2, 0), (-1, 1), (0, -1)]:
        pairs = Pairs(left=[0, pair[0]], right=[1, pair[1]], n_rows=2, resemblance=[1.0, 1.0])
        refused("pair 1 is", la.verify, pairs, SHINGLES, threshold=0.5)
        refused("pair 1 is", la.decide, pairs)
    for left, right in ((1, 0), (1, 1)):
        refused("left < right", la.decide, Pairs(left=[left], right=[right], n_rows=2, resemblance=[0.9]))
    for wrong in (np.nan, -0.1, 1.1):
        refused(r"in \[0, 1\]", la.decide, Pairs(left=[0], right=[1], n_rows=2, resemblance=[wrong]))
    refused("verify", la.decide, Pairs([0], [1], 2))
    refused("3 documents", la.verify, Pairs([0], [1], 3), SHINGLES, threshold=0.5)
    assert len(Pairs([], [], 0)) == Pairs([], [], 0).n_rows == 0
    for name, *values in (
        ("left", [0.0], [0, 1], 0),
        ("right", ["1"]),
        ("n_rows", -1, 2.0),
        ("resemblance", [0.5, 0.5], ["x"]),
        ("distance", [0.5]),
    ):
        for wrong in values:
            refused("", Pairs, **{"left": [0], "right": [1], "n_rows": 2} | {name: wrong})


def test_words_margins_and_slots_have_the_shape_that_bits_ask_for():
    words = np.zeros((3, 1), "uint64")
    for wrong in (
        (words[:, 0], 64), (words, 65), (words, 0), (words, 64.0), (words.astype("int64"), 64), (np.zeros((3, 2), "uint64"), 64),
    ):  # fmt: skip
        refused("", Fingerprints, *wrong, None)
    for margins in (np.zeros((3, 63), "float32"), np.zeros((2, 64), "float32"), np.zeros((3, 64), "int64")):
        refused("margins", Fingerprints, words, 64, None, margins=margins)
    for wrong in (np.zeros(3, "uint32"), np.zeros((2, 3)), np.zeros((2, 3), "int64"), [[1, 2]]):
        refused("values must", Signatures, wrong, FastSimilarity(permutations=3))


SCHEMES = (FastSimilarity, MinHash, OnePermutation, DartMinHash, partial(PermutationMinHash, universe=9))
BANDED = partial(BandingIndex, bands=1, rows=1), partial(la.plan, bands=1, rows=1)
INTEGERS = [
    *product(SCHEMES, ["permutations", "seed"]), (la.plan, "permutations"), (SimHash, "seed"), (SimHash, "bits"), (BBit, "bits"),
    (XorBits, "combined"), *product(BANDED, ["bands", "rows"]),
]  # fmt: skip
TOO_MUCH = {"permutations": 65537, "seed": 1 << 64, "bits": 257}


def test_parameters_are_numbers_in_their_range():
    for make, name in INTEGERS:
        for wrong in (-1, TOO_MUCH.get(name, -3), 1.0, "1", True, np.nan, [1], np.float64(8), *([] if name == "seed" else [0])):
            refused(name, make, **{name: wrong})
        made = make(**{name: np.uint64({"bits": 32, "seed": (1 << 64) - 1}.get(name, 8))})
        assert type(getattr(made, name)) is int, "what is stored can be written as JSON"
    for wrong in ("0.8", None, True, np.nan, [0.8], 0, 1.5):
        refused("threshold", la.plan, threshold=wrong)
        refused("threshold", la.verify, Pairs(left=[0], right=[1], n_rows=2), SHINGLES, threshold=wrong)
        refused("threshold must be", la.exact_pairs, SHINGLES, threshold=wrong)
    assert la.plan(threshold=np.float32(0.5)).threshold == 0.5


def test_shares_are_pairs_of_bits_and_numbers():
    """Bits are a whole number, or one over a whole number; shares are positive, and 1 together."""
    wrong = ["x", None, True, 0.0, 64.5, [1, 2], [(1,)], [], [(0.5, 0.4)], [(1, 1.5), (2, -0.5)]]
    wrong += [[(bits, 1.0)] for bits in (True, "0.5", np.nan, 1.5, 0.3, 0, 0.0, -0.5)]
    wrong += [[(1, share)] for share in ("1", np.nan, 0.5)]
    for shares in wrong:
        refused("", Fractional, shares=shares)
