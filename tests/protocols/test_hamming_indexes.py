import itertools
from itertools import product

import numpy as np
import pytest
from fingerprint_words import as_ints, check_first, planted, triples
from naive import hamming as naive
from raising import assert_raises

import lookalike as la
from lookalike.errors import ParameterError
from lookalike.search import ExhaustiveHammingIndex, HammingIndex, TableIndex, WeakBitIndex
from lookalike.sketches import SimHash

KINDS = (HammingIndex, ExhaustiveHammingIndex, TableIndex, WeakBitIndex)


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
    made = product([32, 64, 128], [0, 1, 3, 4], [0, 1, 2, 63, 64, 65, 600])
    cases = [(bits, radius, planted(rng, n, bits, radius)) for bits, radius, n in made]
    cases += [(64, 3, rng.integers(0, most, (400, 1), "uint64")) for most in (1, 1 << 32)]  # equal, in one bucket
    for bits, radius, words in cases:
        n = len(words)
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


@pytest.mark.parametrize(("radius", "bits"), [(1, 64), (3, 64), (8, 64), (3, 32), (6, 256)])
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
    words = rng.integers(0, 1 << 64, 9000, "uint64")
    index = HammingIndex(radius=3).add(words[:8000])
    queries = np.concatenate([words[:300], ~words[:5], words[8500:8502]])  # five have no answer, two none yet
    index.first(queries)
    of_tables, index.compared = index.compared, 0
    assert index.add(words[8000:]).first(queries).tolist() == [*range(300), *[-1] * 5, 8500, 8501]
    assert [begin for begin, _ in index._segments] == [0, 8000]
    assert index.compared == of_tables + 7 * 1000
    index.compared = 0
    index.query(queries)
    assert index.compared >= 307 * 1000, "all answers are looked for everywhere"


def test_wanted_recall_is_reached(rng):
    words = rng.integers(0, 1 << 64, 30_000, "uint64")
    flipped = np.argsort(rng.random((8000, 64)))[:, :3].astype("uint64")
    queries = words[:8000] ^ (np.uint64(1) << flipped).sum(1, dtype="uint64")
    for recall in (0.9, 0.99):
        index = HammingIndex(radius=3, recall=recall).add(words)
        found, stated = index.query(queries), index.layout.recall
        share = (found.left == found.right).sum() / len(queries)
        assert stated >= recall
        assert abs(share - stated) <= 4 * (stated * (1 - stated) / len(queries)) ** 0.5 + 1e-9


def test_small_indexes_may_take_64_bytes_for_each_word(monkeypatch):
    asked = []
    monkeypatch.setattr("lookalike.search.hamming.LEAST_MEMORY", 1.0)
    monkeypatch.setattr("lookalike.search.hamming.choose_layout", lambda *given: asked.append(given[4]))
    for n_words in (1, 2):
        assert HammingIndex(bits=64 * n_words).add(np.zeros((4096, n_words), "uint64")).layout is None
    assert asked == [64 * 4096, 128 * 4096]


@pytest.mark.parametrize(("begun_with", "bits"), [(0, 64), (40, 64), (0, 7), (40, 7)])
def test_stream_is_clustered_alike_in_any_batches(rng, begun_with, bits):
    """Each joins the nearest before it, the earliest of equally near ones; of few bits many are equally near."""
    words, radius = planted(rng, 300, bits, 3), 3 if bits == 64 else 1
    words[rng.random(300) < 0.3] = words[7]
    founders = list(range(begun_with))
    for row in range(begun_with, 300):
        distance = np.bitwise_count(words[:row] ^ words[row]).sum(1)
        near = int(np.argmin(distance)) if row else 0
        founders.append(founders[near] if row and distance[near] <= radius else row)
    for batch in (1, 37, 300):
        index = HammingIndex(radius=radius)
        if begun_with:
            index.add(words[:begun_with])
        found = [index.assign(words[start : start + batch]) for start in range(begun_with, 300, batch)]
        assert np.concatenate(found).tolist() == founders[begun_with:] and len(index) == 300


WRONG = (
    (KINDS, {"radius": [1.5, "3", True, -1], "bits": [0, 64.0]}),
    ([HammingIndex], {"recall": [0.0, 1.5, "a"], "memory": [0, np.nan]}),
    ([WeakBitIndex], {"probes": [0, "5"], "prefix_bits": [2.5, 40]}),
    ([TableIndex], {"lead": [0, 4], "lookup": ["maybe"], "blocks": [4.5]}),
)


def test_parameters_out_of_their_range_are_refused():
    for kind, name, wrong in ((kind, *one) for kinds, some in WRONG for kind in kinds for one in some.items()):
        for value in wrong:
            with pytest.raises(ParameterError) as error:
                kind(**{"radius": 3, name: value})
            assert error.value.name == name
    odd = [(60, 2, 2, 0), (), (16, 16, 32), (16, 16, 16, 16.0), "1234"]
    for wrong in ({"blocks": 4, "lead": 2}, {"blocks": (20, 20, 20, 3), "bits": 64}, *({"blocks": blocks} for blocks in odd)):
        assert_raises(ParameterError, "", TableIndex, **wrong)


@pytest.mark.parametrize("kind", KINDS)
def test_what_does_not_fit_is_refused(kind, monkeypatch):
    index, margins = kind(radius=3, bits=40).add([1, 2, (1 << 40) - 1]), np.zeros((1, 40), "float32")
    for wrong in ([[1, 2]], [1.0], [1 << 40], SimHash(bits=64).sign(la.shingle(["a"]))):
        for call in (index.add, index.query, index.first):
            assert_raises(ParameterError, "", call, wrong)
    for wrong in (margins[:, 1:], [*margins, *margins], np.where(margins == 0, np.nan, margins), margins.astype(str)):
        assert_raises(ParameterError, "margins", index.query, [1], wrong)
    assert len(index) == 3 and index.query([3], margins.tolist()).right.tolist() == [0, 1]
    assert_raises(ParameterError, "radius", lambda: kind(radius=64).add([1]))
    for limit in (0, 1.5) if kind is HammingIndex else ():
        assert_raises(ParameterError, "limit", index.pairs, limit=limit)
    monkeypatch.setattr("lookalike.search.fingerprints.MOST_ROWS", 5)  # rows have 32 bits
    index.add([1, 2])
    assert_raises(ParameterError, "at most 5 fingerprints; this would make 6", index.add, [1])
    assert len(index) == 5


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
    """Manku's four tables; as many prefix bits as number the fingerprints."""
    assert {make().radius for make in (HammingIndex, TableIndex, WeakBitIndex)} == {3}
    assert TableIndex().n_tables == 4 and WeakBitIndex().probes == 23
    for bits, n, count in ((64, 1, 1), (64, 2, 1), (64, 3, 2), (64, 1024, 10), (64, 1025, 11), (64, 1 << 30, 26), (7, 512, 7)):
        assert WeakBitIndex(bits=bits).weak_bits(n).count == count
