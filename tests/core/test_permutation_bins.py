from functools import partial

import numpy as np
from naive import families as naive
from numpy.testing import assert_array_equal
from raising import assert_raises

from lookalike.errors import IncompatibleSketchError, ParameterError
from lookalike.hashing import Permutation
from lookalike.search import BandingIndex, pairs_above
from lookalike.sketches import BBit, PermutationBins, XorBits

NONE = (1 << 64) - 1
PLACES, OFFSETS = [2, 4, 7, 13, 0, 3, 6, 13, 0, 1, 10, 12], [0, 4, 8, 12]


def test_golden_example_of_the_report():
    """Three sets under one permutation of 16, four bins."""
    signatures = PermutationBins(universe=16, permutations=4).bin_places(PLACES, OFFSETS)
    assert signatures.values.tolist() == [[2, 0, NONE, 1], [0, 2, NONE, 1], [0, NONE, 2, 0]]
    assert signatures.estimated_resemblance([0, 0, 1], [1, 2, 2]).tolist() == [1 / 3, 0.0, 1 / 4]


def test_bins_equal_twin(rng):
    for universe, bins in [(1, 1), (12, 1), (12, 4), (12, 12), (1000, 8), (1 << 63, 64), ((1 << 63) - 1, 7)]:
        sets = [np.unique(rng.integers(0, universe, min(universe, n), dtype=np.uint64)) for n in (0, 1, 3, 50)]
        sets.append(np.array([universe - 1], np.uint64))
        given = np.concatenate(sets), np.cumsum([0, *map(len, sets)])
        scheme, permutation = (
            PermutationBins(universe=universe, permutations=bins, seed=9),
            Permutation(universe=universe, seed=9),
        )
        for found, places in (
            (scheme.bin_places(*given), sets),
            (scheme.sign_sets(*given), [permutation.apply(some) for some in sets]),
        ):
            assert found.values.tolist() == [naive.cut_places(some.tolist(), bins, universe) for some in places]


def test_bits_that_hold_whole_places_estimate_as_these_do(rng):
    """t log2(D / t) bits, and a plane of filled bins. With a bit less, chance matches."""
    for universe, bins, bits in [(1 << 16, 256, 8), (1 << 16, 256, 16), (600, 200, 2), (64, 64, 1)]:
        common, *own = rng.permutation(universe)[: universe // 20 * 5].reshape(5, -1)
        sets = np.concatenate([np.concatenate([common, some]) for some in own])
        scheme = PermutationBins(universe=universe, permutations=bins)
        signatures = scheme.sign_sets(sets, np.arange(5) * len(sets) // 4)
        packed, pairs = BBit(bits=bits).pack(signatures), np.triu_indices(4, 1)
        whole, cut = (each.estimated_resemblance(*pairs, with_error=True) for each in (signatures, packed))
        assert_array_equal(cut, whole)
        for threshold in (*whole[0], 0.0):
            assert pairs_above(packed, threshold).resemblance.tolist() == whole[0][whole[0] >= threshold].tolist()
        assert packed.holds_bins and packed.n_bytes == 4 * 8 * -(-bins // 64) * (bits + 1)
        assert bits != 8 or not BBit(bits=7).pack(signatures).holds_bins


def test_refusals():
    scheme = PermutationBins(universe=8, permutations=4)
    signed = scheme.sign_sets([1, 2], [0, 2])
    for call, *given in [
        *(
            (partial(PermutationBins, universe=universe, permutations=bins),)
            for universe, bins in ((10, 4), (0, 1), (1 << 64, 2))
        ),
        (scheme.bin_places, [8], [0, 1]),
        (scheme.sign_sets, [-1], [0, 1]),
        (scheme.sign_sets, [1, 1], [0, 2]),
        (scheme.sign_sets, [1, 2], [0, 1]),
        (XorBits().pack, signed),
        (BandingIndex(bands=2, rows=2).add, signed),
        (partial(signed.estimated_resemblance, other=scheme.bin_places([1], [0, 1])), 0, 0),  # of two permutations
    ]:
        assert_raises((ParameterError, IncompatibleSketchError), "", call, *given)
