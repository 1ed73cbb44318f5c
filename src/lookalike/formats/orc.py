"""ORC: types and compression of the input are kept; metadata of its schema are not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO

import pyarrow as pa

from ..errors import InputDataError, OutputError
from ..files.streams import arrow_file, reading
from .columnar import ROWS, ColumnarFormat, check_columns, decoded, outer, table_batch
from .format import EXPANSION, Selection
from .merged_parquet import find_unwritable, row_groups, together, write_tables
from .rows import refuse_twice
from .split import Batch, Columns, Record, Split

READ_ROWS = 64


class ORC(ColumnarFormat):
    """ORC, some rows at a time. Rows are numbered from 1."""

    name = "orc"
    kinds = ("orc",)
    compressible = False
    counts_rows = True

    @contextmanager
    def _source(self, split: Split) -> Iterator[pa.NativeFile]:
        """Open a file; what Arrow refuses of it, for want of memory too, becomes an InputDataError that names it."""
        with reading(split.name, "not a readable ORC file", MemoryError), arrow_file(split.place.path) as source:
            yield source

    @contextmanager
    def _open(self, split: Split) -> Iterator[Any]:
        from pyarrow import orc  # here, for what is not needed to start

        with self._source(split) as source:
            yield orc.ORCFile(source)

    def schema(self, split: Split) -> pa.Schema:
        with self._open(split) as file:
            return file.schema

    def expected(self, split: Split, texts: Sequence[str]) -> tuple[int, int]:
        """Return the number of rows; judge the bytes of text by the size of the file."""
        with self._open(split) as file:
            return file.nrows, split.place.size * EXPANSION // 2

    def _tables(self, split: Split, columns: Columns | None = None) -> Iterator[pa.Table]:
        """Read few rows at a time, as what is in a stripe can be any number of times as large as the file; join small ones."""
        from pyarrow import dataset

        with self._open(split) as file:
            schema, n_rows, found = file.schema, file.nrows, 0
            if columns is not None:
                check_columns(split, schema, columns)
        names = schema.names if columns is None or split.limit.faults else outer(schema, columns.wanted)

        def read(source: pa.NativeFile) -> Iterator[pa.Table]:
            nonlocal found
            fragment = dataset.OrcFileFormat().make_fragment(source)
            how = {"batch_size": READ_ROWS, "batch_readahead": 0, "fragment_readahead": 0, "use_threads": False}
            for batch in fragment.to_batches(schema=schema, columns=names, **how):
                split.note_rows(len(batch), n_rows)
                found += len(batch)
                yield pa.Table.from_batches([batch])
            if found != n_rows:
                raise ValueError(f"its footer states {n_rows:,} rows, and it holds {found:,}")

        with self._source(split) as source:
            for table in row_groups(read(source), ROWS):
                yield table.combine_chunks()
                del table  # not held while the next is read

    def read(self, split: Split, columns: Columns) -> Iterator[Batch]:
        first = 1
        for table in self._tables(split, columns):
            for batch in table.to_batches():
                yield table_batch(batch, first, columns, split.name)
                first += len(batch)
                del batch  # not held while the next is read, nor is the table
            del table

    def check_writing(self, split: Split, converted: bool) -> None:
        """Refuse two columns of one name, of which Arrow reads neither."""
        names = self.schema(split).names
        refuse_twice(split.name, names, names)

    def tables(self, split: Split, converted: bool) -> Iterator[pa.Table]:
        """Read all columns again, a few rows at a time."""
        self.check_writing(split, converted=False)
        return self._tables(split)

    def write(self, stream: BinaryIO, selections: Sequence[Selection], provenance: Record) -> None:
        """Write tables, compressed as the first input is, if that is ORC; else with zstd."""
        from pyarrow import orc

        schema, tables, _ = together(selections)
        codec, first = "zstd", selections[0].split
        if first.form is self:
            with self._open(first) as file:
                codec = file.compression.lower()
        schema = pa.schema([field.with_type(decoded(field.type)) for field in schema])
        try:
            with orc.ORCWriter(stream, compression=codec) as writer:
                writer.write(schema.empty_table())
                write_tables(writer.write, tables, schema)
        except InputDataError:
            raise
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid, pa.ArrowTypeError, ValueError) as error:
            name = find_unwritable(schema, orc.write_table)
            raise OutputError(f" cannot be written as ORC: {error}; cast or drop it", column=name) from None


FORMAT = ORC()
