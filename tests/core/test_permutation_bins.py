"""One permutation of a universe cut into bins: the report's example, its twin, refusals."""

import numpy as np
import pytest
from naive import families as naive
from numpy.testing import assert_array_equal

from lookalike.errors import IncompatibleSketchError, ParameterError
from lookalike.hashing import Permutation
from lookalike.search import BandingIndex, pairs_above
from lookalike.sketches import BBit, PermutationBins, XorBits, load, save
from lookalike.theory import one_permutation

NONE = (1 << 64) - 1
PLACES, OFFSETS = [2, 4, 7, 13, 0, 3, 6, 13, 0, 1, 10, 12], [0, 4, 8, 12]


def test_golden_example_of_the_report():
    """Three sets under one permutation of 16, four bins; (X, Y): 1/3, (X, Z): 0/4, (Y, Z): 1/4."""
    signatures = PermutationBins(universe=16, permutations=4).bin_places(PLACES, OFFSETS)
    assert signatures.values.tolist() == [[2, 0, NONE, 1], [0, 2, NONE, 1], [0, NONE, 2, 0]]
    assert signatures.estimated_resemblance([0, 0, 1], [1, 2, 2]).tolist() == [1 / 3, 0.0, 1 / 4]


@pytest.mark.parametrize(
    ("universe", "bins"), [(1, 1), (12, 1), (12, 4), (12, 12), (1000, 8), (1 << 63, 64), ((1 << 63) - 1, 7)]
)
def test_bins_equal_twin(rng, universe, bins):
    sizes = [0, 1, min(universe, 3), min(universe, 50)]
    sets = [np.unique(rng.integers(0, universe, n, dtype=np.uint64)) for n in sizes] + [np.array([universe - 1], np.uint64)]
    values, offsets = np.concatenate(sets), np.cumsum([0, *map(len, sets)])
    scheme = PermutationBins(universe=universe, permutations=bins, seed=9)
    assert scheme.bin_places(values, offsets).values.tolist() == [naive.cut_places(s.tolist(), bins, universe) for s in sets]
    permuted = [Permutation(universe=universe, seed=9).apply(s).tolist() for s in sets]
    assert scheme.sign_sets(values, offsets).values.tolist() == [naive.cut_places(s, bins, universe) for s in permuted]


def test_unions_are_minima_and_empty_sets_resemble_nothing():
    scheme = PermutationBins(universe=100, permutations=10)
    one, other, union = (scheme.sign_sets(s, [0, len(s), len(s)]) for s in ([1, 2, 3], [3, 50, 99], [1, 2, 3, 50, 99]))
    assert (one.merge(other).values == union.values).all()
    assert np.isnan(one.estimated_resemblance(1, 1)) and one.estimated_resemblance(0, 1) == 0.0
    found, error = one.estimated_resemblance(0, 0, with_error=True)
    assert found == 1.0 and error > 0.0


def test_packed_bins_and_files(tmp_path):
    rng = np.random.default_rng(3)
    pool = rng.permutation(1 << 16)[:1200]
    scheme = PermutationBins(universe=1 << 16, permutations=512)
    signatures = scheme.sign_sets(np.concatenate([pool[:900], pool[300:]]), [0, 900, 1800])
    for value in (signatures, BBit(bits=2).pack(signatures)):
        found, error = value.estimated_resemblance(0, 1, with_error=True)
        assert abs(found - 0.5) < 4 * error
        save(value, tmp_path / "x.sig", force=True)
        again = load(tmp_path / "x.sig")
        assert again.scheme == scheme and again.estimated_resemblance(0, 1) == found


@pytest.mark.parametrize(("universe", "bins", "bits"), [(1 << 16, 256, 8), (1 << 16, 256, 16), (600, 200, 2), (64, 64, 1)])
def test_bits_that_hold_whole_places_estimate_as_these_do(rng, universe, bins, bits):
    """t log2(D / t) bits, and a plane of filled bins: equal estimates, errors and pairs. With a bit less, chance matches."""
    common, *own = rng.permutation(universe)[: universe // 20 * 5].reshape(5, -1)
    sets = [np.concatenate([common, some]) for some in own]
    signatures = PermutationBins(universe=universe, permutations=bins).sign_sets(
        np.concatenate(sets), np.arange(5) * len(sets[0])
    )
    packed, pairs = BBit(bits=bits).pack(signatures), np.triu_indices(4, 1)
    whole, cut = (each.estimated_resemblance(*pairs, with_error=True) for each in (signatures, packed))
    assert_array_equal(cut, whole)
    for threshold in (*whole[0], 0.0):
        assert pairs_above(packed, threshold).resemblance.tolist() == whole[0][whole[0] >= threshold].tolist()
    assert packed.holds_bins and packed.n_bytes == 4 * 8 * -(-bins // 64) * (bits + 1)
    if bits == 8:
        assert not BBit(bits=7).pack(signatures).holds_bins


def test_refusals():
    for universe, bins in ((10, 4), (0, 1), (1 << 64, 2)):
        with pytest.raises(ParameterError):
            PermutationBins(universe=universe, permutations=bins)
    scheme = PermutationBins(universe=8, permutations=4)
    signed = scheme.sign_sets([1, 2], [0, 2])
    for call, *given in [
        (scheme.bin_places, [8], [0, 1]),
        (scheme.sign_sets, [-1], [0, 1]),
        (scheme.sign_sets, [1, 1], [0, 2]),
        (scheme.sign_sets, [1, 2], [0, 1]),
        (XorBits().pack, signed),
        (BandingIndex(bands=2, rows=2).add, signed),
        (one_permutation.occupancy, 9, 4, 8),
        (one_permutation.expected_inverse_filled, 9, 4, 8),
        (one_permutation.expected_empty, 9, 4, 8),
    ]:
        with pytest.raises(ParameterError):
            call(*given)


def test_places_of_two_permutations_are_not_compared():
    scheme = PermutationBins(universe=16, permutations=4)
    with pytest.raises(IncompatibleSketchError):
        scheme.sign_sets([1], [0, 1]).estimated_resemblance(0, 0, other=scheme.bin_places([1], [0, 1]))
