"""Pairs of sets for one permutation hashing: of hashes, and under true permutations."""

from __future__ import annotations

from typing import Any

import numpy as np

import lookalike as la


def hashed_pairs(rng: np.random.Generator, pairs: int, union: int) -> la.sketches.Shingles:
    """Pairs of sets of random 64-bit keys with R = 1/2: rows 2i and 2i + 1, three quarters of the union each."""
    pool = rng.integers(0, 1 << 63, (pairs, union), dtype=np.uint64)
    half, size = union // 2, 3 * union // 4
    rows = np.concatenate([pool[:, :size], pool[:, :half], pool[:, size:]], 1)
    return la.sketches.Shingles.from_arrays(rows.ravel(), np.arange(0, 2 * pairs * size + 1, size))


def random_places(
    rng: np.random.Generator, pairs: int, universe: int, f1: int, f2: int, a: int
) -> tuple[np.ndarray, np.ndarray]:
    """Places of two sets of f1 and f2 members, a of them common, under random permutations of [0, universe); and offsets."""
    order = rng.permuted(np.broadcast_to(np.arange(universe), (pairs, universe)), axis=1)[:, : f1 + f2 - a]
    rows = np.concatenate([order[:, :f1], order[:, :a], order[:, f1:]], 1)
    return rows.ravel(), np.cumsum([0, *[f1, f2] * pairs])


def estimates(signatures: Any) -> np.ndarray:
    """Estimates of the resemblance of rows 2i and 2i + 1."""
    left = np.arange(0, len(signatures), 2)
    return signatures.estimated_resemblance(left, left + 1)
