"""Bodies in Arrow's IPC stream format: what a stranger sends is checked before it is used."""

from __future__ import annotations

from struct import unpack_from
from typing import Any

import pyarrow as pa

from .problems import Problem, invalid

ARROW = b"application/vnd.apache.arrow.stream"
_TEXT = ("string", "large_string")
_ID = ("int64", "string", "large_string")


def read_columns(body: bytes, names: tuple[str, ...], most: int) -> list[list[Any]]:
    """Return columns of a stream of record batches, as lists: ``id`` of integers or strings, all others of strings."""
    try:
        _check_plain(body, most)
        with pa.ipc.open_stream(pa.py_buffer(body)) as stream:
            if sorted(stream.schema.names) != sorted(names):
                raise invalid(f"the columns must be {' and '.join(names)}")
            wrong = [name for name in names if str(stream.schema.field(name).type) not in (_ID if name == "id" else _TEXT)]
            if wrong:
                raise invalid(
                    f"the column {wrong[0]} must be of one of the types {', '.join(_ID if wrong == ['id'] else _TEXT)}"
                )
            out: list[list[Any]] = [[] for _ in names]
            for batch in stream:
                if len(out[0]) + batch.num_rows > most:
                    raise invalid(f"at most {most:,} rows can be sent in one request")
                batch.validate(full=True)
                for name, values in zip(names, out, strict=True):
                    column = batch.column(name)
                    if column.null_count:
                        raise invalid(f"the column {name} has a null")
                    values += column.to_pylist()
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        raise Problem(400, "the body is not a valid Arrow IPC stream") from None
    return out


def _check_plain(body: bytes, most: int) -> None:
    """Check that a stream has record batches only, none of them compressed: 16 MB could become any number of gigabytes.

    There are at most as many as there can be rows: those without rows would take time for nothing.
    """
    for number, message in enumerate(pa.ipc.MessageReader.open_stream(pa.py_buffer(body))):
        if number > most:
            raise invalid(f"at most {most:,} record batches can be sent in one request")
        if message.type == "record batch":
            metadata = message.metadata.to_pybytes()  # a flatbuffer, which Arrow has checked
            batch = _field(metadata, unpack_from("<I", metadata)[0], 2)
            if batch is not None and _field(metadata, batch + unpack_from("<I", metadata, batch)[0], 3) is not None:
                raise invalid("the Arrow stream is compressed; send it without compression")
        elif message.type != "schema":
            raise invalid(f"the Arrow stream has a {message.type}; send plain columns")


def _field(data: bytes, table: int, number: int) -> int | None:
    """Return where a field of a flatbuffer's table is, or None."""
    vtable = table - unpack_from("<i", data, table)[0]
    if 4 + 2 * number >= unpack_from("<H", data, vtable)[0]:
        return None
    offset = unpack_from("<H", data, vtable + 4 + 2 * number)[0]
    return table + offset if offset else None


def write_table(table: pa.Table) -> bytes:
    """Return a table as a stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    written: bytes = sink.getvalue().to_pybytes()
    return written
