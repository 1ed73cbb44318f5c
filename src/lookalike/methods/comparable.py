"""Rows in the form in which they are compared (``native/comparisons.cpp``): sets, vectors of feature counts, fingerprints."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ..core import Rows, mix_keys
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


def sets_of_values(values: UInt64Array, offsets: Int64Array, slots: int = JACCARD) -> Rows:
    """Pack rows of values; repeats within a row count once.

    With ``slots`` above 0 the rows are signatures of that length: the members are (place, value) pairs, and what counts is the
    share of equal slots.
    """
    return rows_of_pieces([(values, offsets)], slots)


def sets_of_signatures(signatures: UInt32Array) -> Rows:
    """Treat the slots of signatures, each with its place, as members."""
    n, slots = signatures.shape
    placed = signatures.astype(np.uint64) | (np.arange(slots, dtype=np.uint64) << np.uint64(32))
    return sets_of_values(mix_keys(placed.ravel()), np.arange(0, n * slots + 1, slots, dtype=np.int64), slots)


def fingerprints_of_words(words: UInt64Array, bits: int) -> Rows:
    """Take fingerprints of so many ``bits``, in words of 64, for cosines estimated from their distance."""
    n, width = words.shape
    flat = np.ascontiguousarray(words, np.uint64).ravel()
    scores = np.asarray(simhash.cosine(np.arange(64 * width + 1).clip(max=bits), bits), np.float64)
    offsets = np.arange(0, n * width + 1, width, dtype=np.int64)
    return Rows(FINGERPRINTS, np.ones(n, np.int64), offsets, np.empty(0, np.int32), flat, scores)
