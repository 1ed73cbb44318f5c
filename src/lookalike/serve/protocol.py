"""The HTTP server's connections, with an end to those that stall: uvicorn's have none for a request that never comes."""

from __future__ import annotations

from functools import partial
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from .guard import WHOLE
from .limits import HEAD_BYTES, Limits
from .problems import PROBLEM, Problem

MOST_AHEAD = 100  # requests that are sent before the first one is answered; each takes some kB
IDLE_SECONDS = 60  # a connection that was used waits as long for its next request
DISCARD_SECONDS = 2.0  # for which what follows a refused request is read, so that the refusal arrives


class Connection(HttpToolsProtocol):
    """A connection. ``sweep`` is called now and then, which costs less than a timer for each request."""

    limits = Limits()
    _since: float | None = None  # when a request began that is not complete
    _stuck: float | None = None  # when its answer began to wait for the client
    _refused = False
    _head_bytes = 0

    def connection_made(self, transport: Any) -> None:
        """Wait for a first request, unless there are too many connections."""
        super().connection_made(transport)
        self._since = self.loop.time()
        if len(self.connections) > self.limits.connections:
            transport.abort()

    def data_received(self, data: bytes) -> None:
        """Read on; a head that does not end is refused."""
        if self._refused:
            return
        if self._head_bytes:
            self._head_bytes += len(data)
            if self._head_bytes > HEAD_BYTES:
                self._refuse(Problem(431, f"the head of a request must have at most {HEAD_BYTES:,} bytes"))
                return
        if self._since is None:
            self._since = self.loop.time()
        super().data_received(data)

    def on_message_begin(self) -> None:
        """Note that a head has begun; a client that sends on and on without waiting for answers is left."""
        if len(self.pipeline) >= MOST_AHEAD:
            self.transport.abort()
            raise ConnectionError  # which ends the parser's work on what has come
        super().on_message_begin()
        self._head_bytes = 1

    def on_header(self, name: bytes, value: bytes) -> None:
        """Note a header; those that follow a body in chunks count for nothing, and would have no limit."""
        if self._head_bytes:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Note that the head has ended, and offer to write the answer as a whole.

        The parser passes over the body of a request for an upgrade, and over all that follows: it is the connection's last.
        """
        self._head_bytes = 0
        super().on_headers_complete()
        if self.parser.should_upgrade():
            self.cycle.keep_alive = False
        self.scope["extensions"] = {WHOLE: partial(self._write_whole, self.cycle)}  # type: ignore[dict-item]

    async def _write_whole(
        self, cycle: RequestResponseCycle, status: int, headers: list[tuple[bytes, bytes]], body: bytes
    ) -> None:
        """Write an answer at once; what uvicorn does in two steps, each with a call of the system."""
        if self.flow.write_paused and not cycle.disconnected:
            await self.flow.drain()
        if cycle.disconnected:
            raise ConnectionError
        own = [*self.server_state.default_headers, *headers]
        if not cycle.keep_alive and (b"connection", b"close") not in headers:
            own.append((b"connection", b"close"))
        elif (b"connection", b"close") in headers:
            cycle.keep_alive = False
        head = b"".join([part for name, value in own for part in (name, b": ", value, b"\r\n")])
        self.transport.write(b"%b%b\r\n%b" % (STATUS_LINE[status], head, b"" if cycle.scope["method"] == "HEAD" else body))
        cycle.response_started = cycle.response_complete = True
        cycle.waiting_for_100_continue = False
        cycle.message_event.set()
        if not cycle.keep_alive:
            self.transport.close()
        cycle.on_response()

    def on_message_complete(self) -> None:
        """Note that the request is complete."""
        self._since = None
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """After an answer to a request that is not complete, read and forget the rest for a while."""
        now = self.loop.time()
        if not self.pipeline and self.cycle.more_body:
            self._since = now - self.limits.seconds + DISCARD_SECONDS
        elif self._since is not None:
            self._since = now
        super().on_response_complete()

    def _unsupported_upgrade_warning(self) -> None:
        """Say nothing: uvicorn would tell the log to install something, as often as a stranger asks."""

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP."""
        self._refuse(Problem(400, "not a valid HTTP request"))

    def _refuse(self, problem: Problem) -> None:
        """Answer in place of the application, and end the connection."""
        self._refused = True
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
            if self.cycle.response_started:
                self.transport.abort()
                return
        if not self.transport.is_closing():
            body = problem.body("")
            self.transport.write(
                STATUS_LINE[problem.status]
                + b"content-type: %b\r\ncontent-length: %d\r\nconnection: close\r\n\r\n" % (PROBLEM, len(body))
                + body
            )
            self.transport.close()

    def sweep(self, now: float) -> None:
        """End the connection if a request takes too long to arrive, or a client to take its answer."""
        limit = self.limits.seconds
        working = self.cycle is not None and not self.cycle.response_complete and not self.cycle.more_body
        if not working and self._since is not None and now - self._since > limit:
            if self._head_bytes or (self.cycle is not None and not self.cycle.response_complete):
                self._refuse(Problem(408, f"the request did not arrive within {limit:g} seconds"))
            else:
                self.transport.abort()  # nothing was asked, or it is answered
            self._since = None
        if self.transport.get_write_buffer_size() == 0:
            self._stuck = None
        elif self._stuck is None:
            self._stuck = now
        elif now - self._stuck > limit:
            self.transport.abort()
