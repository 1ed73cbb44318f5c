"""One band of keys sorted, so that equal keys lie side by side, and the pairs of rows that share a bucket."""

from __future__ import annotations

from functools import partial

import numpy as np

from ..kernels import banding as kernel
from ..kernels.threads import in_order
from ..values import Int64Array, UInt64Array

PART_ROWS_BITS = 20


def sorted_entries(keys: UInt64Array, column: int) -> tuple[np.uint64, UInt64Array, Int64Array]:
    """Sort one column of keys."""
    n = len(keys)
    row_bits = np.uint64(max(1, int(n - 1).bit_length()))
    part_bits = np.uint64(max(0, int(row_bits) - PART_ROWS_BITS))
    counts = np.zeros(1 << int(part_bits), np.int64)
    kernel.count_parts(keys, column, part_bits, counts)
    ends = np.cumsum(counts)
    entries, places = np.empty(n, np.uint64), ends - counts
    kernel.make_entries(keys, column, row_bits, part_bits, places, entries)
    found = []
    for begin, end in zip((ends - counts).tolist(), ends.tolist(), strict=True):
        part = entries[begin:end]
        part.sort()
        bounds = np.empty((len(part) // 2 + 1, 2), np.int64)
        bounds = bounds[: kernel.find_buckets(part, row_bits, bounds)]
        mixed = np.empty(len(bounds), np.bool_)
        kernel.mark_mixed(part, row_bits, row_bits - part_bits, keys, column, bounds, mixed)
        found.append(bounds[~mixed] + begin)
        for first, last in bounds[mixed].tolist():
            part[first:last].sort()
            split = np.empty(((last - first) // 2 + 1, 2), np.int64)
            found.append(split[: kernel.find_buckets(part[first:last], row_bits, split)] + begin + first)
    return (np.uint64(1) << row_bits) - np.uint64(1), entries, np.concatenate(found)


def find_candidates(keys: UInt64Array, threads: int = 1) -> tuple[Int64Array, Int64Array]:
    """Find the pairs of rows that have an equal key in some column."""
    bands = keys.shape[1] if len(keys) > 1 else 0
    none = np.empty(0, np.int64)
    found = [(none, none)]
    for band, (mask, entries, bounds) in enumerate(in_order(partial(sorted_entries, keys), range(bands), threads)):
        count = kernel.bucket_pairs(entries, mask, bounds, keys, band, none, none)
        left, right = np.empty(count, np.int64), np.empty(count, np.int64)
        if count:
            kernel.bucket_pairs(entries, mask, bounds, keys, band, left, right)
        found.append((left, right))
        del entries  # before the next band is sorted
    left, right = (np.concatenate(side) for side in zip(*found, strict=True))
    return left, right
