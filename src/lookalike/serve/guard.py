"""What stands before every route: names, origins, keys, types and sizes are checked before a body is read.

It is plain ASGI, since it is on the way of each request: an answer takes about as long here as in the HTTP server below.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from itertools import count
from os import urandom
from time import perf_counter
from typing import Any

from .arrow import ARROW
from .keys import READ, WRITE, Keys
from .limits import Limits
from .logs import Log
from .metrics import Metrics
from .problems import PROBLEM, Problem, busy

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]
JSON = b"application/json"
WHOLE = "lookalike.whole"  # an extension of our own server: writes an answer by one call of the system, not two
GONE = 499  # in logs and metrics: the client left before its request was complete
_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}", re.ASCII)
_SAFE = [
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-resource-policy", b"same-origin"),
]


@dataclass(slots=True)
class Request:
    """A request that was let in: its body, whether it is Arrow's, and what the route needs of the rest."""

    path: str
    query: bytes
    body: bytes
    arrow: bool
    wants_arrow: bool


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer."""

    body: bytes
    type: bytes = JSON
    status: int = 200
    headers: tuple[tuple[bytes, bytes], ...] = ()


@dataclass(frozen=True, slots=True)
class Route:
    """What answers a method of a path. ``pattern`` names it in logs; ``needs``: "read", "write", or nothing."""

    pattern: str
    answer: Callable[[Request], Awaitable[Reply]]
    needs: str = READ
    takes_body: bool = False


Routes = dict[str, dict[str, Route]]  # by path, then by method; a path that ends in / also stands for those below it


class Gone(Exception):  # noqa: N818
    """The client went away."""


class _Turn:
    """What is known of a request while it is answered."""

    __slots__ = ("begun", "headers", "id", "pattern", "scope", "sent", "size", "status")

    def __init__(self, scope: Scope) -> None:
        self.begun = perf_counter()
        self.scope = scope
        self.headers: dict[bytes, bytes] = {}
        for name, value in scope["headers"]:
            self.headers[name] = value if name not in self.headers else self.headers[name] + b", " + value
        self.id, self.pattern = "", "other"
        self.status, self.size, self.sent = 500, 0, 0


@dataclass(slots=True, eq=False)
class Guard:
    """The application: checks a request, reads its body, asks a route, and writes the answer, a line and a count.

    Parameters
    ----------
    pages : ASGI application
        What answers all other paths; it gets requests for names and from origins that are allowed only.
    keys : Keys or None
        None: everybody who is let in can read and write.
    hosts : frozenset of bytes
        More names, or names with ports, that a request can be for.
    reading : frozenset of str
        Paths of pages for which a key for reading is enough, whatever the method.
    """

    routes: Routes
    pages: Asgi
    limits: Limits
    keys: Keys | None
    hosts: frozenset[bytes]
    log: Log
    metrics: Metrics
    reading: frozenset[str] = frozenset()
    ending: bool = False
    open: int = 0
    _held: int = 0
    _names: dict[Any, frozenset[bytes]] = field(default_factory=dict)
    _start: str = field(default_factory=lambda: urandom(6).hex())
    _numbers: Any = field(default_factory=count)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        turn = _Turn(scope)
        given = turn.headers.get(b"x-request-id", b"")
        turn.id = given.decode() if _ID.fullmatch(given) else f"{self._start}-{next(self._numbers):x}"
        self.open += 1
        try:
            reply = await self._reply(turn, receive, send)
        except Problem as problem:
            closing = ((b"connection", b"close"),) if self.ending else ()
            reply = Reply(problem.body(turn.id), PROBLEM, problem.status, (*problem.headers, *closing))
        except Gone:
            turn.status, reply = GONE, None
        except Exception as error:
            self.log.failed("failure", error, id=turn.id, route=turn.pattern)
            failed = Problem(500, "the server failed; its log has more, under this request's id")
            reply = Reply(failed.body(turn.id), PROBLEM, 500)
        finally:
            self._held -= turn.size
        if reply is not None:
            turn.status, turn.sent = reply.status, len(reply.body)
            named = (b"content-type", reply.type), (b"content-length", b"%d" % turn.sent), (b"x-request-id", turn.id.encode())
            headers = [*named, *_SAFE, *reply.headers]
            whole = scope.get("extensions", {}).get(WHOLE)
            try:
                if whole is not None:
                    await whole(reply.status, headers, reply.body)
                else:
                    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
                    await send({"type": "http.response.body", "body": reply.body})
            except (RuntimeError, OSError):  # the connection has ended meanwhile
                turn.status = GONE
        self.open -= 1
        seconds = perf_counter() - turn.begun
        method = scope["method"] if scope["method"] in _METHODS else "other"
        self.metrics.request(turn.pattern, method, turn.status, seconds)
        client = (scope.get("client") or ("",))[0]
        self.log.request(turn.id, client, method, turn.pattern, turn.status, round(1000 * seconds, 3), turn.size, turn.sent)

    async def _reply(self, turn: _Turn, receive: Receive, send: Send) -> Reply | None:
        """Let a route answer, or a page, which sends its answer itself."""
        scope, headers, path = turn.scope, turn.headers, turn.scope["path"]
        self._admit(scope, headers)
        route = self._route(path, scope["method"])
        if route is None:
            await self._page(turn, receive, send)
            return None
        turn.pattern = route.pattern
        self._check(route.needs, headers)
        arrow = route.takes_body and self._is_arrow(headers)
        body = await self._read(turn, receive) if route.takes_body else b""
        return await route.answer(Request(path, scope["query_string"], body, arrow, ARROW in headers.get(b"accept", b"")))

    async def _page(self, turn: _Turn, receive: Receive, send: Send) -> None:
        """Let a page answer, with the headers that all answers have, once its body is read."""
        turn.pattern, path = "page", turn.scope["path"]
        body, reads = b"", turn.scope["method"] in ("GET", "HEAD")
        if path.startswith(_API):  # other paths take no bodies, so nobody without a key fills the memory with them
            self._check(READ if reads or path in self.reading else WRITE, turn.headers)
            if not reads and self._is_arrow(turn.headers):
                raise Problem(415, f"the body must be {JSON.decode()}")
            body = b"" if reads else await self._read(turn, receive)

        async def receiving() -> MutableMapping[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def sending(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                turn.status = message["status"]
                own = {name.lower() for name, _ in message.get("headers", ())}
                more = [pair for pair in _SAFE if pair[0] not in own]
                message["headers"] = [*message.get("headers", ()), (b"x-request-id", turn.id.encode()), *more]
            else:
                turn.sent += len(message.get("body", b""))
            await send(message)

        await self.pages(turn.scope, receiving, sending)

    def _admit(self, scope: Scope, headers: dict[bytes, bytes]) -> None:
        """Check for whom a request is, and from where."""
        server = tuple(scope.get("server") or ("", None))
        own = self._names.get(server)
        if own is None:
            own = self._names[server] = names_of(*server)
        host = headers.get(b"host", b"").lower()
        if host not in own and host not in self.hosts and host.rpartition(b":")[0] not in self.hosts:
            raise Problem(421, "the server does not answer for this name; --allow-host allows one")
        origin = headers.get(b"origin")
        if origin is not None and origin.lower() not in (b"http://" + host, b"https://" + host):
            raise Problem(403, "requests from pages of other sites are refused")
        if self.ending and scope["path"] not in ("/healthz", "/readyz"):
            raise Problem(503, "the server is ending", retry_after="1")

    def _route(self, path: str, method: str) -> Route | None:
        """Return what answers; None: a page does."""
        methods = self.routes.get(path)
        if methods is None:
            below = path[: path.find("/", len(_API)) + 1] if path.startswith(_API) else ""
            methods = self.routes.get(below) if below and len(path) > len(below) else None
        if methods is None:
            return None
        route = methods.get("GET" if method == "HEAD" else method)
        if route is None:
            raise Problem(405, f"this path takes {' and '.join(methods)}", allow=", ".join(methods))
        return route

    def _check(self, needs: str, headers: dict[bytes, bytes]) -> None:
        """Check a key, if something needs one: "read" or "write"."""
        if self.keys is None or not needs:
            return
        may = self.keys.may(headers.get(b"authorization", b""))
        if not may:
            raise Problem(401, "a key is needed: Authorization: Bearer KEY", www_authenticate="Bearer")
        if needs not in may:
            raise Problem(403, "this key allows to read only")

    def _is_arrow(self, headers: dict[bytes, bytes]) -> bool:
        """Check the type of a body, and return whether it is Arrow's."""
        if b"upgrade" in headers.get(b"connection", b"").lower():  # the HTTP parser passes over its body
            raise Problem(400, "a request with a body cannot ask for another protocol: let the client use HTTP/1.1, not HTTP/2")
        kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
        if kind not in (JSON, ARROW):
            raise Problem(415, f"the body must be {JSON.decode()} or {ARROW.decode()}", accept_post=_ACCEPTED)
        if headers.get(b"content-encoding", b"identity").lower() != b"identity":
            raise Problem(415, "compressed bodies are not taken", accept_encoding="identity")
        return kind == ARROW

    async def _read(self, turn: _Turn, receive: Receive) -> bytes:
        """Read a body, within the limits; what all of them hold is counted."""
        most = self.limits.body
        stated = turn.headers.get(b"content-length", b"0")
        if not stated.isdigit() or int(stated[:20]) > most:
            raise Problem(413, f"the body must have at most {most:,} bytes")
        parts: list[bytes] = []
        while True:
            message = await receive()
            if message["type"] != "http.request":
                raise Gone
            part = message.get("body", b"")
            turn.size += len(part)
            self._held += len(part)
            parts.append(part)
            if turn.size > most:
                raise Problem(413, f"the body must have at most {most:,} bytes")
            if self._held > self.limits.held:
                raise busy("too many bodies are in memory")
            if not message.get("more_body"):
                return parts[0] if len(parts) == 1 else b"".join(parts)


_API = "/v1/"
_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))
_ACCEPTED = f"{JSON.decode()}, {ARROW.decode()}"


def names_of(address: str, port: int | None) -> frozenset[bytes]:
    """Return what a request can call the address at which it came: with the port, and without it if that is HTTP's."""
    names = [f"[{address}]" if ":" in address else address]
    if is_loopback(address):
        names.append("localhost")
    ports = (f":{port}", "") if port in (80, 443) else (f":{port}",)
    return frozenset((name + port).encode() for name in names for port in ports)


def is_loopback(address: str) -> bool:
    """Tell whether an address is reached from its own machine only."""
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False
