"""One test body for every index of fingerprints, the exhaustive one as oracle, itself held to plain Python."""

import itertools
from itertools import product

import numpy as np
import pytest
from fingerprint_words import as_ints, planted, triples
from naive import hamming as naive

import lookalike as la
from lookalike.search import hamming
from lookalike.theory import hamming_costs


def exact_indexes(radius, bits):
    out = [la.search.HammingIndex(radius=radius, bits=bits)]
    for blocks, lead in ((radius + 1, 1), (radius + 2, 2), (radius + 3, 2)):
        if lead < blocks <= bits and (blocks, lead) != (1, 1):
            out += [
                la.search.TableIndex(radius=radius, blocks=blocks, lead=lead, bits=bits, lookup=how)
                for how in ("prefix", "binary")
            ]
    narrow = (3, 2, *[1] * (radius - 1)) if radius > 1 else (5,) * radius  # one more takes the rest
    out += (
        [la.search.TableIndex(radius=radius, blocks=(*narrow, bits - sum(narrow)), lead=len(narrow) + 1 - radius)]
        if radius
        else []
    )
    out.append(la.search.WeakBitIndex(radius=radius, prefix_bits=6, probes=10**6, bits=bits))
    return out


def test_exact_indexes_equal_the_oracle(rng):
    for bits, radius, n in product([32, 64, 128], [0, 1, 3, 4], [0, 1, 2, 63, 64, 65, 600]):
        words = planted(rng, n, bits, radius)
        queries = np.concatenate([words[: n // 2], planted(rng, 20, bits, radius)])
        oracle = la.search.ExhaustiveHammingIndex(radius=radius, bits=bits).add(words)
        expected, joined = triples(oracle.query(queries)), triples(oracle.pairs())
        if n <= 65:
            assert {(q, s): d for q, s, d in expected} == naive.within(as_ints(queries), as_ints(words), radius)
        for index in exact_indexes(radius, bits):
            index.add(words[: n // 3]).add(words[n // 3 :])
            assert len(index) == n
            name = f"{type(index).__name__} {vars(index).get('blocks')}"
            assert triples(index.query(queries)) == expected, name
            assert triples(index.pairs()) == joined and index.pairs().n_rows == n, name
            check_first(index.first(queries), expected, name)


def check_first(first, expected, name):
    """For each query one of the rows that it matches, or -1."""
    allowed = {}
    for q, s, _ in expected:
        allowed.setdefault(q, set()).add(s)
    for q, row in enumerate(first.tolist()):
        assert row in allowed.get(q, {-1}), name


@pytest.mark.parametrize(("radius", "bits"), [(1, 64), (2, 64), (3, 64), (5, 64), (8, 64), (3, 32), (3, 128), (6, 256)])
def test_chosen_tables_are_exact_at_size(rng, radius, bits):
    n, asked = (100_000, 2000) if bits == 64 else (20_000, 500)
    words = planted(rng, n, bits, radius)
    queries = np.concatenate([words[-asked:], planted(rng, 50, bits, radius)])
    oracle = triples(la.search.ExhaustiveHammingIndex(radius=radius, bits=bits).add(words).query(queries))
    index = la.search.HammingIndex(radius=radius, bits=bits).add(words)
    found = index.query(queries)
    assert index.layout is not None and index.layout.recall == 1.0
    assert triples(found) == oracle
    assert index.compared < 0.2 * n * len(queries)
    check_first(index.first(queries), oracle, "tables")


def test_answered_queries_are_not_asked_again_in_later_segments(rng):
    """By the fingerprints compared: a segment that is scanned compares all of its own with each query that it is asked."""
    words = rng.integers(0, 1 << 64, 9000, dtype=np.uint64)
    index = la.search.HammingIndex(radius=3).add(words[:8000])
    queries = np.concatenate([words[:300], ~words[:5]])  # the last five have no answer
    index.first(queries)
    of_tables, index.compared = index.compared, 0
    assert index.add(words[8000:]).first(queries).tolist() == [*range(300), *[-1] * 5]
    assert [begin for begin, _ in index._segments] == [0, 8000]
    assert index.compared == of_tables + 5 * 1000
    index.compared = 0
    index.query(queries)
    assert index.compared >= 305 * 1000, "all answers are looked for everywhere"


def test_keys_are_indexed_by_the_bits_that_number_them(rng):
    """A million and more have 21; the memory is that of the model, which knows 24 at most."""
    index = la.search.TableIndex(radius=0, blocks=2, lead=1).add(rng.integers(0, 1 << 64, (1 << 20) + 1, dtype=np.uint64))
    assert index.query(np.zeros(1, np.uint64)).left.size == 0
    tables = index._tables
    assert tables.offsets.shape == (2, (1 << 21) + 1)
    held = sum(array.nbytes for array in (tables.stored, tables.keys, tables.rows, tables.offsets))
    assert held - 2 * 4 == hamming_costs.manku_memory(len(index), 1, 2, 1)


@pytest.mark.parametrize("recall", [0.9, 0.99])
def test_wanted_recall_is_reached(rng, recall):
    n, radius = 30_000, 3
    words = rng.integers(0, 1 << 64, n, dtype=np.uint64)
    queries = words[:8000].copy()
    for row in range(len(queries)):
        for bit in rng.choice(64, radius, replace=False):
            queries[row] ^= np.uint64(1) << np.uint64(bit)
    index = la.search.HammingIndex(radius=radius, recall=recall).add(words)
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
    oracle = triples(la.search.ExhaustiveHammingIndex(radius=3).add(words).pairs())
    for index in exact_indexes(3, 64):
        assert triples(index.add(words).pairs()) == oracle


def test_small_indexes_may_take_64_bytes_for_each_word(rng, monkeypatch):
    asked = []
    monkeypatch.setattr(hamming, "LEAST_MEMORY", 1.0)
    monkeypatch.setattr(hamming, "choose_layout", lambda *given: asked.append(given[4]))
    for n_words in (1, 2):
        index = la.search.HammingIndex(bits=64 * n_words).add(rng.integers(0, 1 << 64, (4096, n_words), dtype=np.uint64))
        assert index.layout is None
    assert asked == [64 * 4096, 128 * 4096]


def test_streaming_equals_adding_at_once(rng):
    words = planted(rng, 300, 64, 3)
    for make in (
        lambda: la.search.HammingIndex(radius=3),
        lambda: la.search.TableIndex(radius=3),
        lambda: la.search.WeakBitIndex(probes=10**5),
    ):
        whole = triples(make().add(words).pairs())
        index = make()
        for start in range(0, 300, 37):
            index.add(words[start : start + 37])
            index.query(words[:3])
        assert triples(index.pairs()) == whole


def test_assignment_to_clusters_of_a_stream():
    words = np.array([0, 1, 0xFF00, 0xFF01, 3, 0xFFFF_FFFF], np.uint64)
    index = la.search.HammingIndex(radius=2)
    assert index.assign(words[:3]).tolist() == [0, 0, 2]
    assert index.assign(words[3:]).tolist() == [2, 0, 5]
    assert len(index) == 6
    index.add(np.array([0xABCD_0000], np.uint64))  # founds a cluster of its own, in between
    assert index.assign(np.array([0xABCD_0001, 0xFF02, 1], np.uint64)).tolist() == [6, 2, 0]


def test_ties_go_to_the_earlier_row():
    """Both founders are one bit away, in one batch or in several, whichever is the smaller number."""
    for batches, words in product([[3], [2, 1], [1, 2], [1, 1, 1]], [[0b00, 0b11, 0b01], [0b11, 0b00, 0b01]]):
        index, parts = la.search.HammingIndex(radius=1), np.split(np.array(words, np.uint64), np.cumsum(batches)[:-1])
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
        index = la.search.HammingIndex(radius=3)
        if begun_with:
            index.add(words[:begun_with])
        found = [index.assign(words[start : start + batch]) for start in range(begun_with, 300, batch)]
        assert np.concatenate(found).tolist() == founders[begun_with:]


def test_what_does_not_fit_is_refused():
    for call in [
        lambda: la.search.HammingIndex(radius=-1),
        lambda: la.search.HammingIndex(recall=0.0),
        lambda: la.search.TableIndex(radius=3, blocks=4, lead=2),
        lambda: la.search.TableIndex(radius=1, blocks=2, lead=0),
        lambda: la.search.TableIndex(lookup="maybe"),
        lambda: la.search.WeakBitIndex(probes=0),
        lambda: la.search.TableIndex(blocks=(20, 20, 20, 3), bits=64),
        lambda: la.search.TableIndex(blocks=(60, 2, 2, 0)),
        lambda: la.search.TableIndex(blocks=()),
        lambda: la.search.TableIndex(blocks=(16, 16, 32)),
        lambda: la.search.TableIndex(blocks=(16, 16, 16, 16.0)),
        lambda: la.search.TableIndex(blocks="1234"),
        lambda: la.search.TableIndex(blocks=(10, 10, 10, 10)).add(np.full(3, 1 << 40, np.uint64)),
        lambda: la.search.WeakBitIndex(prefix_bits=40),
        lambda: la.search.HammingIndex(radius=64).add(np.zeros(3, np.uint64)),
        lambda: la.search.HammingIndex(radius=3).add(np.zeros(3, np.uint64)).query(np.zeros((3, 2), np.uint64)),
        lambda: la.search.HammingIndex(radius=3).add(np.zeros(3)),
        lambda: la.sketches.SimHash(bits=48),
        lambda: la.sketches.SimHash(bits=288),
        lambda: (
            la.search.WeakBitIndex().add(np.zeros(3, np.uint64)).query(np.zeros(3, np.uint64), np.zeros((2, 64), np.float32))
        ),
        lambda: (
            la.search.HammingIndex()
            .add(la.sketches.SimHash(bits=64).sign(la.shingle(["a"])))
            .add(la.sketches.SimHash(bits=128).sign(la.shingle(["a"])))
        ),
    ]:
        with pytest.raises((la.errors.ParameterError, la.errors.IncompatibleSketchError)):
            call()


def test_blocks_of_given_widths_compare_what_agrees_in_one(rng):
    """(6.1), (6.2): every pair within the radius is found; compared are the pairs that agree in a whole block."""
    words = planted(rng, 400, 32, 3)
    differ = words ^ words.T
    expected = triples(la.search.ExhaustiveHammingIndex(radius=3, bits=32).add(words).query(words))
    compared = {}
    for blocks, bounds in (((2, 4, 6, 20), (0, 2, 6, 12, 32)), ([8, 8, 8, 8], range(0, 33, 8)), (4, range(0, 33, 8))):
        index = la.search.TableIndex(radius=3, blocks=blocks, bits=32 if blocks == 4 else None).add(words)
        assert triples(index.query(words)) == expected and index.bits == 32
        agree = [(differ >> np.uint64(a)) % np.uint64(1 << b - a) == 0 for a, b in itertools.pairwise(bounds)]
        assert index.compared == sum(int(same.sum()) for same in agree)
        compared[str(blocks)] = index.compared
    assert compared["[8, 8, 8, 8]"] == compared["4"] < compared["(2, 4, 6, 20)"], "equal blocks compare fewest"


def test_defaults_and_what_follows_from_them():
    """Radius 3 for all; Manku's four tables; as many prefix bits as number the fingerprints."""
    assert {make().radius for make in (la.search.HammingIndex, la.search.TableIndex, la.search.WeakBitIndex)} == {3}
    assert la.search.TableIndex().n_tables == 4 and la.search.WeakBitIndex().probes == 23
    for n, bits in ((1, 1), (2, 1), (3, 2), (1024, 10), (1025, 11), (10**6, 20)):
        assert la.search.WeakBitIndex(bits=64).weak_bits(n).count == bits
    twins = la.search.HammingIndex(bits=64).add(np.zeros(3, np.uint64))
    assert len(twins.pairs(limit=1)) == 1
    with pytest.raises(la.errors.ParameterError, match="limit"):
        twins.pairs(limit=0)
    for wrong in (0.0, 1.5):
        with pytest.raises(la.errors.ParameterError, match="recall"):
            la.search.HammingIndex(recall=wrong)


@pytest.mark.parametrize("index", [la.search.HammingIndex(), la.search.TableIndex(), la.search.WeakBitIndex()])
def test_no_more_fingerprints_than_rows_of_32_bits(monkeypatch, index):
    from lookalike.search import fingerprints

    monkeypatch.setattr(fingerprints, "MOST_ROWS", 5)
    index.add(np.arange(3, dtype=np.uint64)).add(np.arange(2, dtype=np.uint64))
    with pytest.raises(la.errors.ParameterError, match="at most 5 fingerprints; this would make 6"):
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
    sets = la.sketches.WeightedSets.from_arrays(np.concatenate(values), np.concatenate(weights), offsets)
    return la.sketches.SimHash(margins=True).sign(sets)


def test_weak_bits_find_most_pairs_with_few_probes(rng):
    prints = real_like(rng, 4000)
    stored, asked = prints.words[0::2], prints.words[1::2]
    margins = prints.margins[1::2]
    near = np.flatnonzero(np.isin(np.bitwise_count(stored ^ asked).sum(1), (1, 2, 3)))
    assert len(near) > 500
    shares = {}
    for name, m in (("weak", margins), ("random", rng.random(margins.shape).astype(np.float32) ** 0.1)):
        index = la.search.WeakBitIndex(radius=3, prefix_bits=24, probes=23).add(stored)
        found = index.query(asked, m)
        hits = set(zip(found.left.tolist(), found.right.tolist(), strict=True))
        shares[name] = np.mean([(i, i) in hits for i in near.tolist()])
    assert shares["weak"] >= 0.93
    assert shares["random"] < shares["weak"] - 0.1, "an order of bits that tells nothing"
    first = la.search.WeakBitIndex(radius=3, prefix_bits=24, probes=23).add(stored).first(asked, margins)
    assert np.mean(first[near] == near) >= 0.93
