"""Minima of two sets under true random permutations of [0, D): Fisher-Yates, stopped when both minima are known."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True)
def _least_places(rng: Any, member: Any, order: Any, least: Any) -> None:
    """Shuffle ``order`` place by place, for each row of ``least``, until a member of either set has come up.

    The rest need not be shuffled: the minima do not depend on it, and the next permutation may start from any order.
    """
    universe = len(order)
    for row in range(len(least)):
        missing, place = 3, 0
        while missing:
            other = place + int(rng.random() * (universe - place))
            found = order[other]
            order[other] = order[place]
            order[place] = found
            new = member[found] & missing
            if new & 1:
                least[row, 0] = place
            if new & 2:
                least[row, 1] = place
            missing &= ~member[found]
            place += 1


def permuted_minima(
    rng: np.random.Generator, universe: int, left: np.ndarray, right: np.ndarray, shape: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Minima of two non-empty subsets of [0, universe) under random permutations of it: two arrays of int64 of the shape."""
    if not len(left) or not len(right):
        raise ValueError("an empty set has no minimum")
    member = np.zeros(universe, np.uint8)
    member[left] |= 1
    member[right] |= 2
    least = np.empty((int(np.prod(shape)), 2), np.int64)
    _least_places(rng, member, np.arange(universe), least)
    return least[:, 0].reshape(shape), least[:, 1].reshape(shape)
