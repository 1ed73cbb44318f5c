"""How rows of equal numbers meet in the local engine: sorted in memory, or part by part on the disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ...core import sort_distinct
from ...files.workspace import Workspace
from ...values import Int64Array
from ...values.arrow import to_arrow, wrapped
from ..engine import Batches, Table
from .columns import arrays_of
from .sort import MEMBERS, portions
from .tables import LazyTable, Piece

SPREAD = 64
BLOCK = 1 << 16
DISTINCT_BYTES = 32 << 20
JOINED = 64  # bytes that a join may add to a row
PACKED = "packed"
"""Names two numbers of 32 bits in one, where there are no other columns: one array of integers sorts faster than an index."""
_LOW = (1 << 32) - 1
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
Arrays = dict[str, NDArray[Any]]


def by_number(
    rows: Table, by: str, sort: str, workspace: Workspace, memory: int, threads: int,
    make_room: Callable[[int], None], *, bound: int | None = None, once: bool = False,
) -> LazyTable:  # fmt: skip
    """Bring rows of an equal number together, sorted; they go to the disk where they take more than so many bytes.

    With ``bound``, above all numbers, all rows come in the order of their numbers. With ``once`` repeats of two numbers go as
    they come: in a family of near-duplicates every band holds the same pairs.
    """

    def pieces(mark: int) -> Iterator[Piece]:
        waiting: list[Arrays] = []
        least = min(DISTINCT_BYTES, memory // 2)
        size, enough, spread = 0, least, False
        for batch in rows.batches():
            waiting.append(sorting.packed(arrays_of(batch)))
            size += _size(waiting[-1:])
            if once and size > enough:
                waiting = [_distinct(sorting.joined(waiting))]
                size = _size(waiting)
                enough = max(least, 2 * size)  # else a table without repeats would be sorted over and over
            make_room(2 * size)  # they are put together
            if size > memory and workspace.on_disk:
                if not spread:
                    workspace.discard(stem)
                sorting.spill(workspace, stem, waiting, memory)
                size, spread = 0, True
        if spread:
            sorting.spill(workspace, stem, waiting, memory)
            for number in range(mark, SPREAD):
                yield Piece(partial(sorting.read, workspace, stem, number), number + 1)
        elif waiting:
            together = sorting.joined(waiting)
            if once:
                together = _distinct(together)
            if not workspace.on_disk:
                yield from map(Piece, sorting.batches(together))
                return
            for number, part in sorting.parts(together):  # in parts, so that a mark means the same at any memory
                if number >= mark:
                    yield Piece(partial(sorting.batches_of, part), number + 1)

    stem = f"meet-{by}"
    sorting = NumberSort(rows.schema, by, sort, once, bound, min(max(memory // JOINED, BLOCK), MEMBERS))
    return LazyTable(rows.schema, pieces, 1 if workspace.on_disk else threads)


def _size(parts: list[Arrays]) -> int:
    return sum(array.nbytes for part in parts for array in part.values())


def _distinct(arrays: Arrays) -> Arrays:
    """Sort numbers that were packed, and leave out repeats; others stay as they are."""
    if PACKED not in arrays:
        return arrays
    return {PACKED: arrays[PACKED][: sort_distinct(arrays[PACKED])].copy()}


def _upper(packed: Int64Array) -> Int64Array:
    """Return the first of the numbers that were packed; one of 32 bits has made the whole negative."""
    return (packed >> 32) & _LOW


@dataclass(frozen=True, slots=True)
class NumberSort:
    """Sorts rows ``by`` a number, and those of an equal one by another; batches of a large group have ``most`` rows."""

    schema: pa.Schema
    by: str
    sort: str
    once: bool  # whether repeats have gone, so that what was packed is sorted
    bound: int | None
    most: int

    def packed(self, arrays: Arrays) -> Arrays:
        """Pack two small numbers."""
        if set(arrays) != {self.by, self.sort} or max(int(a.view(np.uint64).max(initial=0)) for a in arrays.values()) > _LOW:
            return arrays
        return {PACKED: arrays[self.by] << 32 | arrays[self.sort]}

    def joined(self, parts: list[Arrays]) -> Arrays:
        """Put columns together, and let go of what they came from; some may have numbers too large to be packed."""
        if len({PACKED in part for part in parts}) > 1:
            parts[:] = [self._numbers(part[PACKED]) if PACKED in part else part for part in parts]
        names = list(parts[0])
        together = parts[0] if len(parts) == 1 else {name: np.concatenate([part[name] for part in parts]) for name in names}
        parts.clear()
        return together

    def _numbers(self, packed: Int64Array) -> Arrays:
        return {self.by: _upper(packed), self.sort: packed & _LOW}

    def parts(self, arrays: Arrays) -> Iterator[tuple[int, Arrays]]:
        """Part rows, those of equal numbers together; yield (part, its rows). The arrays are emptied."""
        column = arrays[PACKED if PACKED in arrays else self.by]
        part = np.empty(len(column), np.uint8)
        for begin in range(0, len(column), BLOCK):  # what is made on the way is wider
            some = column[begin : begin + BLOCK]
            numbers = _upper(some) if PACKED in arrays else some
            if self.bound is None:
                numbers = (numbers.view(np.uint64) * _GOLDEN) >> np.uint64(58)
            part[begin : begin + BLOCK] = numbers if self.bound is None else numbers // -(-self.bound // SPREAD)
        order = np.argsort(part, kind="stable")
        bounds = np.concatenate([[0], np.cumsum(np.bincount(part, minlength=SPREAD))])
        for name in list(arrays):
            arrays[name] = arrays[name][order]
        del order
        for number, (begin, end) in enumerate(pairwise(bounds.tolist())):
            if end > begin:
                yield number, {name: array[begin:end] for name, array in arrays.items()}

    def spill(self, workspace: Workspace, stem: str, waiting: list[Arrays], memory: int) -> None:
        """Write rows out, about so many bytes at a time, those of a part into arrays of its number; ``waiting`` is emptied."""
        while waiting:
            some = [waiting.pop(0)]
            while waiting and _size(some) < memory:
                some.append(waiting.pop(0))
            pieces = max(1, _size(some) // memory)
            together = self.joined(some)
            rows = len(next(iter(together.values())))
            for begin, end in pairwise(np.linspace(0, rows, pieces + 1, dtype=np.int64).tolist()):
                parts = self.parts({name: array[begin:end] for name, array in together.items()})
                workspace.append(stem, {f"{number} {name}": array for number, part in parts for name, array in part.items()})

    def read(self, workspace: Workspace, stem: str, number: int) -> Batches:
        """Read the rows of one part of the numbers, and sort them."""
        parts: list[Arrays] = []
        enough = 0
        for name in workspace.numbered(stem):
            arrays = workspace.get(name)
            mine = [key for key in arrays if key.startswith(f"{number} ")]
            if mine:
                parts.append({key.partition(" ")[2]: arrays[key] for key in mine})
            if self.once and _size(parts) > enough:  # the first documents of a crowd meet all others in every band
                parts = [_distinct(self.joined(parts))]
                enough = max(DISTINCT_BYTES // 8, 2 * _size(parts))
        if parts:
            together = self.joined(parts)
            yield from self.batches_of(_distinct(together) if self.once else together)

    def batches_of(self, arrays: Arrays) -> Batches:
        """Sort rows; yield them."""
        for make in self.batches(arrays):
            yield from make()

    def batches(self, arrays: Arrays) -> Iterator[Callable[[], Batches]]:
        """Sort rows; yield what makes batches of whole groups, or of some rows of one that is larger."""
        if PACKED in arrays:
            packed = arrays[PACKED]
            if not self.once:  # else they were sorted to leave out repeats
                packed.sort()
            begin = 0
            while begin < len(packed):
                end = min(begin + MEMBERS, len(packed))
                end = int(np.searchsorted(packed, packed[end - 1] | _LOW, "right"))
                yield partial(self._pairs, packed[begin:end])
                begin = end
            return
        order = np.lexsort((arrays[self.sort], arrays[self.by]))
        arrays = {name: array[order] for name, array in arrays.items()}
        fresh = np.flatnonzero(np.diff(arrays[self.by], prepend=-1 - arrays[self.by][:1]))
        bounds = np.append(fresh, len(order))
        for first, last in portions(np.diff(bounds)):
            span = slice(int(bounds[first]), int(bounds[last]))
            columns = [wrapped(field.type, arrays[field.name][span]) for field in self.schema]
            yield partial(iter, (pa.RecordBatch.from_arrays(columns, schema=self.schema),))

    def _pairs(self, packed: Int64Array) -> Batches:
        """Make batches of numbers that were packed: a group can have millions of rows, to which joins add what is wide."""
        for begin in range(0, len(packed), self.most):
            columns = self._numbers(packed[begin : begin + self.most])
            yield pa.RecordBatch.from_arrays([to_arrow(columns[name]) for name in self.schema.names], schema=self.schema)
