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
from .page_sizes import bytes_per_row, held_of, longest_value
from .parquet_pages import DICTIONARY, HEADER, LARGE, Page, TooLong, chunk_begin, is_streamed, pages_of, values_of
from .parquet_texts import ROWS, is_paged, texts_of
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
RUN = 16 << 20  # of row groups that are read as one, as they are stored
COPIES = 3  # of a large row: as it is read, as it is chosen, as it is written
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


def _fitting(sizes: Int64Array, rows: int, most: int) -> int:
    """Return how many rows, up to so many, never have more bytes than the most together, if no row has."""
    while rows > 1 and int(np.add.reduceat(sizes, np.arange(0, len(sizes), rows)).max()) > most:
        rows //= 2
    return rows


class _Group(NamedTuple):
    """How a row group is read: so many rows at a time, of one column, if any, value by value, or, if it has ``pages``, page by
    page; alone, or with others."""

    number: int
    rows: int
    streamed: int | None
    alone: bool
    pages: list[Page] | None = None


class RowGroups:
    """The rows of a parquet file, in batches by the sizes of ``text`` (default: all columns), within the limit of the split.

    ``raw`` is the same file by its bytes. Where columns are named, texts in pages that are larger than a text may be are read
    value by value, which changes how rows are cut into batches. ``converted``: values become Python's objects, which take more.
    ``later``: texts may be ``Later``.
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

    def check(self) -> None:
        """Raise InputDataError if rows cannot be written again within the memory; pages are looked at where sizes do not do."""
        for number in range(self._metadata.num_row_groups):
            chunks = [self._metadata.row_group(number).column(leaf) for _, leaf in self._leaves]
            if sum(map(self._most, chunks)) > self._split.limit.room:
                self._group(number)

    def _most(self, chunk: Any) -> int:
        """Return more bytes than a column chunk can take, as far as its sizes are true."""
        n_bytes = int(chunk.total_uncompressed_size + chunk.total_compressed_size)
        of_value = VALUE + self._each * (1 + str(chunk.path_in_schema).count("."))
        longest = n_bytes if chunk.physical_type == "BYTE_ARRAY" and "." in chunk.path_in_schema else 0
        return READER + 10 * n_bytes + COPIES * int(chunk.num_values) * (of_value + longest)

    def _group(self, number: int) -> _Group:
        """Look at the pages of a row group."""
        paged = self._paged_group(number) if self._later else None
        if paged is not None:
            return paged
        group, streamed, held = self._metadata.row_group(number), None, 0
        n_rows, rows = max(1, group.num_rows), self._rows
        flat: dict[int, int] = {}  # bytes of a value at most, of columns with a value in each row
        lists: dict[int, int] = {}
        for place, leaf in self._leaves:
            chunk = group.column(leaf)
            field, pages = self._schema.field(place), self._pages(chunk)
            largest = max((page.n_bytes for page in pages or ()), default=0)
            if pages is not None and largest > self._large:
                if streamed is None and self._plain and field.type in _TEXTS and is_streamed(chunk, pages):
                    streamed = place
                    data = [page for page in pages if page.kind != DICTIONARY]
                    rows = min([rows, *(self._most_bytes * max(1, page.n_values) // max(1, page.n_bytes) for page in data)])
                    continue
                if largest > 2 * self._split.limit.most:
                    raise self._too_large_a_page(field.name, number, chunk, largest)
            column = self._columns.column(leaf)
            n_bytes = self._of_value(column) + self._longest(chunk, column, pages)
            (lists if column.max_repetition_level else flat)[leaf] = n_bytes
            held += READER + min(self._buffer, chunk.total_compressed_size)
            held += held_of(pages or [], chunk.physical_type == "BYTE_ARRAY")
        of_row = max(1, sum(flat.values()))
        total = sum(n_bytes * group.column(leaf).num_values for leaf, n_bytes in lists.items())
        rows, most = max(1, rows), self._most_bytes
        largest, alone = of_row + total, total > most or of_row * min(rows, n_rows) > most
        row: int | None = None
        fitting = 0 if alone else rows

        def is_too_large() -> bool:
            return self._names is None and held + COPIES * largest > self._split.limit.room

        if (alone or is_too_large()) and (sizes := self._sizes(group, [*flat, *lists])) is not None and len(sizes):
            row = int(np.argmax(sizes))
            largest = int(sizes[row])
            if alone:  # how rows are cut must not depend on the memory
                fitting = _fitting(sizes, rows, max(most, largest + most // 4))
        if is_too_large():
            raise self._too_large(number, row, held, largest, {**flat, **lists})
        if row is None or not alone:
            fitting, alone = min(rows, most // of_row, most * n_rows // max(1, total)), False
        return _Group(number, max(1, fitting), streamed, alone)

    def _paged_group(self, number: int) -> _Group | None:
        """Tell how a row group is read page by page; None: texts, or other columns, are too large or too small for that."""
        group, rows, of_row, found = self._metadata.row_group(number), ROWS, 0, None
        for place, leaf in self._leaves:
            chunk, column = group.column(leaf), self._columns.column(leaf)
            pages = self._pages(chunk) or []
            if (place, leaf) == self._later:
                found = pages if pages and is_paged(chunk, pages, group.num_rows, self._split.limit.most) else None
                rows = max([rows, *(page.n_values for page in pages)])
            elif column.max_repetition_level or max((page.n_bytes for page in pages), default=LARGE) > LARGE // 4:
                return None
            else:
                of_row += self._of_value(column) + self._longest(chunk, column, pages)
        return None if found is None or of_row * rows > self._most_bytes else _Group(number, BATCH_ROWS, None, True, found)

    def _of_value(self, column: Any) -> int:
        """Return the bytes of a value of a column beside those of a text or number."""
        return VALUE + self._each * (1 + int(column.path.count(".")))

    def _sizes(self, group: Any, leaves: Iterable[int]) -> Int64Array | None:
        """Return the bytes of some columns in each row; None: cannot be told."""
        sizes = np.zeros(group.num_rows, np.int64)
        try:
            for leaf in leaves:
                chunk, column = group.column(leaf), self._columns.column(leaf)
                if column.max_repetition_level and chunk.num_values < group.num_rows:
                    return None  # each row has a value: damaged
                sizes += bytes_per_row(self._raw, chunk, column, group.num_rows, self._of_value(column))
        except (OSError, IndexError, ValueError, KeyError):
            return None  # of another compression, or damaged: Arrow will say so
        return sizes

    def _pages(self, chunk: Any) -> list[Page] | None:
        """Return the pages of a column chunk; None if they are damaged: Arrow will say so."""
        try:
            return list(pages_of(self._raw, chunk))
        except (OSError, IndexError, ValueError):
            return None

    def _longest(self, chunk: Any, column: Any, pages: list[Page] | None) -> int:
        """Return the bytes of the longest text in a column chunk at most."""
        if chunk.physical_type != "BYTE_ARRAY":
            return int(column.length)
        try:
            return self._most_bytes if pages is None else longest_value(self._raw, chunk, pages)
        except (OSError, IndexError, ValueError):
            return self._most_bytes

    def _too_large(self, number: int, row: int | None, held: int, largest: int, of_values: dict[int, int]) -> InputDataError:
        """The error for a row group whose rows cannot be written again within the memory."""
        group, room, sizes = self._metadata.row_group(number), self._split.limit.room, {}
        for leaf, n_bytes in of_values.items():
            sizes[leaf] = n_bytes * group.column(leaf).num_values
            if row is not None and (of_rows := self._sizes(group, [leaf])) is not None:
                sizes[leaf] = int(of_rows[row])
        worst, of_which = max(sizes, key=lambda leaf: sizes[leaf]), "a row at most" if row is None else f"its row {row + 1:,}"
        place = next(place for place, leaf in self._leaves if leaf == worst)
        name, needed = self._schema.field(place).name, held + COPIES * largest
        return FinalError(
            f"writing the rows of row group {number + 1} takes about {needed / 1e6:,.0f} MB "
            f"({held / 1e6:,.0f} MB to read {len(self._leaves):,} columns at once, {COPIES * largest / 1e6:,.0f} MB for "
            f"{of_which}; the largest column is {name!r}), more than the {room / 1e6:,.0f} MB that the memory limit leaves: "
            f"raise --memory (memory=) by {(needed - room) / ROOM / 1e6:,.0f} MB, or drop columns",
            self._split.name,
        )

    def _too_large_a_page(self, name: str, number: int, chunk: Any, n_bytes: int) -> InputDataError:
        return FinalError(
            f"a page of row group {number + 1}, of {n_bytes:,} bytes, "
            f"compressed with {chunk.compression}, can only be read in one piece, which may have at most "
            f"{2 * self._split.limit.most:,}: "
            "raise --memory (memory=) to five times its size, or write the file again with zstd or with smaller pages",
            self._split.name,
            column=name,
        )

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

        for (rows, streamed, alone, pages), some in groupby(map(described, range(first, last)), lambda group: group[1:]):
            apart = alone or streamed is not None
            for numbers in ([group.number] for group in some) if apart else self._runs(group.number for group in some):
                if pages is not None:
                    yield from self._paged(numbers[0], rows, pages)
                elif streamed is None:
                    for batch in self._file.iter_batches(rows, row_groups=numbers, columns=self._names, use_threads=False):
                        yield batch, []
                        del batch  # not held while the next is read
                else:
                    yield from self._streamed(numbers[0], rows, streamed)
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
