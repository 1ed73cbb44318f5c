"""Logs and metrics, without a text, an id or a key: a JSON object on each line, and what Prometheus reads. Lines are gathered
and written together."""

from __future__ import annotations

import logging
import os
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics, generate_latest

FLUSH_LINES = 512
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
SIZES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0)
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
    """Where the lines go: an open file; ``requests``: whether each request has a line."""

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

    def event(self, event: str, **fields: Any) -> None:
        """Write a line about anything else, at once."""
        self._lines.append(_encode({"time": now(), "event": event, **fields}))
        self.flush()

    def failed(self, event: str, error: BaseException, **fields: Any) -> None:
        """Write a line about an unexpected error: its type and places, not its message, which could quote a text."""
        places = [f"{Path(f.filename).name}:{f.lineno} {f.name}" for f in traceback.extract_tb(error.__traceback__)]
        self.event(event, error=type(error).__name__, places=places[-8:], **fields)

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
    """Writes what other libraries log in the same form: the pattern of uvicorn's messages, without what fills it. Messages of
    others can quote anything; their place is known by the error, if there is one."""

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
            self._log.event("library", logger=record.name, level=record.levelname, message=message)


class Metrics:
    """What a service counts."""

    def __init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]  # when each was first counted
        self.registry = registry = CollectorRegistry()

        def counter(name: str, about: str, labels: tuple[str, ...] = ()) -> Counter:
            return Counter(f"lookalike_{name}", about, labels, registry=registry)

        def histogram(name: str, about: str, bounds: tuple[float, ...], labels: tuple[str, ...] = ()) -> Histogram:
            return Histogram(f"lookalike_{name}", about, labels, buckets=bounds, registry=registry)

        self.requests = counter("requests", "Answers.", ("route", "method", "status"))
        self.seconds = histogram("request_seconds", "Time from a request's head to its answer.", SECONDS, ("route",))
        self._answers: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}
        self.groups = histogram("query_group_requests", "Queries that were answered together.", SIZES)
        self.commits = histogram("commit_seconds", "Time to write a group of changes.", SECONDS)
        self.texts = counter("texts_queried", "Texts that were looked up.")
        self.added = counter("documents_added", "Documents that were added, those that replaced others included.")
        self.replaced = counter("documents_replaced", "Documents that were replaced.")
        self.removed = counter("documents_removed", "Documents that were removed.")

    def answered(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count an answer; what its labels name is looked up once, since that takes longer than to count."""
        known = self._answers.get((route, method, status))
        if known is None:
            known = self.requests.labels(route, method, status), self.seconds.labels(route)
            self._answers[route, method, status] = known
        known[0].inc()
        known[1].observe(seconds)

    def gauge(self, name: str, about: str, value: Callable[[], float]) -> None:
        """Tell something as it is when somebody asks."""
        Gauge(f"lookalike_{name}", about, registry=self.registry).set_function(value)

    def page(self) -> bytes:
        """Return all metrics, in the text format 0.0.4."""
        return generate_latest(self.registry)
