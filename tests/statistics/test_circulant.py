"""Two permutations in place of k, and circles for empty bins: unbiased, and of the variance that theory gives, or less."""

from functools import partial
from itertools import permutations

import numpy as np
import pytest
from conftest import JIT_OFF
from statistics_sets import pairs_of_sets

import lookalike as la
from lookalike.hashing import Permutation, derive
from lookalike.theory import bbit, minhash, one_permutation

N = 1000 if JIT_OFF else 2000


@pytest.mark.parametrize(("universe", "left", "right", "slots"), [
    (5, [0, 1, 2], [1, 2, 3], 3), (5, [0, 1], [1], 5), (5, [0, 1, 2, 3], [2, 3, 4], 4), (3, [0], [0, 1], 2),
])  # fmt: skip
def test_variance_is_that_of_all_permutations(universe, left, right, slots):
    """Every pair of permutations of a small prime universe, by the definition."""
    all_of_them = np.array(list(permutations(range(universe))))
    shares = []
    for first in all_of_them:
        equal = np.zeros(len(all_of_them))
        for j in range(slots):
            a, b = (all_of_them[:, [(first[i] - j) % universe for i in members]].min(1) for members in (left, right))
            equal += a == b
        shares.append(equal / slots)
    union = len({*left, *right})
    exact = len({*left} & {*right}) / union
    assert np.mean(shares) == pytest.approx(exact)
    assert np.var(shares) == pytest.approx(float(minhash.circulant_variance(exact, slots, union, universe)))


def test_variance_at_its_ends():
    """One slot, and tiny or sparse unions, gain nothing; of a full universe all slots together leave no error."""
    assert minhash.circulant_variance(0.3, 1, 50, 100) == pytest.approx(0.21)
    assert minhash.circulant_variance(0.5, 128, 1000, 1 << 40) == pytest.approx(minhash.variance(0.5, 128), rel=1e-6)
    assert minhash.circulant_variance(0.5, 64, 64, 64) == pytest.approx(0.0, abs=1e-15)
    assert (minhash.circulant_variance([0.1, 0.5], [10, 20], 30, 40) < minhash.variance([0.1, 0.5], [10, 20])).all()
    for wrong in ((0.5, 10, 21, 20), (0.5, 21, 10, 20), (1.5, 10, 10, 20), (0.5, 0, 10, 20)):
        with pytest.raises(la.ParameterError):
            minhash.circulant_variance(*wrong)


def sets(union):
    """Two sets that share half of a union of the first integers: (members, offsets, resemblance)."""
    common = union // 2
    size = common + (union - common) // 2
    members = [*range(size), *range(common), *range(size, union)]
    return members, [0, size, len(members)], common / union


@pytest.mark.parametrize(("universe", "union", "slots"), [(257, 129, 128), (257, 40, 200), (256, 128, 128), (4099, 20, 32)])
def test_c_minhash_is_unbiased_with_its_variance(universe, union, slots):
    members, offsets, exact = sets(union)
    make = partial(la.CMinHash, universe=universe, permutations=slots)
    found = np.array([make(seed=seed).sign_sets(members, offsets).estimated_resemblance(0, 1) for seed in range(N)])
    expected = float(minhash.circulant_variance(exact, slots, union, universe))
    assert abs(found.mean() - exact) < 5 * (expected / N) ** 0.5
    fourth = ((found - found.mean()) ** 4).mean() / found.var() ** 2
    assert abs(found.var() / expected - 1) < 5 * ((fourth - 1) / N) ** 0.5


@pytest.mark.parametrize("packing", [la.BBit(bits=1), la.BBit(bits=4), la.Fractional(shares=[(1, 0.5), (2, 0.5)])])
def test_packed_c_minhash_accounts_for_densities(packing):
    """Dense sets: bits that are cut of places agree more often by chance, as those of ``PermutationMinHash`` do."""
    universe, slots, n = 509, 64, 800
    members, offsets = [*range(300), *range(150, 450)], [0, 300, 600]
    found = []
    for seed in range(n):
        signatures = la.CMinHash(universe=universe, permutations=slots, seed=seed).sign_sets(members, offsets)
        found.append(packing.pack(signatures).estimated_resemblance(0, 1))
    assert abs(np.mean(found) - 150 / 450) < 5 * np.std(found) / n**0.5
    if isinstance(packing, la.BBit):
        independent = float(bbit.variance(1 / 3, packing.bits, slots, 300 / universe, 300 / universe))
        assert np.var(found) < independent * (1 + 5 * (2 / n) ** 0.5)


@pytest.mark.parametrize("universe", [1, 2, 7, 64, 1000, 1 << 40, 1 << 63])
def test_slots_are_the_least_places_of_the_definition(universe):
    """With and without a table of all places, which pays in small universes."""
    k = min(universe, 5)
    rows = [[], [0], [0, universe // 2], [universe - 1], list(range(0, universe, universe // 9 + 1))]
    rows = [sorted(set(row)) for row in rows]
    values, offsets = np.array([x for row in rows for x in row], np.uint64), np.cumsum([0, *map(len, rows)])
    first, second = (Permutation(universe=universe, seed=int(s)) for s in derive(3, "circulant", 2))
    found = la.CMinHash(universe=universe, permutations=k, seed=3).sign_sets(values, offsets).values.tolist()
    for row, slots in zip(rows, found, strict=True):
        places = [int(first.apply([x])[0]) for x in row]
        images = [[int(second.apply([(p - j) % universe])[0]) for p in places] for j in range(k)]
        assert slots == [min(image, default=(1 << 64) - 1) for image in images]


def test_c_minhash_keeps_its_promises(tmp_path):
    scheme = la.CMinHash(universe=1 << 63, permutations=16, seed=4)
    signatures = scheme.sign_sets([0, 5, (1 << 63) - 1, 5], [0, 3, 3, 4])
    assert signatures.values.dtype == np.uint64 and (signatures.values[[0, 2]] < 1 << 63).all()
    assert signatures.empty.tolist() == [False, True, False] and not scheme.mergeable
    la.save(signatures, tmp_path / "c.sig")
    assert la.load(tmp_path / "c.sig").scheme == scheme
    packed = la.BBit(bits=2).pack(la.CMinHash(universe=99, permutations=64).sign_sets([1, 2, 3, 50], [0, 3, 4]))
    la.save(packed, tmp_path / "c.bits")
    assert la.load(tmp_path / "c.bits").estimated_resemblance(0, 1) == packed.estimated_resemblance(0, 1)
    assert scheme != la.PermutationMinHash(universe=1 << 63, permutations=16, seed=4)
    with pytest.raises(la.IncompatibleSketchError, match="cannot be merged"):
        signatures.merge(signatures)
    for wrong in ({"universe": 7, "permutations": 8}, {"universe": (1 << 63) + 1}, {"universe": 0}):
        with pytest.raises(la.ParameterError):
            la.CMinHash(**wrong)
    assert la.CMinHash(universe=8, permutations=8).sign_sets([], [0, 0]).empty.all()
    assert len(la.CMinHash(universe=8, permutations=8).sign_sets([], [0])) == 0


@pytest.mark.parametrize(("union", "gains"), [(32, True), (64, True), (512, False)])
def test_circles_err_less_than_copies(rng, union, gains):
    """Unbiased within the errors of copied bins; less variance where bins are empty, the same where none are."""
    n, bins = 8000, 64
    shingles, exact = pairs_of_sets(rng, n, union, 0.5)
    left = np.arange(0, 2 * n, 2)
    signatures = la.OnePermutation(permutations=bins, seed=4, densify="circulant").sign(shingles)
    found = signatures.estimated_resemblance(left, left + 1)
    copied = float(one_permutation.optimal_variance(exact, union, bins))
    assert abs(found.mean() - exact) < 5 * (copied / n) ** 0.5
    spread = 5 * (2 / n) ** 0.5
    bits = la.BBit(bits=1).pack(signatures).estimated_resemblance(left, left + 1)
    assert abs(bits.var() / bbit.scheme_variance(found.var(), exact, 1, bins) - 1) < spread, "mixed with their place"
    assert (found.var() < copied * (1 - spread)) if gains else abs(found.var() / copied - 1) < spread
