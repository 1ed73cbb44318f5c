"""Sets of rows in the form in which their intersections are counted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..kernels import resemblance as kernel
from ..kernels.hashing import mix_keys
from ..values import Float64Array, Int64Array, UInt32Array, UInt64Array


@dataclass(frozen=True, slots=True, eq=False)
class RowSets:
    """Sparse bit maps of some rows, over numbers given to their members by first appearance.

    ``slots`` is 0 for shingle sets; for signatures it is their length: the members then are (place, value) pairs, and
    what counts is the share of equal slots.
    """

    sizes: Int64Array
    block_offsets: Int64Array
    blocks: NDArray[np.int32]
    words: UInt64Array
    slots: int

    @classmethod
    def from_values(cls, values: UInt64Array, offsets: Int64Array, slots: int = 0) -> RowSets:
        """Number the values of all rows and pack each row; repeats within a row count once."""
        table, numbers_in_table = np.zeros(1 << 12, np.uint64), np.zeros(1 << 12, np.int32)
        numbers = np.empty(len(values), np.int32)
        done, used = 0, 0
        while done < len(values):
            done, used = kernel.number_values(values, done, table, numbers_in_table, used, numbers)
            if done < len(values):
                larger = np.zeros(4 * len(table), np.uint64), np.zeros(4 * len(table), np.int32)
                kernel.move_table(table, numbers_in_table, *larger)
                table, numbers_in_table = larger
        n_rows = len(offsets) - 1
        scratch = np.zeros((used >> 6) + 1, np.uint64)
        touched = np.empty(max(1, int(np.diff(offsets).max(initial=0))), np.int64)
        sizes, block_offsets = np.empty(n_rows, np.int64), np.empty(n_rows + 1, np.int64)
        blocks, words = np.empty(len(values), np.int32), np.empty(len(values), np.uint64)
        kernel.pack_rows(numbers, offsets, scratch, touched, sizes, block_offsets, blocks, words)
        n_blocks = int(block_offsets[-1])
        return cls(sizes, block_offsets, blocks[:n_blocks].copy(), words[:n_blocks].copy(), slots)

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
        out = np.empty(len(left), np.float64)
        kernel.compare_pairs(left, right, self.sizes, self.block_offsets, self.blocks, self.words, threshold,
                             self.slots, out)  # fmt: skip
        return out
