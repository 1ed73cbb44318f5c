"""The tables of the local engine: columns as arrays in a workspace, and rows that threads make piece by piece."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ...core.threads import in_order
from ...errors import IndexFormatError
from ...files.layout import ChunkedArray
from ...files.workspace import Workspace
from ...values import Int64Array
from ...values.arrays import runs
from ...values.arrow import rows_of, to_arrow, to_numpy, wrapped
from ..engine import Batches, Step

Arrays = Mapping[str, NDArray[Any]]
ROWS, CHUNK_BYTES = 1 << 16, 4 << 20  # of a stored table that a step is given at a time; bytes of texts in them, about
PART_BYTES = 32 << 20
UNFINISHED = -1  # no mark: a job that goes on makes these rows again
BAND = "{}-{:02}"  # each element of a list is an array of its own: one of all documents is gone through at a time


def inverse(order: NDArray[Any]) -> NDArray[Any]:
    """Return where each row comes in an order of all rows."""
    found = np.empty_like(order)
    found[order] = np.arange(len(order), dtype=order.dtype)
    return found


def arrays_of(batch: pa.RecordBatch) -> dict[str, NDArray[Any]]:
    """Return columns as arrays: numbers; rows of fixed width; bytes, with sizes; lists of one length, and which are missing."""
    found: dict[str, NDArray[Any]] = {}
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        kind = column.type
        if pa.types.is_fixed_size_binary(kind):
            width = kind.byte_width
            data = np.frombuffer(column.buffers()[1] or b"", np.uint8)
            found[name] = rows_of(column, data, width).reshape(-1, width)
        elif pa.types.is_fixed_size_list(kind):
            width = kind.list_size
            inside = column.values  # of a list that is missing they may be missing, too
            values = to_numpy(inside, 0)
            found[name] = rows_of(column, values, width).reshape(-1, width)
            found[f"{name}.missing"] = to_numpy(column.is_null())
        elif pa.types.is_large_binary(kind) or pa.types.is_large_string(kind):
            _, offsets, data = column.buffers()
            bounds = np.frombuffer(offsets, np.int64)[column.offset : column.offset + len(column) + 1]
            found[name] = np.frombuffer(data or b"", np.uint8)[bounds[0] : bounds[-1]]
            found[f"{name}.sizes"] = np.diff(bounds)
        else:
            found[name] = to_numpy(column)
    return found


def streamed(parts: list[dict[str, NDArray[Any]]], name: str = "keys") -> dict[str, ChunkedArray]:
    """Put columns together while they are written, without copying them; a list column is taken apart."""
    found: dict[str, ChunkedArray] = {}
    for column, first in parts[0].items():
        arrays = [part[column] for part in parts]
        n, kind = sum(map(len, arrays)), np.result_type(*arrays)
        if column != name:
            found[column] = ChunkedArray(kind, (n, *first.shape[1:]), arrays)
        else:
            for band in range(first.shape[1]):
                found[BAND.format(name, band)] = ChunkedArray(kind, (n,), [array[:, band] for array in arrays])
    return found


def _some(field: pa.Field, arrays: Arrays, rows: slice | Int64Array) -> NDArray[Any]:
    """Return rows of a column of a part, put together where it was taken apart."""
    if field.name in arrays:
        return arrays[field.name][rows]
    return np.stack([arrays[BAND.format(field.name, band)][rows] for band in range(field.type.list_size)], 1)


def column_of(field: pa.Field, arrays: Arrays, begin: int, end: int, chosen: Int64Array | None = None) -> pa.Array:
    """Return rows of a part, from ``begin`` to ``end`` or those ``chosen``, as an Arrow column."""
    kind = field.type
    if pa.types.is_large_binary(kind) or pa.types.is_large_string(kind):
        sizes = arrays[f"{field.name}.sizes"]
        offsets = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        data = arrays[field.name]
        column = pa.Array.from_buffers(kind, len(sizes), [None, pa.py_buffer(offsets), pa.py_buffer(data)])
        return column.slice(begin, end - begin) if chosen is None else column.take(to_arrow(chosen))
    missing = arrays.get(f"{field.name}.missing")
    rows = slice(begin, end) if chosen is None else chosen
    return wrapped(kind, _some(field, arrays, rows), None if missing is None else missing[rows])


def dictionary_column(kind: pa.DataType, values: NDArray[Any], rows: Int64Array) -> pa.Array:
    """Return rows of a column of fixed width as their numbers, with the whole column as dictionary: no byte is copied."""
    return pa.DictionaryArray.from_arrays(to_arrow(rows), wrapped(kind, values), safe=False)


def take_column(field: pa.Field, workspace: Workspace, parts: list[str], starts: Int64Array, rows: Int64Array) -> pa.Array:
    """Return a column at some rows of all parts, in the order given."""
    if len(parts) == 1:
        return column_of(field, workspace.get(parts[0]), 0, 0, rows)
    order = np.argsort(rows, kind="stable")
    bounds = np.searchsorted(rows[order], starts)
    pieces = []
    for i in np.flatnonzero(np.diff(bounds)).tolist():
        places = rows[order[bounds[i] : bounds[i + 1]]] - starts[i]
        pieces.append(column_of(field, workspace.get(parts[i]), 0, 0, places))
    if not pieces:
        return pa.nulls(0, field.type)
    return pa.concat_arrays(pieces).take(to_arrow(inverse(order)))


def numbered_type(kind: pa.DataType) -> pa.DataType:
    """Return the type of a column that comes as row numbers: those of bytes of fixed width do."""
    return pa.dictionary(pa.int64(), kind) if pa.types.is_fixed_size_binary(kind) else kind


@dataclass(frozen=True, slots=True)
class Piece:
    """Rows that one thread makes: how, and the mark from which a job goes on once they are kept."""

    make: Callable[[], Batches]
    mark: int = UNFINISHED


class LazyTable:
    """Rows that are made when they are asked for, some pieces at a time; ``pieces``: those after a mark."""

    def __init__(self, schema: pa.Schema, pieces: Callable[[int], Iterator[Piece]], threads: int) -> None:
        self.schema = schema
        self.pieces = pieces
        self.threads = threads

    def batches_and_marks(self, mark: int = 0) -> Iterator[pa.RecordBatch | int]:
        """Yield the rows after a mark, and after those of each piece its own mark."""
        if self.threads == 1:  # nothing is held that the caller does not want yet
            for piece in self.pieces(mark):
                yield from piece.make()
                yield piece.mark
            return
        for batches, done in in_order(_make_batches, self.pieces(mark), self.threads):
            batches.reverse()
            while batches:  # what was given is not held
                yield batches.pop()
            yield done

    def batches(self) -> Batches:
        return (batch for batch in self.batches_and_marks() if not isinstance(batch, int) and len(batch))

    def mapped(self, step: Step, schema: pa.Schema) -> LazyTable:

        def pieces(mark: int) -> Iterator[Piece]:
            for piece in self.pieces(mark):
                yield replace(piece, make=partial(_stepped, step, piece.make))

        return LazyTable(schema, pieces, self.threads)

    def slice(self, begin: int, end: int) -> LazyTable:
        """Refuse: rows that are not stored have no numbers."""
        raise TypeError("rows that are made when they are asked for are not counted: store them first")

    def select(self, names: Sequence[str]) -> LazyTable:
        schema = pa.schema([self.schema.field(name) for name in names])
        return self.mapped(partial(_select_columns, list(names)), schema)


class CachedPart(Mapping[str, NDArray[Any]]):
    """The arrays of a part, which is got when the first is needed; each is read once for all the pieces that are made of it."""

    def __init__(self, get: Callable[[], Arrays]) -> None:
        self._get, self._read = cache(get), dict[str, NDArray[Any]]()
        self._turn = threading.Lock()

    def __getitem__(self, name: str) -> NDArray[Any]:
        with self._turn:  # two threads would read it twice
            if name not in self._read:
                self._read[name] = self._get()[name]
            return self._read[name]

    def __contains__(self, name: object) -> bool:
        """Tell whether there is an array of that name, without reading it."""
        return name in self._get()

    def __iter__(self) -> Iterator[str]:
        return iter(self._get())

    def __len__(self) -> int:
        return len(self._get())


def _make_batches(piece: Piece) -> tuple[list[pa.RecordBatch], int]:
    return list(piece.make()), piece.mark


def _stepped(step: Step, make: Callable[[], Batches]) -> Batches:
    return step(make())


def _select_columns(names: list[str], rows: Batches) -> Batches:
    return (batch.select(names) for batch in rows)


def one_piece(schema: pa.Schema, make: Callable[[], Batches]) -> LazyTable:
    """Return rows as one piece, so that a step meets them all."""
    return LazyTable(schema, lambda mark: iter([Piece(make, 1)][mark:]), 1)


def union(tables: Sequence[LazyTable], threads: int) -> LazyTable:
    """Return the rows of some tables of one schema, one after the other; what was made of them is not to be found again."""

    def pieces(mark: int) -> Iterator[Piece]:
        for table in tables:
            for piece in table.pieces(0):
                yield Piece(piece.make)

    return LazyTable(tables[0].schema, pieces, threads)


class Stored(LazyTable):
    """Rows in the parts of a workspace, each column as arrays.

    ``starts``, the first row of each part, has one more entry at the end; ``place`` is the ``order`` of each row; ``mask`` says
    which rows are there, ``span`` which are gone through. ``ranked``: there is a row for each document, whose order is its
    number, or its ``place``.
    """

    def __init__(
        self, workspace: Workspace, parts: list[str], starts: Int64Array, schema: pa.Schema, threads: int, *,
        place: NDArray[Any] | None = None, mask: NDArray[np.bool_] | None = None, ranked: bool = False,
        span: tuple[int, int] | None = None,
    ) -> None:  # fmt: skip
        self.workspace, self.parts, self.starts, self.schema, self.threads = workspace, parts, starts, schema, threads
        self.place, self.mask, self.ranked = place, mask, ranked
        self.span = (0, len(self)) if span is None else span

    def __len__(self) -> int:
        """Return the number of rows, those left out by the mask too."""
        return int(self.starts[-1])

    def having(self, **changed: Any) -> Stored:
        """Return the same rows with another schema, place, mask or span."""
        known = {name: getattr(self, name) for name in ("schema", "place", "mask", "ranked", "span")} | changed
        return Stored(self.workspace, self.parts, self.starts, known.pop("schema"), self.threads, **known)

    def select(self, names: Sequence[str]) -> Stored:
        return self.having(schema=pa.schema([self.schema.field(name) for name in names]))

    def slice(self, begin: int, end: int) -> Stored:
        """Return some rows, by number; places and masks stay those of all rows."""
        return self.having(span=(begin, end))

    def columns(self, *names: str) -> Iterator[tuple[int, list[NDArray[Any]]]]:
        """Yield (first row, some arrays) of part after part, masked rows too."""
        for part, first in zip(self.parts, self.starts.tolist(), strict=False):
            arrays = self.workspace.get(part)
            yield first, [arrays[name] for name in names]

    def column(self, name: str) -> NDArray[Any]:
        """Return one array of all rows, masked rows too."""
        parts = [arrays[0] for _, arrays in self.columns(name)]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    @cached_property
    def row_of(self) -> NDArray[Any]:
        """The row of each order."""
        assert self.place is not None
        return inverse(self.place)

    def orders_at(self, rows: NDArray[Any]) -> Int64Array:
        return (rows if self.place is None else self.place[rows]).astype(np.int64, copy=False)

    def rows_at(self, orders: NDArray[Any]) -> Int64Array:
        return (orders if self.place is None else self.row_of[orders]).astype(np.int64, copy=False)

    def rows_in_order(self) -> NDArray[Any]:
        """Return the rows that are there, in the order of ``order``."""
        if self.place is None:
            return np.arange(len(self)) if self.mask is None else np.flatnonzero(self.mask)
        return self.row_of if self.mask is None else self.row_of[self.mask[self.row_of]]

    def take(self, name: str, rows: Int64Array) -> pa.Array:
        """Return a column at some rows, in the order given."""
        return take_column(self.schema.field(name), self.workspace, self.parts, self.starts, rows)

    def batch_of(self, rows: Int64Array) -> pa.RecordBatch:
        """Return some rows, in the order given."""
        columns = [
            to_arrow(self.orders_at(rows)) if field.name == "order" else self.take(field.name, rows) for field in self.schema
        ]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    @property
    def in_one(self) -> bool:
        """Whether each column is one array."""
        return len(self.parts) == 1

    def missing(self, orders: Int64Array) -> NDArray[np.bool_]:
        """Tell which orders have no row among those that a mask has left."""
        return np.zeros(len(orders), np.bool_) if self.mask is None else ~self.mask[self.rows_at(orders)]

    def at(self, orders: Int64Array, name: str, whole: bool = False) -> pa.Array:
        """Return a column at some orders; with ``whole``, bytes of fixed width as row numbers of a whole column."""
        rows, kind = self.rows_at(orders), self.schema.field(name).type
        if whole and pa.types.is_fixed_size_binary(kind):
            return dictionary_column(kind, self.workspace.get(self.parts[0])[name], rows)
        return self.take(name, rows)

    def _chunk(self, part: int, arrays: Arrays, begin: int, end: int) -> Batches:
        """Make a batch of some rows of a part, given its arrays."""
        first = int(self.starts[part])
        chosen = None if self.mask is None else begin + np.flatnonzero(self.mask[first + begin : first + end])
        columns = []
        for field in self.schema:
            if field.name == "order" and "order" not in arrays:
                rows = np.arange(first + begin, first + end) if chosen is None else first + chosen
                columns.append(to_arrow(self.orders_at(rows)))
            else:
                columns.append(column_of(field, arrays, begin, end, chosen))
        yield pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def pieces(self, mark: int = 0) -> Iterator[Piece]:
        """Yield the rows, some thousands at a time; marks count rows."""
        start, stop = max(mark, self.span[0]), self.span[1]
        for part in range(len(self.parts)):
            first, n = int(self.starts[part]), int(self.starts[part + 1] - self.starts[part])
            last = min(n, stop - first)
            arrays = CachedPart(partial(self.workspace.get, self.parts[part]))
            for begin, end in self._cut(arrays, max(0, start - first), last):
                yield Piece(partial(self._chunk, part, arrays, begin, end), first + end)

    def _cut(self, arrays: Arrays, begin: int, end: int) -> list[tuple[int, int]]:
        """Cut rows of a part into runs of ``ROWS`` at most, and of about ``CHUNK_BYTES`` of texts."""
        end = max(begin, end)
        number = np.arange(end - begin) // ROWS
        for field in self.schema:
            if pa.types.is_large_binary(field.type) or pa.types.is_large_string(field.type):
                sizes = np.cumsum(arrays[f"{field.name}.sizes"][begin:end])
                number += (sizes - sizes[:1]) // CHUNK_BYTES
        return [(begin + first, begin + last) for first, last in runs(number)]


class TableWriter:
    """One table on its way into parts of ``room`` bytes at most; continues where an earlier run ended.

    Each part records up to which mark of the table it goes; one that ends within a piece is of no use after a crash. A table
    that is complete records how many parts it has. ``count`` is told how many bytes more are kept.
    """

    def __init__(
        self, workspace: Workspace, schema: pa.Schema, name: str, room: int, threads: int, count: Callable[[int], None]
    ) -> None:
        self.workspace, self.schema, self.name, self.threads, self._count = workspace, schema, name, threads, count
        self.mark = 0
        self._waiting: list[dict[str, NDArray[Any]]] = []
        self._bytes = 0
        self._part = min(PART_BYTES, room)
        self.done = f"{name}-done" in self.workspace
        parts = self.workspace.numbered_names(name)
        if self.done and int(self.workspace.get(f"{name}-done")["parts"][0]) != len(parts):
            raise IndexFormatError("parts of the job are missing; empty the folder and start again", self.workspace.folder)
        if not self.done:
            marks = [int(self.workspace.get(part)["mark"][0]) for part in parts]
            while marks and marks[-1] == UNFINISHED:
                marks.pop()
                self.workspace.discard(parts.pop())
            self.mark = marks[-1] if marks else 0

    def take(self, batch: pa.RecordBatch) -> None:
        arrays = arrays_of(batch)
        n_bytes = sum(array.nbytes for array in arrays.values())
        self._waiting.append(arrays)
        self._bytes += n_bytes
        self._count(n_bytes)
        if self.workspace.on_disk and self._bytes > 2 * self._part:
            self._flush(UNFINISHED)

    def end(self, mark: int) -> None:
        """Take note that all rows up to a mark have come."""
        self.mark = mark
        limit = self._part if self.workspace.on_disk else PART_BYTES
        if self._bytes > limit:  # in memory too: to put all of a table together would take its memory twice
            self._flush(mark)

    def _flush(self, mark: int) -> None:
        waiting, self._waiting, self._bytes = self._waiting, [], 0
        self.workspace.append(self.name, streamed(waiting) | {"mark": np.array([mark])})

    def finish(self) -> Stored:
        if self._waiting:
            self._flush(self.mark)
        if not self.workspace.numbered_names(self.name):
            none = [pa.nulls(0, field.type) for field in self.schema]
            self._waiting = [arrays_of(pa.RecordBatch.from_arrays(none, schema=self.schema))]
            self._flush(self.mark)
        parts = self.workspace.numbered_names(self.name)
        if not self.done:
            self.workspace.put(f"{self.name}-done", {"parts": np.array([len(parts)])})
        first = self.schema.names[0]
        starts = np.cumsum([0, *(len(self.workspace.get(part)[first]) for part in parts)])
        return Stored(self.workspace, parts, starts, self.schema, self.threads)
