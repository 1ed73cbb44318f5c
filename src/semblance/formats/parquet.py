"""Parquet: schema and metadata of the input are kept."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ..errors import InputDataError
from ..text.texts import from_arrow_array
from ._rows import plain_rows, refuse_twice
from .sources import Batch, Columns, FileSource, Record, missing_column, numbers_from, reserved_column

BATCH_ROWS = 4096
BATCH_BYTES = 8 << 20
GROUP_BYTES = 128 << 20
CODECS = {"UNCOMPRESSED": "none", "LZ4_RAW": "lz4"} | {c: c.lower() for c in ("SNAPPY", "GZIP", "BROTLI", "ZSTD", "LZ4")}


@contextmanager
def _reading(name: str, what: str) -> Iterator[None]:
    """Turn Arrow's refusals of a file into an InputDataError that names it."""
    try:
        yield
    except InputDataError:
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        if isinstance(error, MemoryError):
            raise
        raise InputDataError(f"{name}{what}: {error}") from None


def _n_leaves(kind: pa.DataType) -> int:
    """The number of columns in the file that hold a column of some type."""
    if isinstance(kind, pa.BaseExtensionType):
        return _n_leaves(kind.storage_type)
    if pa.types.is_dictionary(kind):
        return _n_leaves(kind.value_type)
    return sum(_n_leaves(kind.field(i).type) for i in range(kind.num_fields)) or 1


class ParquetSource(FileSource):
    """A parquet file. Rows are numbered from 1."""

    format = "parquet"

    def _open(self) -> pq.ParquetFile:
        # a name that is not UTF-8 must be opened by its bytes
        source = self.path if self.name == str(self.path) else pa.OSFile(os.fsencode(self.path))
        with _reading(self.name, ": not a readable parquet file"):
            return pq.ParquetFile(source, buffer_size=1 << 20)

    @property
    def schema(self) -> pa.Schema:
        """The file's Arrow schema, its metadata included."""
        with self._open() as file:
            return file.schema_arrow

    @property
    def compression(self) -> str:
        """The compression of the first column, for files written after it."""
        with self._open() as file:
            if file.metadata.num_row_groups and file.metadata.num_columns:
                return CODECS.get(str(file.metadata.row_group(0).column(0).compression), "snappy")
            return "snappy"

    def batches(self, columns: Columns) -> Iterator[Batch]:
        """Read the columns wanted and no other."""
        wanted = [columns.text, *([columns.id] if columns.id is not None else []), *columns.others]
        with self._open() as file:
            names = file.schema_arrow.names
            for name in wanted:
                if name not in names:
                    raise missing_column(self.name, "schema", "column", name, names, columns)
            refuse_twice(self.name, "schema", names, wanted)
            check_names_free(self.name, names, columns.reserved)
            first = 1
            batches = file.iter_batches(self._rows_at_a_time(file, columns.text), columns=list(dict.fromkeys(wanted)))
            while True:
                with _reading(self.name, f", after row {first - 1}: damaged parquet data"):
                    batch = next(batches, None)
                if batch is None:
                    return
                yield table_batch(batch, first, columns, self.name)
                first += len(batch)

    def expected(self, text: str) -> tuple[int, int]:
        """Return what the metadata say of rows and bytes."""
        with self._open() as file:
            known = text in file.schema_arrow.names
            return file.metadata.num_rows, self._bytes_of(file, text) if known else 0

    @staticmethod
    def _bytes_of(file: pq.ParquetFile, name: str) -> int:
        """Bytes of a column before compression."""
        metadata, schema = file.metadata, file.schema_arrow
        place = schema.names.index(name)
        first = sum(_n_leaves(kind) for kind in schema.types[:place])
        leaves = range(first, first + _n_leaves(schema.types[place]))
        groups = (metadata.row_group(i) for i in range(metadata.num_row_groups))
        return int(sum(group.column(leaf).total_uncompressed_size for group in groups for leaf in leaves))

    def _rows_at_a_time(self, file: pq.ParquetFile, name: str) -> int:
        """Rows whose texts come to about ``BATCH_BYTES``."""
        share = BATCH_BYTES * max(1, file.metadata.num_rows) // max(1, self._bytes_of(file, name))
        return int(max(1, min(BATCH_ROWS, share)))

    def check_free(self, names: Sequence[str]) -> None:
        """Raise InputDataError if the schema names one of these."""
        check_names_free(self.name, self.schema.names, names)

    def tables(self) -> Iterator[pa.Table]:
        """Read all columns again, a row group, or a part of a large one, at a time."""
        self.check_unchanged()
        with self._open() as file:
            tables = self._tables(file)
            row = 0
            while True:
                with _reading(self.name, f", after row {row}: damaged parquet data"):
                    table = next(tables, None)
                if table is None:
                    return
                yield table
                row += len(table)

    @staticmethod
    def _tables(file: pq.ParquetFile) -> Iterator[pa.Table]:
        for number in range(file.metadata.num_row_groups):
            group = file.metadata.row_group(number)
            parts = -(-group.total_byte_size // GROUP_BYTES)
            if parts <= 1:
                yield file.read_row_group(number)
            else:
                for batch in file.iter_batches(-(-group.num_rows // parts), row_groups=[number]):
                    yield pa.Table.from_batches([batch], file.schema_arrow)

    def records(self, encoding_errors: str = "strict") -> Iterator[tuple[int, Record]]:
        """Read all rows as dictionaries, each with its number."""
        row = 1
        for table in self.tables():
            for batch in table.to_batches(1024):
                yield from plain_rows(batch, self.name, row)
                row += len(batch)


def check_names_free(source: str, found: Sequence[str], names: Sequence[str]) -> None:
    """Raise InputDataError if a schema names a column that annotation would add."""
    for name in names:
        if name in found:
            raise reserved_column(source, "schema", "column", name)


def table_batch(batch: Any, first: int, columns: Columns, name: str) -> Batch:
    """Take the columns of a job out of an Arrow record batch."""
    try:
        texts = from_arrow_array(batch.column(columns.text))
    except InputDataError as error:
        raise InputDataError(f"{name}, column {columns.text!r}: {error}") from None
    return Batch(
        texts,
        numbers_from(first, len(batch)),
        None if columns.id is None else batch.column(columns.id),
        {other: batch.column(other) for other in columns.others},
    )
