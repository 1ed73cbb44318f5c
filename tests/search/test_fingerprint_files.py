"""Batches of fingerprints in a file ascend as numbers."""

import numpy as np
import pytest

from lookalike.search.chunked_file import _ascend, sort_rows


@pytest.mark.parametrize("n_words", [1, 2, 3])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 5])
def test_what_ascends_is_told_from_what_does_not(rng, n, n_words):
    """As numbers, the last word the most significant; equal ones are in order."""
    seen = set()
    for _ in range(200):
        words = rng.integers(0, 2, (n, n_words), dtype=np.uint64)
        numbers = [sum(int(word) << (64 * place) for place, word in enumerate(row)) for row in words]
        ascend = numbers == sorted(numbers)
        assert _ascend(words) == ascend
        assert _ascend(words[sort_rows(words)])
        seen.add(ascend)
    assert seen == {True} or n > 1
