"""Rows of which a part of the text is left out when they are written, or something else takes its place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from ..errors import ParameterError
from ..values.arrow import to_arrow, to_numpy
from .rows import Record, dots, raw_fields
from .split import Names

_MADE, _TOLD = 1 << 17, 1 << 10  # rows whose ranges are asked for at once, and are Python's own
_text = msgspec.json.Decoder(str | None).decode


@dataclass(frozen=True, slots=True, kw_only=True)
class TextEdits:
    """What is left out of the texts in a column.

    ``ranges`` makes, for rows from the first to the one before the last, some at a time, a list of integers each: begin, end,
    begin, end, ... in bytes of the text, ascending, without overlaps. A row with none, or null, is written as it is.
    """

    column: str
    ranges: Callable[[int, int], Iterator[pa.ListArray]]
    replacement: str = ""  # takes the place of each range

    def __post_init__(self) -> None:
        """Refuse what is no text."""
        if not isinstance(self.replacement, str):
            raise ParameterError("must be a str, which takes the place of what is cut", "mask", self.replacement)

    def of_rows(self, n_rows: int) -> Iterator[list[int] | None]:
        """Yield the ranges of each row."""
        for begin in range(0, n_rows, _MADE):
            for lists in self.ranges(begin, min(begin + _MADE, n_rows)):
                for first in range(0, len(lists), _TOLD):
                    yield from lists.slice(first, _TOLD).to_pylist()

    def bytes(self, data: bytes, ranges: Sequence[int]) -> bytes:
        """Cut a text that is encoded."""
        kept = [data[begin:end] for begin, end in list(pairwise([0, *ranges, len(data)]))[::2]]
        return self.replacement.encode().join(kept)

    def record(self, row: Record, ranges: Sequence[int]) -> Record:
        """Cut the text in a row that is a dictionary."""
        return self._inside(row, self.column, ranges)

    def _inside(self, row: Record, name: str, ranges: Sequence[int]) -> Record:
        """Cut what ``value_at`` finds."""
        if name in row:
            value = _text(row[name]) if isinstance(row[name], msgspec.Raw) else row[name]
            data = (value or "").encode("utf-8", "surrogatepass")
            return row | {name: self.bytes(data, ranges).decode("utf-8", "surrogatepass")}
        for before, after in dots(name):
            found = row.get(before)
            if isinstance(found, msgspec.Raw) and bytes(memoryview(found)[:1]) == b"{":
                return row | {before: msgspec.Raw(msgspec.json.encode(self._inside(raw_fields(found), after, ranges)))}
            if isinstance(found, dict):
                return row | {before: self._inside(found, after, ranges)}
        raise KeyError(name)

    def schema(self, schema: pa.Schema, path: Sequence[str]) -> pa.Schema:
        """Return the schema of what ``table`` returns: cut texts can be more different ones than a dictionary has room for."""
        place = schema.get_field_index(path[0])
        field = schema.field(place)
        return schema.set(place, field.with_type(_with_room(field.type, path[1:])))

    def table(self, table: pa.Table, path: Sequence[str], first: int) -> pa.Table:
        """Cut the texts of rows from ``first`` on; ``path``: the column, and the fields in it, that the texts are in."""
        lists, place = [*self.ranges(first, first + len(table))], table.schema.get_field_index(path[0])
        ranges = pa.concat_arrays(lists) if lists else pa.array([], pa.list_(pa.int64()))
        if (field := self.schema(table.schema, path).field(place)) != table.field(place):
            table = table.set_column(place, field, table.column(place).cast(field.type))
        changed = to_numpy(pc.fill_null(pc.list_value_length(ranges), 0)) > 0
        if not changed.any():
            return table
        column = table.column(place).combine_chunks()
        cut = self._column(column, path[1:], changed, ranges.filter(to_arrow(changed)).to_pylist())
        return table.set_column(place, table.field(place), cut)

    def _column(self, column: Any, path: Sequence[str], changed: np.ndarray[Any, Any], ranges: list[list[int]]) -> pa.Array:
        """Cut some rows of a column, or of a field of a struct."""
        if isinstance(column, pa.ChunkedArray):
            column = pa.concat_arrays(column.chunks)
        if path:
            place = column.type.get_field_index(path[0])
            fields = [pc.struct_field(column, [i]) for i in range(column.type.num_fields)]
            fields[place] = self._column(fields[place], path[1:], changed, ranges)
            return pa.StructArray.from_arrays(fields, fields=list(column.type), mask=column.is_null())
        texts = column.cast(column.type.value_type) if types.is_dictionary(column.type) else column
        held = texts.cast(pa.large_binary())
        old = held.filter(to_arrow(changed)).to_pylist()
        new = [self.bytes(data or b"", some) for data, some in zip(old, ranges, strict=True)]
        held = pc.replace_with_mask(held, to_arrow(changed), pa.array(new, pa.large_binary()))
        text = held if types.is_large_binary(texts.type) or types.is_binary(texts.type) else held.view(pa.large_string())
        text = text.cast(texts.type)
        return text.dictionary_encode().cast(column.type) if types.is_dictionary(column.type) else text


def check_one_column(text: Names, what: str) -> None:
    """Refuse to change texts that are made of several columns."""
    if not isinstance(text, str):
        raise ParameterError(f"{what} changes the text in its column: name one with --text (text=); got {', '.join(text)}")


def _with_room(kind: pa.DataType, path: Sequence[str]) -> pa.DataType:
    """Return a type whose dictionary, or that of the field at a path in it, has room for any texts."""
    if path:
        place = kind.get_field_index(path[0])
        fields = list(kind)
        fields[place] = fields[place].with_type(_with_room(fields[place].type, path[1:]))
        return pa.struct(fields)
    if types.is_dictionary(kind) and kind.index_type.bit_width < 32:
        return pa.dictionary(pa.int32(), kind.value_type, kind.ordered)
    return kind
