"""Rows in the form in which they are compared: sets, vectors of feature counts, fingerprints; numbers by first appearance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core import mix_keys
from ..kernels import resemblance as kernel
from ..kernels.resemblance import FINGERPRINTS, SETS, VECTORS, Rows
from ..kernels.scratch import FILLED, scratch, spread
from ..theory import simhash
from ..values import Float64Array, Int64Array, UInt32Array, UInt64Array

Piece = tuple[NDArray[np.int32], Int64Array, int]
"""Rows of numbers: (numbers with repeats, offsets, how many numbers there are so far, those of earlier pieces included)."""

Pieces = Iterable[Piece]
NO_SCORES = np.empty(0)
LARGE = 1 << 20  # places of a table from which on it is doubled, no more


def sets_of_values(values: UInt64Array, offsets: Int64Array, slots: int = SETS) -> Rows:
    """Number the values of all rows and pack each row; repeats within a row count once."""
    return sets_of_pieces(numbered([(values, offsets)]), slots)


def sets_of_pieces(pieces: Pieces, slots: int = SETS) -> Rows:
    """Pack rows of numbers that come in several pieces, each done with before the next comes, as sparse bit maps.

    With ``slots`` above 0 the rows are signatures of that length: the members are (place, value) pairs, and what counts is the
    share of equal slots.
    """
    return _packed(pieces, slots)


def sets_of_signatures(signatures: UInt32Array) -> Rows:
    """Treat the slots of signatures, each with its place, as members."""
    n, slots = signatures.shape
    placed = signatures.astype(np.uint64) | (np.arange(slots, dtype=np.uint64) << np.uint64(32))
    return sets_of_values(mix_keys(placed.ravel()), np.arange(0, n * slots + 1, slots, dtype=np.int64), slots)


def vectors_of_pieces(pieces: Pieces) -> Rows:
    """Count the features of rows of numbers that come in several pieces, each done with before the next comes.

    Dot products and sums of squares are exact integers: up to 3 * 10^9 features a document.
    """
    return _packed(pieces, VECTORS)


def fingerprints_of_words(words: UInt64Array, bits: int) -> Rows:
    """Take fingerprints of so many ``bits``, in words of 64, for cosines estimated from their distance."""
    n, width = words.shape
    flat = np.ascontiguousarray(words, np.uint64).ravel()
    scores = np.asarray(simhash.cosine(np.arange(64 * width + 1).clip(max=bits), bits), np.float64)
    offsets = np.arange(0, n * width + 1, width, dtype=np.int64)
    return Rows(np.ones(n, np.int64), offsets, np.empty(0, np.int32), flat, scores, FINGERPRINTS)


def compare_rows(rows: Rows, left: Int64Array, right: Int64Array, threshold: float) -> Float64Array:
    """Return the score of each pair of rows, or -1 where the sizes alone rule out ``threshold``."""
    out = np.empty(len(left), np.float64)
    kernel.compare_pairs(left, right, rows, threshold, out)
    return out


def numbered(pieces: Iterable[tuple[UInt64Array, Int64Array]]) -> Iterator[Piece]:
    """Number the values of some rows, (values, offsets) in several pieces, by first appearance."""
    table, numbers_in_table, used = np.zeros(1 << 12, np.uint64), np.zeros(1 << 12, np.int32), 0
    after = np.zeros(1 << 11, np.int32)
    for values, offsets in pieces:
        numbers = scratch("numbers", len(values), np.int32, FILLED)[: len(values)]
        done = 0
        after[:used] = 0
        while done < len(values):
            done, used = kernel.number_values(values, done, spread(), table, numbers_in_table, after, used, numbers)
            if done < len(values):
                times = 4 if len(table) < LARGE else 2
                larger = np.zeros(times * len(table), np.uint64), np.zeros(times * len(table), np.int32)
                kernel.move_table(table, numbers_in_table, spread(), *larger)
                table, numbers_in_table = larger
                del larger
                after = np.concatenate([after, np.zeros((times - 1) * len(after), np.int32)])
        del values  # large ones are not held while the next are made
        yield numbers, offsets, used
        del numbers


def _packed(pieces: Pieces, kind: int) -> Rows:
    """Pack the rows of each piece: as vectors, or as sets."""
    packed = [_pack(*piece, kind == VECTORS) for piece in pieces]
    if not packed:
        none = np.empty(0, np.int64)
        return Rows(none, np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0, np.uint64), NO_SCORES, kind)
    sizes, n_blocks, blocks, words = packed[0] if len(packed) == 1 else map(np.concatenate, zip(*packed, strict=True))
    return Rows(sizes, np.concatenate([[0], np.cumsum(n_blocks)]), blocks, words, NO_SCORES, kind)


def _pack(numbers: NDArray[np.int32], offsets: Int64Array, used: int, counted: bool) -> tuple[NDArray[Any], ...]:
    """Return (sizes, number of blocks a row, blocks, words) of rows of numbers below ``used``; ``counted``: (sums of squares,
    number of features a row, features, counts)."""
    n_rows = len(offsets) - 1
    seen = np.zeros(max(1, used) if counted else (used >> 6) + 1, np.uint64)
    touched = np.empty(max(1, int(np.diff(offsets).max(initial=0))), np.int64)
    sizes, block_offsets = np.empty(n_rows, np.int64), np.empty(n_rows + 1, np.int64)
    blocks = scratch("blocks", len(numbers), np.int32, FILLED)
    words = scratch("words", len(numbers), np.uint64, FILLED)
    pack = kernel.count_rows if counted else kernel.pack_rows
    pack(numbers, offsets, seen, touched, sizes, block_offsets, blocks, words)
    n_blocks = int(block_offsets[-1])
    return sizes, np.diff(block_offsets), blocks[:n_blocks].copy(), words[:n_blocks].copy()
