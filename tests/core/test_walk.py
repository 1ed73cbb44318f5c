"""``tests/recipes/test_twin.py`` holds what walks decide to the definition."""

import numpy as np
from raising import assert_raises

from lookalike.core import Rows
from lookalike.methods.method import FINGERPRINTS


def test_a_partner_that_is_not_there_is_told():
    """Orders 2 and 5 are in another bundle, 7 is the row itself, 9 comes later."""
    words, scores = np.zeros(5, np.uint64), 1 - np.arange(65) / 64
    rows = Rows(FINGERPRINTS, np.ones(5, np.int64), np.arange(6), np.empty(0, np.int32), words, scores)
    for partner in (-1, 1, 2, 5, 7, 9):
        bundles = (np.array(some) for some in ([0, 2, 5], [2, 5, 3, 7, 9], [0, 0, 0, 0, 1, 1], [partner]))
        assert_raises(RuntimeError, "not in the bundle", rows.walk, *bundles, 0, 0.5, False)
