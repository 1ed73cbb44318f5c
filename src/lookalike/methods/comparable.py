"""Rows in the form in which they are compared (``native/comparisons.cpp``): sets, vectors of feature counts, fingerprints."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ..core import Rows
from ..theory import simhash
from ..values import Int64Array, UInt32Array, UInt64Array

Piece = tuple[UInt64Array, Int64Array] | tuple[NDArray[np.int32], Int64Array, int]
"""Rows of values, (values with repeats, offsets), or of numbers, (numbers with repeats, offsets, how many numbers there are so
far, those of earlier pieces included)."""

Pieces = Iterable[Piece]
JACCARD, COSINE, FINGERPRINTS, CONTAINMENT, OVERLAP = 0, -1, -2, -3, -4
"""What rows are scored by; see ``Rows`` in ``native/comparisons.cpp``. Above 0: the share of equal slots, of so many."""


def rows_of_pieces(pieces: Pieces, kind: int = JACCARD, floor: float = 0.0) -> Rows:
    """Pack rows that come in pieces, each done with before the next comes: as vectors of counts for a COSINE, else as sets.

    Sets have a CONTAINMENT or an OVERLAP only if their resemblance is at least ``floor``. Dot products and sums of squares are
    exact integers: up to 3 * 10^9 features a document.
    """
    rows = Rows(kind, floor)
    for piece in pieces:
        rows.add(*piece)
        del piece  # large ones are not held while the next are made
    rows.close()
    return rows


def sets_of_values(values: UInt64Array, offsets: Int64Array) -> Rows:
    """Pack rows of values; repeats within a row count once."""
    return rows_of_pieces([(values, offsets)])


def rows_of_signatures(signatures: UInt32Array) -> Rows:
    """Take the slots of signatures, of which the share of equal ones counts."""
    n, slots = signatures.shape
    if slots % 2:
        signatures = np.pad(signatures, ((0, 0), (0, 1)))
    words = signatures.ravel().view(np.uint64)
    offsets = np.arange(n + 1) * ((slots + 1) // 2)
    return Rows(slots, np.full(n, slots), offsets, np.empty(0, np.int32), words, np.empty(0))


def fingerprints_of_words(words: UInt64Array, bits: int) -> Rows:
    """Take fingerprints of so many ``bits``, in words of 64, for cosines estimated from their distance."""
    n, width = words.shape
    flat = np.ascontiguousarray(words, np.uint64).ravel()
    scores = np.asarray(simhash.cosine(np.arange(64 * width + 1).clip(max=bits), bits), np.float64)
    offsets = np.arange(0, n * width + 1, width, dtype=np.int64)
    return Rows(FINGERPRINTS, np.ones(n, np.int64), offsets, np.empty(0, np.int32), flat, scores)
