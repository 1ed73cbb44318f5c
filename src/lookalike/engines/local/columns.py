"""Columns as arrays in the parts of a workspace, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ...files.layout import ChunkedArray
from ...files.workspace import Workspace
from ...values import Int64Array
from ...values.arrow import rows_of, to_arrow, to_numpy, wrapped

Arrays = Mapping[str, NDArray[Any]]
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


def numbered(kind: pa.DataType, values: NDArray[Any], rows: Int64Array) -> pa.Array:
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
