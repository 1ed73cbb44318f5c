"""The process that reads a database, with limits of memory and time, as what is computed in it can be a stranger's."""

from __future__ import annotations

import os
import resource
import struct
import sys
from typing import Any

import msgspec

from ..errors import LookalikeError
from ..files.processes import limit_memory, take_output

HEAD = struct.Struct("<cq")  # what comes, and its bytes
ROWS, FAILED, TOO_LARGE, END = b"r", b"f", b"l", b"e"
_BLOCK = 1 << 20  # of rows that are handed over together
encode = msgspec.msgpack.encode


class Asked(msgspec.Struct):
    """What is read, and within which limits."""

    form: str  # the name of the format, with the query
    path: bytes
    name: str  # for messages
    encoding_errors: str
    most: int  # bytes of a row
    memory: int  # bytes of the process
    seconds: int  # of processor time
    faults: bool  # rows that cannot be read are passed over: the reason comes in their place


def _send(out: int, what: bytes, data: bytes) -> None:
    with os.fdopen(out, "wb", closefd=False) as stream:
        stream.write(HEAD.pack(what, len(data)))
        stream.write(data)


def serve(asked: Asked, out: int) -> None:
    """Write the rows of a database, in blocks."""
    from .registry import format_named

    form: Any = format_named(asked.form)
    some: list[msgspec.Raw] = []
    size = 0
    try:
        for row in form.selected(asked):
            data = encode(row)
            if len(data) > asked.most:
                raise MemoryError
            some.append(msgspec.Raw(data))
            size += len(data)
            if size > _BLOCK:
                _send(out, ROWS, encode(some))
                some, size = [], 0
            del row, data
    finally:  # what came before an error was read
        _send(out, ROWS, encode(some))


def main() -> None:
    """Answer on the standard output."""
    asked = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=Asked)
    limit_memory(asked.memory, resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_CPU, (asked.seconds, asked.seconds + 5))
    out = take_output()
    try:
        serve(asked, out)
    except MemoryError:
        _send(out, TOO_LARGE, b"")
    except Exception as error:  # whatever a library makes of what others wrote
        told = error if isinstance(error, LookalikeError) else LookalikeError(str(error))
        _send(out, FAILED, encode((told.reason.encode("utf-8", "replace").decode(), told.row, told.column)))
    else:
        _send(out, END, b"")


if __name__ == "__main__":
    main()
