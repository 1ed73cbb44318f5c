"""Rows that meet on a cluster cross it in packs, so that Spark moves a few large values and not millions of small rows.

A task cuts its rows into *buckets* by a hash of what they meet by, and gives a pack for each, a record batch as bytes. The
packs of a bucket come to one task, which puts their rows together and sorts them: see ``spark_sorting``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ...values import Int64Array
from ...values.arrow import to_arrow, to_numpy
from ..engine import Batches
from .sorting import Sorter, Sorting, joined, words_of

PACKED = pa.schema([("bucket", pa.int32()), ("side", pa.int8()), ("pack", pa.large_binary())])
HELD_BYTES = 32 << 20
"""Bytes of rows that are cut into packs at once, about."""
PART_BITS = 20
"""Where groups are parted, numbers that differ only in so many of their last bits stay together."""
_ODD, _OTHER, _HALF = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F), np.uint64(32)


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
    parted : str, optional
        A column of integers: a large group comes in several buckets, equal values of this column in one.
    """

    by: str
    cut: int | Int64Array
    schema: pa.Schema
    side: int = 0
    key: bytes = b""
    parted: str | None = None

    def bucket_of(self, rows: pa.RecordBatch) -> tuple[NDArray[Any], int]:
        """Return the bucket of each row, and how many buckets there are."""
        column = rows.column(self.by)
        if not isinstance(self.cut, int):
            return np.searchsorted(self.cut, to_numpy(column), side="right"), len(self.cut) + 1
        mixed = np.zeros(len(column), np.uint64)
        for words in words_of(column, self.key):
            mixed = (mixed ^ words.view(np.uint64)) * _ODD
        if self.parted is not None:
            mixed += (to_numpy(rows.column(self.parted)) >> PART_BITS).view(np.uint64) * _OTHER
        bucket = ((mixed >> _HALF) * np.uint64(self.cut)) >> _HALF
        return bucket.astype(np.uint16 if self.cut <= 1 << 16 else np.int64), self.cut


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
    """Cut rows into packs."""
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
    bucket, n = settings.bucket_of(batch)
    rows = batch.take(to_arrow(np.argsort(bucket, kind="stable")))
    counts = np.bincount(bucket, minlength=n)
    there, ends = np.flatnonzero(counts), np.cumsum(counts)
    packs = [rows.slice(int(ends[b] - counts[b]), int(counts[b])).serialize().to_pybytes() for b in there.tolist()]
    side = np.full(len(there), settings.side, np.int8)
    columns = [to_arrow(there.astype(np.int32)), to_arrow(side), pa.array(packs, pa.large_binary())]
    return pa.RecordBatch.from_arrays(columns, schema=PACKED)


def unpacked(batches: Batches, settings: Packing, sort: tuple[str, ...], once: bool) -> Batches:
    """Put the rows of each bucket together again, equal ``by`` beside each other and sorted.

    A bucket that is too large to be held is sorted on the task's own disk.
    """
    names = (settings.by, *(name for name in sort if name != settings.by))
    with Sorter(Sorting(names=names, schema=settings.schema, once=once, key=settings.key)) as rows:
        before = -1
        for batch in batches:
            for bucket, pack in zip(to_numpy(batch.column("bucket")).tolist(), batch.column("pack"), strict=True):
                if bucket != before:
                    yield from rows.batches()
                before = bucket
                rows.add(pa.ipc.read_record_batch(pack.as_buffer(), settings.schema))
        yield from rows.batches()
