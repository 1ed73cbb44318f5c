from itertools import combinations, product

import numpy as np
from numpy.testing import assert_array_equal
from raising import assert_raises

from lookalike.errors import ParameterError
from lookalike.search import BandingIndex, ExhaustiveHammingIndex, HammingIndex, TableIndex, nearest, pairs_above
from lookalike.sketches import (
    BBit,
    DartMinHash,
    FastSimilarity,
    Fractional,
    MinHash,
    OnePermutation,
    PermutationMinHash,
    Shingles,
    Signatures,
    SimHash,
    WeightedSets,
    XorBits,
    load,
    save,
)

OFFSETS = [0, 3, 3, 3, 6, 6]
EMPTY = [1, 2, 4]
KEYS = [1, 2, 3, 1, 2, 3]
SHINGLES = Shingles.from_arrays(KEYS, OFFSETS)
WEIGHTED = WeightedSets.from_arrays(KEYS, np.ones(6), OFFSETS)
RAW, MINIMA = (scheme(permutations=16).sign(SHINGLES) for scheme in (OnePermutation, MinHash))
SIGNED = {
    "FastSimilarity": FastSimilarity(permutations=16).sign(SHINGLES),
    "MinHash": MINIMA,
    "merged": MINIMA.merge(MINIMA),
    **{kind: OnePermutation(permutations=16, densify=kind).sign(SHINGLES) for kind in ("rotation", "optimal", "reverse")},
    "filled": OnePermutation(permutations=16).fill(RAW, "rotation"),
    "DartMinHash": DartMinHash(permutations=16).sign(WEIGHTED),
    "PermutationMinHash": PermutationMinHash(universe=1 << 64, permutations=16).sign_sets(KEYS, OFFSETS),
}


def test_empty_documents_share_no_bucket(tmp_path):
    """Nor those of files."""
    for name, signatures in SIGNED.items():
        if name != "DartMinHash":  # which no file holds
            save(signatures, tmp_path / "sketches", force=True)
            signatures = load(tmp_path / "sketches")
        assert np.flatnonzero(signatures.empty).tolist() == EMPTY
        for bands, rows in ((4, 4), (16, 1)):
            index = BandingIndex(bands=bands, rows=rows).add(signatures)
            found = index.pairs()
            assert (found.left.tolist(), found.right.tolist()) == ([0], [3])
            asked, stored = index.query(signatures)
            assert list(zip(asked.tolist(), stored.tolist(), strict=True)) == [(0, 0), (0, 3), (3, 0), (3, 3)]
            found = index.add(signatures).pairs()  # numbered on
            assert sorted(zip(found.left.tolist(), found.right.tolist(), strict=True)) == [*combinations((0, 3, 5, 8), 2)]


def test_resemblance_of_empty_documents_is_unknown_and_with_others_0():
    """No other estimate claims to be free of error, though all slots match, or none."""
    rows = np.arange(5)
    empty = np.isin(rows, EMPTY)
    both, one = empty[:, None] & empty, empty[:, None] ^ empty
    for signatures in (*SIGNED.values(), RAW):
        found, error = signatures.estimated_resemblance(rows[:, None], rows, with_error=True)
        assert np.isnan(found[both]).all() and np.isnan(error[both]).all() and (error[~both] > 0.005).all()
        assert (found[one] == 0.0).all() and (found[~both & ~one] == 1.0).all()
        assert np.isnan(signatures.estimated_resemblance(1, 2)) and signatures.estimated_resemblance(0, 3) == 1.0


def test_some_slots_of_the_highest_value_are_not_an_empty_document():
    """Nor are slots of 64 bits that look like empty ones of 32."""
    for slots, dtype, scheme in (([0xFFFFFFFF, 7], np.uint32, MinHash), ([0xFFFFFFFF] * 2, np.uint64, DartMinHash)):
        signatures = Signatures(np.array([slots, slots], dtype), scheme(permutations=2), "made up")
        assert not signatures.empty.any() and signatures.estimated_resemblance(0, 1) == 1.0
        assert len(BandingIndex(bands=2, rows=1).add(signatures).pairs()) == 1


def test_raw_bins_are_refused_where_empty_ones_would_match(rng):
    """0.1 found 59 of 400 equal pairs, and 5,228 of documents with nothing in common."""
    sizes, n = 20, 50
    keys = rng.integers(0, 1 << 60, n * sizes)
    scheme, index = OnePermutation(permutations=128), BandingIndex(bands=16, rows=8)
    raw = scheme.sign(Shingles.from_arrays(np.concatenate([keys, keys]), np.arange(0, 2 * n * sizes + 1, sizes)))
    for call, said in ((index.add, 'densify="reverse"'), (index.query, "empty bins")):
        assert_raises(ParameterError, said, call, raw)
    assert len(index) == 0
    found = index.add(scheme.fill(raw, "optimal")).pairs()
    assert (found.left.tolist(), found.right.tolist()) == (list(range(n)), list(range(n, 2 * n)))


def test_packed_raw_bins_of_empty_documents_match_nothing():
    packed = BBit(bits=2).pack(RAW)
    for likely in (False, True):
        found, error = packed.estimated_resemblance([0, 0, 1, 1], [3, 1, 2, 0], with_error=True, most_likely=likely)
        assert_array_equal(found, [1.0, 0.0, np.nan, 0.0])
        assert (np.isnan(error) == np.isnan(found)).all()
    rows, values = nearest(packed, packed, top=5)
    assert rows[0, :2].tolist() == [0, 3] and values[0, :2].tolist() == [1.0, 1.0] and not (values[EMPTY] > 0).any()
    pairs = pairs_above(packed, 0.5)
    assert (pairs.left.tolist(), pairs.right.tolist()) == ([0], [3])


def test_bits_of_empty_documents_are_refused():
    for packing, scheme in product(
        [BBit(), XorBits(), Fractional(1.5)], ["MinHash", "rotation", "DartMinHash", "PermutationMinHash"]
    ):
        assert_raises(ParameterError, "document 1 is empty, and 2 more", packing.pack, SIGNED[scheme])


def test_fingerprints_of_empty_documents_are_found_by_no_index():
    for bits, features in product([32, 64, 96, 256], [SHINGLES, WEIGHTED]):
        prints = SimHash(bits=bits, seed=6).sign(features)  # a tie word whose bits are set where 96 end
        assert np.flatnonzero(prints.empty).tolist() == EMPTY
        assert_array_equal(prints.estimated_cosine([0, 0, 1], [3, 1, 2]), [1.0, np.nan, np.nan])
        for index in (HammingIndex(radius=3), ExhaustiveHammingIndex(radius=3), TableIndex(radius=3)):
            for call in (index.add, index.query, index.first):
                assert_raises(ParameterError, "document 1 is empty, and 2 more", call, prints)
            assert len(index) == 0


def test_what_has_no_slots_cannot_be_cut_into_bands():
    for other in (SHINGLES, None):
        assert_raises(ParameterError, "bands are cut from Signatures", BandingIndex(bands=4, rows=4).add, other)
