"""Parquet: schema and metadata of the input are kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ..errors import InputDataError
from ..text.texts import from_arrow_array
from .sources import Batch, Columns, FileSource, Record, missing_column, numbers_from, reserved_column

BATCH_ROWS = 4096


class ParquetSource(FileSource):
    """A parquet file. Rows are numbered from 1."""

    format = "parquet"

    def _open(self) -> pq.ParquetFile:
        try:
            return pq.ParquetFile(self.path)
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
                    raise missing_column(self.name, "schema", "column", name, names)
            check_names_free(self.name, names, columns.reserved)
            first = 1
            try:
                for batch in file.iter_batches(BATCH_ROWS, columns=list(dict.fromkeys(wanted))):
                    yield table_batch(batch, first, columns, self.name)
                    first += len(batch)
            except (pa.ArrowInvalid, OSError) as error:
                if isinstance(error, InputDataError):
                    raise
                raise InputDataError(f"{self.name}, after row {first - 1}: damaged parquet data: {error}") from None

    def check_free(self, names: Sequence[str]) -> None:
        """Raise InputDataError if the schema names one of these."""
        check_names_free(self.name, self.schema.names, names)

    def tables(self) -> Iterator[pa.Table]:
        """Read all columns again, a row group at a time."""
        self.check_unchanged()
        with self._open() as file:
            for group in range(file.metadata.num_row_groups):
                yield file.read_row_group(group)

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
