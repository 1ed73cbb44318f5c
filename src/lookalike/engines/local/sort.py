"""How rows of equal keys meet in the local engine, and get their place in keep order: by sorting, in memory or in parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ...core import KeyGroups, digest_documents, sort_distinct
from ...files.secrets import new_secret
from ...files.workspace import Workspace
from ...hashing import digest_secret
from ...values import Int64Array, UInt64Array
from ...values.arrays import number_type, places_of
from ...values.arrow import to_arrow, to_numpy, wrapped
from ..engine import Batches, Table
from ..progress import Share, WorkProgress
from .tables import BAND, LazyTable, Piece, Stored, arrays_of, column_of, one_piece

MEMBERS = 1 << 20  # rows of a batch, about
SPREAD = 64
BLOCK = 1 << 16
DISTINCT_BYTES = 32 << 20
JOINED = 64  # bytes that a join may add to a row
PACKED = "packed"
"""Names two numbers of 32 bits in one, where there are no other columns: one array of integers sorts faster than an index."""
_LOW = (1 << 32) - 1
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
Arrays = dict[str, NDArray[Any]]
LAST = np.iinfo(np.int64).max
FEW = 1 << 12  # rows that are sorted sooner than a thread is started


def portions(sizes: Int64Array) -> Iterator[tuple[int, int]]:
    """Cut groups of such sizes into runs of about so many rows."""
    if not len(sizes):
        return
    before = np.cumsum(sizes) - sizes
    starts = np.flatnonzero(np.diff(before // MEMBERS, prepend=-1)).tolist()
    yield from zip(starts, [*starts[1:], len(sizes)], strict=True)


def by_list(rows: Stored, by: str, threads: int, share: Share | None = None) -> LazyTable:
    """Bring documents of an equal element of a list together; those that are alone with it are left out."""
    schema = pa.schema([pa.field("key", pa.int64()), pa.field("order", pa.int64())])
    width = rows.schema.field(by).type.list_size

    def pieces(mark: int) -> Iterator[Piece]:
        chosen = _RowsWithValue(rows, ~rows.column(f"{by}.missing"))
        counted = WorkProgress(share, "links", width - mark, "bands", threads)
        for band in range(mark, width if len(chosen.orders) > 1 else 0):
            counted.add(1)
            yield Piece(partial(_equal_keys, schema, rows, by, chosen, band), band + 1)
        counted.end()

    return LazyTable(schema, pieces, threads if len(rows) > FEW else 1)


class _RowsWithValue:
    """Rows that have a value (``there``) and are not left out: their orders, ascending, and each row's place among these."""

    def __init__(self, rows: Stored, there: NDArray[np.bool_]) -> None:
        if rows.mask is not None:
            there &= rows.mask
        self._there = there
        self._place: NDArray[Any] | None = None
        if rows.place is None:
            self.orders = places_of(there)
            return
        ordered = np.empty(len(there), np.bool_)
        ordered[rows.place] = there
        self.orders = places_of(ordered)
        places = np.cumsum(ordered, dtype=self.orders.dtype)
        places -= 1  # of the first one, if it is not chosen, this is no place; it is not asked for
        self._place = places[rows.place]

    def put(self, first: int, values: NDArray[Any], out: NDArray[Any], done: int) -> int:
        """Put the values of rows from ``first`` on in their places, after those of ``done`` rows; return how many are done."""
        there = self._there[first : first + len(values)]
        some = values[there]
        ended = done + len(some)
        out[slice(done, ended) if self._place is None else self._place[first : first + len(values)][there]] = some
        return ended


def _equal_keys(schema: pa.Schema, rows: Stored, by: str, chosen: _RowsWithValue, band: int) -> Batches:
    """Sort one key of the chosen documents; make batches of those that share theirs."""
    keys, done = np.empty(len(chosen.orders), np.uint64), 0
    for first, (part,) in rows.columns(BAND.format(by, band)):
        done = chosen.put(first, part.view(np.uint64), keys, done)
    groups = KeyGroups(keys)
    while len(places := groups.next(MEMBERS)):
        orders = chosen.orders[places].astype(np.int64)
        yield pa.RecordBatch.from_arrays([to_arrow(keys[places].view(np.int64)), to_arrow(orders)], schema=schema)


def by_bytes(rows: Stored, by: str, sort: str, memory: int, threads: int) -> LazyTable:
    """Bring rows of equal bytes together, in as many passes as fit so many bytes; those that are alone are left out.

    Bytes of more than 128 bits are told apart by a keyed digest, with a secret of this meeting alone.
    """
    secret = digest_secret(new_secret(), by)

    def pieces(mark: int) -> Iterator[Piece]:
        passes = max(1, -(-64 * len(rows) // memory))
        for number in range(passes):  # no marks: how many passes there are depends on the memory
            yield Piece(partial(_equal_bytes, rows, by, sort, (number, passes), secret))

    return LazyTable(rows.schema, pieces, 1 if rows.workspace.on_disk else threads)


def _words(rows: Stored, by: str, secret: UInt64Array) -> Iterator[tuple[int, NDArray[np.uint64]]]:
    """Yield (first row, 128 bits of each value) of part after part."""
    if pa.types.is_fixed_size_binary(rows.schema.field(by).type):
        for first, (values,) in rows.columns(by):
            yield first, values.view(np.uint64)
        return
    for first, (data, sizes) in rows.columns(by, f"{by}.sizes"):
        offsets = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        yield first, digest_documents(data, offsets, secret)


def _equal_bytes(rows: Stored, by: str, sort: str, place: tuple[int, int], secret: UInt64Array) -> Batches:
    """Make batches of the rows that share their bytes, of one of some passes: which of them, and how many."""
    number, passes = place
    parts = []
    for first, words in _words(rows, by, secret):
        # By low bits: digests are below 2^61.
        chosen = ((words[:, 0] & np.uint64(_LOW)) * np.uint64(passes) >> np.uint64(32)) == number
        if rows.mask is not None:
            chosen &= rows.mask[first : first + len(words)]
        parts.append((first + np.flatnonzero(chosen), words[chosen]))
    at, words = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(words[:, 0], kind="stable")
    same = words[order[1:], 0] == words[order[:-1], 0]
    several = np.zeros(len(order), np.bool_)
    several[1:] |= same
    several[:-1] |= same
    at, words = at[order[several]], words[order[several]]
    by_place = at if sort != "order" else rows.orders_at(at)
    order = np.lexsort((by_place, words[:, 1], words[:, 0]))
    at, words = at[order], words[order]
    fresh = np.ones(len(at), np.bool_)
    fresh[1:] = (words[1:] != words[:-1]).any(1)
    sizes = np.diff(np.append(np.flatnonzero(fresh), len(at)))
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    for first, last in portions(sizes):
        yield rows.batch_of(at[bounds[first] : bounds[last]])


def all_together(rows: Stored) -> LazyTable:
    """Bring all rows together, in the order of ``order``."""
    return one_piece(rows.schema, lambda: iter([rows.batch_of(rows.rows_in_order())]))


def _values(rows: Stored, name: str) -> Int64Array:
    """Return numbers that are ordered like a column; bytes are ranked, and no bytes are a null, which comes last."""
    descending, name = name.startswith("-"), name.removeprefix("-")
    field = rows.schema.field(name)
    if pa.types.is_integer(field.type):
        values = rows.column(name)
        return -values if descending else values
    parts = [(rows.workspace.get(part), int(n)) for part, n in zip(rows.parts, np.diff(rows.starts), strict=True)]
    column = pa.chunked_array([column_of(field, arrays, 0, n) for arrays, n in parts], field.type)
    ranks = to_numpy(pc.rank(column, "ascending", tiebreaker="dense")).astype(np.int64)
    empty = np.concatenate([arrays[f"{name}.sizes"] == 0 for arrays, _ in parts])
    return np.where(empty, LAST, -ranks if descending else ranks)


def places(rows: Stored, by: Sequence[str], n_references: int) -> NDArray[Any] | None:
    """Return the order of each row: references first, as they came; then by the columns. None: the row's own number."""
    if list(by) == ["position"]:
        return None
    given = [name for name in by if name != "position" or name != by[-1]]  # rows are in the order of position as they are
    columns = [_values(rows, name)[n_references:] for name in given]
    sorted_rows = np.argsort(columns[0], kind="stable") if len(columns) == 1 else np.lexsort(columns[::-1])
    del columns
    order = np.arange(len(rows), dtype=number_type(len(rows)))
    order[n_references:][sorted_rows] = order[n_references:].copy()
    return order


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
            waiting.append(sorting.pack_numbers(arrays_of(batch)))
            size += _size(waiting[-1:])
            if once and size > enough:
                waiting = [_distinct(sorting.join_parts(waiting))]
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
            together = sorting.join_parts(waiting)
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

    def pack_numbers(self, arrays: Arrays) -> Arrays:
        """Pack two small numbers."""
        if set(arrays) != {self.by, self.sort} or max(int(a.view(np.uint64).max(initial=0)) for a in arrays.values()) > _LOW:
            return arrays
        return {PACKED: arrays[self.by] << 32 | arrays[self.sort]}

    def join_parts(self, parts: list[Arrays]) -> Arrays:
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
            together = self.join_parts(some)
            rows = len(next(iter(together.values())))
            for begin, end in pairwise(np.linspace(0, rows, pieces + 1, dtype=np.int64).tolist()):
                parts = self.parts({name: array[begin:end] for name, array in together.items()})
                workspace.append(stem, {f"{number} {name}": array for number, part in parts for name, array in part.items()})

    def read(self, workspace: Workspace, stem: str, number: int) -> Batches:
        """Read the rows of one part of the numbers, and sort them."""
        parts: list[Arrays] = []
        enough = 0
        for name in workspace.numbered_names(stem):
            arrays = workspace.get(name)
            mine = [key for key in arrays if key.startswith(f"{number} ")]
            if mine:
                parts.append({key.partition(" ")[2]: arrays[key] for key in mine})
            if self.once and _size(parts) > enough:  # the first documents of a crowd meet all others in every band
                parts = [_distinct(self.join_parts(parts))]
                enough = max(DISTINCT_BYTES // 8, 2 * _size(parts))
        if parts:
            together = self.join_parts(parts)
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
