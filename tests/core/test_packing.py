from itertools import combinations, product
from time import process_time

import numpy as np
import pytest
from naive import families as naive
from numpy.testing import assert_allclose
from packed_codes import unpack
from raising import assert_raises

import lookalike as la
from lookalike.errors import IncompatibleSketchError, ParameterError
from lookalike.hashing import derive
from lookalike.search import nearest, pairs_above
from lookalike.sketches import (
    BBit,
    FastSimilarity,
    Fractional,
    OnePermutation,
    PermutationMinHash,
    Shingles,
    Signatures,
    XorBits,
)


def random_signatures(rng, n, permutations):
    values = rng.integers(0, 1 << 32, (n, permutations), dtype=np.uint32)
    values[1] = np.where(rng.random(permutations) < 0.5, values[0], values[1])
    values[2] = values[0]
    values[values == 0xFFFFFFFF] = 0
    return Signatures(values, FastSimilarity(permutations=permutations), "made up")


def check(packed, codes):
    """``codes``: for each document a list for each part."""
    assert [part.tolist() for part in unpack(packed)] == [[*part] for part in zip(*codes, strict=True)]
    for i, j in combinations(range(len(codes)), 2):
        equal = [sum(a == b for a, b in zip(*sides, strict=True)) for sides in zip(codes[i], codes[j], strict=True)]
        assert packed.matches(i, j).tolist() == equal


def test_codes_and_matches_equal_twins(rng):
    for permutations, bits in product([1, 63, 64, 65, 130], [1, 2, 3, 4, 7, 8, 16, 32]):
        signatures = random_signatures(rng, 4, permutations)
        codes = [naive.codes(row, bits, True) for row in signatures.values.tolist()]
        check(BBit(bits=bits).pack(signatures), [[row] for row in codes])


def test_xored_bits_equal_twin(rng):
    for combined in [1, 2, 3, 5]:
        signatures = random_signatures(rng, 3, 30 * combined)
        single = np.array([naive.codes(row, 1, True) for row in signatures.values.tolist()])
        check(XorBits(combined=combined).pack(signatures), (single.reshape(3, 1, 30, combined).sum(3) % 2).tolist())


def test_single_bits_have_the_error_of_a_share():
    """R is 2 E - 1 for a share E of equal bits, with two more matches and two more misses."""
    matches = np.array([[40], [55], [64]])
    found, error = XorBits(combined=1).estimate(matches, 64, np.zeros(3), np.zeros(3))
    share = (matches[:, 0] + 2) / 68
    assert found.tolist() == (2 * matches[:, 0] / 64 - 1).tolist()
    assert_allclose(error, 2 * (share * (1 - share) / 68) ** 0.5)


def test_fractions_keep_the_order_of_slots(rng):
    signatures = random_signatures(rng, 3, 100)
    packed = Fractional(shares=[(1, 0.7), (5, 0.3)]).pack(signatures)
    check(packed, [[naive.codes(row, 1, True)[:70], naive.codes(row, 5, True)[70:]] for row in signatures.values.tolist()])
    assert packed.n_bytes == 3 * 8 * (2 + 5)


MIXTURES = [[(0.5, 60), (1, 60)], [(1, 40), (1 / 3, 60), (3, 20)], [(0.25, 120)], [(8, 30), (0.5, 30), (1 / 5, 60)]]


def test_mixtures_below_one_bit_equal_twin(rng):
    for counts, remix in product(MIXTURES, [True, False]):
        signatures = random_signatures(rng, 3, 120)
        if not remix:
            scheme = PermutationMinHash(universe=1 << 32, permutations=120)
            signatures = Signatures(signatures.values.astype(np.uint64), scheme, "x", np.zeros(3))
        packed = Fractional(shares=[(bits, n / 120) for bits, n in counts]).pack(signatures)
        check(packed, [naive.mixture(row, counts, remix) for row in signatures.values.tolist()])
        assert packed.n_bytes == 24 * sum(bits * -(-n // 64) if bits >= 1 else -(-round(n * bits) // 64) for bits, n in counts)


def test_shares_are_rounded_to_what_the_slots_allow(rng):
    signatures = random_signatures(rng, 3, 90)
    assert Fractional([(1, 0.5), (0.5, 0.5)]).pack(signatures).layout.tolist() == [[0, 46, 1], [1, 22, 1]]
    third = Fractional([(1, 1 / 3), (0.33333333333333331, 2 / 3)])
    assert third.pack(signatures).layout.tolist() == [[0, 30, 1], [1, 20, 1]]
    assert third == Fractional([(1, 1 / 3), (np.float64(1) / 3, 2 / 3)])
    assert Fractional(1.1) == Fractional([(1, 0.9), (2, 0.1)])


def test_stored_slots_have_f_bits_on_average():
    """Equation 13 of the fractional paper, of the two kinds next to f; no slot is left out."""
    near = [1 / m for m in range(1, 11)] + list(range(2, 65))
    for f in [*np.arange(0.101, 0.5, 0.01), 0.5, 0.75, 1, 1.001, 1.25, 1.5, 2, 2.999, 64]:
        for k in (128, 256, 512, 1024, 4096, 252_000):
            parts = Fractional(f).parts(k)
            bits = [part.bits / part.combined for part in parts]
            assert np.average(bits, weights=[part.slots for part in parts]) == pytest.approx(f, rel=7 / k)
            assert sum(part.slots * part.combined for part in parts) == k
            assert set(bits) <= {max(b for b in near if b <= f), min(b for b in near if b >= f)}


def test_bins_of_one_permutation_equal_twin(rng):
    for size, seed in product([1, 2, 63, 100], [0, 7, (1 << 64) - 1]):
        rows = [rng.integers(0, 1 << 64, n, dtype=np.uint64) for n in (0, 1, 50, 300)]
        sets = Shingles(np.concatenate(rows), np.cumsum([0, *map(len, rows)]))
        found = OnePermutation(permutations=size, seed=seed).sign(sets).values
        assert found.tolist() == [naive.one_permutation(row.tolist(), size, seed) for row in rows]


SEED = int(derive(3, "densification", 1)[0])
FILLED = {
    "rotation": naive.rotate,
    "optimal": lambda row: naive.fill_optimally(row, SEED),
    "reverse": lambda row: naive.fill_in_reverse(row, SEED),
}


def test_filling_equals_twins(rng):
    for size, (densify, twin) in product([1, 2, 5, 64, 65], FILLED.items()):
        bins = rng.integers(0, 1 << 31, (12, size), dtype=np.uint32)
        bins[rng.random((12, size)) > np.linspace(0, 1, 12)[:, None]] = 0xFFFFFFFF
        found = OnePermutation(permutations=size, seed=3, densify=densify)._filled(bins)
        expected = np.array([twin(row.tolist()) for row in bins], np.uint32) | (bins & np.uint32(1 << 31))  # marks copies
        assert found.tolist() == expected.tolist()


def test_a_single_filled_bin_fills_all_in_time_in_proportion():
    """0.1 looked at all bins in each of t ln t rounds, for more than a minute."""
    bins = np.full((2, 1 << 16), 0xFFFFFFFF, np.uint32)
    bins[:, 5] = 7
    for densify in FILLED:
        begin = process_time()
        filled = OnePermutation(permutations=1 << 16, densify=densify)._filled(bins)
        assert process_time() - begin < 20.0, "some 10 milliseconds are enough"
        assert not (filled == 0xFFFFFFFF).any() and (filled[0] == filled[1]).all()
        assert densify == "rotation" or (filled & 0x7FFFFFFF == 7).all()


def test_wrong_parameters(rng):
    for call in [
        lambda s: BBit(bits=17),
        lambda s: Fractional(0.5).parts(91),
        lambda s: Fractional(2.0**-17),
        lambda s: XorBits(combined=7).pack(s),
        lambda s: OnePermutation(densify="maybe"),
        lambda s: pairs_above(XorBits().pack(s), -0.5),
        lambda s: nearest(BBit().pack(s), BBit().pack(s), 0),
        lambda s: XorBits().pack(OnePermutation(permutations=64).sign(la.shingle(["a"]))),
        lambda s: BBit(bits=1).pack(s).estimated_resemblance(0, 1, other=BBit(bits=2).pack(s)),
    ]:
        assert_raises((ParameterError, IncompatibleSketchError), "", call, random_signatures(rng, 3, 64))


def test_no_pairs_have_no_estimates():
    shingles = Shingles.from_arrays(list(range(500)), [0, 500])
    slots, bins = (scheme(permutations=64).sign(shingles) for scheme in (FastSimilarity, OnePermutation))
    sketches = [BBit(bits=2).pack(bins), *(p.pack(slots) for p in (BBit(bits=2), XorBits(combined=2), Fractional(0.75)))]
    for packed, likely, shape in product(sketches, [False, True], [(0,), (3, 0)]):
        rows = np.zeros(shape, np.int64)
        found, error = packed.estimated_resemblance(rows, rows, with_error=True, most_likely=likely)
        assert found.shape == error.shape == shape
