"""Rows of parquet files in batches of bounded size, however the file is laid out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa

from ..errors import InputDataError
from ..files.ahead import PrefetchedFile, Range
from ..files.streams import reading
from ..text.texts import Later
from ..values import Int64Array
from ..values.arrow import strings
from .columnar import leaves_of
from .parquet_pages import DICTIONARY, HEADER, LARGE, Page, TooLong, chunk_begin, is_streamed, pages_of, values_of
from .parquet_texts import ROWS, is_paged, text_sizes, texts_of
from .split import ROOM, FinalError, Split

if TYPE_CHECKING:
    import pyarrow.parquet as pq

BATCH_ROWS = 4096
BATCH_BYTES = 8 << 20
MOST_BYTES = 32 << 20  # of a batch whose values are as long as the longest
VALUE = 16  # bytes of a value beside those of a text: a number, its levels, its place in a list
PYTHON = 64  # more bytes for each level of a value that is converted to Python's objects
READER = 12 << 10  # of what reads a column, beside its pages
BUFFER = 1 << 20
READ_AHEAD = 8 << 20  # of a column on a store, of whose row group too much is read to be asked for together
BUFFERS = 32 << 20  # of all columns
PAGE = 2  # bytes for each of a page: as it is stored, and unpacked
RUN = 16 << 20  # of row groups that are read as one, as they are stored
_NO_MORE: Any = object()
_TEXTS = (pa.string(), pa.large_string(), pa.binary(), pa.large_binary())


class Damaged(NamedTuple):
    """Rows that cannot be read, and why."""

    n_rows: int
    error: InputDataError


def row_bounds(metadata: pq.FileMetaData) -> Int64Array:
    """Return how many rows come before each row group, and how many there are."""
    return np.cumsum([0, *(metadata.row_group(i).num_rows for i in range(metadata.num_row_groups))])


def buffer_of(metadata: pq.FileMetaData, most: int = BUFFER) -> int:
    """Return how many bytes of a column are read ahead: fewer of many columns, which are read side by side."""
    return max(READER, min(most, BUFFERS // max(1, int(metadata.num_columns))))


class _Group(NamedTuple):
    """How a row group is read: so many rows at a time; alone, if page by page, or if a column is read value by value."""

    rows: int
    pages: list[Page] | None
    streamed: int | None
    number: int


class RowGroups:
    """The rows of a parquet file, in batches by the sizes of ``text`` (default: all columns), within the limit of the split.

    ``raw`` is the same file by its bytes. Texts in pages that are larger than a text may be are read value by value, where they
    can. ``converted``: values become Python's objects, which take more. ``later``: texts may be ``Later``.
    """

    def __init__(
        self, file: pq.ParquetFile, raw: BinaryIO, split: Split, names: Sequence[str] | None = None, text: str | None = None,
        converted: bool = False, later: bool = False,
    ) -> None:  # fmt: skip
        self._file, self._raw, self._split, self._names = file, raw, split, names
        self._each, self._most_bytes = (PYTHON, MOST_BYTES // 4) if converted else (0, MOST_BYTES)
        self._large = LARGE if names is None else max(LARGE, split.limit.most)
        # each is made anew whenever it is asked for
        schema, self._metadata, self._columns = file.schema_arrow, file.metadata, file.schema
        self._schema, self._buffer, self._bounds = schema, buffer_of(file.metadata), row_bounds(file.metadata)
        self._leaves = leaves_of(schema, names)
        texts = [] if text is None else leaves_of(schema, [text])
        sized = [leaf for _, leaf in texts or self._leaves]
        groups = [self._metadata.row_group(i) for i in range(self._metadata.num_row_groups)]
        n_bytes = sum(group.column(leaf).total_uncompressed_size for group in groups for leaf in sized)
        rows = BATCH_BYTES * max(1, self._metadata.num_rows) // max(1, n_bytes)
        self._rows = max(1, min(BATCH_ROWS, rows))
        self._plain = len(set(schema.names)) == len(schema.names) and not any(
            "." in name for name in (*schema.names, *(names or ()))
        )
        self._later = texts[0] if later and self._plain and schema.field(texts[0][0]).type in _TEXTS else None

    def _group(self, number: int) -> _Group:
        """Look at the pages of a row group."""
        paged = self._paged_group(number) if self._later else None
        if paged is not None:
            return paged
        group, of_row, room = self._metadata.row_group(number), 1.0, self._split.limit.room
        rows, streamed = self._rows, None
        for place, leaf in self._leaves:
            chunk, field = group.column(leaf), self._schema.field(place)
            pages = self._pages(chunk)
            largest = max((page.n_bytes for page in pages or ()), default=0)
            alone = streamed is None and self._plain and field.type in _TEXTS
            if pages and largest > self._large and alone and is_streamed(chunk, pages):
                streamed, data = place, [page for page in pages if page.kind != DICTIONARY]
                rows = min([rows, *(self._most_bytes * max(1, page.n_values) // max(1, page.n_bytes) for page in data)])
                continue
            needed = PAGE * largest + 4 * LARGE
            if largest > LARGE and needed > room:
                raise FinalError(
                    f"a page of row group {number + 1} has {largest / 1e6:,.0f} MB, too much for the memory limit: raise "
                    f"--memory (memory=) by {(needed - room) / ROOM / 1e6:,.0f} MB, or write the file again with zstd",
                    self._split.name,
                    column=field.name,
                )
            of_row += self._bytes_per_row(chunk, leaf, pages, group.num_rows)
        return _Group(max(1, min(rows, int(self._most_bytes / of_row))), None, streamed, number)

    def _paged_group(self, number: int) -> _Group | None:
        """Tell how a row group is read page by page; None: texts, or other columns, are too large or too small for that."""
        group, rows, of_row, found = self._metadata.row_group(number), ROWS, 0.0, None
        for place, leaf in self._leaves:
            chunk, column = group.column(leaf), self._columns.column(leaf)
            pages = self._pages(chunk) or []
            if (place, leaf) == self._later:
                found = pages if pages and is_paged(chunk, pages, group.num_rows, self._split.limit.most) else None
                rows = max([rows, *(page.n_values for page in pages)])
            elif column.max_repetition_level or max((page.n_bytes for page in pages), default=LARGE) > LARGE // 4:
                return None
            else:
                of_row += self._bytes_per_row(chunk, leaf, pages, group.num_rows)
        return None if found is None or of_row * rows > self._most_bytes else _Group(BATCH_ROWS, found, None, number)

    def _bytes_per_row(self, chunk: Any, leaf: int, pages: list[Page] | None, n_rows: int) -> float:
        """Return the bytes of a column in a row at most, or on average if it has lists."""
        column = self._columns.column(leaf)
        of_value, sizes = VALUE + self._each * (1 + int(column.path.count("."))), [float(column.length)]
        if chunk.physical_type == "BYTE_ARRAY":
            try:
                sizes = [float(self._most_bytes)] if pages is None else text_sizes(self._raw, chunk, pages) or [0.0]
            except (IndexError, ValueError):
                sizes = [float(self._most_bytes)]
        if not column.max_repetition_level:
            return of_value + max(sizes)
        return float((of_value + np.mean(sizes)) * chunk.num_values / max(1, n_rows))

    def _pages(self, chunk: Any) -> list[Page] | None:
        """Return the pages of a column chunk; None if they are damaged: Arrow will say so."""
        try:
            return list(pages_of(self._raw, chunk))
        except (OSError, IndexError, ValueError):
            return None

    def batches(
        self, first: int = 0, last: int | None = None
    ) -> Iterator[tuple[int, pa.RecordBatch, list[int] | Later | Damaged]]:
        """Yield the rows of some row groups in batches, with the number of rows before each.

        With them come the numbers of rows whose texts are left out, or texts. Where faults are passed over, the rest of a row
        group that is damaged is no batch, but ``Damaged``.
        """
        last = len(self._bounds) - 1 if last is None else last
        row = int(self._bounds[first])
        while True:
            batches = self._counted_batches(first, last)
            try:
                while True:
                    with reading(self._split.name, f"damaged parquet data after row {row}"):
                        batch, left_out = next(batches, (None, []))
                    if batch is None:
                        return
                    n = len(batch)
                    yield row, batch, left_out
                    row, batch = row + n, None  # not held while the next is read
            except FinalError:
                raise
            except InputDataError as error:
                first = int(np.searchsorted(self._bounds, row, side="right"))
                if first > last or not self._split.limit.faults:
                    raise
                yield row, None, Damaged(int(self._bounds[first]) - row, error)
                row = int(self._bounds[first])

    def _counted_batches(self, first: int, last: int) -> Iterator[tuple[pa.RecordBatch, list[int] | Later]]:
        """Yield the rows of some row groups; an OSError if these are not as many as the file says."""
        stated, found, total = int(self._bounds[last] - self._bounds[first]), 0, int(self._bounds[-1])
        for batch, left_out in self._batches(first, last):
            found += len(batch)
            yield batch, left_out
            del batch  # not held while the next is read
        if total != self._metadata.num_rows:
            raise OSError(f"its metadata state {self._metadata.num_rows:,} rows, and {total:,} in its row groups")
        if found != stated:
            raise OSError(f"its metadata state {stated:,} rows in {last - first:,} row groups, which hold {found:,}")

    def _batches(self, first: int, last: int) -> Iterator[tuple[pa.RecordBatch, list[int] | Later]]:
        done = first

        def described(number: int) -> _Group:
            if isinstance(reader := getattr(self._raw, "raw", None), PrefetchedFile):
                reader.ahead.prefetch([self._ranges(one) for one in range(done, min(number + 2, last))])
            return self._group(number)

        for (rows, pages, streamed), some in groupby(map(described, range(first, last)), lambda group: group[:3]):
            for numbers in (
                self._runs(group.number for group in some) if streamed is None else ([group.number] for group in some)
            ):
                if pages is not None:
                    yield from self._paged(numbers[0], rows, pages)
                elif streamed is not None:
                    yield from self._streamed(numbers[0], rows, streamed)
                else:
                    for batch in self._file.iter_batches(rows, row_groups=numbers, columns=self._names, use_threads=False):
                        yield batch, []
                        del batch  # not held while the next is read
                done = numbers[-1] + 1

    def _ranges(self, number: int) -> list[Range]:
        """Return where the columns that are read of a row group begin and end, and a header's length more."""
        chunks = [self._metadata.row_group(number).column(leaf) for _, leaf in self._leaves]
        begins = [chunk_begin(chunk) for chunk in chunks]
        return [(at, at + chunk.total_compressed_size + HEADER) for at, chunk in zip(begins, chunks, strict=True)]

    def _runs(self, numbers: Iterable[int]) -> Iterator[list[int]]:
        """Yield row groups that are read together, as many as have few bytes."""
        some: list[int] = []
        size = 0
        for number in numbers:
            some.append(number)
            size += sum(end - begin for begin, end in self._ranges(number))
            if size > RUN:
                yield some
                some, size = [], 0
        if some:
            yield some

    def _paged(self, number: int, rows: int, pages: list[Page]) -> Iterator[tuple[pa.RecordBatch, Later]]:
        """Yield the rows of a row group, whose texts are made page by page."""
        assert self._later is not None
        field, codec = self._schema.field(self._later[0]), self._metadata.row_group(number).column(self._later[1]).compression
        others = [f.name for f in self._schema if f.name != field.name and (self._names is None or f.name in self._names)]
        batches, held = self._others(number, rows, others) if others else iter(()), pa.table({})
        for n, make in texts_of(self._raw, pages, codec, field.nullable):
            while others and len(held) < n:
                if (more := next(batches, None)) is None:
                    raise OSError(f"row group {number + 1} has fewer values in some columns than rows")
                held = pa.concat_tables([*([held] if len(held) else []), pa.Table.from_batches([more])])
            columns = {name: held.column(name)[:n].combine_chunks() for name in others}
            held = held.slice(n)
            columns[field.name] = pa.nulls(n)
            yield pa.RecordBatch.from_pydict(columns), Later.of(n, make)

    def _streamed(self, number: int, rows: int, place: int) -> Iterator[tuple[pa.RecordBatch, list[int]]]:
        """Yield the rows of a row group, of which one column is read value by value."""
        schema, group, limit = self._schema, self._metadata.row_group(number), self._split.limit
        field = schema.field(place)
        wanted = [f for f in schema if self._names is None or f.name in self._names]
        others = [f.name for f in wanted if f.name != field.name]
        leaf = next(leaf for where, leaf in self._leaves if where == place)
        values = values_of(self._raw, group.column(leaf), field.nullable, limit.most)
        row = int(self._bounds[number])
        for other in self._others(number, rows, others):
            begin = end = size = 0
            texts: list[bytes | None] = []
            left_out: list[int] = []
            while end < len(other):
                if (value := next(values, _NO_MORE)) is _NO_MORE:
                    raise OSError(f"row group {number + 1} has fewer values in some columns than rows")
                end += 1
                if isinstance(value, TooLong):
                    if not limit.skip:
                        raise self._split.too_large(value.n_bytes, row=row + end)
                    left_out.append(len(texts))
                    value = None
                size += len(value or b"")
                texts.append(value)
                del value
                if size > BATCH_BYTES or end == len(other):
                    columns = {name: other.column(name).slice(begin, end - begin) for name in others}
                    columns[field.name] = strings(texts, field.type)
                    texts.clear()
                    made = [columns[f.name] for f in wanted]
                    yield pa.RecordBatch.from_arrays(made, schema=pa.schema(wanted, schema.metadata)), left_out
                    del columns, made
                    begin, size, left_out = end, 0, []
            row += len(other)
        if next(values, _NO_MORE) is not _NO_MORE:
            raise OSError(f"row group {number + 1} has more values in some columns than rows")

    def _others(self, number: int, rows: int, names: list[str]) -> Iterator[Any]:
        """Yield batches of the columns that are not read value by value; there may be none."""
        if names:
            yield from self._file.iter_batches(rows, row_groups=[number], columns=names, use_threads=False)
            return
        n = self._metadata.row_group(number).num_rows
        for begin in range(0, n, rows):
            yield range(begin, min(n, begin + rows))
