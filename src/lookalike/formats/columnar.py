"""Formats of Arrow tables, whose columns have types and keep them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..errors import InputDataError
from ..text.texts import from_arrow_array
from ..values.arrow import to_arrow
from .format import Format, Selection
from .rows import NumberedRows, Unread, dots, plain_rows, refuse_twice
from .split import Batch, ColumnError, Columns, Split, check_free, missing_column, numbers_from

ROWS = 1 << 14  # of a table that are handed on together
BYTES = 32 << 20  # of these
_RECORDS = 1024
_LISTS = (
    (pa.types.is_list, pa.list_), (pa.types.is_large_list, pa.large_list), (pa.types.is_list_view, pa.list_view),
    (pa.types.is_large_list_view, pa.large_list_view),
)  # fmt: skip
KEPT = 16  # this part of the room for rows may be kept of what was freed
UNREAD = b"lookalike unread"
"""What the metadata of tables name that stand for rows that cannot be read."""


class ColumnarFormat(Format):
    """A format whose splits are tables with a schema."""

    first_number = 1
    """The number of the first row."""

    def schema(self, split: Split) -> pa.Schema:
        """Return the Arrow schema, its metadata included."""
        raise NotImplementedError

    def compression(self, split: Split) -> str:
        """Return the compression of parquet files that are written after it."""
        return "snappy"

    def tables(self, split: Split, converted: bool) -> Iterator[pa.Table]:
        """Read all columns, in tables of a size that fits into memory, ``converted`` to Python's objects or not."""
        raise NotImplementedError

    def check_writing(self, split: Split, converted: bool) -> None:
        """Raise InputDataError if rows, ``converted`` or not, cannot be written within the limit; by default, they can."""

    def rows(self, split: Split, encoding_errors: str) -> NumberedRows:
        """Yield the number of each row and a dictionary of its values as JSON has them."""
        number = self.first_number
        for table in self.tables(split, True):
            for batch in table.to_batches(_RECORDS):
                try:
                    yield from list(plain_rows(batch, split.name, number))
                except InputDataError:
                    if not split.limit.faults:
                        raise
                    yield from _one_by_one(batch, split.name, number)
                number += len(batch)

    def check_free(self, split: Split, names: Sequence[str]) -> None:
        """Raise InputDataError if the schema names one of these."""
        check_free(split.name, None, "column", self.schema(split).names, names)


def _one_by_one(batch: pa.RecordBatch, name: str, first: int) -> NumberedRows:
    """Yield the rows of a batch of which some have no form as text."""
    for row in range(len(batch)):
        try:
            yield from plain_rows(batch.slice(row, 1), name, first + row)
        except InputDataError as error:
            yield first + row, Unread(error)


def unread_table(schema: pa.Schema, n: int) -> pa.Table:
    """Return what stands for rows that cannot be read, and are not written."""
    columns = [pa.nulls(n, field.type) for field in schema]
    return pa.Table.from_arrays(columns, schema=schema.with_metadata({**(schema.metadata or {}), UNREAD: b""}))


def path_of(fields: Any, name: str) -> tuple[str, ...]:
    """Return the column, or field of a struct, that a name means, and the fields in it (``doc.text``); none: no such column.

    A column whose name has points comes first.
    """
    kinds = {field.name: field.type for field in fields}
    if name in kinds:
        return (name,)
    for before, after in dots(name):
        if pa.types.is_struct(kinds.get(before, pa.null())) and (inner := path_of(kinds[before], after)):
            return before, *inner
    return ()


def decoded(kind: pa.DataType) -> pa.DataType:
    """Return a type without dictionaries, also of what is in it."""
    if pa.types.is_dictionary(kind):
        return decoded(kind.value_type)
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(decoded(field.type)) for field in kind])
    if pa.types.is_map(kind):
        return pa.map_(decoded(kind.key_type), decoded(kind.item_type), kind.keys_sorted)
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(_item(kind), kind.list_size)
    for is_kind, make in _LISTS:
        if is_kind(kind):
            return make(_item(kind))
    return kind


def _item(kind: Any) -> pa.Field:
    item: pa.Field = kind.value_field
    return item.with_type(decoded(item.type))


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


def names_of(fields: Any) -> list[str]:
    """Return the names by which columns can be asked for, those inside structs as ``doc.text``."""
    return [
        path for field in fields
        for path in ([f"{field.name}.{i}" for i in names_of(field.type)] if pa.types.is_struct(field.type) else [field.name])
    ]  # fmt: skip


def outer(schema: pa.Schema, names: Sequence[str]) -> list[str]:
    """Return the columns that have or hold those named, each once."""
    return list(dict.fromkeys(path_of(schema, name)[0] for name in names))


def column_of(batch: Any, name: str) -> pa.Array:
    """Return a column of a record batch, or what is inside one, null where a struct around it is."""
    first, *inner = path_of(batch.schema, name)
    column = batch.column(first)
    for field in inner:
        column = pc.struct_field(column, [column.type.get_field_index(field)])
    return column


def check_columns(split: Split, schema: pa.Schema, columns: Columns) -> None:
    """Raise InputDataError if a schema lacks a column that is wanted, names one twice, or has one that is reserved."""
    for name in columns.wanted:
        if not (path := path_of(schema, name)):
            raise missing_column(split, None, "column", name, names_of(schema), columns)
        fields: Any = schema
        for end, inner in enumerate(path):
            named = [".".join((*path[:end], field.name)) for field in fields]
            refuse_twice(split.name, named, [".".join(path[: end + 1])])
            fields = next(field.type for field in fields if field.name == inner)
    check_free(split.name, None, "column", schema.names, columns.reserved)


def table_batch(batch: Any, first: int, columns: Columns, name: str) -> Batch:
    """Take the columns of a job out of an Arrow record batch."""
    try:
        texts = from_arrow_array(column_of(batch, columns.text))
    except InputDataError as error:
        raise ColumnError(error, name, column=columns.text) from None
    return Batch(
        texts,
        numbers_from(first, len(batch)),
        None if columns.id is None else column_of(batch, columns.id),
        {other: column_of(batch, other) for other in columns.others},
    )


def cut(table: pa.Table, text: str | None = None) -> Iterator[pa.Table]:
    """Cut rows into tables of a bounded size, by their average; a text of a dictionary counts wherever it is."""
    n_bytes = table.nbytes
    if text in table.column_names and pa.types.is_dictionary(table.column(text).type):
        n_bytes += sum(map(_looked_up, table.column(text).chunks))
    rows = max(1, min(ROWS, BYTES * len(table) // max(1, n_bytes)))
    for first in range(0, len(table), rows):
        yield table.slice(first, rows)


def _looked_up(column: pa.DictionaryArray) -> int:
    """Return the bytes of a column of texts without its dictionary."""
    sizes = pc.binary_length(column.dictionary.cast(pa.large_binary())).take(column.indices)
    return pc.sum(sizes).as_py() or 0


def selected_schema(selection: Selection, form: ColumnarFormat) -> pa.Schema:
    schema = form.schema(selection.split)
    if selection.cuts is not None:
        schema = selection.cuts.schema(schema, path_of(schema, selection.cuts.column))
    for field in selection.added_schema:
        schema = schema.append(field)
    return schema


def selected_tables(selection: Selection, form: ColumnarFormat, converted: bool = False) -> Iterator[pa.Table]:
    """Yield the selected rows as Arrow tables, texts cut, additions appended."""
    row, freed, additions = 0, 0, selection.additions()
    selection.split.check_unchanged()
    for table in form.tables(selection.split, converted):
        if selection.split.limit.faults:
            table = table.slice(0, len(selection.mask) - row)
        end = row + len(table)
        if UNREAD in (table.schema.metadata or {}) and selection.mask[row:end].any():
            raise InputDataError("rows that were read at first cannot be read now", selection.split.name, row + 1)
        selection.check_count(end) if end > len(selection.mask) else None
        if selection.cuts is not None:
            table = selection.cuts.table(table, path_of(table.schema, selection.cuts.column), row)
        if selection.added is not None:
            added = additions(row, end)
            for name in added.column_names:
                table = table.append_column(name, added.column(name))
            del added
        mask, row = selection.mask[row:end], end
        chosen = table if mask.all() else filter_table(table, mask)
        freed += table.nbytes
        del table  # not held while the next is read, nor beside what is chosen of it
        yield chosen
        del chosen
        if freed > selection.split.limit.room // KEPT:  # of what was freed much would be kept
            pa.default_memory_pool().release_unused()
            freed = 0
        if selection.split.limit.faults and row >= selection.last:
            break
    selection.check_count(row)
    selection.split.check_unchanged()


def filter_table(table: pa.Table, mask: NDArray[np.bool_]) -> pa.Table:
    """Return the rows where ``mask`` is set; run by run where Arrow filters no columns of some type."""
    try:
        return table.filter(to_arrow(mask))
    except pa.ArrowNotImplementedError:
        bounds = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]))).reshape(-1, 2)
        return pa.concat_tables([table.slice(0, 0), *(table.slice(begin, end - begin) for begin, end in bounds.tolist())])
