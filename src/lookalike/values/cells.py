"""The values of a column as bytes: two are equal if and only if the values are, and they sort as the values do. The first byte
is the kind of a value, and values of different kinds are never equal. A null, and a number that is NaN, are no bytes at all."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import InputDataError
from .arrow import to_numpy

KINDS = {
    b"b": "a boolean",
    b"d": "a duration",
    b"h": "a time of day",
    b"l": "a list",
    b"m": "an object",
    b"n": "a number",
    b"s": "text",
    b"t": "a time without a time zone",
    b"u": "a time with a time zone",
}
UNORDERED = b"lm"
_NULL = b""
_NUMBER = re.compile(r"(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]{1,16}))?")
_BIAS = 1 << 62
_COMPLEMENT = bytes(range(255, -1, -1))
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_DIGITS = 17  # that tell any double from all others
_DEPTH = 100


def cell_keys(values: list[Any] | pa.Array, *, untyped: bool = False) -> list[bytes]:
    """Return the key of each value of a column.

    Numbers of all types compare by value; a float with a fraction counts as the shortest decimal number that reads as it. Times
    compare by instant, text by its UTF-8 bytes, lists and objects item by item; a null field of an object counts as none.
    """
    if isinstance(values, pa.Array):
        return _arrow_keys(values)
    known: dict[Any, bytes] = {}
    keys = []
    for value in values:
        if isinstance(value, str):
            key = known.get(value)
            if key is None:
                key = known[value] = _cell_key(value) if untyped else _text_key(value)
            keys.append(key)
        else:
            keys.append(_value_key(value))
    return keys


def kind_of(key: bytes) -> str:
    """Say what a value is, for messages: its kind, and the text of text."""
    kind = KINDS[key[:1]]
    return f"{kind} ({key[1:].decode('utf-8', 'replace')!r:.60})" if kind == "text" else kind


def _text_key(text: str) -> bytes:
    return b"s" + text.encode("utf-8", "surrogatepass")


def _cell_key(text: str) -> bytes:
    """Return the key of a cell of CSV."""
    if text in ("", "true", "false"):
        return _value_key({"": None, "true": True, "false": False}[text])
    number = _NUMBER.fullmatch(text)
    if number is None:
        return _text_key(text)
    if number[3] or number[4]:
        value = float(text)
        precise = len((number[2] + (number[3] or "")).lstrip("0")) <= _DIGITS
        if precise and math.isfinite(value) and value:
            return _value_key(value)
    return _decimal_key(number)


def _decimal_key(number: re.Match[str]) -> bytes:
    """Return the key of a number written in decimal: sign, exponent, digits; those of negative ones are complemented."""
    sign, whole, fraction, exponent = number.groups()
    digits = (whole + (fraction or "")).lstrip("0")
    if not digits:
        return b"n\x02"
    point = len(digits) - len(fraction or "") + int(exponent or 0)
    body = (point + _BIAS).to_bytes(8) + digits.rstrip("0").encode()
    return b"n\x01" + body.translate(_COMPLEMENT) + b"\xff" if sign else b"n\x03" + body


def _value_key(value: Any, depth: int = 0) -> bytes:
    """Return the key of a value as JSON, or an Arrow column of numbers, has it."""
    if value is None or value != value:
        return _NULL
    if isinstance(value, bool):
        return b"b\x01" if value else b"b\x00"
    if isinstance(value, str):
        return _text_key(value)
    if isinstance(value, (list, dict)):
        if depth == _DEPTH:
            raise InputDataError(f"lists and objects nested more than {_DEPTH} deep cannot be compared")
        if isinstance(value, list):
            return b"l" + _join_keys(_value_key(item, depth + 1) for item in value)
        return _object_key((_text_key(name), _value_key(item, depth + 1)) for name, item in value.items())
    if isinstance(value, float):
        if math.isinf(value):
            return b"n\x04" if value > 0 else b"n\x00"
        text = str(int(value)) if value.is_integer() else repr(value)
    else:
        text = str(value) if isinstance(value, int) else format(value, "f")
    number = _NUMBER.fullmatch(text)
    assert number is not None, text
    return _decimal_key(number)


def _join_keys(keys: Iterable[bytes]) -> bytes:
    return b"".join(len(key).to_bytes(8) + key for key in keys)


def _object_key(fields: Iterable[tuple[bytes, bytes]]) -> bytes:
    return b"m" + _join_keys(part for field in sorted(field for field in fields if field[1] != _NULL) for part in field)


def _arrow_keys(array: pa.Array) -> list[bytes]:
    """Return the key of each value of an Arrow column."""
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        return _arrow_keys(array.storage)
    if pa.types.is_dictionary(kind):
        return _arrow_keys(array.dictionary_decode())
    if pa.types.is_run_end_encoded(kind):
        return _arrow_keys(pc.run_end_decode(array))
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind) or pa.types.is_time(kind) or pa.types.is_duration(kind):
        return _time_keys(array)
    if pa.types.is_struct(kind):
        names = [_text_key(field.name) for field in kind]
        fields = [_arrow_keys(column) for column in array.flatten()]
        rows: Iterable[tuple[bytes, ...]] = zip(*fields, strict=True) if fields else [()] * len(array)
        objects = (_object_key(zip(names, row, strict=True)) for row in rows)
        return [key if valid else _NULL for key, valid in zip(objects, array.is_valid().to_pylist(), strict=True)]
    if pa.types.is_nested(kind) and not pa.types.is_union(kind):
        return _list_keys(array)
    if _is_text(kind):
        return [_NULL if value is None else b"s" + value for value in array.cast(pa.large_binary()).to_pylist()]
    if (
        pa.types.is_null(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
    ):
        known: dict[Any, bytes] = {}
        values = array.to_pylist()
        for value in values:
            if value not in known:
                known[value] = _value_key(value if value is None or not pa.types.is_float16(kind) else float(value))
        return [known[value] for value in values]
    raise InputDataError(f"values of type {kind} cannot be compared")


def _is_text(kind: pa.DataType) -> bool:
    """Tell whether a column holds text, or bytes, which compare as text."""
    tests = ("string", "large_string", "string_view", "binary", "large_binary", "binary_view", "fixed_size_binary")
    return any(getattr(pa.types, f"is_{name}")(kind) for name in tests)


def _list_keys(array: pa.Array) -> list[bytes]:
    """Return the key of each list, or of each map, whose entries may come in any order."""
    is_map = pa.types.is_map(array.type)
    if is_map:
        array = array.cast(pa.list_(pa.struct([array.type.key_field, array.type.item_field])))
    ends = np.cumsum(to_numpy(pc.list_value_length(array), 0), dtype=np.int64).tolist()
    inside = array.flatten()
    items: list[Any] = list(zip(*map(_arrow_keys, inside.flatten()), strict=True)) if is_map else _arrow_keys(inside)
    keys, begin = [], 0
    for end, valid in zip(ends, array.is_valid().to_pylist(), strict=True):
        key = _object_key(items[begin:end]) if is_map else b"l" + _join_keys(items[begin:end])
        keys.append(key if valid else _NULL)
        begin = end
    return keys


def _time_keys(array: pa.Array) -> list[bytes]:
    """Return the key of each time: whole seconds from the start of its scale, and nanoseconds, whatever its unit."""
    kind = array.type
    days = pa.types.is_date32(kind)
    unit = "s" if days else "ms" if pa.types.is_date64(kind) else kind.unit
    narrow = days or pa.types.is_time32(kind)
    numbers = to_numpy(array.view(pa.int32() if narrow else pa.int64()).cast(pa.int64()), 0)
    seconds, rest = np.divmod(numbers * (86_400 if days else 1), _PER_SECOND[unit])
    packed = np.empty(len(numbers), [("seconds", ">u8"), ("nanoseconds", ">u4")])
    packed["seconds"] = seconds.view(np.uint64) ^ np.uint64(1 << 63)
    packed["nanoseconds"] = rest * (10**9 // _PER_SECOND[unit])
    data = packed.tobytes()
    if pa.types.is_timestamp(kind):
        first = b"u" if kind.tz is not None else b"t"
    else:
        first = b"t" if pa.types.is_date(kind) else b"h" if pa.types.is_time(kind) else b"d"
    return [
        first + data[12 * i : 12 * i + 12] if valid else _NULL for i, valid in enumerate(array.is_valid().to_pylist())
    ]  # fmt: skip
