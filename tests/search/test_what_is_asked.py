"""What is asked of an index changes nothing in it, and fixes nothing."""

import numpy as np
import pytest

import lookalike as la
from lookalike.errors import IncompatibleSketchError, ParameterError
from lookalike.search import ExhaustiveHammingIndex, HammingIndex, TableIndex, WeakBitIndex
from lookalike.sketches import SimHash

INDEXES = [HammingIndex, ExhaustiveHammingIndex, TableIndex, WeakBitIndex]


@pytest.mark.parametrize("kind", INDEXES, ids=lambda kind: kind.__name__)
def test_an_empty_index_takes_what_is_added_whatever_was_asked(kind):
    index = kind(radius=3)
    assert index.query(np.zeros((1, 2), np.uint64)).left.tolist() == [] and index.pairs().left.tolist() == []
    assert index.first(np.zeros((2, 3), np.uint64)).tolist() == [-1, -1]
    index.add(np.array([7], np.uint64))
    assert index.query(np.array([7], np.uint64)).right.tolist() == [0]
    with pytest.raises(ParameterError, match="fingerprints of 64 bits; got 128 bits"):
        index.query(np.zeros((1, 2), np.uint64))


def test_an_empty_index_remembers_no_seed_that_was_asked():
    shingles = la.shingle(["one two three four five six"])
    one, other = (SimHash(seed=seed).sign(shingles) for seed in (1, 2))
    index = HammingIndex(radius=3)
    assert index.first(one).tolist() == [-1]
    assert index.add(other).first(other).tolist() == [0]
    with pytest.raises(IncompatibleSketchError):
        index.query(one)


def test_a_stream_that_is_clustered_keeps_to_the_memory(rng):
    index = HammingIndex(radius=2, memory=3e6)
    index.assign(rng.integers(0, 1 << 63, 2000, dtype=np.uint64))
    assert index._distinct.memory == 3e6
