"""The process that reads a database, with limits of memory and time, as what is computed in it can be a stranger's."""

from __future__ import annotations

import os
import resource
import signal
import struct
import sys
from contextlib import suppress
from typing import Any

import msgspec

from ..errors import LookalikeError

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


def limit_process(memory: int, kind: int) -> None:
    """Limit the memory of this process, and leave no image of it; macOS refuses a limit below what is mapped."""
    with suppress(ValueError):
        resource.setrlimit(kind, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


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
    """Answer on what was the standard output, to which nothing that a library prints must go."""
    asked = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=Asked)
    limit_process(asked.memory, resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_CPU, (asked.seconds, asked.seconds + 5))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the job ends it
    out = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
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
