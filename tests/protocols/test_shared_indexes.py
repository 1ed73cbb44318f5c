"""Whichever thread comes first builds what searches need."""

import copy
import pickle

import numpy as np
import pytest
from fingerprint_words import triples
from waiting import at_once

import lookalike as la
from lookalike.errors import ParameterError
from lookalike.search import BandingIndex, ExhaustiveHammingIndex, FingerprintFile, HammingIndex, TableIndex, WeakBitIndex
from lookalike.sketches import FastSimilarity, SimHash

MAKERS = {
    "hamming": lambda: HammingIndex(radius=3), "tables": lambda: TableIndex(radius=3),
    "weak": lambda: WeakBitIndex(radius=3, probes=None, prefix_bits=10), "all": lambda: ExhaustiveHammingIndex(radius=3),
}  # fmt: skip


def random_words(rng, *shape):
    return rng.integers(0, 1 << 64, shape, "uint64")


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_threads_get_the_answers_of_one(rng, make):
    """First queries at once, copies and pickles, and queries while others add; what is refused leaves the index as it was."""
    words = random_words(rng, 20_000)
    queries = words[:200] ^ np.uint64(5)
    expected = triples(make().add(words).query(queries))
    assert len(expected) >= 200
    for _ in range(4):
        index = make().add(words)
        for found in at_once(4, lambda _, index=index: triples(index.query(queries))):
            assert found == expected
        assert triples(index.query(queries)) == expected and index.compared > 0
    index, twice = make().add(words[:100]), triples(make().add(words[:100]).add(words[:100]).query(words[:5]))
    for other in (copy.deepcopy(index), pickle.loads(pickle.dumps(index))):
        assert triples(other.add(words[:100]).query(words[:5])) == twice
    assert len(index) == 100
    index = make().add(words[:3_000])

    def work(number):
        if number < 2:
            for begin in range(3_000, 6_000, 300):
                index.add(words[begin + 150 * number : begin + 150 * (number + 1)])
        else:
            for _ in range(12):
                found = index.query(words[:50])
                assert found.left.tolist() == found.right.tolist() == list(range(50))
                assert (index.first(words[:50]) == np.arange(50)).all()

    at_once(4, work)
    stored = index.query(words[:6_000])
    assert len(index) == 6_000 == len(stored) and sorted(stored.right.tolist()) == list(range(6_000)), "each once, in any order"
    index = make()
    index.bits = 128
    with pytest.raises(ParameterError):  # a batch that does not fit fixes neither bits nor origin
        index.add(SimHash(bits=64).sign(la.shingle(["a b c"], width=1)))
    index.add(np.zeros((2, 2), "uint64"))
    assert len(index) == 2 and index._made_by is None


def test_streams_clustered_at_once_found_each_cluster_once(rng):
    words = np.repeat(random_words(rng, 60), 5)
    index = HammingIndex(radius=3)
    parts = at_once(4, lambda number: index.assign(words[rng.permutation(300)] if number < 0 else words))
    assert len(index) == 1200
    assert len(set(np.concatenate(parts).tolist())) == 60


def test_candidates_of_documents_added_at_once():
    signatures = FastSimilarity(permutations=32).sign(la.shingle([f"text number {i} of some that differ" for i in range(50)]))
    index = BandingIndex(bands=8, rows=4)
    at_once(4, lambda _: [index.add(signatures) for _ in range(5)])
    left, right = index.query(signatures)
    own = left == right % 50
    assert len(index) == 1000 and own.sum() == 50 * 20 and len(np.unique(right[own])) == 1000


def test_a_file_of_fingerprints_shared_by_threads(rng, tmp_path):
    words = random_words(rng, 4, 10, 20)
    file = FingerprintFile(tmp_path / "seen.fps")

    def work(number):
        for batch in words[number]:
            row = file.append(batch)
            assert file.query(batch[:1], ExhaustiveHammingIndex(radius=0)).right.tolist() == [row]

    at_once(4, work)
    assert len(file) == len(FingerprintFile(tmp_path / "seen.fps")) == 800
    assert (file.first(words.reshape(-1), HammingIndex(radius=0)) >= 0).all()
