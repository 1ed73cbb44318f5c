"""Sets of rows in the form in which their intersections are counted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels import resemblance as kernel
from ..kernels._scratch import FILLED, scratch
from ..kernels._spread import spread
from ..kernels.hashing import mix_keys
from ..kernels.resemblance import SETS, Rows
from ..values import Float64Array, Int64Array, UInt32Array, UInt64Array

Piece = tuple[NDArray[np.int32], Int64Array, int]
"""Rows of numbers: (numbers with repeats, offsets, how many numbers there are so far, those of earlier pieces included)."""

Pieces = Iterable[Piece]
Packed = tuple[Any, ...]
NO_SCORES = np.empty(0)
LARGE = 1 << 20  # places of a table from which on it is doubled, no more


@dataclass(frozen=True, slots=True, eq=False)
class RowSets:
    """Sparse bit maps of some rows, over numbers given to their members by first appearance.

    Where ``rows.kind`` is above 0, the rows are signatures of that length: the members then are (place, value) pairs, and what
    counts is the share of equal slots.
    """

    rows: Rows

    @classmethod
    def from_values(cls, values: UInt64Array, offsets: Int64Array, slots: int = SETS) -> RowSets:
        """Number the values of all rows and pack each row; repeats within a row count once."""
        return cls.from_pieces(numbered([(values, offsets)]), slots)

    @classmethod
    def from_pieces(cls, pieces: Pieces, slots: int = SETS) -> RowSets:
        """Pack rows of numbers that come in several pieces, each done with before the next comes."""
        return cls(pack_pieces(pieces, _pack, slots))

    @classmethod
    def from_signatures(cls, signatures: UInt32Array) -> RowSets:
        """Treat the slots of signatures, each with its place, as members."""
        n, slots = signatures.shape
        keys = np.empty(n * slots, np.uint64)
        placed = signatures.astype(np.uint64) | (np.arange(slots, dtype=np.uint64) << np.uint64(32))
        mix_keys(placed.ravel(), keys)
        return cls.from_values(keys, np.arange(0, n * slots + 1, slots, dtype=np.int64), slots)

    def compare(self, left: Int64Array, right: Int64Array, threshold: float) -> Float64Array:
        """Return the resemblance of each pair, or -1 where the sizes alone rule out ``threshold``."""
        return compare_rows(self.rows, left, right, threshold)


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


def pack_pieces(pieces: Pieces, pack: Callable[[NDArray[np.int32], Int64Array, int], Packed], kind: int) -> Rows:
    """Pack the rows of each piece; ``pack`` takes a piece, and returns (sizes, number of blocks a row, blocks, words)."""
    packed = [pack(*piece) for piece in pieces]
    if not packed:
        none = np.empty(0, np.int64)
        return Rows(none, np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0, np.uint64), NO_SCORES, kind)
    sizes, n_blocks, blocks, words = packed[0] if len(packed) == 1 else map(np.concatenate, zip(*packed, strict=True))
    return Rows(sizes, np.concatenate([[0], np.cumsum(n_blocks)]), blocks, words, NO_SCORES, kind)


def _pack(numbers: NDArray[np.int32], offsets: Int64Array, used: int) -> Packed:
    """Return (sizes, number of blocks a row, blocks, words) of rows of numbers below ``used``."""
    n_rows = len(offsets) - 1
    present = np.zeros((used >> 6) + 1, np.uint64)
    touched = np.empty(max(1, int(np.diff(offsets).max(initial=0))), np.int64)
    sizes, block_offsets = np.empty(n_rows, np.int64), np.empty(n_rows + 1, np.int64)
    blocks = scratch("blocks", len(numbers), np.int32, FILLED)
    words = scratch("words", len(numbers), np.uint64, FILLED)
    kernel.pack_rows(numbers, offsets, present, touched, sizes, block_offsets, blocks, words)
    n_blocks = int(block_offsets[-1])
    return sizes, np.diff(block_offsets), blocks[:n_blocks].copy(), words[:n_blocks].copy()
