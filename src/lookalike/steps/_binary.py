"""Binary columns whose rows are equally long, as arrays of bytes without copies."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..values import Int64Array
from ..values.arrow import to_numpy


def row_starts(column: pa.Array, width: int) -> tuple[NDArray[np.uint8], Int64Array]:
    """Return (bytes, where in them each row begins) of a column of ``width`` bytes a row, dictionary-encoded or not."""
    if isinstance(column, pa.DictionaryArray):
        rows, column = to_numpy(column.indices), column.dictionary
    else:
        rows = np.arange(len(column))
    begin, buffers = column.offset * width, column.buffers()
    if not pa.types.is_fixed_size_binary(column.type) and len(rows):
        begin = int(np.frombuffer(buffers[1], np.int64 if pa.types.is_large_binary(column.type) else np.int32)[column.offset])
    starts = rows.astype(np.int64, copy=False) * width + begin
    if buffers[-1] is None:
        return np.empty(0, np.uint8), starts
    return np.frombuffer(buffers[-1], np.uint8), starts


def words_of(column: pa.Array, width: int, dtype: type) -> NDArray[np.generic]:
    """Return a column of ``width`` bytes a row as an array of little-endian words, of shape (rows, words)."""
    if isinstance(column, pa.DictionaryArray):
        column = column.dictionary_decode()
    data, starts = row_starts(column, width)
    begin = int(starts[0]) if len(starts) else 0
    return data[begin : begin + width * len(starts)].view(dtype).reshape(len(starts), width // np.dtype(dtype).itemsize)
