import numpy as np

import lookalike as la


def pairs_of_sets(rng, n_pairs, union, resemblance, structured=False):
    """Rows 2i and 2i + 1 are a pair."""
    common = round(resemblance * union)
    left = common + (union - common) // 2
    rows = []
    for _ in range(n_pairs):
        pool = rng.integers(0, 1 << 63, union, dtype="uint64")
        if structured:
            pool[:common] = np.arange(common, dtype="uint64") + rng.integers(0, 1 << 40, dtype="uint64")
        rows += [pool[:left], np.concatenate([pool[:common], pool[left:]])]
    offsets = np.cumsum([0, *map(len, rows)])
    return la.sketches.Shingles.from_arrays(np.concatenate(rows), offsets), common / union


def estimated(signatures, **how):
    rows = np.arange(0, len(signatures), 2)
    return signatures.estimated_resemblance(rows, rows + 1, **how)
