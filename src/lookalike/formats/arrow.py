"""Arrow files (Feather, version 2) and streams: schema, metadata, kind and compression of the input are kept."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from struct import error as StructError  # noqa: N812
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from ..errors import InputDataError, OutputError
from ..files.streams import of_store
from ..files.urls import READ_AHEAD, Url
from ..values.arrays import runs
from ..values.arrow import without_views
from .arrow_messages import Message, is_file, messages, size_of
from .columnar import ColumnarFormat, check_columns, column_of, outer, path_of, table_batch
from .format import Selection
from .merged_parquet import row_groups, together
from .split import ROOM, Batch, Columns, Record, Split

BATCH_ROWS = 1 << 14
BATCH_BYTES = 8 << 20  # of texts, or of whole rows, unless one row has more


@contextmanager
def _reading(name: str, row: int | None = None) -> Iterator[None]:
    """Turn refusals of a file into an InputDataError that names it."""
    try:
        yield
    except InputDataError:
        raise
    except (pa.ArrowException, OSError, ValueError, IndexError, TypeError, OverflowError, StructError) as error:
        if isinstance(error, MemoryError):
            raise
        what = ": not a readable Arrow file or stream" if row is None else f", after row {row}: damaged Arrow data"
        raise InputDataError(f"{name}{': cannot be read' if of_store(error) else what}: {error}") from None


class _Opened:
    """An open file or stream: its batches, each looked at before it is read."""

    def __init__(self, split: Split, wanted: Sequence[str] | None = None) -> None:
        self._split, path = split, split.place.path
        self.mapped = not isinstance(path, Url)
        self.raw = path.open_anywhere(READ_AHEAD) if isinstance(path, Url) else pa.memory_map(os.fsencode(path))
        self.is_file = is_file(self.raw)
        self.raw.seek(0)
        if self.raw.read(4) == b"FEA1":
            raise ValueError("Feather version 1; write it again, with pyarrow.feather.write_feather or as .parquet")
        self.whole = self._reader(None).schema
        self.fields = None if wanted is None else [self.whole.get_field_index(name) for name in outer(self.whole, wanted)]

    def _reader(self, fields: list[int] | None) -> Any:
        path = self._split.place.path
        options = pa.ipc.IpcReadOptions(included_fields=fields, use_threads=False)
        source = path.open_anywhere(READ_AHEAD) if isinstance(path, Url) else pa.memory_map(os.fsencode(path))
        return (pa.ipc.open_file if self.is_file else pa.ipc.open_stream)(source, options=options)

    def messages(self) -> Iterator[Message]:
        """Yield the messages; those that take too much memory are refused."""
        held, room, number = 0, self._split.limit.room, 0
        for message in messages(self.raw, self._split.place.size):
            number += not message.is_dictionary
            needed = 0
            if message.codec is not None or not self.mapped:
                needed = size_of(message, self.whole, self.fields)
            if held + needed > room:
                raise InputDataError(
                    f"{self._split.name}, batch {max(1, number)}: its columns take {(held + needed) / 1e6:,.0f} MB in memory, "
                    f"more than the {room / 1e6:,.0f} MB that the memory cap leaves: raise --memory (memory=) by "
                    f"{(held + needed - room) / ROOM / 1e6:,.0f} MB, or write the file again in smaller batches"
                )
            held += needed if message.is_dictionary else 0
            yield message

    def batches(self) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Yield the batches of the split, checked, each with its bytes in the file."""
        begin, end = self._split.groups or (0, None)
        codec = next((message.codec for message in messages(self.raw, self._split.place.size)), None)
        mapped = self.mapped and codec is None  # of a file, a choice of columns would be copied
        reader, some = self._reader(None if mapped else self.fields), (m for m in self.messages() if not m.is_dictionary)
        last = 0
        for number, message in enumerate(some):
            if number == end:
                return
            if number >= begin or not self.is_file:
                batch = reader.get_batch(number) if self.is_file else next(reader, None)
                if batch is None or len(batch) != message.rows:
                    raise ValueError("a batch has another number of rows than it says")
                if number >= begin:
                    batch = batch.select(self.fields) if mapped and self.fields is not None else batch
                    for column in batch.columns:
                        _check(column)
                    yield message.end - last, _plain(batch)
                del batch  # not held while the next is read
            last = message.end


def _bytes_in(kind: pa.DataType) -> pa.DataType:
    """Return a type with bytes in place of texts, which need not be UTF-8: a job finds that, where it matters."""
    if types.is_string(kind):
        return pa.binary()
    if types.is_large_string(kind):
        return pa.large_binary()
    if types.is_string_view(kind):
        return pa.binary_view()
    if types.is_struct(kind):
        return pa.struct([field.with_type(_bytes_in(field.type)) for field in kind])
    if types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_bytes_in(kind.value_type)))
    if types.is_large_list(kind):
        return pa.large_list(kind.value_field.with_type(_bytes_in(kind.value_type)))
    return kind


def _check(column: pa.Array) -> None:
    """Raise ArrowInvalid if a column points outside of its buffers, which Arrow does not look for when it reads."""
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    if isinstance(column, pa.DictionaryArray):
        _check(column.dictionary)
        column.indices.validate(full=True)
        column.validate()
        bounds = pc.min_max(column.indices).as_py()
        if bounds["min"] is not None and not 0 <= bounds["min"] <= bounds["max"] < len(column.dictionary):
            raise pa.ArrowInvalid("a value is not in the dictionary")
        return
    column.validate()
    kind = _bytes_in(column.type)
    (column if kind == column.type else column.view(kind)).validate(full=True)


def _plain(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a batch without dictionaries of views, which Arrow can neither look up nor write."""
    columns = [without_views(pa.chunked_array([column])).chunk(0) for column in batch.columns]
    if all(new.type == old.type for new, old in zip(columns, batch.columns, strict=True)):
        return batch
    return pa.RecordBatch.from_arrays(columns, schema=_plain_schema(batch.schema))


def _plain_schema(schema: pa.Schema) -> pa.Schema:
    for place, field in enumerate(schema):
        plain = without_views(pa.chunked_array([], field.type)).type
        schema = schema.set(place, field.with_type(plain)) if plain != field.type else schema
    return schema


def _size(column: pa.Array) -> int:
    """Return the bytes of a column, each text of a dictionary counted as often as it is there."""
    if not isinstance(column, pa.DictionaryArray) or types.is_nested(column.type.value_type):
        return int(column.nbytes)
    try:
        sizes = pc.binary_length(column.dictionary).cast(pa.int64())
    except pa.ArrowNotImplementedError:
        return int(column.nbytes)
    return int(pc.sum(sizes.take(column.indices)).as_py() or 0)


def _cut(batch: pa.RecordBatch, sized: Sequence[pa.Array]) -> Iterator[pa.RecordBatch]:
    """Yield a batch in pieces of bounded size."""
    waiting = [(begin, min(begin + BATCH_ROWS, len(batch))) for begin in range(0, len(batch), BATCH_ROWS)][::-1]
    while waiting:
        begin, end = waiting.pop()
        if end - begin > 1 and sum(_size(column.slice(begin, end - begin)) for column in sized) > BATCH_BYTES:
            middle = (begin + end) // 2
            waiting += [(middle, end), (begin, middle)]
        else:
            yield batch.slice(begin, end - begin)


class Arrow(ColumnarFormat):
    """Arrow, as a file or as a stream. Rows are numbered from 1; uncompressed data stays on the disk, mapped into memory."""

    name = "arrow"
    suffixes = (".arrow", ".feather", ".ipc")
    compressible = False
    holds_provenance = True

    def schema(self, split: Split) -> pa.Schema:
        with _reading(split.name):
            return _plain_schema(_Opened(split).whole)

    def layout(self, split: Split) -> tuple[bool, str | None]:
        """Return whether an input is a stream, and how its first batch is compressed."""
        with _reading(split.name):
            opened = _Opened(split)
            first = next(messages(opened.raw, split.place.size), None)
            return not opened.is_file, None if first is None else first.codec

    def read(self, split: Split, columns: Columns) -> Iterator[Batch]:
        with _reading(split.name):
            opened = _Opened(split)
            check_columns(split, opened.whole, columns)
            opened = _Opened(split, columns.wanted)
            row = sum(m.rows for m in self._of_rows(opened)[: split.groups[0]]) if split.groups else 0
        for n_bytes, piece in self._batches(opened, split, row, columns.text):
            if split.noted is not None:
                split.noted(n_bytes)
            with _reading(split.name, row):
                made = table_batch(piece, row + 1, columns, split.name)
            row += len(piece)
            del piece  # not held while the next is read
            yield made
            del made

    @staticmethod
    def _batches(opened: _Opened, split: Split, row: int, text: str | None = None) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Yield pieces of batches, each with the bytes of the file that were read for it."""
        batches = opened.batches()
        while True:
            with _reading(split.name, row):
                n_bytes, batch = next(batches, (0, None))
                pieces = [] if batch is None else list(_cut(batch, batch.columns if text is None else [column_of(batch, text)]))
            if batch is None:
                return
            row += len(batch)
            for piece in pieces:
                yield n_bytes, piece
                n_bytes = 0
            del batch, pieces

    @staticmethod
    def _of_rows(opened: _Opened) -> list[Message]:
        return [message for message in messages(opened.raw, opened.raw.size()) if not message.is_dictionary]

    def tables(self, split: Split) -> Iterator[pa.Table]:
        with _reading(split.name):
            opened = _Opened(split)
        for _, piece in self._batches(opened, split, 0):
            yield pa.Table.from_batches([piece])
            del piece  # not held while the next is read

    def check_writing(self, split: Split, converted: bool) -> None:
        """Raise InputDataError if a batch does not fit into the memory as a whole."""
        with _reading(split.name, 0):
            for _ in _Opened(split).messages():
                pass

    def expected(self, split: Split, text: str) -> tuple[int, int]:
        """Judge (rows, bytes of text) by the first batch."""
        with _reading(split.name):
            opened = _Opened(split)
            found = path_of(opened.whole, text)
            first = next((m for m in messages(opened.raw, split.place.size) if not m.is_dictionary), None)
        if first is None:
            return 0, 0
        column = [opened.whole.get_field_index(found[0])] if found else []
        many = max(1.0, split.place.size / max(1, first.end))
        return int(first.rows * many), int(size_of(first, opened.whole, column) * many)

    def pieces(self, split: Split, n_bytes: int) -> list[tuple[int, Split]]:
        """Return runs of batches; what is small is not opened, nor what must be read from its beginning."""
        if split.place.size < 2 * n_bytes or isinstance(split.place.path, Url):
            return [(0, split)]
        with _reading(split.name):
            opened = _Opened(split)
            some = self._of_rows(opened)
        if not some or (not opened.is_file and some[0].codec is not None):
            return [(0, split)]
        ends = np.array([message.end for message in some])
        bounds = runs((ends - ends[0]) // n_bytes)
        rows = np.concatenate([[0], np.cumsum([message.rows for message in some])]).tolist()
        return [(rows[begin], replace(split, groups=(begin, end))) for begin, end in bounds]

    def write(self, stream: BinaryIO, selections: Sequence[Selection], provenance: Record) -> None:
        """Write rows as the first input has them: a file or a stream, compressed or not; by default a file."""
        schema, tables, _ = together(selections)
        first, alone = selections[0].split, len(selections) == 1
        is_stream, codec = self.layout(first) if first.form is self else (False, None)
        if not (is_stream or (alone and first.form is self)):  # a file has one dictionary for all batches
            schema = pa.schema([f.with_type(_decoded(f.type)) for f in schema], schema.metadata)
        schema = schema.with_metadata({**(schema.metadata or {}), b"lookalike": json.dumps(provenance).encode()})
        options = pa.ipc.IpcWriteOptions(compression=codec, use_threads=False)
        try:
            with (pa.ipc.new_stream if is_stream else pa.ipc.new_file)(stream, schema, options=options) as writer:
                for table in row_groups(tables):
                    if len(table):
                        writer.write_table(_together(table.cast(schema) if table.schema.types != schema.types else table))
                    del table  # not held while the next is read
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise OutputError(f"rows cannot be written as Arrow: {error}; cast or drop the column") from None


def _decoded(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if types.is_dictionary(kind) else kind


def _together(table: pa.Table) -> pa.Table:
    """Return a table as one batch, where Arrow can make one."""
    try:
        return table.combine_chunks()
    except pa.ArrowNotImplementedError:
        return table


FORMAT = Arrow()
