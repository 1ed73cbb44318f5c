"""What stands before every route: names, origins, keys, types and sizes are checked before a body is read.

It is plain ASGI, since it is on the way of each request. Keys allow to read, or to read and write; they are in a file that its
owner alone can read.
"""

from __future__ import annotations

import asyncio
import hmac
import os
import re
import stat
import tomllib
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from ipaddress import ip_address
from itertools import count
from pathlib import Path
from time import perf_counter
from typing import Any

from starlette import requests
from starlette.responses import Response
from starlette.routing import Match, Route

from ..errors import ParameterError
from ..files.names import show_path
from .bodies import JSON, PROBLEM, Limits, Problem, busy
from .log import Log, Metrics

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
READ, WRITE = "read", "write"
GONE = 499  # in logs and metrics: the client left before its request was complete
LEAST = 16
_HASHED = re.compile(r"sha256:([0-9a-f]{64})", re.ASCII)
_PLAIN = re.compile(r"[!-~]{16,512}", re.ASCII)
_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}", re.ASCII)
_API = "/v1/"
_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))
_SAFE = [
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-resource-policy", b"same-origin"),
]


@dataclass(frozen=True, slots=True)
class Keys:
    """SHA-256 digests of the keys that allow to read, and of those that allow to write, and to read too."""

    read: tuple[bytes, ...]
    write: tuple[bytes, ...]

    def may(self, authorization: bytes) -> frozenset[str]:
        """Return what the holder of an ``Authorization`` header may do: nothing, read, or read and write. It takes the same
        time for any key: the key is hashed, and its digest compared with all others in constant time."""
        scheme, _, key = authorization.partition(b" ")
        if scheme.lower() != b"bearer":
            return frozenset()
        digest = sha256(key.strip()).digest()
        found = [[hmac.compare_digest(digest, known) for known in some] for some in (self.read, self.write)]
        if any(found[1]):
            return frozenset((READ, WRITE))
        return frozenset((READ,)) if any(found[0]) else frozenset()


def read_keys(path: str | os.PathLike[str]) -> Keys:
    """Read a file of keys: TOML, with lists ``read`` and ``write`` of keys, or of ``sha256:`` and 64 hexadecimal digits."""
    name = show_path(Path(path))
    try:
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise ParameterError(f"{name}: not a regular file")
            if status.st_mode & 0o077:
                mode = f"{stat.S_IMODE(status.st_mode):04o}"
                raise ParameterError(f"{name}: its mode is {mode}, so others can read or change it: chmod 600 {name}")
            if status.st_uid not in (os.geteuid(), 0):
                raise ParameterError(f"{name}: it belongs to another user")
            given = tomllib.load(file)
    except OSError as error:
        raise ParameterError(f"{name}: cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):  # the message could show a key
        raise ParameterError(f'{name}: not TOML; expected lines such as read = ["..."] and write = ["..."]') from None
    if stranger := sorted(set(given) - {READ, WRITE}):
        raise ParameterError(f"{name}: unknown entry {stranger[0]!r:.60}; expected read and write, each a list of keys")
    keys = Keys(_digests(name, READ, given.get(READ, [])), _digests(name, WRITE, given.get(WRITE, [])))
    if not keys.read and not keys.write:
        raise ParameterError(f'{name}: no keys in it; expected lines such as read = ["..."] and write = ["..."]')
    return keys


def _digests(name: str, entry: str, given: Any) -> tuple[bytes, ...]:
    """Return the digests of a list of keys; no message shows a key."""
    if not isinstance(given, list):
        raise ParameterError(f"{name}: {entry} must be a list of keys")
    out = []
    for i, key in enumerate(given):
        if isinstance(key, str) and (hashed := _HASHED.fullmatch(key)):
            out.append(bytes.fromhex(hashed[1]))
        elif isinstance(key, str) and not key.startswith("sha256:") and _PLAIN.fullmatch(key):
            out.append(sha256(key.encode()).digest())
        else:
            raise ParameterError(
                f"{name}: key {i} of {entry} must be text of {LEAST} to 512 printable ASCII characters without spaces, or "
                "sha256: and the 64 hexadecimal digits of its SHA-256"
            )
    return tuple(out)


class ClientDisconnected(Exception):  # noqa: N818
    """The client went away."""


class Request(requests.Request):
    """A request that was let in, with its body."""

    content = b""


class _RequestState:
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
class Middleware:
    """The application: checks a request, reads its body, lets a route answer, and writes a line and a count.

    Without ``keys`` everybody who is let in can read and write. ``hosts`` are more names, or names with ports, that a request
    can be for; ``reading`` the paths for which a key for reading is enough, whatever the method.
    """

    routes: Sequence[Route]
    limits: Limits
    keys: Keys | None
    hosts: frozenset[bytes]
    log: Log
    metrics: Metrics
    reading: frozenset[str] = frozenset()
    ending: bool = False
    open: int = 0
    _held: int = 0
    _fixed: dict[tuple[str, str], Route] = field(init=False)
    _names: dict[Any, frozenset[bytes]] = field(default_factory=dict)
    _start: str = field(default_factory=lambda: os.urandom(6).hex())
    _numbers: Any = field(default_factory=count)

    def __post_init__(self) -> None:
        """Note the routes that have one path each: most requests are for these."""
        fixed = [route for route in self.routes if "{" not in route.path]
        self._fixed = {(route.path, method): route for route in fixed for method in route.methods or ()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        turn = _RequestState(scope)
        given = turn.headers.get(b"x-request-id", b"")
        turn.id = given.decode() if _ID.fullmatch(given) else f"{self._start}-{next(self._numbers):x}"

        self.open += 1
        try:
            response = await self._answer(turn, receive)
        except Problem as problem:
            response = self._refusal(turn, problem)
        except ClientDisconnected:
            turn.status, response = GONE, None
        except Exception as error:
            self.log.failed("failure", error, id=turn.id, route=turn.pattern)
            response = self._refusal(turn, Problem(500, "the server failed; its log has more, under this request's id"))
        finally:
            self._held -= turn.size
        if response is not None:
            await _send(turn, response, send)
        self.open -= 1
        seconds = perf_counter() - turn.begun
        method = scope["method"] if scope["method"] in _METHODS else "other"
        self.metrics.answered(turn.pattern, method, turn.status, seconds)
        client = (scope.get("client") or ("",))[0]
        self.log.request(turn.id, client, method, turn.pattern, turn.status, round(1000 * seconds, 3), turn.size, turn.sent)

    def _refusal(self, turn: _RequestState, problem: Problem) -> Response:
        """Return what answers with a problem; a server that ends keeps no connection."""
        headers = problem.headers | ({"connection": "close"} if self.ending else {})
        return Response(problem.body(turn.id), problem.status, headers, PROBLEM)

    async def _answer(self, turn: _RequestState, receive: Receive) -> Response:
        """Return what a route answers, once all is checked and the body is read.

        Its function is called without Starlette's wrappers, which would take longer than all checks here. Paths
        outside the interface take no bodies, so that nobody without a key fills the memory with them.
        """
        scope, headers, path = turn.scope, turn.headers, turn.scope["path"]
        self._admit(scope, headers)
        route, methods = self._route(scope)
        if route is not None:
            turn.pattern = route.path.replace(":path", "")
        reads, inside = scope["method"] in ("GET", "HEAD"), path.startswith(_API)
        if inside or path == "/metrics":
            self._check(READ if reads or path in self.reading else WRITE, headers)
        if route is None and methods:
            raise Problem(405, f"this path takes {' and '.join(methods)}", allow=", ".join(methods))
        if route is None:
            raise Problem(404, "there is nothing at this path")
        request = Request(scope)
        if inside and not reads:
            self._check_type(headers)
            request.content = await self._read(turn, receive)
        response: Response = await route.endpoint(request)
        return response

    def _route(self, scope: Scope) -> tuple[Route | None, list[str]]:
        """Return what answers, and the methods that a path takes."""
        fixed = self._fixed.get((scope["path"], scope["method"]))
        if fixed is not None:
            return fixed, []
        methods: list[str] = []
        for route in self.routes:
            match, found = route.matches(scope)
            if match is Match.FULL:
                scope.update(found)
                return route, methods
            if match is Match.PARTIAL:
                methods += sorted(set(route.methods or ()) - {"HEAD"})
        return None, methods

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

    def _check(self, needs: str, headers: dict[bytes, bytes]) -> None:
        """Check that a key allows to read, or to write."""
        if self.keys is None:
            return
        may = self.keys.may(headers.get(b"authorization", b""))
        if not may:
            raise Problem(401, "a key is needed: Authorization: Bearer KEY", www_authenticate="Bearer")
        if needs not in may:
            raise Problem(403, "this key only allows reading")

    def _check_type(self, headers: dict[bytes, bytes]) -> None:
        """Check the type of a body."""
        if _asks_to_upgrade(headers):
            raise Problem(400, "a request with a body cannot ask for another protocol: let the client use HTTP/1.1, not HTTP/2")
        kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower().decode("latin-1")
        if kind != JSON:
            raise Problem(415, f"the body must be {JSON}", accept_post=JSON)
        if headers.get(b"content-encoding", b"identity").lower() != b"identity":
            raise Problem(415, "compressed bodies are not accepted", accept_encoding="identity")

    async def _read(self, turn: _RequestState, receive: Receive) -> bytes:
        """Read a body, within the limits; what all of them hold is counted."""
        most = self.limits.body
        stated = turn.headers.get(b"content-length", b"0")
        if not stated.isdigit() or int(stated[:20]) > most:
            raise Problem(413, f"the body must have at most {most:,} bytes")
        parts: list[bytes] = []
        more = True
        try:
            async with asyncio.timeout(self.limits.seconds):
                while more:
                    message = await receive()
                    if message["type"] != "http.request":
                        raise ClientDisconnected
                    part, more = message.get("body", b""), message.get("more_body", False)
                    turn.size += len(part)
                    self._held += len(part)
                    parts.append(part)
                    if turn.size > most:
                        raise Problem(413, f"the body must have at most {most:,} bytes")
                    if self._held > self.limits.held:
                        raise busy("too many bodies are in memory")
        except TimeoutError:
            problem = f"the body did not arrive within {self.limits.seconds:g} seconds"
            raise Problem(408, problem, connection="close") from None
        return parts[0] if len(parts) == 1 else b"".join(parts)


async def _send(turn: _RequestState, response: Response, send: Send) -> None:
    """Send an answer, with the headers that all answers have, if the connection has not ended."""
    headers = [*response.raw_headers, (b"x-request-id", turn.id.encode()), *_SAFE]
    if _asks_to_upgrade(turn.headers):  # the HTTP parser passes over all that follows
        headers.append((b"connection", b"close"))
    turn.status, turn.sent = response.status_code, len(response.body)
    try:
        await send({"type": "http.response.start", "status": turn.status, "headers": headers})
        await send({"type": "http.response.body", "body": response.body})
    except (RuntimeError, OSError):
        turn.status = GONE


def _asks_to_upgrade(headers: dict[bytes, bytes]) -> bool:
    return b"upgrade" in headers.get(b"connection", b"").lower()


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
