"""Exact truth to measure recall against: resemblances of a sample of documents with all others."""

import numpy as np

import lookalike as la
from lookalike.methods.method import sets_of_values


def exact_pairs(shingles: la.sketches.Shingles, sample: np.ndarray, threshold: float) -> set[tuple[int, int]]:
    """All pairs (left < right) at or above a threshold of which at least one row is in the sample, by brute force."""
    sets = sets_of_values(shingles.values, shingles.offsets)
    everyone = np.arange(len(shingles))
    found: set[tuple[int, int]] = set()
    for row in sample.tolist():
        if shingles.sizes[row]:
            values = sets.compare(np.full(len(everyone), row), everyone, threshold)
            for other in np.flatnonzero(values >= threshold).tolist():
                if other != row:
                    found.add((min(row, other), max(row, other)))
    return found


def recall_on_sample(found: set[tuple[int, int]], truth: set[tuple[int, int]]) -> float:
    """Share of the true pairs that were found; nan where there is none."""
    return len(found & truth) / len(truth) if truth else float("nan")
