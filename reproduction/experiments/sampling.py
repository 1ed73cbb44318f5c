"""Sets of given sizes and resemblance, and minima of sets under random permutations."""

from __future__ import annotations

from typing import Any

import numpy as np


def minima(rng: np.random.Generator, resemblance: float, left: float, right: float, shape: Any) -> tuple[Any, Any]:
    """Minima of two sets of given densities and resemblance under random permutations of a large universe.

    They follow from the law of the permutation alone, not from any formula that is checked with them: the least place of the
    union is geometric; it lies in both sets, or in one, in proportion to their sizes; the other set's least place comes later.
    """
    common = resemblance / (1 + resemblance) * (left + right)
    union = left + right - common
    z = rng.geometric(union, shape) - 1
    u = rng.random(shape) * union
    one = np.where(u < left, z, z + rng.geometric(left, shape))
    other = np.where((u < common) | (u >= left), z, z + rng.geometric(right, shape))
    return one, other


def two_sets(rng: np.random.Generator, universe: int, f1: int, f2: int, a: int) -> tuple[np.ndarray, np.ndarray]:
    """Two random subsets of [0, universe) of f1 and f2 members, a of them common."""
    chosen = rng.choice(universe, f1 + f2 - a, replace=False)
    return chosen[:f1], np.concatenate([chosen[:a], chosen[f1:]])
