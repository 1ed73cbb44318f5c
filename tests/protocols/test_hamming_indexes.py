"""One test body for every index of fingerprints, the exhaustive one as oracle, itself held to plain Python."""

import itertools
from itertools import product

import numpy as np
import pytest
from fingerprint_words import as_ints, check_first, planted, triples
from naive import hamming as naive

import lookalike as la
from lookalike.errors import ParameterError
from lookalike.search import ExhaustiveHammingIndex, HammingIndex, TableIndex, WeakBitIndex, hamming
from lookalike.sketches import SimHash, WeightedSets


def exact_indexes(radius, bits):
    yield HammingIndex(radius=radius, bits=bits)
    for blocks, lead, lookup in product((radius + 1, radius + 2, radius + 3), (1, 2), ("prefix", "binary")):
        if radius <= blocks - lead and lead < blocks <= bits:
            yield TableIndex(radius=radius, blocks=blocks, lead=lead, bits=bits, lookup=lookup)
    if radius:
        narrow = (3, 2, *[1] * (radius - 1)) if radius > 1 else (5,)  # one more takes the rest
        yield TableIndex(radius=radius, blocks=(*narrow, bits - sum(narrow)), lead=len(narrow) + 1 - radius)
    for probes in (None, 10**6):
        yield WeakBitIndex(radius=radius, prefix_bits=6, probes=probes, bits=bits)


def test_exact_indexes_equal_the_oracle(rng):
    for bits, radius, n in product([32, 64, 128], [0, 1, 3, 4], [0, 1, 2, 63, 64, 65, 600]):
        words = planted(rng, n, bits, radius)
        queries = np.concatenate([words[: n // 2], planted(rng, 20, bits, radius)])
        oracle = ExhaustiveHammingIndex(radius=radius, bits=bits).add(words)
        expected, joined = triples(oracle.query(queries)), triples(oracle.pairs())
        if n <= 65:
            assert {(q, s): d for q, s, d in expected} == naive.within(as_ints(queries), as_ints(words), radius)
        for index in exact_indexes(radius, bits):
            index.add(words[: n // 3]).add(words[n // 3 :])
            assert len(index) == n
            assert triples(index.query(queries)) == expected
            assert triples(index.pairs()) == joined and index.pairs().n_rows == n
            check_first(index.first(queries), expected)


@pytest.mark.parametrize(("radius", "bits"), [(1, 64), (2, 64), (3, 64), (5, 64), (8, 64), (3, 32), (3, 128), (6, 256)])
def test_chosen_tables_are_exact_at_size(rng, radius, bits):
    n, asked = (100_000, 2000) if bits == 64 else (20_000, 500)
    words = planted(rng, n, bits, radius)
    queries = np.concatenate([words[-asked:], planted(rng, 50, bits, radius)])
    oracle = triples(ExhaustiveHammingIndex(radius=radius, bits=bits).add(words).query(queries))
    index = HammingIndex(radius=radius, bits=bits).add(words)
    found = index.query(queries)
    assert index.layout is not None and index.layout.recall == 1.0
    assert triples(found) == oracle
    assert index.compared < 0.2 * n * len(queries)
    check_first(index.first(queries), oracle)


def test_answered_queries_are_not_asked_again_in_later_segments(rng):
    """By the fingerprints compared: a segment that is scanned compares all of its own with each query that it is asked."""
    words = rng.integers(0, 1 << 64, 9000, dtype=np.uint64)
    index = HammingIndex(radius=3).add(words[:8000])
    queries = np.concatenate([words[:300], ~words[:5]])  # the last five have no answer
    index.first(queries)
    of_tables, index.compared = index.compared, 0
    assert index.add(words[8000:]).first(queries).tolist() == [*range(300), *[-1] * 5]
    assert [begin for begin, _ in index._segments] == [0, 8000]
    assert index.compared == of_tables + 5 * 1000
    index.compared = 0
    index.query(queries)
    assert index.compared >= 305 * 1000, "all answers are looked for everywhere"


@pytest.mark.parametrize("recall", [0.9, 0.99])
def test_wanted_recall_is_reached(rng, recall):
    n, radius = 30_000, 3
    words = rng.integers(0, 1 << 64, n, dtype=np.uint64)
    queries = words[:8000].copy()
    for row in range(len(queries)):
        for bit in rng.choice(64, radius, replace=False):
            queries[row] ^= np.uint64(1) << np.uint64(bit)
    index = HammingIndex(radius=radius, recall=recall).add(words)
    found = index.query(queries)
    share = (found.left == found.right).sum() / len(queries)
    stated = index.layout.recall
    assert stated >= recall
    assert abs(share - stated) <= 4 * (stated * (1 - stated) / len(queries)) ** 0.5 + 1e-9


@pytest.mark.parametrize("cluster", ["all equal", "one bucket"])
def test_clusters_of_keys(rng, cluster):
    n = 400
    words = np.zeros(n, np.uint64)
    if cluster == "one bucket":
        words = rng.integers(0, 1 << 32, n, dtype=np.uint64)
    oracle = triples(ExhaustiveHammingIndex(radius=3).add(words).pairs())
    for index in exact_indexes(3, 64):
        assert triples(index.add(words).pairs()) == oracle


def test_small_indexes_may_take_64_bytes_for_each_word(rng, monkeypatch):
    asked = []
    monkeypatch.setattr(hamming, "LEAST_MEMORY", 1.0)
    monkeypatch.setattr(hamming, "choose_layout", lambda *given: asked.append(given[4]))
    for n_words in (1, 2):
        index = HammingIndex(bits=64 * n_words).add(rng.integers(0, 1 << 64, (4096, n_words), dtype=np.uint64))
        assert index.layout is None
    assert asked == [64 * 4096, 128 * 4096]


def test_assignment_to_clusters_of_a_stream():
    words = np.array([0, 1, 0xFF00, 0xFF01, 3, 0xFFFF_FFFF], np.uint64)
    index = HammingIndex(radius=2)
    assert index.assign(words[:3]).tolist() == [0, 0, 2]
    assert index.assign(words[3:]).tolist() == [2, 0, 5]
    assert len(index) == 6
    index.add(np.array([0xABCD_0000], np.uint64))  # founds a cluster of its own, in between
    assert index.assign(np.array([0xABCD_0001, 0xFF02, 1], np.uint64)).tolist() == [6, 2, 0]


def test_ties_go_to_the_earlier_row():
    """Both founders are one bit away, in one batch or in several, whichever is the smaller number."""
    for batches, words in product([[3], [2, 1], [1, 2], [1, 1, 1]], [[0b00, 0b11, 0b01], [0b11, 0b00, 0b01]]):
        index, parts = HammingIndex(radius=1), np.split(np.array(words, np.uint64), np.cumsum(batches)[:-1])
        assert np.concatenate([index.assign(part) for part in parts]).tolist() == [0, 1, 0]


@pytest.mark.parametrize("begun_with", [0, 40])
def test_stream_is_clustered_alike_in_any_batches(rng, begun_with):
    """Each joins the nearest before it, the earliest of equally near ones; equal fingerprints by the hundred among them."""
    words = planted(rng, 300, 64, 3)
    words[rng.random(300) < 0.3] = words[7]
    founders = list(range(begun_with))
    for row in range(begun_with, 300):
        distance = np.bitwise_count(words[:row] ^ words[row]).sum(1)
        near = int(np.argmin(distance)) if row else 0
        founders.append(founders[near] if row and distance[near] <= 3 else row)
    for batch in (1, 37, 300):
        index = HammingIndex(radius=3)
        if begun_with:
            index.add(words[:begun_with])
        found = [index.assign(words[start : start + batch]) for start in range(begun_with, 300, batch)]
        assert np.concatenate(found).tolist() == founders[begun_with:]


KINDS = (HammingIndex, ExhaustiveHammingIndex, TableIndex, WeakBitIndex)


@pytest.mark.parametrize(
    ("kind", "name", "wrong"),
    [
        *product(KINDS, ["radius"], [1.5, "3", True, -1]),
        *product(KINDS, ["bits"], [0, 64.0]),
        *product([HammingIndex], ["recall"], [0.0, 1.5, "a"]),
        *product([HammingIndex], ["memory"], [0, np.nan]),
        *product([WeakBitIndex], ["probes"], [0, "5"]),
        *product([WeakBitIndex], ["prefix_bits"], [2.5, 40]),
        *product([TableIndex], ["lead"], [0, 4]),
        (TableIndex, "lookup", "maybe"),
        (TableIndex, "blocks", 4.5),
    ],
)
def test_parameters_out_of_their_range_are_refused(kind, name, wrong):
    with pytest.raises(ParameterError) as error:
        kind(**{"radius": 3} | {name: wrong})
    assert error.value.name == name


@pytest.mark.parametrize(
    "wrong",
    [
        {"blocks": 4, "lead": 2},
        {"blocks": (20, 20, 20, 3), "bits": 64},
        *({"blocks": blocks} for blocks in ((60, 2, 2, 0), (), (16, 16, 32), (16, 16, 16, 16.0), "1234")),
    ],
    ids=str,
)
def test_blocks_that_are_too_few_or_odd_are_refused(wrong):
    with pytest.raises(ParameterError):
        TableIndex(**wrong)


@pytest.mark.parametrize("kind", KINDS)
def test_what_does_not_fit_is_refused(kind):
    index, margins = kind(radius=3, bits=40).add([1, 2, (1 << 40) - 1]), np.zeros((1, 40), np.float32)
    for wrong in ([[1, 2]], [1.0], [1 << 40], SimHash(bits=64).sign(la.shingle(["a"]))):
        for call in (index.add, index.query, index.first):
            with pytest.raises(ParameterError):
                call(wrong)
    for wrong in (margins[:, 1:], [*margins, *margins], np.where(margins == 0, np.nan, margins), margins.astype(str)):
        with pytest.raises(ParameterError, match="margins"):
            index.query([1], wrong)
    assert len(index) == 3 and index.query([3], margins.tolist()).right.tolist() == [0, 1]
    with pytest.raises(ParameterError, match="radius"):
        kind(radius=64).add([1])
    for limit in (0, 1.5) if kind is HammingIndex else ():
        with pytest.raises(ParameterError, match="limit"):
            index.pairs(limit=limit)


def test_blocks_of_given_widths_compare_what_agrees_in_one(rng):
    """(6.1), (6.2): every pair within the radius is found; compared are the pairs that agree in a whole block."""
    words = planted(rng, 400, 32, 3)
    differ = words ^ words.T
    expected = triples(ExhaustiveHammingIndex(radius=3, bits=32).add(words).query(words))
    compared = {}
    for blocks, bounds in (((2, 4, 6, 20), (0, 2, 6, 12, 32)), ([8, 8, 8, 8], range(0, 33, 8)), (4, range(0, 33, 8))):
        index = TableIndex(radius=3, blocks=blocks, bits=32 if blocks == 4 else None).add(words)
        assert triples(index.query(words)) == expected and index.bits == 32
        agree = [(differ >> np.uint64(a)) % np.uint64(1 << b - a) == 0 for a, b in itertools.pairwise(bounds)]
        assert index.compared == sum(int(same.sum()) for same in agree)
        compared[str(blocks)] = index.compared
    assert compared["[8, 8, 8, 8]"] == compared["4"] < compared["(2, 4, 6, 20)"], "equal blocks compare fewest"


def test_defaults_and_what_follows_from_them():
    """Radius 3 for all; Manku's four tables; as many prefix bits as number the fingerprints."""
    assert {make().radius for make in (HammingIndex, TableIndex, WeakBitIndex)} == {3}
    assert TableIndex().n_tables == 4 and WeakBitIndex().probes == 23
    for n, count in ((1, 1), (2, 1), (3, 2), (1024, 10), (1025, 11), (10**6, 20), (1 << 30, 26)):
        assert WeakBitIndex(bits=64).weak_bits(n).count == count
    assert WeakBitIndex(bits=7).weak_bits(1 << 9).count == 7


@pytest.mark.parametrize("index", [HammingIndex(), TableIndex(), WeakBitIndex()])
def test_no_more_fingerprints_than_rows_of_32_bits(monkeypatch, index):
    from lookalike.search import fingerprints

    monkeypatch.setattr(fingerprints, "MOST_ROWS", 5)
    index.add(np.arange(3, dtype=np.uint64)).add(np.arange(2, dtype=np.uint64))
    with pytest.raises(ParameterError, match="at most 5 fingerprints; this would make 6"):
        index.add(np.zeros(1, np.uint64))
    assert len(index) == 5 == len(index.query(np.zeros(1, np.uint64)))


def real_like(rng, n, features=120):
    """Weighted features of documents and of near-duplicates of them, as fingerprints with margins."""
    values, weights, offsets = [], [], [0]
    for _ in range(n):
        keys, w = rng.integers(0, 1 << 62, features), rng.lognormal(0, 0.7, features)
        changed = keys.copy()
        changed[:2] = rng.integers(0, 1 << 62, 2)
        values += [keys, changed]
        weights += [w, w]
        offsets += [offsets[-1] + features, offsets[-1] + 2 * features]
    sets = WeightedSets.from_arrays(np.concatenate(values), np.concatenate(weights), offsets)
    return SimHash(margins=True).sign(sets)


def test_weak_bits_find_most_pairs_with_few_probes(rng):
    prints = real_like(rng, 4000)
    stored, asked = prints.words[0::2], prints.words[1::2]
    margins = prints.margins[1::2]
    near = np.flatnonzero(np.isin(np.bitwise_count(stored ^ asked).sum(1), (1, 2, 3)))
    assert len(near) > 500
    shares = {}
    for name, m in (("weak", margins), ("random", rng.random(margins.shape).astype(np.float32) ** 0.1)):
        index = WeakBitIndex(radius=3, prefix_bits=24, probes=23).add(stored)
        found = index.query(asked, m)
        hits = set(zip(found.left.tolist(), found.right.tolist(), strict=True))
        shares[name] = np.mean([(i, i) in hits for i in near.tolist()])
    assert shares["weak"] >= 0.93
    assert shares["random"] < shares["weak"] - 0.1, "an order of bits that tells nothing"
    first = WeakBitIndex(radius=3, prefix_bits=24, probes=23).add(stored).first(asked, margins)
    assert np.mean(first[near] == near) >= 0.93
