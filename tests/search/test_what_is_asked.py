import numpy as np
from raising import assert_raises

import lookalike as la
from lookalike.errors import IncompatibleSketchError, ParameterError
from lookalike.search import ExhaustiveHammingIndex, HammingIndex, TableIndex, WeakBitIndex
from lookalike.sketches import SimHash


def test_an_empty_index_takes_what_is_added_whatever_was_asked():
    wide = np.zeros((1, 2), np.uint64)
    for index in (kind(radius=3) for kind in (HammingIndex, ExhaustiveHammingIndex, TableIndex, WeakBitIndex)):
        assert index.query(wide).left.tolist() == index.pairs().left.tolist() == []
        assert index.first(np.zeros((2, 3), np.uint64)).tolist() == [-1, -1]
        assert index.add(np.array([7], np.uint64)).query(np.array([7], np.uint64)).right.tolist() == [0]
        assert_raises(ParameterError, "fingerprints of 64 bits; got 128 bits", index.query, wide)


def test_an_empty_index_remembers_no_seed_that_was_asked():
    shingles = la.shingle(["one two three four five six"])
    one, other = (SimHash(seed=seed).sign(shingles) for seed in (1, 2))
    index = HammingIndex(radius=3)
    assert index.first(one).tolist() == [-1]
    assert index.add(other).first(other).tolist() == [0]
    assert_raises(IncompatibleSketchError, "", index.query, one)
