"""Threads share an index in memory: whichever comes first builds what searches need, and all get the answers of one."""

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


@pytest.mark.parametrize("name", MAKERS)
def test_first_queries_at_once_equal_one_alone(rng, name):
    words = rng.integers(0, 1 << 64, 20_000, dtype=np.uint64)
    queries = words[:200] ^ np.uint64(5)
    expected = triples(MAKERS[name]().add(words).query(queries))
    assert len(expected) >= 200
    for _ in range(4):
        index = MAKERS[name]().add(words)
        for found in at_once(4, lambda _, index=index: triples(index.query(queries))):
            assert found == expected
        assert triples(index.query(queries)) == expected
        assert index.compared > 0


@pytest.mark.parametrize("name", MAKERS)
def test_queries_while_others_add_find_what_was_there(rng, name):
    words = rng.integers(0, 1 << 64, 6_000, dtype=np.uint64)
    index = MAKERS[name]().add(words[:3_000])

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
    assert len(index) == 6_000
    stored = index.query(words)
    assert len(stored) == 6_000 and sorted(stored.right.tolist()) == list(range(6_000)), "each once, whatever the order"


def test_streams_clustered_at_once_found_each_cluster_once(rng):
    words = np.repeat(rng.integers(0, 1 << 64, 60, dtype=np.uint64), 5)
    index = HammingIndex(radius=3)
    parts = at_once(4, lambda number: index.assign(words[rng.permutation(300)] if number < 0 else words))
    assert len(index) == 1200
    assert len(set(np.concatenate(parts).tolist())) == 60


def test_candidates_of_documents_added_at_once(rng):
    shingles = la.shingle([f"text number {i} of some that differ" for i in range(50)])
    signatures = FastSimilarity(permutations=32).sign(shingles)
    index = BandingIndex(bands=8, rows=4)
    at_once(4, lambda _: [index.add(signatures) for _ in range(5)])
    assert len(index) == 1000
    left, right = index.query(signatures)
    own = left == right % 50
    assert own.sum() == 50 * 20 and len(np.unique(right[own])) == 1000


def test_a_file_of_fingerprints_shared_by_threads(rng, tmp_path):
    words = rng.integers(0, 1 << 64, (4, 10, 20), dtype=np.uint64)
    file = FingerprintFile(tmp_path / "seen.fps")

    def work(number):
        for batch in words[number]:
            row = file.append(batch)
            assert file.query(batch[:1], ExhaustiveHammingIndex(radius=0)).right.tolist() == [row]

    at_once(4, work)
    assert len(file) == len(FingerprintFile(tmp_path / "seen.fps")) == 800
    assert (file.first(words.reshape(-1), HammingIndex(radius=0)) >= 0).all()


def test_indexes_can_be_copied_and_pickled(rng):
    for name in MAKERS:
        words = rng.integers(0, 1 << 64, 100, dtype=np.uint64)
        index = MAKERS[name]().add(words)
        for other in (copy.deepcopy(index), pickle.loads(pickle.dumps(index))):
            assert triples(other.add(words).query(words[:5])) == triples(MAKERS[name]().add(words).add(words).query(words[:5]))
        assert len(index) == 100


def test_what_is_refused_leaves_an_index_as_it_was():
    """A batch that does not fit fixes neither bits nor origin."""
    prints = SimHash(bits=64).sign(la.shingle(["a b c"], width=1))
    for make in MAKERS.values():
        index = make()
        index.bits = 128
        with pytest.raises(ParameterError):
            index.add(prints)
        index.add(np.zeros((2, 2), np.uint64))
        assert len(index) == 2 and index._made_by is None
