"""One parquet file from rows of unlike formats or schemas: each column gets a type that holds all its values unchanged."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import chain, starmap
from typing import Any

import msgspec
import pyarrow as pa
from pyarrow import types

from ..errors import InputDataError
from .columnar import ColumnarFormat, selected_schema, selected_tables
from .format import Selection, gather_batches
from .rows import as_text, not_utf8, plain_values, refuse_twice
from .split import ROOM, Record, Split

ROW_GROUP = 1 << 14
GROUP_BYTES = 16 << 20
TABLES = 256  # that are held as they are
COPIES, OBJECTS = 12, 60  # bytes for each byte of a text, and of a list or object of JSON, while it is converted
_DEEPEST = 80  # levels of a column: readers of parquet take 100
_EXACT = 1 << 53  # integers up to here are exact as floating-point numbers


class _InexactError(ValueError):
    """A number that neither int64 nor a double holds."""


def _float(digits: str) -> float:
    value = float(digits)
    if repr(value) != digits and (not math.isfinite(value) or Decimal(digits) != Decimal(repr(value))):
        raise _InexactError
    return value


def _int(digits: str) -> int:
    if len(digits) > 20:
        raise _InexactError
    return int(digits)


_decode = json.JSONDecoder(parse_int=_int, parse_float=_float).decode


def _loaded(value: Any) -> Any:
    """Return what a value of JSON is in Python; an error if it is a number that has no exact one."""
    if type(value) is not msgspec.Raw:
        return value
    text = bytes(value).decode()
    if text[0] in "[{":
        return _decode(text)
    return _int(text) if text.lstrip("-").isdigit() else _float(text)


def _same(value: Any, stored: Any) -> bool:
    """Whether Arrow holds a nested value as it was: it reads true as 1.0 beside numbers, and has no empty struct."""
    if isinstance(value, bool) or isinstance(stored, bool):
        return value is stored
    if isinstance(value, list):
        return isinstance(stored, list) and len(value) == len(stored) and all(map(_same, value, stored))
    if isinstance(value, dict):
        return isinstance(stored, dict) and bool(value) and all(_same(value.get(name), v) for name, v in stored.items())
    return bool(value == stored)


def _levels(kind: pa.DataType) -> Iterator[list[pa.DataType]]:
    """Yield a type, those that it holds, those that these hold, and so on."""
    level = [kind]
    while level:
        yield level
        level = [k.field(i).type for k in level for i in range(k.num_fields)]


def _depth(kind: pa.DataType) -> int:
    """Levels of a type in the schema of a parquet file: a list has two, a struct one."""
    return sum(max(2 if types.is_list(k) or types.is_large_list(k) else 1 for k in level) for level in _levels(kind))


def _has_decimal(kind: pa.DataType) -> bool:
    return any(types.is_decimal(k) for level in _levels(kind) for k in level)


def _typed(values: list[Any], kind: pa.DataType | None = None) -> pa.Array | None:
    """Return the values of a column, or None where no type of Arrow's, or not the one named, holds them unchanged."""
    try:
        loaded = [_loaded(value) for value in values]
        array = pa.array(loaded, kind)
        if _depth(array.type) > _DEEPEST:
            return None
    except (_InexactError, ArithmeticError, pa.ArrowInvalid, pa.ArrowTypeError, UnicodeEncodeError, RecursionError):
        return None
    if kind is not None:  # found from all values, so that none of the changes below can happen
        return array
    found = set(map(type, loaded))
    if bool in found and found - {bool, type(None)}:
        return None
    nested = dict in found or list in found
    return None if nested and not all(map(_same, loaded, array.to_pylist())) else array


class _Column:
    """What is known of a column: the types of its values, and whether a type other than text will do."""

    def __init__(self) -> None:
        self.kinds: dict[pa.DataType, None] = {}
        self.is_text = self.is_wide = False

    def add(self, values: list[Any]) -> None:
        array = None if self.is_text else _typed(values)
        if array is None:
            self.is_text = True
            return
        self.kinds[array.type] = None
        if types.is_integer(array.type):
            whole = array.drop_null().to_numpy()
            self.is_wide |= bool(len(whole)) and not -_EXACT <= int(whole.min()) <= int(whole.max()) <= _EXACT

    def kind(self) -> pa.DataType:
        """The type that holds all values; text if there is no other."""
        kinds = [kind for kind in self.kinds if not types.is_null(kind)]
        if self.is_text or not kinds:
            return pa.string()
        common = kinds[0]
        for kind in kinds[1:]:
            if common == kind:
                continue
            if types.is_unsigned_integer(common) != types.is_unsigned_integer(kind) and types.is_integer(kind):
                return pa.string()
            if _has_decimal(common) != _has_decimal(kind):
                return pa.string()
            try:
                pair = [pa.schema([("x", common)]), pa.schema([("x", kind)])]
                common = pa.unify_schemas(pair, promote_options="permissive").field("x").type
            except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
                return pa.string()
        return pa.string() if types.is_floating(common) and self.is_wide else common


def _batched(rows: Iterable[tuple[int, Record]], split: Split) -> Iterator[list[tuple[int, Record]]]:
    """Yield rows, as many at a time as make a row group, or as take about a block."""

    def sized() -> Iterator[tuple[tuple[int, Record], int]]:
        for number, row in rows:
            yield (number, row), _checked_size(split, number, row)
            del row  # not held while the next is read

    return gather_batches(sized(), ROW_GROUP)


def _checked_size(split: Split, number: int, row: Record) -> int:
    """Return about how many bytes a row has; raise InputDataError if a value takes more memory than there is."""
    left = split.limit.room / ROOM
    for name, value in row.items():
        if (needed := _size(value) + _wide(value)) > left:
            raise InputDataError(
                f"converting the value for Parquet takes about {needed / 1e6:,.0f} MB, more than the {left / 1e6:,.0f} MB that "
                f"the memory limit leaves: write .jsonl, or raise --memory (memory=) by {(needed - left) / 1e6:,.0f} MB",
                split.name, number, column=name,
            )  # fmt: skip
    return sum(_size(value) // COPIES for value in row.values())


def _wide(value: Any) -> int:
    """Return how many bytes more a text takes, of which not all characters are one byte."""
    if not isinstance(value, str) or value.isascii():
        return 0
    return sys.getsizeof(value) + (COPIES - 1) * len(value.encode("utf-8", "replace")) - COPIES * len(value)


def _size(value: Any) -> int:
    """Return about how much memory a value takes while it is converted: little unless it is text, or was not decoded."""
    if isinstance(value, str):
        return COPIES * len(value)
    return OBJECTS * memoryview(value).nbytes if isinstance(value, msgspec.Raw) else 0


def common_schema(selections: Sequence[Selection]) -> pa.Schema:
    """Return the columns of all sources, in the order they appear, with the types that hold their values."""
    columns: dict[str, _Column] = {}
    for selection in selections:
        split, form, fields = selection.split, selection.split.form, selection.added_schema
        if isinstance(form, ColumnarFormat):
            fields = selected_schema(selection, form)
            refuse_twice(split.name, fields.names)
        elif (names := form.text_columns(split)) is not None:
            for name in names:
                columns.setdefault(name, _Column()).is_text = True
        else:
            fields = []
            _add_values(columns, selection)
        for field in fields:
            columns.setdefault(field.name, _Column()).kinds[field.type] = None
    return pa.schema([(name, column.kind()) for name, column in columns.items()])


def _add_values(columns: dict[str, _Column], selection: Selection) -> None:
    """Read rows for what is in their columns."""
    for rows in _batched(selection.records(), selection.split):
        for name in dict.fromkeys(name for _, row in rows for name in row):
            columns.setdefault(name, _Column()).add([row.get(name) for _, row in rows])
        rows.clear()  # not held while the next are read


def common_tables(selections: Sequence[Selection], schema: pa.Schema) -> Iterator[pa.Table]:
    """Yield the rows of all sources, with the columns of ``common_schema``."""
    for selection in selections:
        name, form = selection.split.name, selection.split.form
        if isinstance(form, ColumnarFormat):
            row = 1
            for table in selected_tables(selection, form, converted=True):
                columns, n_rows = [_cast(table, field, name, row) for field in schema], len(table)
                del table  # not held while the next is read, nor beside what is made of it
                yield pa.Table.from_arrays(columns, schema=schema)
                del columns
                row += n_rows
            continue
        for rows in _batched(selection.records(), selection.split):
            arrays = []
            for field in schema:
                values = [row.get(field.name) for _, row in rows]
                if field.type == pa.string():
                    try:
                        arrays.append(pa.array([None if v is None else as_text(v) for v in values], pa.string()))
                    except UnicodeEncodeError:
                        raise not_utf8(name, rows) from None
                elif (array := _typed(values, field.type)) is not None:
                    arrays.append(array)
                else:
                    raise InputDataError(
                        f"not all values up to row {rows[-1][0]} fit into {field.type}; write .jsonl instead",
                        name, rows[0][0], column=field.name,
                    )  # fmt: skip
            del values
            rows.clear()  # not held beside what is made of them
            yield pa.Table.from_arrays(arrays, schema=schema)
            del arrays


def together(selections: Sequence[Selection]) -> tuple[pa.Schema, Iterator[pa.Table], bool]:
    """Return the schema and the tables of all sources, and whether these are as they were, since all have the same schema."""
    columnar = [(some, form) for some in selections if isinstance(form := some.split.form, ColumnarFormat)]
    schemas = list(starmap(selected_schema, columnar))
    if len(columnar) == len(selections) and all(schema == schemas[0] for schema in schemas):
        return schemas[0], chain.from_iterable(starmap(selected_tables, columnar)), True
    schema = common_schema(selections)
    return schema, common_tables(selections, schema), False


def row_groups(tables: Iterable[pa.Table], rows: int | None = None) -> Iterator[pa.Table]:
    """Join small tables until they have ``GROUP_BYTES``, or so many rows; default: ``ROW_GROUP``."""
    rows = ROW_GROUP if rows is None else rows
    some: list[pa.Table] = []
    waiting = size = 0
    for table in tables:
        some.append(table)
        waiting, size = waiting + len(table), size + table.nbytes
        del table  # not held while the next is read
        if len(some) == TABLES:
            some = [_combined(some)]
        if waiting >= rows or size >= GROUP_BYTES:
            together, some, waiting, size = pa.concat_tables(some), [], 0, 0
            yield together
            del together
    if some:
        yield pa.concat_tables(some)


def write_tables(
    write: Callable[[pa.Table], None], tables: Iterable[pa.Table], schema: pa.Schema, rows: int | None = None
) -> None:
    """Write tables with the types of a schema, small ones together: see ``row_groups``."""
    for table in row_groups(tables, rows):
        if len(table):
            write(table if table.schema.equals(schema) else table.cast(schema))
        del table  # not held while the next is read


def with_provenance(schema: pa.Schema, provenance: Record) -> pa.Schema:
    """Return a schema whose metadata say how a file was made."""
    return schema.with_metadata({**(schema.metadata or {}), b"lookalike": json.dumps(provenance).encode()})


def find_unwritable(schema: pa.Schema, write: Callable[[pa.Table, Any], None]) -> str | None:
    """Return the first column of a type that a format does not have."""
    for field in schema:
        try:
            write(pa.schema([field]).empty_table(), pa.BufferOutputStream())
        except (pa.ArrowException, ValueError):
            return str(field.name)
    return None


def _combined(tables: list[pa.Table]) -> pa.Table:
    """Return tables as one: of a few rows, each would take more than its values."""
    together = pa.concat_tables(tables)
    try:
        return together.combine_chunks()
    except pa.ArrowNotImplementedError:
        return together


def _cast(table: pa.Table, field: pa.Field, source: str, row: int) -> pa.ChunkedArray | pa.Array:
    """Return a column of a table as the field has it: text of its values where that is what the sources share."""
    if field.name not in table.column_names:
        return pa.nulls(len(table), field.type)
    column = table.column(field.name)
    if column.type == field.type:
        return column
    try:
        if field.type == pa.string() and not _is_string(column.type):
            values = plain_values(column, source, field.name, row)
            return pa.array([None if v is None else as_text(v) for v in values], pa.string())
        return column.cast(field.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError) as error:
        if isinstance(error, InputDataError):
            raise
        raise InputDataError(
            f"its values do not fit into {field.type}, which the other files need: {error}; write to a folder instead",
            source,
            column=field.name,
        ) from None


def _is_string(kind: pa.DataType) -> bool:
    kind = kind.value_type if types.is_dictionary(kind) else kind
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))
