"""Weak bits: what is found is what the prefixes probed hold, by the twin and by the model."""

import pickle

import numpy as np
import pytest
from fingerprint_words import as_ints, planted, triples
from naive import hamming as naive

import lookalike as la
from lookalike.search.weak_bits import WeakBits
from lookalike.theory.blocks import combinations_within


def near_queries(rng, words, bits, most):
    """A query for each fingerprint, some bits away, and margins that say so: bits that differ are mostly weak ones."""
    margins = rng.normal(0, 1, (len(words), bits)).astype(np.float32)
    queries = words.copy()
    for row in range(len(words)):
        weak = np.argsort(np.abs(margins[row]))[: bits // 3]
        for bit in rng.choice(weak, rng.integers(0, most + 1), replace=False):
            queries[row, bit // 64] ^= np.uint64(1 << int(bit % 64))
    return queries, margins


@pytest.mark.parametrize(("bits", "prefix", "radius"), [(32, 6, 3), (64, 7, 4), (128, 8, 3), (64, 1, 2)])
@pytest.mark.parametrize("probes", [1, 2, 10])
def test_pairs_are_those_that_the_prefixes_probed_hold(rng, tmp_path, bits, prefix, radius, probes):
    """Against the twin; each pair once, by all queries together, one by one, from a pickle, and out of a file."""
    words = planted(rng, 150, bits, radius)
    queries, margins = near_queries(rng, words[:60], bits, radius + 1)
    given = as_ints(queries), as_ints(words)
    if probes >= combinations_within(prefix, radius):
        twin = naive.within(*given, radius)
    else:
        twin = naive.within_probed(given[0], margins.tolist(), given[1], bits, prefix, radius, probes)
    expected = sorted((q, s, d) for (q, s), d in twin.items())
    make = {"radius": radius, "prefix_bits": prefix, "probes": probes, "bits": bits}
    index = la.search.WeakBitIndex(**make).add(words[:50]).add(words[50:])
    assert triples(index.query(queries, margins)) == expected
    assert triples(pickle.loads(pickle.dumps(index)).query(queries, margins)) == expected
    one_by_one = [(q, s, d) for q in range(60) for _, s, d in triples(index.query(queries[[q]], margins[[q]]))]
    assert one_by_one == expected
    first = index.first(queries, margins)
    assert {q for q, row in enumerate(first.tolist()) if row >= 0} == {q for q, _ in twin}
    assert all((q, row) in twin for q, row in enumerate(first.tolist()) if row >= 0)
    file = la.search.FingerprintFile(tmp_path / "seen.fps", bits=bits)
    file.append(words[:50])
    file.append(words[50:])
    assert triples(file.query(queries, la.search.WeakBitIndex(**make), margins)) == expected
    assert (file.first(queries, la.search.WeakBitIndex(**make), margins) >= 0).tolist() == (first >= 0).tolist()


@pytest.mark.parametrize("bits", [7, 32, 60, 128])
def test_the_bits_are_those_of_the_file(rng, tmp_path, bits):
    """With margins, which have one for each bit, and without; in an index of its own the bits are those of what is added."""
    words = planted(rng, 150, bits, 2)
    queries, margins = near_queries(rng, words[:60], bits, 2)
    file = la.search.FingerprintFile(tmp_path / "seen.fps", bits=bits)
    file.append(words)
    make = {"radius": 2, "prefix_bits": min(bits, 9), "probes": 5}
    for some in (margins, None):
        expected = triples(la.search.WeakBitIndex(**make, bits=bits).add(words).query(queries, some))
        assert triples(file.query(queries, la.search.WeakBitIndex(**make), some)) == expected != []


@pytest.mark.parametrize("threads", [1, 3])
def test_pieces_of_a_file_have_a_table_each(rng, tmp_path, threads):
    """Many pieces, each with prefixes for its own size: what they hold together is what a search of all at once finds."""
    words = planted(rng, 6000, 64, 3)
    queries, margins = near_queries(rng, words[::20], 64, 3)
    file = la.search.FingerprintFile(tmp_path / "seen.fps")
    for part in np.array_split(words, 5):
        file.append(part)
    make = {"radius": 3, "prefix_bits": 9, "probes": 7}
    pieces, read = [], file._chunks.pieces
    file._chunks.pieces = lambda most: (pieces.append(most) or piece for piece in read(1024))
    found = file.query(queries, la.search.WeakBitIndex(**make), margins, threads=threads)
    assert len(pieces) > 5
    assert triples(found) == triples(la.search.WeakBitIndex(**make).add(words).query(queries, margins)) != []
    first = file.first(queries, la.search.WeakBitIndex(**make), margins, threads=threads)
    assert {q for q, row in enumerate(first.tolist()) if row >= 0} == set(found.left.tolist())


@pytest.mark.parametrize("radius", [0, 1, 3, 5])
def test_all_sets_within_the_radius_miss_nothing(rng, radius):
    """Without margins; and with as many probes given."""
    words = planted(rng, 500, 64, radius)
    oracle = la.search.ExhaustiveHammingIndex(radius=radius).add(words)
    expected, joined = triples(oracle.query(words[:100])), triples(oracle.pairs())
    every = combinations_within(8, radius)
    for probes in (None, every, every + 5):
        index = la.search.WeakBitIndex(radius=radius, prefix_bits=8, probes=probes).add(words)
        weak = index.weak_bits(500)
        assert (weak.probes, weak.radius) == (every, radius)
        assert triples(index.query(words[:100])) == expected
        assert triples(index.pairs()) == joined


def test_prefixes_of_some_queries_are_those_of_all(rng):
    query, margins = rng.integers(0, 1 << 64, (5, 1), dtype=np.uint64), rng.normal(0, 1, (5, 64)).astype(np.float32)
    weak = WeakBits.within(64, 20, 3, 7)
    out = weak.prefixes(query, margins, 0, 5)
    assert out[:, 0].tolist() == [value >> 44 for value in as_ints(query)]
    assert weak.prefixes(query, margins, 2, 4).tolist() == out[2:4].tolist()
    assert (
        la.search.WeakBitIndex().weak_bits(1 << 30).count == 26 and la.search.WeakBitIndex(bits=7).weak_bits(1 << 9).count == 7
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: la.search.WeakBitIndex(probes=0), "probes must be at least 1; got 0"),
        (lambda: la.search.WeakBitIndex(prefix_bits=2.5), "prefix_bits must be an integer; got 2.5"),
        (lambda: la.search.WeakBitIndex(probes="5"), "probes must be an integer; got '5'"),
        (lambda: la.search.HammingIndex(recall="a"), r"recall must be a number in \(0, 1\]; got 'a'"),
        (lambda: la.search.HammingIndex(memory=float("nan")), "memory must be a positive number; got nan"),
        (lambda: la.search.TableIndex(blocks=4.5), "blocks must be an integer; got 4.5"),
    ],
)
def test_what_does_not_fit_is_refused(call, message):
    with pytest.raises(la.errors.ParameterError, match=message):
        call()
