"""Files of Arrow: Feather, as which a file begins with its name, and streams, as data sets of Hugging Face are."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from struct import error as StructError  # noqa: N812
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

from ..errors import InputDataError, OutputError
from ..files.streams import open_stream, reading
from ..files.urls import Url
from ..values.arrays import runs
from ..values.arrow import without_views
from .arrow_messages import is_file, messages, size_of
from .columnar import ColumnarFormat, check_columns, cut, decoded, outer, table_batch
from .format import Selection
from .merged_parquet import together, with_provenance, write_tables
from .split import ROOM, Batch, Columns, FinalError, Pieces, Split

_MAGIC = b"ARROW1"


class Arrow(ColumnarFormat):
    """Files and streams of Arrow. Rows are numbered from 1; a file that is not compressed is not copied into memory."""

    name = "arrow"
    kinds = ("arrow",)
    row_bytes, text_share = 1000, 2.0
    compressible = False

    @contextmanager
    def _open(
        self, split: Split, names: Sequence[str] | None = None
    ) -> Iterator[tuple[pa.Schema, Iterator[tuple[int, pa.RecordBatch]]]]:
        """Give the schema and the batches of a file, with all columns or some, each with the number of its first row."""
        path, piece = split.place.path, split.data or _Piece()
        with (
            _reading(split),
            path.open_anywhere() if isinstance(path, Url) else pa.memory_map(os.fspath(path)) as source,
            open_stream(path) as raw,
        ):
            schema, _ = _batches(source, None, piece)
            fields = None if names is None else [schema.get_field_index(name) for name in outer(schema, names)]
            yield schema, self._fitting(split, raw, source, schema, fields)

    @staticmethod
    def _fitting(
        split: Split, raw: BinaryIO, source: pa.NativeFile, schema: pa.Schema, fields: list[int] | None
    ) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Yield some columns of the batches; one that is decompressed must fit into the memory."""
        batches: Iterator[pa.RecordBatch] | None = None
        piece, held = split.data or _Piece(), 0
        first, number = 1 + piece.row, piece.first
        for message in messages(raw, split.place.size, piece.first, piece.last, piece.at):
            if number == piece.last:
                return
            packed = message.codec is not None
            if batches is None:  # mapped into memory, columns cost nothing, and a choice of them would be copied
                _, batches = _batches(source, fields if packed or isinstance(split.place.path, Url) else None, piece)
            needed = held + (size_of(message, schema, fields) if packed else 0)
            if needed > split.limit.room:
                raise FinalError(
                    f"decompressed, the columns of batch {number + 1} take {needed / 1e6:,.0f} MB, more than the "
                    f"{split.limit.room / 1e6:,.0f} MB that the memory limit leaves: raise --memory (memory=) by "
                    f"{(needed - split.limit.room) / ROOM / 1e6:,.0f} MB, or write the file again in smaller batches",
                    split.name,
                )
            if message.is_dictionary:
                held = needed
                continue
            number += 1
            if (batch := next(batches, None)) is None or len(batch) != message.rows:
                raise InputDataError(f"not a readable Arrow file: rows of batch {number} are missing", split.name)
            yield first, batch if fields is None or batch.num_columns == len(fields) else batch.select(fields)
            first += message.rows
            del batch  # not held while the next is read

    def pieces(self, split: Split, n_bytes: int) -> Pieces:
        """Return runs of batches, of a stream if these can be read where they are, without what is before them."""
        if split.place.size < 2 * n_bytes:
            return [(0, split)]
        with _reading(split), open_stream(split.place.path) as raw:
            streamed, found = not is_file(raw), list(messages(raw, split.place.size))
        rows = [message for message in found if not message.is_dictionary]
        if streamed and (isinstance(split.place.path, Url) or len(rows) < len(found) or any(some.codec for some in rows)):
            return [(0, split)]
        begins, before = np.array([message.begin for message in rows]), np.cumsum([0, *(message.rows for message in rows)])
        return [
            (row := int(before[begin]), replace(split, data=_Piece(begin, end, row, rows[begin].begin)))
            for begin, end in runs(begins // n_bytes)
        ] or [(0, split)]

    def schema(self, split: Split) -> pa.Schema:
        with self._open(split) as (schema, _):
            return _plain(schema.empty_table()).schema

    def read(self, split: Split, columns: Columns) -> Iterator[Batch]:
        with self._open(split) as (schema, _):
            check_columns(split, schema, columns)
        with self._open(split, None if split.limit.faults else columns.wanted) as (_, batches):
            for first, batch in batches:
                _check(batch, split, first)
                for some in cut(pa.Table.from_batches([batch]), columns.text):
                    (part,) = _plain(some).combine_chunks().to_batches() or [None]
                    if part is not None:
                        yield table_batch(part, first, columns, split.name)
                        first += len(part)
                if split.on_read is not None:
                    split.on_read(min(batch.nbytes, split.place.size))
                del batch  # not held while the next is read

    def tables(self, split: Split, converted: bool) -> Iterator[pa.Table]:
        """Read all columns again, a few rows at a time."""
        with self._open(split) as (_, batches):
            for first, batch in batches:
                _check(batch, split, first)
                yield from map(_plain, cut(pa.Table.from_batches([batch])))
                del batch  # not held while the next is read

    def write(self, stream: BinaryIO, selections: Sequence[Selection], provenance: dict[str, Any]) -> None:
        """Write tables: a stream, and compressed as it was, where the first input is one of these files; else a file."""
        schema, tables, _ = together(selections)
        schema = with_provenance(schema, provenance)
        first = selections[0]
        streamed, codec = _kind(first.split) if first.split.form is self else (False, None)
        same = len(selections) == 1 and first.split.form is self and first.cuts is None
        if not (streamed or same):  # a file has one dictionary for all batches; those of other files, or of cut texts, differ
            schema = pa.schema([f.with_type(decoded(f.type)) for f in schema], schema.metadata)
        writer = pa.ipc.new_stream if streamed else pa.ipc.new_file
        try:
            with writer(stream, schema, options=pa.ipc.IpcWriteOptions(compression=codec)) as out:
                write_tables(out.write_table, tables, schema)
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise OutputError(f" cannot be written as Arrow: {error}; cast or drop it") from None


@dataclass(frozen=True, slots=True)
class _Piece:
    """Some batches of a file."""

    first: int = 0
    last: int | None = None
    row: int = 0  # how many rows are before them
    at: int = 0  # the byte where the first begins


def _reading(split: Split) -> AbstractContextManager[None]:
    """Turn what a file is refused for, for want of memory too, into an InputDataError that names it."""
    return reading(split.name, "not a readable Arrow file", MemoryError, TypeError, StructError)


def _batches(source: pa.NativeFile, fields: list[int] | None, piece: _Piece) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    options = pa.ipc.IpcReadOptions(included_fields=fields)
    source.seek(0)
    if source.read(len(_MAGIC)) == _MAGIC:
        file = pa.ipc.open_file(source, options=options)
        last = file.num_record_batches if piece.last is None else piece.last
        return file.schema, (file.get_batch(number) for number in range(piece.first, last))
    source.seek(0)
    stream = pa.ipc.open_stream(source, options=options)
    return stream.schema, iter(stream) if piece.last is None else _from(source, stream.schema, piece.at)


def _from(source: pa.NativeFile, schema: pa.Schema, at: int) -> Iterator[pa.RecordBatch]:
    """Read the batches of a stream from one on, which begins at a byte."""
    source.seek(at)
    while True:
        yield pa.ipc.read_record_batch(pa.ipc.read_message(source), schema)


def _check(batch: pa.RecordBatch, split: Split, first: int) -> None:
    """Refuse values that lie outside of what a file holds; whether texts are UTF-8 is seen later."""
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        plain = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary()}.get(column.type)
        try:
            (column if plain is None else column.view(plain)).validate(full=True)
        except pa.ArrowInvalid as error:
            last = first + len(batch) - 1
            raise InputDataError(f"damaged, here or up to row {last}: {error}", split.name, first, column=name) from None


def _plain(table: pa.Table) -> pa.Table:
    """Return a table whose texts are no views: of these Arrow selects no rows, and writes the values of all."""
    for place, column in enumerate(table.columns):
        kind = {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}.get(column.type)
        if (plain := without_views(column) if kind is None else column.cast(kind)) is not column:
            table = table.set_column(place, table.field(place).with_type(plain.type), plain)
    return table


def _kind(split: Split) -> tuple[bool, str | None]:
    """Tell whether a file is a stream, and by what its rows are compressed."""
    with open_stream(split.place.path) as raw:
        some = messages(raw, split.place.size)
        return not is_file(raw), next((message.codec for message in some if not message.is_dictionary), None)


FORMAT = Arrow()
