"""How deep sorting inside kernels calls itself."""

from math import log2

import numpy as np
import pytest
from conftest import JIT_OFF

from lookalike.kernels import sorting


def killer(n):
    """Numbers that make quicksort by the median of three take few off at a time (Musser 1997)."""
    half = n // 2
    return np.array([i + 1 if i % 2 == 0 else half + i + (half % 2 == 0) for i in range(half)] + list(range(2, n + 1, 2)))


@pytest.mark.skipif(not JIT_OFF, reason="only plain Python can be watched while it calls itself")
def test_it_calls_itself_for_the_smaller_part(rng, monkeypatch):
    n, deepest, depth, whole = 1 << 12, 0, 0, sorting.sort_range

    def watched(values, low, high):
        nonlocal deepest, depth
        deepest, depth = max(deepest, depth), depth + 1
        whole(values, low, high)
        depth -= 1

    monkeypatch.setattr(sorting, "sort_range", watched)
    for values in (rng.permutation(n), rng.integers(0, 9, n), np.arange(n), np.arange(n)[::-1].copy(), killer(n)):
        wanted = np.sort(values)
        watched(values, 0, n)
        assert (values == wanted).all()
    assert 3 < deepest <= log2(n / sorting.FEW)
