"""Logs: a JSON object on each line, without a text, an id or a key. Lines are gathered and written together."""

from __future__ import annotations

import logging
import os
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

FLUSH_SECONDS = 0.05
FLUSH_LINES = 512
_encode = msgspec.json.Encoder().encode


class Request(msgspec.Struct):
    """What is written about a request. ``route`` is a pattern: what a client wrote into an address does not appear."""

    time: str
    event: str
    id: str
    client: str
    method: str
    route: str
    status: int
    ms: float
    bytes_in: int
    bytes_out: int


class Log:
    """Where the lines go.

    Parameters
    ----------
    descriptor : int
        An open file.
    requests : bool
        Whether each request has a line.
    """

    def __init__(self, descriptor: int = 2, requests: bool = True) -> None:
        self.descriptor = descriptor
        self.requests = requests
        self._lines: list[bytes] = []

    def request(self, *values: Any) -> None:
        """Write a line about a request: the fields of ``Request`` after ``event``."""
        if self.requests:
            self._lines.append(_encode(Request(now(), "request", *values)))
            if len(self._lines) >= FLUSH_LINES:
                self.flush()

    def say(self, event: str, **fields: Any) -> None:
        """Write a line about anything else, at once."""
        self._lines.append(_encode({"time": now(), "event": event, **fields}))
        self.flush()

    def failed(self, event: str, error: BaseException, **fields: Any) -> None:
        """Write a line about an unexpected error: its type and places, not its message, which could quote a text."""
        places = [f"{Path(f.filename).name}:{f.lineno} {f.name}" for f in traceback.extract_tb(error.__traceback__)]
        self.say(event, error=type(error).__name__, places=places[-8:], **fields)

    def flush(self) -> None:
        """Write what was gathered. A reader that is gone is no reason to end."""
        lines, self._lines = self._lines, []
        data = memoryview(b"".join(line + b"\n" for line in lines))
        try:
            while data:
                data = data[os.write(self.descriptor, data) :]
        except OSError:
            pass


def now() -> str:
    """Return the time in UTC, to a millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class Handler(logging.Handler):
    """Writes what other libraries log in the same form: the pattern of uvicorn's messages, without what fills it.

    Messages of others can quote anything; their place is known by the error, if there is one.
    """

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record."""
        message = str(record.msg).strip()[:200] if record.name.startswith("uvicorn") else ""
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            self._log.failed("library", error, logger=record.name, message=message)
        else:
            self._log.say("library", logger=record.name, level=record.levelname, message=message)
