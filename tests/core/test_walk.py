"""What walks refuse, and what resolves matches, against plain Python."""

import numpy as np
import pytest

from lookalike.core import Resolver, Rows
from lookalike.methods.method import FINGERPRINTS


def test_a_partner_that_is_not_there_is_told():
    """Orders 2 and 5 are in another bundle, 7 is the row itself, 9 comes later."""
    words, scores = np.zeros(5, np.uint64), 1 - np.arange(65) / 64
    rows = Rows(FINGERPRINTS, np.ones(5, np.int64), np.arange(6), np.empty(0, np.int32), words, scores)
    for partner in (-1, 1, 2, 5, 7, 9):
        bundles = (np.array(some) for some in ([0, 2, 5], [2, 5, 3, 7, 9], [0, 0, 0, 0, 1, 1], [partner]))
        with pytest.raises(RuntimeError, match="not in the bundle"):
            rows.walk(*bundles, 0, 0.5, False)


def test_resolve_equals_a_set(rng):
    for _ in range(100):
        pairs = sorted({(int(b), int(a)) for a, b in np.sort(rng.integers(0, 30, (40, 2)), axis=1) if a < b})
        boundary = int(rng.integers(0, 12))
        removed, expected = set(), []
        for right, left in pairs:
            expected.append(left not in removed)
            if expected[-1] and right >= boundary:
                removed.add(right)
        left, right = (np.array([pair[i] for pair in pairs]) for i in (1, 0))
        resolver, kept = Resolver(boundary), []
        for begin, end in ((0, 10), (10, 10), (10, len(pairs))):
            kept += resolver.resolve(left[begin:end], right[begin:end]).view(np.bool_).tolist()
        assert kept == expected
