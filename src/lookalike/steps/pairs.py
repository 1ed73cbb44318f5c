"""Links become pairs: each once, and only those that can match."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..core import cut_pairs, pack_nibbles
from ..values import Int64Array, UInt64Array
from ..values.arrow import to_arrow, to_numpy
from ..values.tables import LINKS, PAIRS
from .batches import DIGEST_BYTES, Batches, as_words, batch_of, ints, row_starts, starts_of
from .totals import Total

AT_A_TIME = 1 << 21
MEMBERS = pa.schema([("order", pa.int64())])
WORD_BYTES, NIBBLES_OF_WORD = 8, 16
_Sides = tuple[NDArray[np.uint8], Int64Array, NDArray[np.uint8], Int64Array]
_NOTHING: _Sides = (np.empty(0, np.uint8), np.empty(0, np.int64)) * 2


def packed_width(slots: int) -> int:
    """Return the bytes of so many nibbles: whole words."""
    return WORD_BYTES * -(-slots // NIBBLES_OF_WORD)


def nibbles_schema(codes: pa.Schema, slots: int) -> pa.Schema:
    """Return the columns that come of those of some documents, which have so many codes."""
    kind = pa.binary(packed_width(slots))
    return pa.schema([field.with_type(kind) if field.name == "code" else field for field in codes])


def pack_codes(rows: Batches, slots: int) -> Batches:
    """Pack the lowest four bits of each code of documents, two codes a byte: what the cut compares."""
    width = packed_width(slots)
    for batch in rows:
        out = pack_nibbles(as_words(batch["code"], 2 * slots, np.uint16))
        packed = pa.Array.from_buffers(pa.binary(width), len(out), [None, pa.py_buffer(out)])
        columns = [packed if name == "code" else batch[name] for name in batch.schema.names]
        yield pa.RecordBatch.from_arrays(columns, schema=nibbles_schema(batch.schema, slots))


def _add_nibbles(total: NDArray[Any], batch: pa.RecordBatch, slots: int) -> None:
    total[to_numpy(batch["order"])] += pack_nibbles(as_words(batch["code"], 2 * slots, np.uint16))


def nibbles_by_order(slots: int, n: int) -> Total:
    """Return what puts the nibbles of n documents in rows by order: uint64 of shape (n, words)."""
    return Total(partial(_add_nibbles, slots=slots), (n, packed_width(slots) // WORD_BYTES), dtype=np.uint64)


def cut(rows: Batches, slots: int, least: int, boundary: int) -> Batches:
    """Drop marks, repeats, pairs of two orders below ``boundary``, both references, pairs of different ``within``, and those
    of whose nibbles, ``slots`` of each document, fewer than ``least`` agree; 0: none of these.
    """
    before = -1, -1
    for whole in rows:
        for begin in range(0, whole.num_rows, AT_A_TIME):
            batch = whole[begin : begin + AT_A_TIME]
            compared = slots if least and "left_code" in batch.schema.names else 0
            width = DIGEST_BYTES if "left_within" in batch.schema.names else 0
            left, right = (to_numpy(batch[name]) for name in ("left", "right"))
            withins, codes = _sides(batch, "within", width), _sides(batch, "code", packed_width(compared))
            yield batch_of(PAIRS, *cut_pairs(left, right, before, boundary, withins, width, codes, compared, least))
            before = int(left[-1]), int(right[-1])


def _sides(batch: pa.RecordBatch, name: str, width: int) -> _Sides:
    """Return the bytes of a column of both documents, so many a row, and where each begins; nothing if these are none."""
    if not width:
        return _NOTHING
    return (*row_starts(batch[f"left_{name}"], width), *row_starts(batch[f"right_{name}"], width))


def differ(one: UInt64Array, other: UInt64Array) -> NDArray[np.bool_]:
    """Tell of each two digests of ``across``, rows of two words, whether the values differ; no value is equal to none."""
    return np.asarray((one != other).any(1) | ~one.any(1))


def across(rows: Batches) -> Batches:
    """Drop the pairs of documents with an equal value of ``across``."""
    for batch in rows:
        left, right = (as_words(batch[f"{side}_across"], DIGEST_BYTES, np.uint64) for side in ("left", "right"))
        yield batch.filter(to_arrow(differ(left, right)))


def sides(rows: Batches) -> Batches:
    """Give both documents of each pair a row."""
    for batch in rows:
        for side in ("left", "right"):
            yield batch_of(MEMBERS, ints(batch, side))


def distinct(rows: Batches) -> Batches:
    """Leave one row of each document."""
    before = None
    for batch in rows:
        if len(batch):
            orders = ints(batch, "order")
            yield batch_of(MEMBERS, orders[starts_of(orders, before)])
            before = int(orders[-1])


def each_once(rows: Batches) -> Batches:
    """Leave one of equal links."""
    before = (-1, -1)
    for batch in rows:
        if len(batch):
            left, right = ints(batch, "left"), ints(batch, "right")
            fresh = np.ones(len(left), np.bool_)
            fresh[1:] = (left[1:] != left[:-1]) | (right[1:] != right[:-1])
            fresh[0] = (left[0], right[0]) != before
            before = (int(left[-1]), int(right[-1]))
            yield batch_of(LINKS, left[fresh], right[fresh])


def between(rows: Batches, begin: int, end: int) -> Batches:
    """Choose the pairs whose right document has an order from ``begin`` on, and below ``end``."""
    for batch in rows:
        right = to_numpy(batch["right"])
        yield batch.filter(to_arrow((right >= begin) & (right < end)))
