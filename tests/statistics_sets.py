"""Pairs of sets of known resemblance."""

import numpy as np

import lookalike as la


def pairs_of_sets(rng, n_pairs, union, resemblance, structured=False):
    """Shingles of n_pairs pairs of sets with a given union and resemblance; rows 2i and 2i + 1 are a pair."""
    common = round(resemblance * union)
    left_only = (union - common) // 2
    values, offsets = [], [0]
    for _ in range(n_pairs):
        if structured:
            start = int(rng.integers(0, 1 << 40))
            pool = np.concatenate([np.arange(start, start + common), rng.integers(1 << 50, 1 << 60, union - common)])
            pool = pool.astype(np.uint64)
        else:
            pool = rng.integers(0, 1 << 63, union, dtype=np.uint64)
        left, right = pool[: common + left_only], np.concatenate([pool[:common], pool[common + left_only :]])
        values += [left, right]
        offsets += [offsets[-1] + len(left), offsets[-1] + len(left) + len(right)]
    return la.sketches.Shingles.from_arrays(np.concatenate(values), offsets), common / union


def estimated(signatures, **how):
    """Estimates of each pair of rows: 2i and 2i + 1."""
    rows = np.arange(0, len(signatures), 2)
    return signatures.estimated_resemblance(rows, rows + 1, **how)
