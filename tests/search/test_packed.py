"""Search of packed sketches: all pairs against all estimates, bands against Theorem 1, and what is refused."""

import tracemalloc
from functools import partial

import numpy as np
import pytest

import lookalike as la
from lookalike.search import exhaustive
from lookalike.theory import packed_banding

pytestmark = pytest.mark.filterwarnings("ignore:estimates from XORs")  # low ones, too, are those that were asked for
PACKINGS = [
    la.sketches.BBit(bits=1), la.sketches.BBit(bits=3), la.sketches.XorBits(combined=2), la.sketches.XorBits(combined=3), la.sketches.XorBits(combined=4),
    la.sketches.Fractional(shares=[(1, 0.5), (2, 0.5)]), la.sketches.Fractional(shares=[(1, 0.5), (0.5, 0.5)]),
    la.sketches.Fractional(shares=[(1, 0.25), (0.5, 0.5), (1 / 3, 0.25)]),
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


def planted(rng, n_pairs, slots, resemblance, n_others=0):
    """Signatures of independent slots: rows 2i and 2i + 1 agree in each with a probability, the others by chance."""
    values = rng.integers(0, (1 << 32) - 1, (2 * n_pairs + n_others, slots), dtype=np.uint32)
    values[1 : 2 * n_pairs : 2] = np.where(
        rng.random((n_pairs, slots)) < resemblance, values[0 : 2 * n_pairs : 2], values[1 : 2 * n_pairs : 2]
    )
    return la.sketches.Signatures(values, la.sketches.FastSimilarity(permutations=slots), "made up")


def check_pairs(packed):
    """Hold pairs at several thresholds to the estimates of all pairs."""
    left, right = np.triu_indices(len(packed), 1)
    every = packed.estimated_resemblance(left, right)
    for threshold in (0, 0.45, 0.7, 1.0, float(np.nanquantile(every, 0.999))):
        found = la.search.pairs_above(packed, threshold, threads=2)
        reached = every >= threshold - 1e-12
        assert found.left.tolist() == left[reached].tolist() and found.right.tolist() == right[reached].tolist()
        np.testing.assert_array_equal(found.resemblance, every[reached])
    return every


def share_of(found, n):
    return ((found.left % 2 == 0) & (found.right == found.left + 1)).sum() / n


@pytest.mark.parametrize("packing", PACKINGS, ids=repr)
def test_pairs_are_those_of_all_estimates(rng, packing):
    """Without densities, with those of sets of unlike sizes in a small universe, and with these rounded. Blocks have 256 rows."""
    check_pairs(
        packing.pack(
            la.sketches.FastSimilarity(permutations=192).sign(la.sketches.Shingles.from_arrays(*sets(rng, 262, 1 << 40)))
        )
    )
    dense = packing.pack(la.sketches.PermutationMinHash(universe=700, permutations=192).sign_sets(*sets(rng, 60, 700)))
    assert dense.densities is not None and np.ptp(dense.densities) > 0.2
    assert np.isfinite(check_pairs(dense)).all()
    check_pairs(dense.with_quantized_densities(4))


@pytest.mark.parametrize("slots", [1, 63, 64, 65, 600])
@pytest.mark.parametrize("n", [0, 1, 2, 255, 256, 257])
def test_sizes_of_blocks_and_words(rng, n, slots):
    """Rows about as many as a block has, slots about as many as a word; rows that are equal, and that have nothing in common."""
    signatures = planted(rng, n // 2, slots, 0.8, n % 2)
    signatures.values[: n // 3] = signatures.values[:1]
    packed = la.sketches.BBit(bits=1 + n % 2).pack(signatures)
    if n > 1:
        check_pairs(packed)
    assert n > 1 or not len(la.search.pairs_above(packed, 0.0))


@pytest.mark.parametrize("bits", [1, 2, 7])
def test_pairs_of_raw_bins_are_those_of_all_estimates(rng, bits):
    """Also of sets with fewer members than bins, and of an empty one, with which all is nan or 0."""
    values, offsets = sets(rng, 120, 1 << 40, 150)
    shingles = la.sketches.Shingles.from_arrays(values, [0, 0, *offsets[:-1], offsets[-1]][1:])
    check_pairs(la.sketches.BBit(bits=bits).pack(la.sketches.OnePermutation(permutations=130).sign(shingles)))
    empty = la.sketches.OnePermutation(permutations=130).sign(la.sketches.Shingles.from_arrays(values[:100], [0, 0, 0, 100]))
    assert np.isnan(check_pairs(la.sketches.BBit(bits=bits).pack(empty))).sum() == 1


@pytest.mark.parametrize("packing", [*PACKINGS[1:4:2], PACKINGS[6]], ids=repr)
def test_nearest_are_the_highest_estimates(rng, packing):
    """Best first, ties by row; what could stand for two resemblances comes last."""
    for signatures in (
        la.sketches.FastSimilarity(permutations=192).sign(la.sketches.Shingles.from_arrays(*sets(rng, 16, 1 << 40))),
        la.sketches.PermutationMinHash(universe=700, permutations=192).sign_sets(*sets(rng, 16, 700)),
    ):
        packed = packing.pack(signatures)
        rows, values = la.search.nearest(packed, packed, top=16)
        for all_of, first in zip((rows, values), la.search.nearest(packed, packed, top=1), strict=True):
            np.testing.assert_array_equal(first, all_of[:, :1])
        estimates = packed.estimated_resemblance(*np.indices((16, 16))).tolist()
        for query, every in enumerate(estimates):
            order = sorted(
                range(16), key=lambda row: (np.isnan(every[row]), -every[row] if every[row] == every[row] else 0, row)
            )
            assert rows[query].tolist() == order
            np.testing.assert_array_equal(values[query], np.array(every)[order])


def bands_of(packed, bands, rows):
    """Bands of stored slots as tuples, read bit by bit."""
    words = packed.words.tolist()
    found = []
    for row in words:
        codes = []
        for first, slots, bits in packed.layout.tolist():
            width = -(-slots // 64)
            codes += [tuple(row[first + b * width + i // 64] >> i % 64 & 1 for b in range(bits)) for i in range(slots)]
        found.append([tuple(codes[i * rows : (i + 1) * rows]) for i in range(bands)])
    return found


@pytest.mark.parametrize(
    ("packing", "bands", "rows"),
    [
        (la.sketches.BBit(bits=1), 17, 11),
        (la.sketches.BBit(bits=5), 11, 17),
        (la.sketches.BBit(bits=32), 64, 3),
        (PACKINGS[2], 12, 8),
        (PACKINGS[7], 7, 9),
    ],
    ids=repr,
)
def test_candidates_share_a_band(rng, packing, bands, rows):
    """Exactly those; bands may be of 85 bits, and of slots of two parts."""
    packed = packing.pack(planted(rng, 60, 192, 0.85))
    cut = bands_of(packed, bands, rows)
    expected = [
        (i, j) for i in range(120) for j in range(i + 1, 120) if any(a == b for a, b in zip(cut[i], cut[j], strict=True))
    ]
    index = la.search.BandingIndex(bands=bands, rows=rows).add(packed)
    found = index.pairs()
    assert list(zip(found.left.tolist(), found.right.tolist(), strict=True)) == expected and len(expected) > 20
    asked, stored = index.query(packed)
    assert [(i, j) for i, j in zip(asked.tolist(), stored.tolist(), strict=True) if i < j] == expected


@pytest.mark.parametrize(
    "packing",
    [la.sketches.BBit(bits=1), la.sketches.BBit(bits=2), la.sketches.BBit(bits=8), *PACKINGS[2:4], *PACKINGS[5:]],
    ids=repr,
)
@pytest.mark.parametrize(("threshold", "recall"), [(0.8, 0.9), (0.9, 0.5)])
def test_recall_is_as_planned(rng, packing, threshold, recall):
    """Pairs at the threshold become candidates as often as planned, and other ones as often by chance, to standard errors."""
    parts, n_pairs = packing.parts(192), 1500
    bands, rows = packed_banding.choose_bands(threshold, recall, parts, 1e5)
    planned = packed_banding.candidate_probability(threshold, bands, rows, parts)
    fewer = packed_banding.candidate_probability(threshold, bands - 1, rows, parts) if bands > 1 else 0.0
    assert fewer < recall <= planned, "no band too many"
    found = la.search.BandingIndex(bands=bands, rows=rows).add(packing.pack(planted(rng, n_pairs, 192, threshold))).pairs()
    mates = (found.left % 2 == 0) & (found.right == found.left + 1)
    assert abs(mates.sum() / n_pairs - planned) < 5 * (planned * (1 - planned) / n_pairs) ** 0.5
    chance, others = packed_banding.candidate_probability(0.0, bands, rows, parts), 2 * n_pairs * (n_pairs - 1)
    assert abs((~mates).sum() - others * chance) < 5 * (others * chance) ** 0.5 + 1


def test_recall_of_dense_sets_is_at_least_as_planned(rng):
    """Of sets that fill much of their universe, by true permutations: slots match by chance the less, the denser they are."""
    universe, size, n = 400, 160, 250
    common = 140
    rows = []
    for _ in range(n):
        drawn = rng.choice(universe, 2 * size - common, replace=False)
        rows += [drawn[:size], drawn[size - common :]]
    resemblance = common / (2 * size - common)
    packed = la.sketches.BBit(bits=1).pack(
        la.sketches.PermutationMinHash(universe=universe, permutations=256).sign_sets(
            np.concatenate(rows), np.arange(2 * n + 1) * size
        )
    )
    density = float(packed.densities.max())
    bands, width = packed_banding.choose_bands(resemblance, 0.8, packed.packing.parts(256), 2 * n, density)
    planned = packed_banding.candidate_probability(resemblance, bands, width, packed.packing.parts(256), density, density)
    found = la.search.BandingIndex(bands=bands, rows=width).add(packed).pairs()
    share = share_of(found, n)
    sparse = packed_banding.candidate_probability(resemblance, bands, width, packed.packing.parts(256))
    assert 0.8 <= planned < sparse and abs(share - planned) < 5 * (planned * (1 - planned) / n) ** 0.5


def test_a_recall_finds_pairs_above_the_threshold(rng, monkeypatch):
    """By bands: those candidates whose estimate reaches the threshold; of few documents all pairs are compared."""
    packed = la.sketches.BBit(bits=2).pack(planted(rng, 300, 256, 0.85, 400))
    everything = la.search.pairs_above(packed, 0.8)
    assert exhaustive._bands(packed, 0.8, 0.95) is None
    few = la.search.pairs_above(packed, 0.8, recall=0.95)
    assert few.left.tolist() == everything.left.tolist()
    monkeypatch.setattr(packed_banding, "WORD_COST", 1e6)
    bands, rows = exhaustive._bands(packed, 0.8, 0.5)
    found = la.search.pairs_above(packed, 0.8, recall=0.5)
    candidates = la.search.BandingIndex(bands=bands, rows=rows).add(packed).pairs()
    shared = {*zip(candidates.left.tolist(), candidates.right.tolist(), strict=True)}
    estimates = dict(
        zip(zip(everything.left.tolist(), everything.right.tolist(), strict=True), everything.resemblance, strict=True)
    )
    pairs = zip(found.left.tolist(), found.right.tolist(), strict=True)
    assert dict(zip(pairs, found.resemblance, strict=True)) == {p: r for p, r in estimates.items() if p in shared}
    assert 0.5 * len(everything) < len(found) < len(everything)


def test_what_bands_cannot_do_is_refused(rng):
    signatures = planted(rng, 5, 64, 0.9)
    packed = la.sketches.BBit(bits=1).pack(signatures)
    raw = la.sketches.BBit(bits=1).pack(la.sketches.OnePermutation(permutations=64).sign(la.shingle(["a b c d e f g"])))
    index = la.search.BandingIndex(bands=4, rows=8).add(packed)
    for call, message in (
        (lambda: la.search.pairs_above(raw, 0.5, recall=0.9), "leave recall out, or sign with FastSimilarity"),
        (lambda: la.search.BandingIndex(bands=2, rows=2).add(raw), "FastSimilarity has no empty slots"),
        (
            lambda: la.search.BandingIndex(bands=9, rows=4).add(la.sketches.XorBits().pack(signatures)),
            "36 stored slots; the signatures have 32",
        ),
        (lambda: la.search.pairs_above(packed, 0.8, recall=1.0), r"recall must be in \(0, 1\)"),
        (lambda: la.search.pairs_above(packed, 1.5), "threshold must be"),
    ):
        with pytest.raises(la.errors.ParameterError, match=message):
            call()
    for other in (la.sketches.BBit(bits=2).pack(signatures), signatures):
        with pytest.raises(la.errors.IncompatibleSketchError):
            partial(index.add, other)()
    dense = la.sketches.XorBits().pack(
        la.sketches.PermutationMinHash(universe=100, permutations=64).sign_sets(np.arange(160) % 80, [0, 80, 160])
    )
    assert len(la.search.pairs_above(dense, 0.1, recall=0.9)) == 1, "below what combined bits tell apart all pairs are compared"


def test_all_pairs_are_compared_where_no_bands_reach_the_recall():
    shingles = la.sketches.Shingles.from_arrays(list(range(40)), [0, 20, 40])
    packed = la.sketches.BBit(bits=8).pack(la.sketches.MinHash(permutations=4).sign(shingles))
    with pytest.raises(la.errors.ParameterError, match="do not reach"):
        la.theory.packed_banding.choose_bands(0.1, 0.99, packed.packing.parts(4), 2)
    for threshold in (0.0, 0.1):
        banded, every = la.search.pairs_above(packed, threshold, recall=0.99), la.search.pairs_above(packed, threshold)
        np.testing.assert_array_equal(banded.left, every.left)
    for recall in (0.0, 1.0, 1.5, float("nan")):
        with pytest.raises(la.errors.ParameterError, match="recall must be"):
            la.search.pairs_above(packed, 0.1, recall=recall)


@pytest.mark.parametrize("densify", ["rotation", "optimal", "reverse"])
def test_filled_bins_of_small_sets_are_all_compared(rng, monkeypatch, densify):
    """Copies agree together: bands planned for .95 find .4 to .94 of pairs that have one of four members in common."""
    monkeypatch.setattr(packed_banding, "WORD_COST", 1e6)
    n, k = 400, 64
    values = rng.integers(0, 1 << 63, (n, 4))
    sets = np.concatenate([values[:, :3], values[:, [0, 3]]], 1)  # of 3 and 2 members, one in common
    shingles = la.sketches.Shingles.from_arrays(sets.ravel(), np.concatenate([[0], np.cumsum(np.tile([3, 2], n))]))
    filled = la.sketches.OnePermutation(permutations=k, densify=densify).sign(shingles)
    packed, parts = la.sketches.BBit(bits=16).pack(filled), la.sketches.BBit(bits=16).parts(k)
    bands, rows = packed_banding.choose_bands(0.25, 0.95, parts, len(packed))
    assert packed_banding.candidate_probability(0.25, bands, rows, parts) >= 0.95
    found = la.search.BandingIndex(bands=bands, rows=rows).add(packed).pairs()
    share = share_of(found, n)
    assert densify == "reverse" or share < 0.95, "what is planned does not hold"
    banded, every = la.search.pairs_above(packed, 0.25, recall=0.95), la.search.pairs_above(packed, 0.25)
    assert banded.left.tolist() == every.left.tolist() and len(every) > n / 4


@pytest.mark.parametrize("bits", [1, 4, 16])
def test_bands_are_planned_for_the_densest_set_that_is_rounded_to_a_density(rng, monkeypatch, bits):
    """Slots of denser sets match by chance less often: rounded down, a density promised more than there is."""
    universe, k = 400, 128
    shares = [universe * 0.437, universe * 0.4, universe * 0.3]
    sets = [rng.permutation(universe)[: int(share)] for share in shares]
    offsets = np.concatenate([[0], np.cumsum([len(each) for each in sets])])
    packed = la.sketches.BBit(bits=1).pack(
        la.sketches.PermutationMinHash(universe=universe, permutations=k).sign_sets(np.concatenate(sets), offsets)
    )
    planned = []
    monkeypatch.setattr(packed_banding, "choose_bands", lambda *given: planned.append(given[-1]) or (1, 1))
    for each in (packed, packed.with_quantized_densities(bits)):
        exhaustive._bands(each, 0.7, 0.9)
    assert planned[0] == packed.densities.max() <= planned[1] <= planned[0] + 2.0**-bits


def test_queries_of_equal_rows_name_each_pair_once(rng):
    """A pair is kept for the first band that it shares, so that memory is for pairs, not for pairs and bands."""
    packed = la.sketches.BBit(bits=2).pack(planted(rng, 1, 64, 1.0))
    many = la.sketches.PackedSignatures(
        np.repeat(packed.words, 300, 0), packed.layout, packed.packing, packed.scheme, packed.shingling
    )
    index = la.search.BandingIndex(bands=16, rows=4).add(many)
    tracemalloc.start()
    asked, stored = index.query(many)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert np.array_equal(asked * 600 + stored, np.arange(600 * 600))
    assert peak < 100 * len(asked), "with all bands at once it was 300 bytes a pair"


def test_a_query_of_an_empty_index_does_not_say_what_it_holds(rng):
    signatures = planted(rng, 5, 64, 0.9)
    index = la.search.BandingIndex(bands=4, rows=8)
    assert len(index.query(la.sketches.BBit(bits=1).pack(signatures))[0]) == 0
    assert len(index.add(signatures)) == 10
