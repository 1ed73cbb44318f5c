"""Rows of a bucket come in any order and are given sorted; what is more than a task may hold waits on its own disk.

Rows are sorted by a few columns, each told apart by one or two words. Once they are more than BUCKET_BYTES they are written
as a sorted *run* into a file without a name, which is gone when the task ends, however it does. Runs are merged a batch of
each at a time: all rows up to the smallest of the last rows that are at hand are sorted and given.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import repeat
from typing import IO, Any

import numpy as np
import pyarrow as pa

from ...core import digest_documents
from ...hashing import digest_secret
from ...text.texts import from_arrow_array
from ...values import Int64Array
from ...values.arrays import runs
from ...values.arrow import to_arrow, to_numpy

BUCKET_BYTES = 256 << 20
"""Bytes of rows of a bucket that a task holds, about; to sort them takes two to three times as many."""
BATCH_BYTES, ROW_BYTES = 16 << 20, 1 << 7
"""Bytes of a batch that a step gets, about, or one row; a row counts for its texts and some more."""
RUN_BATCH_BYTES, MOST_RUNS = 8 << 20, 24
"""The same of a batch of a run, of which one is held; how many runs are merged at once."""


def words_of(column: pa.Array, key: bytes) -> list[Int64Array]:
    """Return what values are told apart by, as columns of words; nulls are told apart by their rows."""
    if pa.types.is_integer(column.type):
        words = np.asarray(to_numpy(column, 0), np.int64)
        return [np.where(to_numpy(column.is_null()), np.arange(len(column)), words) if column.null_count else words]
    if pa.types.is_fixed_size_binary(column.type):
        n_words = column.type.byte_width // 8
        found = np.frombuffer(column.buffers()[1], np.int64, n_words * len(column), column.type.byte_width * column.offset)
        return list(found.reshape(-1, n_words).T)
    texts = from_arrow_array(column)
    return list(digest_documents(texts.data, texts.offsets, digest_secret(key, "packs")).view(np.int64).T)


def join_batches(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    """Return some batches, at least one, as one."""
    if len(batches) == 1:
        return batches[0]
    return pa.Table.from_batches(batches).combine_chunks().to_batches()[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sorting:
    """How rows are sorted."""

    names: tuple[str, ...]  # integers, bytes of a fixed width, or strings, without nulls
    schema: pa.Schema
    once: bool = False  # repeats of rows of numbers are left out
    key: bytes = b""  # enters the digests of strings

    def words(self, rows: pa.RecordBatch) -> list[Int64Array]:
        """Return what rows are sorted by, as columns of words, the first that counts first."""
        return [words for name in self.names for words in words_of(rows.column(name), self.key)]

    def order(self, rows: pa.RecordBatch) -> Int64Array:
        """Return where in some rows the first is, the second, and so on."""
        order = np.lexsort(self.words(rows)[::-1])
        if len(order) and self.once and all(pa.types.is_primitive(field.type) for field in self.schema):
            columns = [to_numpy(column)[order] for column in rows.columns]
            same = np.logical_and.reduce([column[1:] == column[:-1] for column in columns])
            order = order[np.concatenate([[True], ~same])]
        return order


class Sorter:
    """A context that sorts rows, of which it holds so many and keeps the others on the disk until it ends."""

    def __init__(self, sorting: Sorting) -> None:
        self._sorting = sorting
        self._held: list[pa.RecordBatch] = []
        self._size = 0
        self._levels: list[list[_Run]] = [[]]  # those of a level are merged into one of the next
        self._written: list[_Run] = []

    def __enter__(self) -> Sorter:
        return self

    def __exit__(self, *error: object) -> None:
        self._held.clear()
        for run in self._written:
            run.close()

    def add(self, rows: pa.RecordBatch) -> None:
        if not len(rows):
            return
        self._held.append(rows)
        self._size += rows.nbytes
        if self._size > BUCKET_BYTES:
            self._spill(0, self._from_held(RUN_BATCH_BYTES))

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield all rows that were taken, sorted, and forget them."""
        if not self._written:
            yield from self._from_held(BATCH_BYTES)
            return
        if self._held:
            self._spill(0, self._from_held(RUN_BATCH_BYTES))
        while len(left := [run for level in self._levels for run in level]) > MOST_RUNS:
            self._levels = [left[MOST_RUNS:]]
            self._spill(0, _merged(left[:MOST_RUNS], self._sorting, RUN_BATCH_BYTES))
        yield from _merged(left, self._sorting, BATCH_BYTES)
        self._levels, self._written = [[]], []

    def _from_held(self, size: int) -> Iterator[pa.RecordBatch]:
        if self._held:
            rows = join_batches(self._held)
            self._held.clear()
            self._size = 0
            yield from _cut_up(rows, self._sorting.order(rows), size)

    def _spill(self, level: int, batches: Iterator[pa.RecordBatch]) -> None:
        """Write a run; of so many of a level one is made."""
        while len(self._levels) <= level:
            self._levels.append([])
        self._written.append(_Run(self._sorting))
        self._written[-1].write(batches)
        there = self._levels[level]
        there.append(self._written[-1])
        if len(there) == MOST_RUNS:
            self._spill(level + 1, _merged(there, self._sorting, RUN_BATCH_BYTES))
            self._levels[level] = []


class _Run:
    """Sorted rows in a file, of which one batch at a time is at hand."""

    def __init__(self, sorting: Sorting) -> None:
        self._sorting, self._file = sorting, _own_file()
        self._reader: Any = None
        self._forget()

    def _forget(self) -> None:
        self._rows, self._words, self._at = pa.RecordBatch.from_pylist([], self._sorting.schema), [np.empty(0, np.int64)], 0

    def write(self, batches: Iterator[pa.RecordBatch]) -> None:
        with pa.ipc.new_stream(self._file, self._sorting.schema) as out:
            for batch in batches:
                out.write_batch(batch)
        self._file.seek(0)

    def close(self) -> None:
        self._reader = None
        self._file.close()
        self._forget()

    def begin(self) -> bool:
        """Have a batch with rows at hand; return whether there is one."""
        if self._reader is None:
            self._reader = pa.ipc.open_stream(self._file)
        while self._at == len(self._rows):
            try:
                self._rows, self._at = self._reader.read_next_batch(), 0
            except StopIteration:
                self.close()
                return False
            self._words = self._sorting.words(self._rows)
        return True

    @property
    def last(self) -> tuple[int, ...]:
        """What the last row at hand is sorted by."""
        return tuple(int(words[-1]) for words in self._words)

    def up_to(self, bound: tuple[int, ...]) -> pa.RecordBatch:
        """Take the rows at hand that are not beyond a bound."""
        low, high = self._at, len(self._rows)
        for words, limit in zip(self._words, bound, strict=True):
            some = words[low:high]
            low, high = low + int(np.searchsorted(some, limit)), low + int(np.searchsorted(some, limit, side="right"))
        begin, self._at = self._at, high
        return self._rows.slice(begin, high - begin)


def _own_file() -> IO[bytes]:
    """Return a file without a name on a disk of this worker's own: one that Spark uses if it says so."""
    folders = [folder for folder in os.environ.get("SPARK_LOCAL_DIRS", "").split(",") if os.path.isdir(folder)]
    return tempfile.TemporaryFile(dir=folders[os.getpid() % len(folders)] if folders else None)


def _merged(left: list[_Run], sorting: Sorting, size: int) -> Iterator[pa.RecordBatch]:
    while left := [run for run in left if run.begin()]:
        bound = min(run.last for run in left)
        rows = join_batches([some for some in map(_Run.up_to, left, repeat(bound)) if len(some)])
        yield from _cut_up(rows, sorting.order(rows), size)


def _cut_up(rows: pa.RecordBatch, order: Int64Array, size: int) -> Iterator[pa.RecordBatch]:
    """Yield rows in some order, so many bytes at a time."""
    texts = [from_arrow_array(column) for column in rows.columns if _has_text(column.type)]
    if texts:
        sizes = np.full(len(order), ROW_BYTES, np.int64)
        for column in texts:
            sizes += np.diff(column.offsets)[order]
        bounds = runs((np.cumsum(sizes) - sizes) // size)
    else:
        bounds = [(begin, begin + size // ROW_BYTES + 1) for begin in range(0, len(order), size // ROW_BYTES + 1)]
    for begin, end in bounds:
        yield rows.take(to_arrow(order[begin:end]))


def _has_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_large_binary(kind) or pa.types.is_large_string(kind))
