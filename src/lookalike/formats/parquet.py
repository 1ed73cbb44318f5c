"""Parquet: schema and metadata of the input are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
import pyarrow as pa

from ..errors import OutputError
from ..files.ahead import PrefetchedFile
from ..files.streams import arrow_file, open_stream, reading
from ..files.urls import Url
from ..text.texts import Later, Texts
from ..values.arrays import runs
from .columnar import ColumnarFormat, check_columns, leaves_of, path_of, table_batch, unread_table
from .format import Selection
from .merged_parquet import find_unwritable, together, with_provenance, write_tables
from .row_groups import BUFFER, READ_AHEAD, Damaged, RowGroups, buffer_of, row_bounds
from .split import Batch, Columns, Pieces, Record, Split, mask_of, unread

if TYPE_CHECKING:
    import pyarrow.parquet as pq

MOST_ROWS = 1 << 20  # of a row group, however short they are
DICTIONARY_BYTES = 1 << 18  # of a column's distinct values; looking for more takes tens of MB and seldom makes a file smaller
CODECS = {"UNCOMPRESSED": "none", "LZ4_RAW": "lz4"} | {c: c.lower() for c in ("SNAPPY", "GZIP", "BROTLI", "ZSTD", "LZ4")}


def _make_texts(make: Callable[[], Texts], name: str, what: str) -> Texts:
    with reading(name, what):
        return make()


class Parquet(ColumnarFormat):
    """Parquet. Rows are numbered from 1."""

    name = "parquet"
    kinds = ("parquet",)
    compressible = False
    holds_provenance = True
    counts_rows = True
    recovers = True
    checks_pages = False  # against their checksums, where they have some

    def _open(self, split: Split) -> pq.ParquetFile:
        """Open a file whose rows are not read."""
        with reading(split.name, "not a readable parquet file"):
            return self._file(split, arrow_file(split.place.path), BUFFER)

    def _file(
        self, split: Split, source: pa.NativeFile, buffer: int, metadata: pq.FileMetaData | None = None
    ) -> pq.ParquetFile:
        import pyarrow.parquet as pq  # here, for what is not needed to start

        try:  # with a buffer ahead of pages, a whole row group would be held
            return pq.ParquetFile(
                source, metadata=metadata, buffer_size=buffer, pre_buffer=False, page_checksum_verification=self.checks_pages
            )
        except pa.ArrowException:
            split.check_unchanged()
            raise

    @contextmanager
    def _both(self, split: Split, all_columns: bool = False) -> Iterator[tuple[pq.ParquetFile, BinaryIO]]:
        """Open a file for Arrow, and by its bytes; what one of them has asked a store for, both read."""
        path, buffer = split.place.path, BUFFER
        with ExitStack() as opened:
            with reading(split.name, "not a readable parquet file"):
                raw = opened.enter_context(open_stream(path))
                if isinstance(path, Url):
                    source, buffer = pa.PythonFile(PrefetchedFile(raw.raw.ahead, exact=True, owner=False), "r"), READ_AHEAD
                else:
                    source = arrow_file(path)
                file = opened.enter_context(self._file(split, source, buffer))
                if all_columns or buffer > BUFFER:
                    source.seek(0)
                    file = opened.enter_context(self._file(split, source, buffer_of(file.metadata, buffer), file.metadata))
            yield file, raw

    def schema(self, split: Split) -> pa.Schema:
        with self._open(split) as file:
            return file.schema_arrow

    def compression(self, split: Split) -> str:
        """The compression of the largest column, for files written after it."""
        with self._open(split) as file:
            group = file.metadata.row_group(0) if file.metadata.num_row_groups else None
            chunks = [] if group is None else [group.column(leaf) for leaf in range(group.num_columns)]
            largest = max(chunks, key=lambda chunk: int(chunk.total_uncompressed_size), default=None)
            return "snappy" if largest is None else CODECS.get(str(largest.compression), "snappy")

    def read(self, split: Split, columns: Columns) -> Iterator[Batch]:
        with self._both(split) as (file, raw):
            check_columns(split, file.schema_arrow, columns)
            # where faults are passed over, any column may be damaged
            names = file.schema_arrow.names if split.limit.faults else list(dict.fromkeys(columns.wanted))
            later = columns.later and not split.limit.faults and columns.text not in (columns.id, *columns.others)
            rows = RowGroups(file, raw, split, names, columns.text, later=later)
            for row, batch, left_out in rows.batches(*split.groups or ()):
                if isinstance(left_out, Damaged):
                    yield unread(split, columns, row + 1, *left_out)
                    continue
                made = table_batch(batch, row + 1, columns, split.name)
                split.note_rows(len(made.numbers), file.metadata.num_rows)
                batch = None  # a large one is not held while the next is read
                if isinstance(left_out, Later):
                    make = partial(_make_texts, left_out.make, split.name, f"damaged parquet data after row {row}")
                    made = replace(made, texts=replace(left_out, make=make))
                elif left_out:
                    made = replace(made, skipped=mask_of(len(made.numbers), left_out))
                yield made
                del made

    def pieces(self, split: Split, n_bytes: int) -> Pieces:
        """Return runs of row groups; a file that is small is not opened."""
        if split.place.size < 2 * n_bytes:
            return [(0, split)]
        with self._open(split) as file:
            groups = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
            rows = row_bounds(file.metadata)
        sizes = [sum(group.column(i).total_compressed_size for i in range(group.num_columns)) for group in groups]
        bounds = runs((np.cumsum(sizes) - sizes) // n_bytes)
        return [(int(rows[begin]), replace(split, groups=(begin, end))) for begin, end in bounds] or [(0, split)]

    def expected(self, split: Split, texts: Sequence[str]) -> tuple[int, int]:
        """Return what the metadata say of rows and bytes."""
        with self._open(split) as file:
            known = [name for name in texts if path_of(file.schema_arrow, name)]
            return file.metadata.num_rows, self._bytes_of(file, known)

    @staticmethod
    def _bytes_of(file: pq.ParquetFile, names: Sequence[str]) -> int:
        """Bytes of columns before compression."""
        metadata = file.metadata
        leaves = [leaf for _, leaf in leaves_of(file.schema_arrow, names)]
        groups = (metadata.row_group(i) for i in range(metadata.num_row_groups))
        return int(sum(group.column(leaf).total_uncompressed_size for group in groups for leaf in leaves))

    def check_writing(self, split: Split, converted: bool) -> None:
        """Raise InputDataError if rows cannot be written again within the memory."""
        with self._both(split) as (file, raw), reading(split.name, "damaged parquet data"):
            RowGroups(file, raw, split, converted=converted).check()

    def tables(self, split: Split, converted: bool) -> Iterator[pa.Table]:
        """Read all columns again, a few rows at a time."""
        with self._both(split, all_columns=True) as (file, raw):
            for _, batch, left_out in RowGroups(file, raw, split, converted=converted).batches():
                if isinstance(left_out, Damaged):
                    yield unread_table(file.schema_arrow, left_out.n_rows)
                else:
                    yield pa.Table.from_batches([batch], file.schema_arrow)
                batch = None  # not held while the next is read

    def write(self, stream: BinaryIO, selections: Sequence[Selection], provenance: Record) -> None:
        """Write tables: as they are where all splits have the same schema, converted where not."""
        import pyarrow.parquet as pq

        schema, tables, as_is = together(selections)
        schema, first = with_provenance(schema, provenance), selections[0].split
        compression = first.form.compression(first) if isinstance(first.form, ColumnarFormat) else "snappy"
        how = {"compression": compression, "dictionary_pagesize_limit": DICTIONARY_BYTES}
        try:
            with pq.ParquetWriter(stream, schema, **how) as writer:
                write_tables(writer.write_table, tables, schema, MOST_ROWS if as_is else None)
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid, pa.ArrowTypeError) as error:
            name = find_unwritable(schema, pq.write_table)
            kind = f" of type {schema.field(name).type}" if name else ""
            said = f"a column{kind} cannot be written as parquet: {error}; cast or drop it"
            raise OutputError(said, column=name) from None


FORMAT = Parquet()
