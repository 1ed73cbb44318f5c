"""Look-ups by order: what the local engine joins with."""

from __future__ import annotations

import math
import mmap
import os
import weakref
from collections.abc import Callable
from itertools import chain, pairwise
from typing import IO, Any

import numpy as np
import pyarrow as pa
from numpy.typing import DTypeLike, NDArray

from ...files.atomic import reporting
from ...files.workspace import Workspace
from ...text.texts import Texts
from ...values import Int64Array
from ...values.arrays import number_type, runs
from ...values.arrow import nulled, to_arrow, to_numpy, wrapped
from ..engine import Batches, Table
from .tables import Stored, arrays_of, dictionary_column

TEXT_BYTES = 2 << 20
Take = Callable[[Int64Array, str], pa.Array]
NEAR, TOGETHER = 4096, 1 << 20  # bytes: a gap that is read rather than passed over; what is read at one go, at most
FEW = 8  # rows are few if there are so many orders for each


class FileArray:
    """Zeros in a file, rows of which are written and read; mapped, each row would bring many pages into memory."""

    def __init__(self, file: IO[bytes], shape: tuple[int, ...], dtype: DTypeLike) -> None:
        self._file, self._shape, self.dtype = file, shape[1:], np.dtype(dtype)
        self._width = self.dtype.itemsize * math.prod(shape[1:])
        file.truncate(shape[0] * self._width)
        weakref.finalize(self, file.close)

    def __setitem__(self, orders: Int64Array, values: NDArray[Any]) -> None:
        """Write rows, those that follow each other at once."""
        data = np.ascontiguousarray(values, self.dtype).reshape(-1).view(np.uint8).data
        starts = np.flatnonzero(np.diff(orders, prepend=-2) != 1).tolist()
        for begin, end in pairwise([*starts, len(orders)]):
            os.pwrite(self._file.fileno(), data[begin * self._width : end * self._width], int(orders[begin]) * self._width)

    def __getitem__(self, orders: Int64Array) -> NDArray[Any]:
        """Read rows, each once; what lies between those that are near each other is read with them."""
        once, places = np.unique(orders, return_inverse=True)
        values = np.empty((len(once), self._width), np.uint8)
        near, together = max(1, NEAR // self._width), max(1, TOGETHER // self._width)
        apart = (np.diff(once) > near) | (np.diff(once // together) != 0)
        bounds = [0, *(np.flatnonzero(apart) + 1).tolist(), len(once)]
        for begin, end in pairwise(bounds if len(once) else []):
            first, last = int(once[begin]), int(once[end - 1])
            data = os.pread(self._file.fileno(), (last + 1 - first) * self._width, first * self._width)
            values[begin:end] = np.frombuffer(data, np.uint8).reshape(-1, self._width)[once[begin:end] - first]
        return np.asarray(values[places].view(self.dtype).reshape(len(orders), *self._shape))


class MappedTotals:
    """Large totals of a job on the disk: in files that are mapped, whose pages leave the memory until they are needed again."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._maps: list[weakref.ref[mmap.mmap]] = []

    def place_total(self, total: NDArray[Any], most: int) -> NDArray[Any]:
        """Return a total, in a file if it has more than so many bytes."""
        if not self._workspace.on_disk or total.nbytes <= most:
            return total
        import tempfile  # here, for what is not needed to start

        folder = self._workspace.folder
        with tempfile.TemporaryFile(dir=folder) as file, reporting(str(folder)):
            os.truncate(file.fileno(), total.nbytes)
            if hasattr(os, "posix_fallocate"):  # a full disk is an error now, not a signal later
                os.posix_fallocate(file.fileno(), 0, total.nbytes)
            mapped = mmap.mmap(file.fileno(), total.nbytes)
        self._maps.append(weakref.ref(mapped))
        placed: NDArray[Any] = np.frombuffer(mapped, total.dtype).reshape(total.shape)
        if total.any():
            placed[...] = total
        return placed

    def let_go(self) -> None:
        """Take the pages out of this process."""
        for mapped in filter(None, (known() for known in self._maps)):
            if hasattr(mmap, "MADV_DONTNEED"):  # not where the system has no such advice
                mapped.madvise(mmap.MADV_DONTNEED)


class RankLookup:
    """Rows of fixed width by order (of ``n``), at most one of each: arrays by order, or if few, by rank among sorted orders."""

    def __init__(
        self, rows: Table, n: int, make: Callable[[tuple[int, ...], Any], NDArray[Any] | FileArray] = np.zeros
    ) -> None:
        self.fields = [field for field in rows.schema if field.name != "order"]
        self._arrays: dict[str, NDArray[Any] | FileArray] = {}
        self._orders: NDArray[Any] | None = None
        batches = rows.batches()
        few: list[dict[str, NDArray[Any]]] = []
        count = 0
        for batch in batches:
            few.append(arrays_of(batch))
            count += len(batch)
            if count * FEW > n:
                break
        else:
            self._sort(few, n)
            return
        self._present = np.zeros(n, np.bool_)
        for arrays in chain(few, map(arrays_of, batches)):
            order = arrays.pop("order")
            self._present[order] = True
            for name, values in arrays.items():
                if name not in self._arrays:
                    self._arrays[name] = make((n, *values.shape[1:]), values.dtype)
                self._arrays[name][order] = values
        self.in_one = not any(isinstance(array, FileArray) for array in self._arrays.values())

    def _sort(self, few: list[dict[str, NDArray[Any]]], n: int) -> None:
        names = list(few[0]) if few else []
        arrays = {name: np.concatenate([part[name] for part in few]) for name in names}
        order = arrays.pop("order", np.empty(0, np.int64))
        by_order = np.argsort(order, kind="stable")
        self._orders = order[by_order].astype(number_type(n))
        self._arrays = {name: values[by_order] for name, values in arrays.items()}
        self.in_one = True

    def _find_rows(self, orders: Int64Array) -> tuple[Int64Array, NDArray[np.bool_]]:
        """Return where the rows of some orders are, and which are not there."""
        if self._orders is None:
            return orders, ~self._present[orders]
        if not len(self._orders):
            return np.zeros(len(orders), np.int64), np.ones(len(orders), np.bool_)
        places = np.searchsorted(self._orders, orders.astype(self._orders.dtype, copy=False))
        places[places == len(self._orders)] = 0
        return places, self._orders[places] != orders

    def at(self, orders: Int64Array, name: str, whole: bool = False) -> pa.Array:
        """Return a column at some orders, null where there is no row.

        With ``whole``, bytes of fixed width come as row numbers of the whole column; then all orders must have a row.
        """
        field = next(field for field in self.fields if field.name == name)
        if name not in self._arrays:
            if whole and pa.types.is_fixed_size_binary(field.type):
                return dictionary_column(field.type, np.empty((0, field.type.byte_width), np.uint8), orders)
            return pa.nulls(len(orders), field.type)
        array, (places, gone) = self._arrays[name], self._find_rows(orders)
        if isinstance(array, FileArray):
            return wrapped(field.type, array[places], gone)
        if whole and pa.types.is_fixed_size_binary(field.type):
            return dictionary_column(field.type, array, places)
        return wrapped(field.type, array[places] if len(array) else np.zeros(len(orders), array.dtype), gone)

    def missing(self, orders: Int64Array) -> NDArray[np.bool_]:
        """Tell which orders have no row."""
        return self._find_rows(orders)[1]


def join_rows(
    schema: pa.Schema, on: str, names: list[str], take: Take, missing: Callable[[Int64Array], NDArray[np.bool_]], how: str,
    rows: Batches,
) -> Batches:  # fmt: skip
    for batch in rows:
        given = batch.column(on)
        orders = to_numpy(given, 0)
        gone = missing(orders)
        if given.null_count:
            gone |= to_numpy(given.is_null())
        if how == "inner" and gone.any():
            batch, orders, gone = batch.filter(to_arrow(~gone)), orders[~gone], gone[~gone]
        columns = [take(orders, name) for name in names]
        if gone.any():
            columns = [nulled(column, gone) for column in columns]
        yield pa.RecordBatch.from_arrays([*batch.columns, *columns], schema=schema)


def filter_rows(on: str, present: NDArray[np.bool_], wanted: bool, rows: Batches) -> Batches:
    """Keep the rows whose order is, or is not, among some."""
    for batch in rows:
        orders = batch.column(on)
        chosen = present[to_numpy(orders, 0)] if len(present) else np.zeros(len(batch), np.bool_)
        if orders.null_count:
            chosen &= to_numpy(orders.is_valid())
        chosen = chosen == wanted
        yield batch if chosen.all() else batch.filter(to_arrow(chosen))


def with_text(
    schema: pa.Schema, on: str, texts_at: Callable[[Int64Array], Texts], sizes_at: Callable[[Int64Array], Int64Array],
    rows: Batches,
) -> Batches:  # fmt: skip
    """Add the text of each row, about two megabytes at a time."""
    for whole in rows:
        if not len(whole):
            continue
        orders = to_numpy(whole.column(on))
        sizes = sizes_at(orders)
        for begin, end in runs((np.cumsum(sizes) - sizes) // TEXT_BYTES):
            batch = whole.slice(begin, end - begin)
            yield pa.RecordBatch.from_arrays([*batch.columns, texts_at(orders[begin:end]).column()], schema=schema)


def with_streamed_texts(schema: pa.Schema, left: Stored, there: NDArray[np.bool_], first: int, texts: Texts) -> Batches:
    """Add texts to the rows from ``first`` on, of those that are there."""
    chosen = np.flatnonzero(there[first : first + len(texts)])
    column = texts.column()
    rows = left.batch_of(first + chosen)
    yield pa.RecordBatch.from_arrays(
        [*rows.columns, column if len(chosen) == len(texts) else column.take(to_arrow(chosen))], schema=schema
    )
