"""How rows of equal numbers meet in the local engine: sorted in memory, or part by part on the disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
        size, spread, enough = 0, False, least
        for batch in rows.batches():
            arrays = _packed(arrays_of(batch), by, sort)
            waiting.append(arrays)
            size += sum(array.nbytes for array in arrays.values())
            if once and size > enough:
                waiting = [_distinct(_emptied(waiting))]
                size = sum(array.nbytes for array in waiting[0].values())
                enough = max(least, 2 * size)  # else a table without repeats would be sorted over and over
            make_room(2 * size)  # they are put together
            if size > memory and workspace.on_disk:
                if not spread:
                    workspace.discard(stem)
                _spill(workspace, stem, waiting, by, bound, memory)
                size, spread = 0, True
        if spread:
            _spill(workspace, stem, waiting, by, bound, memory)
            for number in range(mark, SPREAD):
                yield Piece(partial(_read_part, rows.schema, workspace, stem, number, by, sort, once, most), number + 1)
            return
        together = _emptied(waiting) if waiting else {}
        if once and together:
            together = _distinct(together)
        if workspace.on_disk:  # in parts, so that a mark means the same at any memory
            parts = dict(_parts(together, by, bound)) if together else {}
            together = {}
            for number in range(mark, SPREAD):
                if number in parts:
                    yield Piece(partial(_made, rows.schema, parts[number], by, sort, once, most), number + 1)
        elif together:
            for make in _sorted(rows.schema, together, by, sort, once, most):
                yield Piece(make)

    stem = f"meet-{by}"
    most = min(max(memory // JOINED, BLOCK), MEMBERS)
    return LazyTable(rows.schema, pieces, 1 if workspace.on_disk else threads)


def _distinct(arrays: Arrays) -> Arrays:
    """Sort numbers that were packed, and leave out repeats; others stay as they are."""
    name, packed = next(iter(arrays.items()))
    if not name.startswith(PACKED):
        return arrays
    return {name: packed[: sort_distinct(packed)].copy()}


def joined(parts: list[Arrays]) -> Arrays:
    if len(parts) == 1:
        return parts[0]
    names = set.intersection(*map(set, parts))
    if names != set(parts[0]) or any(set(part) != names for part in parts):  # numbers became too large to be packed
        parts = [_unpacked(part) for part in parts]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _emptied(parts: list[Arrays]) -> Arrays:
    """Put columns together, and let go of what they came from."""
    together = joined(parts)
    parts.clear()
    return together


def _packed(arrays: Arrays, by: str, sort: str) -> Arrays:
    """Put two numbers into one, where there are no other columns: one array of integers sorts faster than an index."""
    if set(arrays) != {by, sort} or max(int(array.view(np.uint64).max(initial=0)) for array in arrays.values()) > _LOW:
        return arrays
    return {f"{PACKED} {by} {sort}": (arrays[by] << 32) | arrays[sort]}


def _upper(packed: Int64Array) -> Int64Array:
    """Return the first of the numbers that were packed; one of 32 bits has made the whole negative."""
    return (packed >> 32) & _LOW


def _unpacked(arrays: Arrays) -> Arrays:
    name = next(iter(arrays))
    if not name.startswith(PACKED):
        return arrays
    _, by, sort = name.split(" ")
    return {by: _upper(arrays[name]), sort: arrays[name] & _LOW}


def _part_of(arrays: Arrays, by: str, bound: int | None) -> NDArray[np.uint8]:
    """Return the part of each row; a block of them at a time, for what is made on the way is wider."""
    column = arrays[by] if by in arrays else next(iter(arrays.values()))
    part = np.empty(len(column), np.uint8)
    for begin in range(0, len(column), BLOCK):
        numbers = column[begin : begin + BLOCK] if by in arrays else _upper(column[begin : begin + BLOCK])
        spread = (numbers.view(np.uint64) * _GOLDEN) >> np.uint64(58) if bound is None else numbers // -(-bound // SPREAD)
        part[begin : begin + BLOCK] = spread
    return part


def _parts(arrays: Arrays, by: str, bound: int | None) -> Iterator[tuple[int, Arrays]]:
    """Part rows, those of equal numbers together; yield (part, its rows). The arrays are emptied."""
    part = _part_of(arrays, by, bound)
    order = np.argsort(part, kind="stable")
    bounds = np.concatenate([[0], np.cumsum(np.bincount(part, minlength=SPREAD))])
    for name in list(arrays):
        arrays[name] = arrays[name][order]
    del order
    for number, (begin, end) in enumerate(pairwise(bounds.tolist())):
        if end > begin:
            yield number, {name: array[begin:end] for name, array in arrays.items()}


def _spill(workspace: Workspace, stem: str, waiting: list[Arrays], by: str, bound: int | None, memory: int) -> None:
    """Write rows out, about so many bytes at a time, those of equal numbers into arrays of one name; ``waiting`` is emptied."""
    while waiting:
        some = [waiting.pop(0)]
        while waiting and _size(some) < memory:
            some.append(waiting.pop(0))
        pieces = max(1, _size(some) // memory)
        together = _emptied(some)
        rows = len(next(iter(together.values())))
        for begin, end in pairwise(np.linspace(0, rows, pieces + 1, dtype=np.int64).tolist()):
            parts = _parts({name: array[begin:end] for name, array in together.items()}, by, bound)
            workspace.append(stem, {f"{number} {name}": array for number, part in parts for name, array in part.items()})


def _size(parts: list[Arrays]) -> int:
    return sum(array.nbytes for part in parts for array in part.values())


def _made(schema: pa.Schema, arrays: Arrays, by: str, sort: str, once: bool, rows: int) -> Batches:
    for make in _sorted(schema, arrays, by, sort, once, rows):
        yield from make()


def _read_part(
    schema: pa.Schema, workspace: Workspace, stem: str, number: int, by: str, sort: str, once: bool, rows: int
) -> Batches:
    """Read the rows of one part of the numbers, and sort them."""
    parts: list[Arrays] = []
    size = enough = 0
    for name in workspace.numbered(stem):
        arrays = workspace.get(name)
        mine = [key for key in arrays if key.startswith(f"{number} ")]
        if mine:
            parts.append({key.partition(" ")[2]: arrays[key] for key in mine})
            size += sum(array.nbytes for array in parts[-1].values())
        if once and size > enough:  # the first documents of a crowd meet all others in every band
            parts = [_distinct(_emptied(parts))]
            size = sum(array.nbytes for array in parts[0].values())
            enough = max(DISTINCT_BYTES // 8, 2 * size)
    if parts:
        together = _emptied(parts)
        yield from _made(schema, _distinct(together) if once else together, by, sort, once, rows)


def _sorted(schema: pa.Schema, arrays: Arrays, by: str, sort: str, once: bool, rows: int) -> Iterator[Callable[[], Batches]]:
    """Sort rows of numbers; yield what makes batches of whole groups, or of so many rows of one that is larger."""
    packed = next(iter(arrays.values())) if by not in arrays else None
    if packed is not None:
        if not once:  # else they were sorted to leave out repeats
            packed.sort()
        begin = 0
        while begin < len(packed):
            end = min(begin + MEMBERS, len(packed))
            end = int(np.searchsorted(packed, packed[end - 1] | _LOW, "right"))
            yield partial(_pairs, schema, by, sort, packed[begin:end], rows)
            begin = end
        return
    order = np.lexsort((arrays[sort], arrays[by]))
    arrays = {name: array[order] for name, array in arrays.items()}
    fresh = np.flatnonzero(np.diff(arrays[by], prepend=-1 - arrays[by][:1]))
    bounds = np.append(fresh, len(order))
    for first, last in portions(np.diff(bounds)):
        span = slice(int(bounds[first]), int(bounds[last]))
        columns = [wrapped(field.type, arrays[field.name][span]) for field in schema]
        yield partial(iter, (pa.RecordBatch.from_arrays(columns, schema=schema),))


def _pairs(schema: pa.Schema, by: str, sort: str, packed: Int64Array, rows: int) -> Batches:
    """Make batches of numbers that were packed: a group can have millions of rows, to which joins add what is wide."""
    for begin in range(0, len(packed), rows):
        some = packed[begin : begin + rows]
        columns = {by: _upper(some), sort: some & _LOW}
        yield pa.RecordBatch.from_arrays([to_arrow(columns[name]) for name in schema.names], schema=schema)
