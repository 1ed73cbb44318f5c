"""Columns of record batches as arrays, arrays as record batches, and rows cut anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..errors import InputDataError, RowError
from ..text.texts import Texts, from_arrow_array, most_tokens
from ..values import Int64Array
from ..values.arrow import to_arrow, to_numpy

Batches = Iterator[pa.RecordBatch]
PIECE_WEIGHT = 2 << 20
DIGEST_BYTES = 16
Word = TypeVar("Word", np.uint16, np.uint32, np.uint64)


def ints(batch: pa.RecordBatch, name: str) -> Int64Array:
    """Return a column of integers without nulls, without copying."""
    return np.asarray(to_numpy(batch.column(name)), np.int64)


def ints_or(batch: pa.RecordBatch, name: str, missing: int) -> Int64Array:
    """Return a column of integers with a number for nulls."""
    return np.asarray(to_numpy(batch.column(name), missing), np.int64)


def flags(batch: pa.RecordBatch, name: str) -> NDArray[np.bool_]:
    """Return a column of truth values; null is false."""
    column = batch.column(name)
    return np.asarray(to_numpy(column, False), np.bool_)


def floats(batch: pa.RecordBatch, name: str) -> NDArray[np.float64]:
    """Return a column of floats, null as nan."""
    return np.asarray(to_numpy(batch.column(name)), np.float64)


def batch_of(schema: pa.Schema, *columns: Any) -> pa.RecordBatch:
    """Make a record batch of arrays, of NumPy or of Arrow."""
    arrays = [column if isinstance(column, pa.Array) else to_arrow(column) for column in columns]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def extend_batch(piece: pa.RecordBatch, made: dict[str, pa.Array], schema: pa.Schema) -> pa.RecordBatch:
    """Return a batch with some of its columns made anew."""
    return batch_of(schema, *(made[name] if name in made else piece.column(name) for name in schema.names))


def one_batch(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    """Return some batches, at least one, as one."""
    if len(batches) == 1:
        return batches[0]
    return pa.Table.from_batches(batches).combine_chunks().to_batches()[0]


def starts_of(keys: Int64Array, before: int | None) -> NDArray[np.bool_]:
    """Tell which rows begin a run of equal keys; ``before`` is the key of the row before the first, if there is one."""
    begins = np.ones(len(keys), np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=begins[1:])
    if len(keys) and before is not None:
        begins[0] = keys[0] != before
    return begins


def longest(batch: pa.RecordBatch) -> int:
    """Return the bytes of the longest text of a batch; 0 if it has none."""
    return 0 if "text" not in batch.schema.names else from_arrow_array(batch.column("text")).longest


def row_error(piece: pa.RecordBatch, error: InputDataError) -> RowError:
    """Return an error about a row of a piece as one about the same row of the input."""
    position, number = (piece.column(name)[error.row or 0].as_py() for name in ("position", "number"))
    return RowError(position, number, error.reason)


def check_tokens(piece: pa.RecordBatch, texts: Texts, unit: str, most: int) -> None:
    """Refuse a text of more tokens than these."""
    for row in np.flatnonzero(np.diff(texts.offsets) > most).tolist():
        if (n := most_tokens(texts.data[texts.offsets[row] : texts.offsets[row + 1]], unit)) > most:
            what = (
                f"the document has about {n:,} {unit}s, more than the {most:,} that one may have; raise --memory (memory=) "
                f"({-(-10 * n // most) / 10} times as much is enough), or leave it out: --max-document BYTES (max_document=) "
                "and --on-error skip (on_error='skip')"
            )
            raise row_error(piece, InputDataError(what, row=row))


def gather(rows: Batches, weigh: Callable[[pa.RecordBatch], Int64Array], by: str | None = None) -> Batches:
    """Cut rows anew: each batch has at least ``PIECE_WEIGHT``, but the last, and at most a row more, or a group."""
    held: list[pa.RecordBatch] = []
    weight, before = 0, None
    for batch in rows:
        if not len(batch):
            continue
        sums = np.concatenate([[0], np.cumsum(weigh(batch))]) + weight
        cuts = np.arange(1, len(batch) + 1)
        if by is not None:
            keys = ints(batch, by)
            cuts, before = np.flatnonzero(starts_of(keys, before)), int(keys[-1])
        begin, base = 0, 0
        while (cut := int(np.searchsorted(sums[cuts], base + PIECE_WEIGHT))) < len(cuts):
            end = int(cuts[cut])
            yield one_batch([*held, batch.slice(begin, end - begin)] if end > begin else held)
            held, begin, base = [], end, int(sums[end])
        held += [batch.slice(begin)] if begin < len(batch) else []
        weight = int(sums[-1]) - base
        del batch  # not held while the next is read
    if held:
        yield one_batch(held)


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


def as_words(column: pa.Array, width: int, dtype: type[Word]) -> NDArray[Word]:
    """Return a column of ``width`` bytes a row as an array of little-endian words, of shape (rows, words)."""
    if isinstance(column, pa.DictionaryArray):
        column = column.dictionary_decode()
    data, starts = row_starts(column, width)
    begin = int(starts[0]) if len(starts) else 0
    return data[begin : begin + width * len(starts)].view(dtype).reshape(len(starts), width // np.dtype(dtype).itemsize)
