"""Retrieval with real sketches, many times: how many pairs of each class are retrieved at each threshold."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

import lookalike as la
from lookalike.theory import bbit
from retrieval.counting import DEPTHS, classify, count_matches, segments
from retrieval.documents import DISSIMILAR, SAMPLED, Pairs, pairs_of_documents
from retrieval.schemes import NAMES, SIZES, THRESHOLDS, bounds, cuts, rows

CHUNK = 20_000
WINDOW, WINDOW_SIZE = 0.01, 240
BITS = [int(bits) for bits in DEPTHS]


@dataclass(frozen=True)
class Runs:
    """Repetitions with different hash functions.

    ``retrieved`` (repetitions, schemes, sizes, thresholds, 3): pairs rightly retrieved, retrieved, and to be retrieved.
    ``errors`` (repetitions, numbers of bits, thresholds): mean squared errors, at ``WINDOW_SIZE`` slots, of the estimates of pairs
    whose resemblance is within ``WINDOW`` of a threshold.
    """

    pairs: Pairs
    retrieved: np.ndarray
    errors: np.ndarray

    def shares(self, which: int) -> np.ndarray:
        """Precision (1) or recall (2) of all repetitions together, as one value a repetition whose mean it is.

        Shape (repetitions, schemes, sizes, thresholds). The values of a repetition are linearised ratios, so that the spread of
        any mean or difference of them gives its standard error.
        """
        right, base = self.retrieved[..., 0], self.retrieved[..., which]
        whole = right.sum(0) / np.maximum(base.sum(0), 1.0)
        return whole + (right - whole * base) / np.maximum(base.mean(0), 1.0)


def windows(exact: np.ndarray) -> list[np.ndarray]:
    """Pairs near each threshold."""
    return [np.flatnonzero(np.abs(exact - threshold) <= WINDOW) for threshold in THRESHOLDS]


def _one(pairs: Pairs, seed: int, classes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sign once, estimate all pairs; returns (table of classes, mean squared errors)."""
    slots = int(SIZES[-1])
    words = la.sketches.BBit(bits=32).pack(la.sketches.MinHash(permutations=slots, seed=seed).sign(pairs.shingles)).words
    at, least, where = cuts(), bounds(), rows()
    pieces = segments(at)
    table = np.zeros((len(NAMES), len(SIZES), len(THRESHOLDS) + 2, len(THRESHOLDS) + 1), np.int64)
    counts = np.empty((CHUNK, len(at), len(DEPTHS)), np.int16)
    some = int(np.searchsorted(at, WINDOW_SIZE))
    share = np.empty((len(pairs.left), len(DEPTHS)), np.int16)
    for begin in range(0, len(pairs.left), CHUNK):
        part = slice(begin, begin + CHUNK)
        n = len(pairs.left[part])
        count_matches(words, slots, pairs.left[part], pairs.right[part], pieces, counts[:n])
        classify(counts[:n], where, least, classes[part], table)
        share[part] = counts[:n, some]
    errors = np.empty((len(BITS), len(THRESHOLDS)))
    for j, chosen in enumerate(windows(pairs.exact)):
        for i, bits in enumerate(BITS):
            estimates = bbit.resemblance(share[chosen, i] / WINDOW_SIZE, bits)
            errors[i, j] = ((estimates - pairs.exact[chosen]) ** 2).mean()
    return table, errors


@lru_cache(maxsize=1)
def runs(quick: bool) -> Runs | None:
    """Retrieve with so many seeds; None where the documents are absent."""
    pairs = pairs_of_documents(quick)
    if pairs is None:
        return None
    edges = np.concatenate([[DISSIMILAR], THRESHOLDS])
    classes = np.searchsorted(edges, pairs.exact, side="right")
    weights = np.ones(len(edges) + 1)
    weights[0] = 1.0 / SAMPLED
    tables, errors = zip(*(_one(pairs, seed, classes) for seed in range(30 if quick else 60)), strict=True)
    weighted = np.stack(tables) * weights[:, None]
    n = len(THRESHOLDS)
    retrieved = np.empty((*weighted.shape[:3], n, 3))
    for t in range(n):
        retrieved[..., t, 0] = weighted[..., t + 2 :, t + 1 :].sum((-1, -2))
        retrieved[..., t, 1] = weighted[..., t + 1 :].sum((-1, -2))
        retrieved[..., t, 2] = weighted[..., t + 2 :, :].sum((-1, -2))
    return Runs(pairs, retrieved, np.stack(errors))
