"""NumPy arrays as columns of Arrow and back, without copying more than bits of booleans.

``pyarrow.array``, ``pyarrow.scalar`` and ``to_numpy`` do as much, but their first call imports pandas, where it is installed,
and ``numpy.ma``: that takes longer than a small job.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

LARGE = 1 << 20  # bytes of a text of whose kind one is worked on at a time: what is made of it can take many times as much
_type_of = cache(pa.from_numpy_dtype)
_KEPT = {-1: 8 << 20, -3: 4 << 20}  # M_TRIM_THRESHOLD, M_MMAP_THRESHOLD
_large = threading.RLock()


def give_back() -> None:
    """Give memory that was freed back to the system, of which Arrow and the C library keep much."""
    pa.default_memory_pool().release_unused()
    with suppress(OSError, AttributeError):  # a C library without it
        ctypes.CDLL(None).malloc_trim(0)


def keep_little() -> None:
    """Have the GNU C library give large pieces back as they are freed; it would keep those as large as others before."""
    with suppress(OSError, AttributeError):
        for option, n_bytes in _KEPT.items():
            ctypes.CDLL(None).mallopt(option, n_bytes)


@contextmanager
def alone(n_bytes: int) -> Iterator[None]:
    """Let no other thread work on a large text meanwhile, if the longest of some has so many bytes; then give memory back."""
    if n_bytes <= LARGE:
        yield
        return
    with _large:
        yield
        give_back()


def to_arrow(values: NDArray[Any], missing: NDArray[np.bool_] | None = None) -> pa.Array:
    """Return an array of numbers or booleans as a column, null where ``missing``."""
    if values.dtype == np.bool_:
        data = np.packbits(values, bitorder="little")
    elif values.flags.c_contiguous and values.dtype.isnative:
        data = values
    else:
        data = np.ascontiguousarray(values, values.dtype.newbyteorder("="))
    return pa.Array.from_buffers(_type_of(values.dtype), len(values), [validity(missing), pa.py_buffer(data)])


def wrapped(kind: pa.DataType, values: NDArray[Any], missing: NDArray[np.bool_] | None = None) -> pa.Array:
    """Return an array of fixed width as an Arrow column, without copying it; null where ``missing``."""
    valid = validity(missing)
    if pa.types.is_fixed_size_binary(kind):
        return pa.Array.from_buffers(kind, len(values), [valid, pa.py_buffer(np.ascontiguousarray(values))])
    if pa.types.is_fixed_size_list(kind):
        inside = to_arrow(np.ascontiguousarray(values).reshape(-1).view(np.int64))
        return pa.Array.from_buffers(kind, len(values), [valid], children=[inside])
    column = to_arrow(values, missing)
    return column if column.type == kind else column.cast(kind)


def rows_of(column: pa.Array, values: NDArray[Any], width: int) -> NDArray[Any]:
    """Return what a column holds of its buffer, given as values, of which each row has so many."""
    return values[column.offset * width : (column.offset + len(column)) * width]


def validity(missing: NDArray[np.bool_] | None) -> pa.Buffer | None:
    """Return which values are not missing, as Arrow keeps it; None: all are there."""
    return None if missing is None or not missing.any() else pa.py_buffer(np.packbits(~missing, bitorder="little"))


def to_numpy(column: pa.Array | pa.ChunkedArray, missing: float = np.nan) -> NDArray[Any]:
    """Return a column of numbers or booleans as an array, to be read only; nulls become ``missing``."""
    if isinstance(column, pa.ChunkedArray):
        parts = [to_numpy(chunk, missing) for chunk in column.chunks or [pa.nulls(0, column.type)]]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)
    n, offset, (valid, data) = len(column), column.offset, column.buffers()
    if pa.types.is_boolean(column.type):
        values = _bits(data, offset, n)
    else:
        dtype = _dtype_of(column.type)
        values = np.frombuffer(data, dtype, n, offset * dtype.itemsize) if n else np.empty(0, dtype)
        values.flags.writeable = False
    return np.where(_bits(valid, offset, n), values, missing) if column.null_count else values


@cache
def _dtype_of(kind: pa.DataType) -> np.dtype[Any]:
    """Return the type of numbers; Arrow's own way imports pandas, too, before version 21."""
    if not (pa.types.is_floating(kind) or pa.types.is_integer(kind)):
        raise pa.ArrowTypeError(f"{kind} is not a type of numbers")
    letter = "f" if pa.types.is_floating(kind) else "u" if pa.types.is_unsigned_integer(kind) else "i"
    return np.dtype(f"{letter}{kind.bit_width // 8}")


def _bits(data: pa.Buffer, offset: int, n: int) -> NDArray[np.bool_]:
    """Return bits as booleans."""
    if not n:
        return np.empty(0, np.bool_)
    begin = offset // 8
    some = np.frombuffer(data, np.uint8, (offset + n + 7) // 8 - begin, begin)
    return np.unpackbits(some, count=offset % 8 + n, bitorder="little")[offset % 8 :].view(np.bool_)


def strings(items: Sequence[str | bytes | bytearray | None], kind: pa.DataType | None = None) -> pa.Array:
    """Return texts, or bytes, as a column, by default of type ``string``."""
    data = [item.encode() if isinstance(item, str) else item or b"" for item in items]
    offsets = np.zeros(len(data) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, data), np.int64, len(data)), out=offsets[1:])
    missing = np.fromiter((item is None for item in items), np.bool_, len(data))
    kind = pa.string() if kind is None else kind
    wide = pa.large_binary() if pa.types.is_large_binary(kind) else pa.large_string()
    column = pa.Array.from_buffers(wide, len(data), [validity(missing), pa.py_buffer(offsets), pa.py_buffer(b"".join(data))])
    return column if kind == wide else column.cast(kind)


def without_views(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column whose dictionary, if it has one, holds no views: Arrow can neither look these up nor write them."""
    kind = column.type
    if not pa.types.is_dictionary(kind) or not str(kind.value_type).endswith("_view"):
        return column
    plain = pa.large_string() if pa.types.is_string_view(kind.value_type) else pa.large_binary()
    chunks = [
        pa.DictionaryArray.from_arrays(chunk.indices, chunk.dictionary.cast(plain), ordered=kind.ordered)
        for chunk in column.chunks
    ]
    return pa.chunked_array(chunks, pa.dictionary(kind.index_type, plain, kind.ordered))


def nulled(column: pa.Array, missing: NDArray[np.bool_]) -> pa.Array:
    """Return a column with null where ``missing``. Arrow's ``if_else`` cuts bytes off sliced texts, before version 24."""
    return column.take(to_arrow(np.arange(len(column)), missing))


def string(value: str) -> pa.Scalar:
    """Return a text as Arrow compares it with a column of strings."""
    return strings([value])[0]


def no_rows(schema: pa.Schema) -> pa.Table:
    """Return a table without rows."""
    return pa.Table.from_batches([], schema)
