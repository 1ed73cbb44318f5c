"""Parquet: schema and metadata of the input are kept."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ..errors import InputDataError
from ..text.texts import from_arrow_array
from .sources import Batch, Columns, FileSource, Record, missing_column, numbers_from, reserved_column

BATCH_ROWS = 4096
BATCH_BYTES = 8 << 20
GROUP_BYTES = 128 << 20


class ParquetSource(FileSource):
    """A parquet file. Rows are numbered from 1."""

    format = "parquet"

    def _open(self) -> pq.ParquetFile:
        try:
            # a name that is not UTF-8 must be opened by its bytes
            source = self.path if self.name == str(self.path) else pa.OSFile(os.fsencode(self.path))
            return pq.ParquetFile(source, buffer_size=1 << 20)
        except (pa.ArrowInvalid, OSError) as error:
            raise InputDataError(f"{self.name}: not a readable parquet file: {error}") from None

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
                return str(file.metadata.row_group(0).column(0).compression).lower()
            return "snappy"

    def batches(self, columns: Columns) -> Iterator[Batch]:
        """Read the columns wanted and no other."""
        wanted = [columns.text, *([columns.id] if columns.id is not None else []), *columns.others]
        with self._open() as file:
            names = file.schema_arrow.names
            for name in wanted:
                if name not in names:
                    raise missing_column(self.name, "schema", "column", name, names, columns)
            check_names_free(self.name, names, columns.reserved)
            first = 1
            rows = self._rows_at_a_time(file, names.index(columns.text))
            try:
                for batch in file.iter_batches(rows, columns=list(dict.fromkeys(wanted))):
                    yield table_batch(batch, first, columns, self.name)
                    first += len(batch)
            except (pa.ArrowInvalid, OSError) as error:
                if isinstance(error, InputDataError):
                    raise
                raise InputDataError(f"{self.name}, after row {first - 1}: damaged parquet data: {error}") from None

    def expected(self, text: str) -> tuple[int, int]:
        """Return what the metadata say of rows and bytes."""
        with self._open() as file:
            names = file.schema_arrow.names
            return file.metadata.num_rows, self._bytes_of(file, names.index(text)) if text in names else 0

    @staticmethod
    def _bytes_of(file: pq.ParquetFile, column: int) -> int:
        """Bytes of a column before compression."""
        metadata = file.metadata
        groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
        if column >= metadata.num_columns:  # a nested schema numbers its leaves otherwise
            return int(sum(group.total_byte_size for group in groups))
        return int(sum(group.column(column).total_uncompressed_size for group in groups))

    def _rows_at_a_time(self, file: pq.ParquetFile, column: int) -> int:
        """Rows whose texts come to about ``BATCH_BYTES``."""
        share = BATCH_BYTES * max(1, file.metadata.num_rows) // max(1, self._bytes_of(file, column))
        return int(max(1, min(BATCH_ROWS, share)))

    def check_free(self, names: Sequence[str]) -> None:
        """Raise InputDataError if the schema names one of these."""
        check_names_free(self.name, self.schema.names, names)

    def tables(self) -> Iterator[pa.Table]:
        """Read all columns again, a row group, or a part of a large one, at a time."""
        self.check_unchanged()
        with self._open() as file:
            for number in range(file.metadata.num_row_groups):
                group = file.metadata.row_group(number)
                parts = -(-group.total_byte_size // GROUP_BYTES)
                if parts <= 1:
                    yield file.read_row_group(number)
                else:
                    for batch in file.iter_batches(-(-group.num_rows // parts), row_groups=[number]):
                        yield pa.Table.from_batches([batch], file.schema_arrow)

    def records(self) -> Iterator[Record]:
        """Read all rows as dictionaries."""
        for table in self.tables():
            for batch in table.to_batches(1024):
                yield from batch.to_pylist()


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
