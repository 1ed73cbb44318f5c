"""Rows of parquet files in batches of bounded size, however the file is laid out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import pyarrow as pa

from ..errors import InputDataError
from ._columnar import path_of
from ._pages import LARGE, Page, TooLong, is_streamed, longest_value, pages_of, values_of
from ._split import Split

if TYPE_CHECKING:
    import pyarrow.parquet as pq

BATCH_ROWS = 4096
BATCH_BYTES = 8 << 20
MOST_BYTES = 32 << 20  # of a batch whose values are as long as the longest
_TEXTS = (pa.string(), pa.large_string(), pa.binary(), pa.large_binary())


def n_leaves(kind: pa.DataType) -> int:
    """The number of columns in the file that hold a column of some type."""
    if isinstance(kind, pa.BaseExtensionType):
        return n_leaves(kind.storage_type)
    if pa.types.is_dictionary(kind):
        return n_leaves(kind.value_type)
    return sum(n_leaves(kind.field(i).type) for i in range(kind.num_fields)) or 1


def leaves_of(schema: pa.Schema, names: Sequence[str] | None = None) -> list[tuple[int, int]]:
    """Return (place in the schema, place of its columns in the file) of all columns, or of those named, also inside structs."""
    found, leaf = [], 0
    paths: dict[str, set[tuple[str, ...]]] = {}
    for path in [(name,) for name in schema.names] if names is None else [path_of(schema, name) for name in names]:
        paths.setdefault(path[0], set()).add(path[1:])
    for place, field in enumerate(schema):
        spans = [_leaves_in(field.type, inner) for inner in paths.get(field.name, ())]
        found += sorted({(place, leaf + begin + i) for begin, n in spans for i in range(n)})
        leaf += n_leaves(field.type)
    return found


def _leaves_in(kind: pa.DataType, path: Sequence[str]) -> tuple[int, int]:
    """Return where the columns of what is inside a type begin, and their number."""
    begin = 0
    for name in path:
        place = kind.get_field_index(name)
        begin += sum(n_leaves(kind.field(i).type) for i in range(place))
        kind = kind.field(place).type
    return begin, n_leaves(kind)


class _Group(NamedTuple):
    """How a row group is read: so many rows at a time; of one column, if any, value by value."""

    number: int
    rows: int
    streamed: int | None


class RowGroups:
    """The rows of a parquet file.

    Parameters
    ----------
    file : ParquetFile
    raw : file
        The same file, to be read by its bytes.
    split : Split
        Its limit holds for the texts.
    names : sequence of str, optional
        Columns that are wanted; default: all.
    text : str, optional
        The column of texts, whose sizes determine the number of rows at a time; default: all columns.
    large : int, optional
        Bytes of a page from which on texts are read value by value. How rows are cut into batches depends on it.
    """

    def __init__(
        self, file: pq.ParquetFile, raw: BinaryIO, split: Split, names: Sequence[str] | None = None, text: str | None = None,
        large: int | None = None,
    ) -> None:  # fmt: skip
        self._file, self._raw, self._split, self._names = file, raw, split, names
        self._large = LARGE if large is None else max(LARGE, large)
        schema = file.schema_arrow
        self._leaves = leaves_of(schema, names)
        sized = [leaf for _, leaf in (self._leaves if text is None else leaves_of(schema, [text]))]
        groups = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
        n_bytes = sum(group.column(leaf).total_uncompressed_size for group in groups for leaf in sized)
        rows = BATCH_BYTES * max(1, file.metadata.num_rows) // max(1, n_bytes)
        self._rows = max(1, min(BATCH_ROWS, rows))
        self._plain = len(set(schema.names)) == len(schema.names) and not any(
            "." in name for name in (*schema.names, *(names or ()))
        )

    def _group(self, number: int) -> _Group:
        """Look at the pages of a row group.

        Raises
        ------
        InputDataError
            If one is too large to be read within the limit.
        """
        group, rows, streamed = self._file.metadata.row_group(number), self._rows, None
        for place, leaf in self._leaves:
            chunk = group.column(leaf)
            pages, longest = self._pages(chunk)
            if not pages:
                continue
            rows = min(rows, MOST_BYTES // max(1, longest))
            rows = min([rows, *(MOST_BYTES * max(1, page.n_values) // max(1, page.n_bytes) for page in pages)])
            largest = max(page.n_bytes for page in pages)
            if largest <= self._large:
                continue
            field = self._file.schema_arrow.field(place)
            if streamed is None and self._plain and field.type in _TEXTS and is_streamed(chunk, pages):
                streamed = place
            elif largest > 2 * self._split.limit.most:
                most = 2 * self._split.limit.most
                raise InputDataError(
                    f"{self._split.name}, column {field.name!r}, row group {number + 1}: a page of {largest:,} bytes, "
                    f"compressed with {chunk.compression}, can be read in one piece only, which may have at most {most:,}: "
                    "raise --memory (memory=) to five times its size, or write the file again with zstd or with smaller pages"
                )
        return _Group(number, max(1, rows), streamed)

    def _pages(self, chunk: Any) -> tuple[list[Page], int]:
        """Return the pages of a column chunk that matter, and the longest value in its dictionary."""
        whole = chunk.total_uncompressed_size > self._large
        if not whole and not (chunk.has_dictionary_page and chunk.physical_type == "BYTE_ARRAY"):
            return [], 0
        try:
            pages = list(islice(pages_of(self._raw, chunk), None if whole else 1))
            return pages, longest_value(self._raw, chunk, pages[0], self._large) if pages else 0
        except (OSError, IndexError, ValueError):
            return [], 0  # damaged: Arrow will say so

    def batches(self, first: int = 0, last: int | None = None) -> Iterator[tuple[pa.RecordBatch, list[int]]]:
        """Yield the rows of some row groups in batches, each with the numbers of its rows whose texts are left out."""
        last = self._file.metadata.num_row_groups if last is None else last
        described = (self._group(number) for number in range(first, last))
        for (rows, streamed), some in groupby(described, lambda group: (group.rows, group.streamed)):
            for numbers in ([group.number for group in some],) if streamed is None else ([group.number] for group in some):
                if streamed is None:
                    for batch in self._file.iter_batches(rows, row_groups=numbers, columns=self._names, use_threads=False):
                        yield batch, []
                        del batch  # not held while the next is read
                else:
                    yield from self._streamed(numbers[0], rows, streamed)

    def _streamed(self, number: int, rows: int, place: int) -> Iterator[tuple[pa.RecordBatch, list[int]]]:
        """Yield the rows of a row group, of which one column is read value by value."""
        schema, group, limit = self._file.schema_arrow, self._file.metadata.row_group(number), self._split.limit
        field = schema.field(place)
        wanted = [f for f in schema if self._names is None or f.name in self._names]
        others = [f.name for f in wanted if f.name != field.name]
        leaf = next(leaf for where, leaf in self._leaves if where == place)
        values = values_of(self._raw, group.column(leaf), field.nullable, limit.most)
        row = sum(self._file.metadata.row_group(i).num_rows for i in range(number))
        for other in self._others(number, rows, others):
            begin = end = size = 0
            texts: list[bytes | None] = []
            left_out: list[int] = []
            while end < len(other):
                value = next(values, b"")
                end += 1
                if isinstance(value, TooLong):
                    if not limit.skip:
                        raise self._split.too_large(f"row {row + end}", value.n_bytes)
                    left_out.append(len(texts))
                    value = None
                size += len(value or b"")
                texts.append(value)
                del value
                if size > BATCH_BYTES or end == len(other):
                    columns = {name: other.column(name).slice(begin, end - begin) for name in others}
                    columns[field.name] = _column(texts, field.type)
                    texts.clear()
                    made = [columns[f.name] for f in wanted]
                    yield pa.RecordBatch.from_arrays(made, schema=pa.schema(wanted, schema.metadata)), left_out
                    del columns, made
                    begin, size, left_out = end, 0, []
            row += len(other)

    def _others(self, number: int, rows: int, names: list[str]) -> Iterator[Any]:
        """Yield batches of the columns that are not read value by value; there may be none."""
        if names:
            yield from self._file.iter_batches(rows, row_groups=[number], columns=names, use_threads=False)
            return
        n = self._file.metadata.row_group(number).num_rows
        for begin in range(0, n, rows):
            yield range(begin, min(n, begin + rows))


def _column(values: list[bytes | None], kind: pa.DataType) -> pa.Array:
    """Return values as a column."""
    wide = pa.array(values, pa.large_binary())
    if pa.types.is_large_string(kind) or pa.types.is_string(kind):
        wide = wide.view(pa.large_string())
    return wide.cast(kind)
