"""Values as JSON and CSV have them: each arrives as it was, or an error names its file, row and column."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec
import pyarrow as pa
from pyarrow import types

from ..errors import InputDataError

_EPOCH = datetime(1970, 1, 1)
_DIGITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}
_DAY_MS = 86_400_000
_BYTES = (types.is_binary, types.is_large_binary, types.is_fixed_size_binary, types.is_binary_view)
json_text = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
Shape = Callable[[Any], Any]
Record = dict[str, Any]
NumberedRows = Iterator[tuple[int, Record]]
LONG = 1 << 20  # bytes of a line whose text is decoded so
CHUNK = 1 << 16
_decode = msgspec.json.Decoder(str).decode
raw_fields = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_HIGH = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}")


class Unread(dict[str, Any]):
    """A row that cannot be read, and why."""

    def __init__(self, error: InputDataError) -> None:
        super().__init__()
        self.error = error


def refuse_twice(source: str, names: Sequence[str], wanted: Sequence[str] | None = None) -> None:
    """Raise InputDataError if a column that is wanted (None: any) appears twice, so that one of the two would be lost."""
    counts = Counter(names)
    for name in counts if wanted is None else wanted:
        if counts[name] > 1:
            raise InputDataError(
                f"the column {name!r} appears {counts[name]} times; rename all but one"
                + ("" if wanted is not None else ", or write to the format of the input"),
                source,
                column=name,
            )


def dots(name: str) -> Iterator[tuple[str, str]]:
    """Yield what is before and after each point in the name of a column, the longest beginning first."""
    for at in range(len(name) - 1, -1, -1):
        if name[at] == ".":
            yield name[:at], name[at + 1 :]


def value_at(row: Mapping[str, Any], name: str, inside: Callable[[Any], Any] = lambda value: value) -> Any:
    """Return the value of a field, or, where none has this name, of a field inside another: ``doc.text``."""
    if name in row:
        return row[name]
    for before, after in dots(name):
        if before in row:
            fields = inside(row[before])
            if fields is None:
                return None
            if isinstance(fields, Mapping):
                try:
                    return value_at(fields, after, inside)
                except KeyError:
                    continue
    raise KeyError(name)


def has_value(row: Mapping[str, Any], name: str) -> bool:
    """Tell whether ``value_at`` finds a field."""
    try:
        value_at(row, name)
    except KeyError:
        return False
    return True


def names_in(row: Mapping[str, Any]) -> list[str]:
    """Return the names by which the fields of a row can be asked for, those inside others as ``doc.text``."""
    return [
        path for name, value in row.items()
        for path in ([f"{name}.{inner}" for inner in names_in(value)] if isinstance(value, dict) and value else [name])
    ]  # fmt: skip


def as_text(value: Any) -> str:
    """Return a value that is not null as text: a number as it was written, truth and nested values as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, msgspec.Raw):
        return bytes(value).decode()
    if isinstance(value, (bool, list, dict)):
        return json_text(value)
    return str(value)


def _fraction(value: int, unit: str) -> tuple[int, str]:
    """Return whole seconds, and what follows their point."""
    seconds, rest = divmod(value, 10 ** _DIGITS[unit])
    return seconds, f".{rest:0{_DIGITS[unit]}}" if rest else ""


def _moment(value: int, unit: str, end: str) -> str:
    seconds, fraction = _fraction(value, unit)
    try:
        return (_EPOCH + timedelta(seconds=seconds)).isoformat() + fraction + end
    except OverflowError:
        raise ValueError("the year is not in 1..9999") from None


def _day(value: int) -> str:
    return _moment(value * 86_400, "s", "").partition("T")[0]


def _duration(value: int, unit: str) -> str:
    seconds, fraction = _fraction(abs(value), unit)
    return f"{'-' if value < 0 else ''}PT{seconds}{fraction}S"


def _temporal(kind: pa.DataType) -> Shape:
    """From the integer that a time, day or duration is stored as to its text after ISO 8601, no digit left out."""
    if types.is_date32(kind):
        return _day
    if types.is_date64(kind):
        return lambda value: _day(value // _DAY_MS)
    unit = kind.unit
    if types.is_duration(kind):
        return lambda value: _duration(value, unit)
    if types.is_timestamp(kind):
        end = "Z" if kind.tz else ""
        return lambda value: _moment(value, unit, end)
    return lambda value: _moment(value, unit, "").partition("T")[2]


def _is_list(kind: pa.DataType) -> bool:
    return bool(
        types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
        or types.is_list_view(kind) or types.is_large_list_view(kind)
    )  # fmt: skip


def _stored(kind: pa.DataType) -> pa.DataType:
    """The type to read values as before they are shaped: integers in place of times."""
    if isinstance(kind, pa.BaseExtensionType):
        return _stored(kind.storage_type)
    if types.is_dictionary(kind):
        return _stored(kind.value_type)
    if types.is_temporal(kind):
        return pa.int32() if types.is_date32(kind) or types.is_time32(kind) else pa.int64()
    if _is_list(kind) and (item := _stored(kind.value_type)) != kind.value_type:
        return pa.list_(item, kind.list_size) if types.is_fixed_size_list(kind) else pa.large_list(item)
    if types.is_struct(kind):
        return pa.struct([field.with_type(_stored(field.type)) for field in kind])
    if types.is_map(kind):
        return pa.map_(_stored(kind.key_type), _stored(kind.item_type))
    return kind


def _shape(kind: pa.DataType) -> Shape | None:
    """From a value as it is read to the value as JSON has it; None if they are the same."""
    if isinstance(kind, pa.BaseExtensionType):
        if kind.extension_name == "arrow.uuid":
            return lambda value: str(UUID(bytes=value))
        return bool if kind.extension_name == "arrow.bool8" else _shape(kind.storage_type)
    if types.is_interval(kind) or types.is_union(kind) or types.is_run_end_encoded(kind):
        raise ValueError(f"{kind} cannot be written as text")
    if (types.is_list_view(kind) or types.is_large_list_view(kind)) and _stored(kind.value_type) != kind.value_type:
        raise ValueError(f"{kind} cannot be converted; cast it to a list first")
    if types.is_dictionary(kind):
        return _shape(kind.value_type)
    if types.is_temporal(kind):
        return _temporal(kind)
    if types.is_decimal(kind):
        return str
    if any(is_kind(kind) for is_kind in _BYTES):
        return lambda value: str(value, "utf-8")
    if types.is_map(kind):
        key, item = _nullable(_shape(kind.key_type)), _nullable(_shape(kind.item_type))
        return lambda pairs: [[key(k), item(v)] for k, v in pairs]
    if types.is_struct(kind):
        names = [field.name for field in kind]
        if len(set(names)) < len(names):
            raise ValueError("two of its fields have the same name")
        shapes = {field.name: _nullable(_shape(field.type)) for field in kind}
        return lambda value: {name: shapes[name](v) for name, v in value.items()}
    if _is_list(kind):
        inside = _nullable(_shape(kind.value_type))
        return lambda value: [inside(v) for v in value]
    return None


def _nullable(shape: Shape | None) -> Shape:
    return (lambda value: value) if shape is None else lambda value: None if value is None else shape(value)


def plain_values(column: pa.Array, source: str, name: str, first: int) -> list[Any]:
    """Return the values of an Arrow column as JSON has them, times after ISO 8601."""
    kind = column.type
    try:
        shape, stored = _shape(kind), _stored(kind)
        values: list[Any] = (column if stored == kind else column.cast(stored)).to_pylist()
    except (pa.ArrowNotImplementedError, ValueError) as error:
        raise InputDataError(
            f"values of type {kind} cannot be converted: {error}; write .parquet or a folder instead", source, column=name
        ) from None
    if shape is None:
        return values
    for i, value in enumerate(values):
        try:
            values[i] = None if value is None else shape(value)
        except UnicodeDecodeError:
            raise lost(source, first + i, name, "the bytes are not UTF-8 text") from None
        except ValueError as error:
            raise lost(source, first + i, name, str(error)) from None
    return values


def lost(source: str, row: int, name: str, why: str) -> InputDataError:
    """The error for a value that a format of text does not hold."""
    return InputDataError(f"{why}; write .parquet or a folder instead", source, row, column=name)


def plain_rows(batch: pa.RecordBatch, source: str, first: int) -> NumberedRows:
    """Yield the rows of a batch as dictionaries, each with its number."""
    names = batch.schema.names
    refuse_twice(source, names)
    columns = [plain_values(batch.column(i), source, name, first) for i, name in enumerate(names)]
    for number, values in enumerate(zip(*columns, strict=True), first):
        yield number, dict(zip(names, values, strict=True))


def is_finite(value: Any) -> bool:
    """Tell whether JSON has a form for all numbers in a value."""
    if isinstance(value, float):
        return math.isfinite(value)
    return (
        all(map(is_finite, value.values() if isinstance(value, dict) else value)) if isinstance(value, (dict, list)) else True
    )


def not_utf8(source: str, rows: Iterable[tuple[int, Record]]) -> InputDataError:
    """The error for a text with lone surrogates, as names of files have them whose bytes are not UTF-8."""
    texts = ((number, name, v) for number, row in rows for name, v in row.items() if isinstance(v, str))
    number, name, value = next(found for found in texts if found[2].encode("utf-8", "ignore").decode() != found[2])
    return InputDataError(
        f"{value!a:.99} is not UTF-8 text; if it is the name of a file, rename that", source, number, column=name
    )


def text_of(raw: msgspec.Raw) -> bytearray | None:
    """Return a string of JSON as UTF-8; None is null."""
    data = memoryview(raw)
    if data[0] != 0x22:
        msgspec.json.decode(data, type=None)
        return None
    begin, end, n_bytes = 1, len(data) - 1, 0
    found = bytearray(end)  # no text is longer than what it is written as, and one buffer is given back as a whole
    while begin < end:
        stop = _boundary(data, min(begin + CHUNK, end), end)
        part = _decode(b'"%b"' % bytes(data[begin:stop])).encode()
        found[n_bytes : n_bytes + len(part)] = part
        begin, n_bytes = stop, n_bytes + len(part)
    del found[n_bytes:]
    return found


def _boundary(data: memoryview, at: int, end: int) -> int:
    """Return the first place from ``at`` on at which no character, escape or pair of escapes is cut."""
    while at < end:
        before = bytes(data[max(0, at - 12) : at])
        if data[at] & 0xC0 == 0x80:
            at += 1  # inside a character
        elif b"\\" not in before:
            return at
        elif data[at] == 0x5C and before[-1] != 0x5C and not _HIGH.fullmatch(before[-6:]):
            return at  # an escape begins, and not the second half of a pair
        else:
            at += 1
    return end
