"""The messages of Arrow files and streams: where they are, how many rows they have, and how large they get.

Arrow does not say what a message takes before it has decompressed it, and a few kilobytes can become gigabytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import unpack, unpack_from
from typing import Any, BinaryIO, NamedTuple

import pyarrow as pa
from pyarrow import types

MAGIC = b"ARROW1"
_CODECS = ("lz4", "zstd")
_DICTIONARY, _ROWS = 2, 3  # kinds of messages


class Message(NamedTuple):
    """Rows, or a dictionary that rows refer to."""

    begin: int  # where it begins in the file
    end: int
    rows: int
    is_dictionary: bool
    codec: str | None
    sizes: list[int]  # of the buffers, decompressed
    views: list[int]  # how many buffers of texts each column of views has


class _Table:
    """A table of FlatBuffers: fields by number, each with a default."""

    def __init__(self, data: bytes, at: int) -> None:
        self._data, self._at = data, at
        self._fields = at - unpack_from("<i", data, at)[0]

    def _place(self, number: int) -> int:
        inside = 4 + 2 * number
        known = inside < unpack_from("<H", self._data, self._fields)[0]
        offset = unpack_from("<H", self._data, self._fields + inside)[0] if known else 0
        return self._at + offset if offset else 0

    def number(self, field: int, kind: str) -> int:
        place = self._place(field)
        return int(unpack_from(kind, self._data, place)[0]) if place else 0

    def table(self, field: int) -> _Table | None:
        place = self._place(field)
        return _Table(self._data, place + unpack_from("<I", self._data, place)[0]) if place else None

    def rows(self, field: int, kind: str, size: int, some: slice = slice(None)) -> list[tuple[Any, ...]]:
        """Return some items of a vector, each of so many bytes."""
        if not (place := self._place(field)):
            return []
        place += unpack_from("<I", self._data, place)[0]
        count = unpack_from("<I", self._data, place)[0]
        if count * size > len(self._data):
            raise ValueError("a vector of the metadata is longer than the metadata")
        return [unpack_from(kind, self._data, place + 4 + size * i) for i in range(count)[some]]


def is_file(raw: BinaryIO) -> bool:
    """Tell a file from a stream."""
    raw.seek(0)
    return raw.read(len(MAGIC)) == MAGIC


def messages(raw: BinaryIO, size: int, first: int = 0, last: int | None = None, at: int = 0) -> Iterator[Message]:
    """Yield the messages of a file or stream; those of a file as its footer lists them, dictionaries first.

    ``first`` and ``last`` choose among those of rows in a file; ``at`` is where a message of a stream begins.

    Raises
    ------
    ValueError, struct.error, TypeError
        If it is damaged.
    """
    if not is_file(raw):
        while (found := _message(raw, at, size)) is not None:
            at, some = found
            if some is not None:
                yield some
        return
    n_footer = unpack("<i", _bytes_at(raw, size - 10, 4))[0]
    data = _bytes_at(raw, size - 10 - n_footer, n_footer)
    footer = _Table(data, unpack_from("<I", data)[0])
    for field in (2, 3):
        for offset, *_ in footer.rows(field, "<qi4xq", 24, slice(None) if field == 2 else slice(first, last)):
            found = _message(raw, offset, size)
            if found is None or found[1] is None:
                raise ValueError("the footer names a place without rows")
            yield found[1]


def _bytes_at(raw: BinaryIO, at: int, count: int) -> bytes:
    if at < 0 or not 0 <= count <= 1 << 28:
        raise ValueError("the metadata names a place outside of the file")
    raw.seek(at)
    return raw.read(count)


def _message(raw: BinaryIO, at: int, size: int) -> tuple[int, Message | None] | None:
    """Return where a message ends, and what it is, if it has rows; None at the end of a stream."""
    head = _bytes_at(raw, at, min(8, size - at))
    marked = head[:4] == b"\xff\xff\xff\xff"  # before version 0.15 nothing was
    if 0 < len(head) < 8 and any(head):
        raise ValueError("the stream is cut short")
    n_metadata = unpack_from("<i", head, 4 if marked else 0)[0] if len(head) == 8 else 0
    if not n_metadata:
        return None
    body = at + (8 if marked else 4) + n_metadata
    data = _bytes_at(raw, body - n_metadata, n_metadata)
    message = _Table(data, unpack_from("<I", data)[0])
    kind, end = message.number(1, "<B"), body + message.number(3, "<q")
    if end < body:
        raise ValueError("a message has a negative length")
    rows = message.table(2)
    if kind == _DICTIONARY and rows is not None:
        rows = rows.table(1)
    if kind not in (_DICTIONARY, _ROWS) or rows is None:
        return end, None
    packing = rows.table(3)
    codec = None if packing is None else _CODECS[packing.number(0, "<b")]
    sizes = []
    for offset, length in rows.rows(2, "<qq", 16):
        if codec is not None and length:
            declared = unpack("<q", _bytes_at(raw, body + offset, 8))[0]
            length = length if declared < 0 else declared
        sizes.append(length)
    views = [count for (count,) in rows.rows(4, "<q", 8)]
    return end, Message(at, end, rows.number(0, "<q"), kind == _DICTIONARY, codec, sizes, views)


def n_buffers(kind: pa.DataType, views: Iterator[int]) -> int:
    """Return how many buffers a column of some type has in a message; ``views`` tells of those of views."""
    if isinstance(kind, pa.BaseExtensionType):
        return n_buffers(kind.storage_type, views)
    if types.is_dictionary(kind):
        return 2
    if types.is_string_view(kind) or types.is_binary_view(kind):
        return 2 + max(0, next(views, 0))
    if types.is_null(kind) or types.is_run_end_encoded(kind):
        own = 0
    elif types.is_struct(kind) or types.is_fixed_size_list(kind):
        own = 1
    elif types.is_union(kind):
        own = 1 + (kind.mode == "dense")
    else:
        wide = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
        listed = (types.is_list_view, types.is_large_list_view)
        own = 3 if any(is_one(kind) for is_one in (*wide, *listed)) else 2
    return own + sum(n_buffers(kind.field(i).type, views) for i in range(kind.num_fields))


def size_of(message: Message, schema: pa.Schema, columns: list[int] | None = None) -> int:
    """Return how many bytes the columns of a message take, decompressed; of a dictionary, all."""
    if columns is None or message.is_dictionary:
        return sum(message.sizes)
    at = n_bytes = 0
    views = iter(message.views)
    for place, field in enumerate(schema):
        count = n_buffers(field.type, views)
        n_bytes += sum(message.sizes[at : at + count]) if place in columns else 0
        at += count
    return n_bytes
