"""Reference documents in memory, whole or cut into passages: which of them a document contains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterError
from ..kernels import overlap as kernel
from ..kernels.scratch import room_for, spread
from ..values import Float64Array, Int64Array, UInt64Array, drop_repeats

LONG = 64  # passages that share a shingle and are gone through whatever else they have
MAX_ENTRIES = (1 << 31) - 1  # places in the inverted list have 32 bits


@dataclass(frozen=True, slots=True, eq=False)
class Passages:
    """Passages of reference documents, as an inverted list of their shingles.

    Shingles that many passages have, of a template perhaps, are not gone through for passages that cannot match by these alone:
    a passage of s shingles matches where s times the threshold are common, or more, whatever the measure is. The table is
    looked up by the ``factor`` of the process that made it, in any process.
    """

    sizes: Int64Array
    document: Int64Array
    start: Int64Array
    table: UInt64Array
    numbers: NDArray[np.int32]
    list_offsets: Int64Array
    lists: NDArray[np.int32]
    scanned: Int64Array
    hidden: Int64Array
    factor: np.uint64

    @classmethod
    def of(cls, values: UInt64Array, offsets: Int64Array, width: int | None, threshold: float = 0.0) -> Passages:
        """Cut rows of shingle hashes, in their order, into passages of ``width`` shingles, each half in the next.
        ``threshold``: the lowest that ``match`` is asked for."""
        length = np.diff(offsets)
        width = None if width is None else min(width, max(1, int(length.max(initial=1))))
        last = np.maximum(0, length - (length if width is None else width))
        step = max(1, (width or 0) // 2)
        counts = np.where(length > 0, -(-last // step) + 1, 0)
        document = np.repeat(np.arange(len(length)), counts)
        start = np.minimum(_within(counts) * step, last[document])
        size = length[document] if width is None else np.minimum(width, length[document])
        total = int(size.sum())
        if total > MAX_ENTRIES:
            raise ParameterError(
                f"the reference documents have {total:,} shingles (with passages, half of each passage counts twice); at most "
                f"{MAX_ENTRIES:,} fit: divide the reference documents, or use longer passages"
            )
        number = np.repeat(np.arange(len(size), dtype=np.int32), size)
        flat = values if width is None else values[np.repeat(offsets[document] + start, size) + _within(size)]
        table = np.zeros(1 << max(4, (2 * total).bit_length()), np.uint64)
        numbers, shingle = np.zeros(len(table), np.int32), np.empty(total, np.int32)
        factor = spread()
        distinct = kernel.fill_table(flat, factor, table, numbers, shingle)
        del flat
        last, bounds, sizes = np.full(distinct, -1, np.int32), np.zeros(distinct + 1, np.int64), np.zeros(len(size), np.int64)
        kernel.count_lists(shingle, number, last, sizes, bounds[1:])
        np.cumsum(bounds, out=bounds)
        lists = np.empty(bounds[-1], np.int32)
        last.fill(-1)
        kernel.fill_lists(shingle, number, last, bounds[:-1].copy(), lists)
        return cls(sizes, document, start, table, numbers, bounds, lists, *_hide(bounds, lists, sizes, threshold), factor)

    def match(self, values: UInt64Array, offsets: Int64Array, contained: bool, threshold: float) -> list[Any]:
        """Return (row, passage, common, distinct shingles of the row) of all matches."""
        values, offsets = drop_repeats(values, offsets)
        common, touched = np.zeros(len(self.sizes), np.int64), np.empty(len(self.sizes), np.int64)
        later = np.empty(int(np.diff(offsets).max(initial=1)), np.int64)
        lists = kernel.Passages(
            self.table, self.numbers, self.list_offsets, self.lists, self.scanned, self.hidden, self.sizes, self.factor
        )
        found = room_for(len(self.sizes) + 4096)
        parts, row = [[np.empty(0, np.int64)] * 3], 0
        while row < len(offsets) - 1:
            row, count = kernel.match_rows(values, offsets, lists, contained, threshold, common, touched, later, row, found)
            parts.append([array[:count].copy() for array in found])
        rows, passages, both = (np.concatenate(column) for column in zip(*parts, strict=True))
        return [rows, passages, both, np.diff(offsets)[rows]]

    def best(
        self, rows: Int64Array, passages: Int64Array, both: Int64Array, n: Int64Array, measure: str
    ) -> tuple[Int64Array, Float64Array, Float64Array]:
        """Return (the places of the best passage of each pair of documents, best first; resemblances; containments)."""
        sizes = self.sizes[passages]
        resemblance, containment = both / (n + sizes - both), both / sizes
        score, other = (resemblance, containment) if measure == "resemblance" else (containment, resemblance)
        document = self.document[passages]
        order = np.lexsort((passages, -other, -score, document, rows))
        first = np.ones(len(order), np.bool_)
        first[1:] = (np.diff(rows[order]) != 0) | (np.diff(document[order]) != 0)
        order = order[first]
        return order[np.lexsort((document[order], -other[order], -score[order], rows[order]))], resemblance, containment


def _hide(bounds: Int64Array, lists: NDArray[np.int32], sizes: Int64Array, threshold: float) -> tuple[Int64Array, Int64Array]:
    """Put passages that cannot match by long lists alone to their ends; return (where these begin, shingles hidden there)."""
    length = np.diff(bounds)
    long = np.flatnonzero(length > LONG)
    scanned, owner = bounds[1:].copy(), np.repeat(long, length[long])
    places = np.repeat(bounds[long], length[long]) + _within(length[long])
    hidden = np.bincount(lists[places], minlength=len(sizes))
    hidden[hidden >= threshold * sizes * (1 - 1e-12)] = 0
    gone = hidden[lists[places]] > 0
    lists[places] = lists[places][np.lexsort((gone, owner))]
    scanned[long] -= np.bincount(owner[gone], minlength=len(length))[long]
    return scanned, hidden


def _within(counts: Int64Array) -> Int64Array:
    """Return 0, 1, ... up to each count, one run after the other."""
    ends = np.cumsum(counts)
    return np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - counts, counts)
