"""Rows that meet on a cluster cross it in packs, so that Spark moves a few large values and not millions of small rows.

A task cuts its rows into *buckets* by a hash of what they meet by, and gives a pack for each, a record batch as bytes. The
packs of a bucket come to one task, which puts their rows together and sorts them. It holds one bucket at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..hashing import digest_secret
from ..kernels.digests import digest_documents
from ..text.texts import from_arrow_array
from ..values import Int64Array
from ..values.arrays import runs
from ..values.arrow import to_arrow, to_numpy
from .engine import Batches

PACKED = pa.schema([("bucket", pa.int32()), ("side", pa.int8()), ("pack", pa.large_binary())])
HELD_BYTES = 32 << 20
"""Bytes of rows that are cut into packs at once, about."""
BATCH_BYTES, ROW_BYTES = 16 << 20, 1 << 7
"""Bytes of a batch that a step gets, about, or one row; a row counts for its texts and some more."""
_ODD, _HALF = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)


@dataclass(frozen=True, slots=True, kw_only=True)
class Packing:
    """How rows are cut into packs.

    Parameters
    ----------
    by : str
        A column of integers, of bytes of a fixed width, or of strings. Nulls go anywhere.
    cut : int or ndarray of int64
        The number of buckets; or the integers that all buckets but the first begin with, ascending.
    schema : pyarrow.Schema
        Of the rows.
    side : int
        Which of the tables that meet it is.
    key : bytes
        Enters the digests of strings.
    """

    by: str
    cut: int | Int64Array
    schema: pa.Schema
    side: int = 0
    key: bytes = b""

    def bucket_of(self, column: pa.Array) -> tuple[NDArray[Any], int]:
        """Return the bucket of each value, and how many buckets there are."""
        if not isinstance(self.cut, int):
            return np.searchsorted(self.cut, to_numpy(column), side="right"), len(self.cut) + 1
        mixed = np.zeros(len(column), np.uint64)
        for words in words_of(column, self.key):
            mixed = (mixed ^ words.view(np.uint64)) * _ODD
        bucket = ((mixed >> _HALF) * np.uint64(self.cut)) >> _HALF
        return bucket.astype(np.uint16 if self.cut <= 1 << 16 else np.int64), self.cut


def words_of(column: pa.Array, key: bytes) -> list[Int64Array]:
    """Return what values are told apart by, as columns of words; nulls are told apart by their rows."""
    if pa.types.is_integer(column.type):
        words = np.asarray(to_numpy(column, 0), np.int64)
        return [np.where(to_numpy(column.is_null()), np.arange(len(column)), words) if column.null_count else words]
    if pa.types.is_fixed_size_binary(column.type):
        n_words = column.type.byte_width // 8
        found = np.frombuffer(column.buffers()[1], np.int64, n_words * len(column), column.type.byte_width * column.offset)
        return list(found.reshape(-1, n_words).T)
    texts, digests = from_arrow_array(column), np.empty((len(column), 2), np.uint64)
    digest_documents(texts.data, texts.offsets, np.empty((0, 2), np.uint64), digest_secret(key, "packs"), digests)
    return list(digests.view(np.int64).T)


def exploded(batches: Batches, by: str, schema: pa.Schema) -> Batches:
    """Give each element of a list a row: key and order; a null has none."""
    for batch in batches:
        column, orders = batch.column(by), to_numpy(batch.column("order"))
        lengths = to_numpy(pa.compute.list_value_length(column), 0).astype(np.int64)
        columns = [column.flatten(), to_arrow(np.repeat(orders, lengths))]
        yield pa.RecordBatch.from_arrays(columns, schema=schema)


def _plain(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Return a batch of exactly the types of a schema."""
    columns = []
    for field in schema:
        column = batch.column(field.name)
        columns.append(column.dictionary_decode() if isinstance(column, pa.DictionaryArray) else column)
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def packed(batches: Batches, settings: Packing) -> Batches:
    """Cut rows into packs.

    Parameters
    ----------
    batches : iterator of RecordBatch
    settings : Packing

    Yields
    ------
    RecordBatch
        PACKED.
    """
    held: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        if len(batch):
            held.append(_plain(batch, settings.schema))
            size += batch.nbytes
        if size >= HELD_BYTES:
            yield _packs(held, settings)
            held, size = [], 0
    if held:
        yield _packs(held, settings)


def _packs(held: list[pa.RecordBatch], settings: Packing) -> pa.RecordBatch:
    batch = joined(held)
    bucket, n = settings.bucket_of(batch.column(settings.by))
    rows = batch.take(to_arrow(np.argsort(bucket, kind="stable")))
    counts = np.bincount(bucket, minlength=n)
    there, ends = np.flatnonzero(counts), np.cumsum(counts)
    packs = [rows.slice(int(ends[b] - counts[b]), int(counts[b])).serialize().to_pybytes() for b in there.tolist()]
    side = np.full(len(there), settings.side, np.int8)
    columns = [to_arrow(there.astype(np.int32)), to_arrow(side), pa.array(packs, pa.large_binary())]
    return pa.RecordBatch.from_arrays(columns, schema=PACKED)


def joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    """Return some batches, at least one, as one."""
    if len(batches) == 1:
        return batches[0]
    return pa.Table.from_batches(batches).combine_chunks().to_batches()[0]


def unpacked(batches: Batches, settings: Packing, sort: tuple[str, ...], once: bool) -> Batches:
    """Put the rows of each bucket together again, equal ``by`` beside each other and sorted.

    Parameters
    ----------
    batches : iterator of RecordBatch
        PACKED, sorted by bucket.
    settings : Packing
    sort : tuple of str
        Columns of integers.
    once : bool
        Whether repeats of rows of numbers are left out.
    """
    held: list[pa.RecordBatch] = []
    before = -1
    for batch in batches:
        for bucket, pack in zip(to_numpy(batch.column("bucket")).tolist(), batch.column("pack"), strict=True):
            if bucket != before and held:
                yield from _sorted(held, settings, sort, once)
                held = []
            before = bucket
            held.append(pa.ipc.read_record_batch(pack.as_buffer(), settings.schema))
    if held:
        yield from _sorted(held, settings, sort, once)


def _sorted(held: list[pa.RecordBatch], settings: Packing, sort: tuple[str, ...], once: bool) -> Batches:
    """Yield the rows of a bucket in their order."""
    rows = joined(held)
    held.clear()
    names = (settings.by, *(name for name in sort if name != settings.by))
    keys = [words for name in names for words in words_of(rows.column(name), settings.key)]
    order = np.lexsort(keys[::-1])
    numbers = all(pa.types.is_primitive(field.type) for field in rows.schema)
    if once and numbers:
        columns = [to_numpy(column)[order] for column in rows.columns]
        same = np.logical_and.reduce([column[1:] == column[:-1] for column in columns])
        order = order[np.concatenate([[True], ~same])]
    for begin, end in runs(_bytes_before(rows, order) // BATCH_BYTES):
        yield rows.take(to_arrow(order[begin:end]))


def _bytes_before(rows: pa.RecordBatch, order: Int64Array) -> Int64Array:
    """Return about how many bytes come before each row in an order."""
    sizes = np.full(len(order), ROW_BYTES, np.int64)
    for column in rows.columns:
        if pa.types.is_large_binary(column.type) or pa.types.is_large_string(column.type):
            sizes += np.diff(from_arrow_array(column).offsets)[order]
    return np.cumsum(sizes) - sizes
