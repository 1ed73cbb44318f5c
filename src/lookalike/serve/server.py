"""From a folder to a server that listens until it is told to end. Slow clients are the business of a proxy in front of it."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import re
import resource
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType

import uvicorn
import uvloop
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from ..errors import InputDataError, OutputError, ParameterError
from ..files.names import show_path
from ..files.urls import check_on_disk
from ..index.index import Index
from ..index.manifest import NAME as MANIFEST
from ..results.saved import DESCRIPTION
from ..wording import plural
from . import desk
from .app import make_app
from .bodies import Limits
from .guard import Keys, Middleware, is_loopback
from .log import Handler, Log, Metrics
from .store import BatchedIndex

BACKLOG = 4096
SPARE_FILES = 256  # of those that a process can open: for the index
SWITCH_SECONDS = 0.001  # after which a thread that writes lets one that answers go on
END_SECONDS = 6.0  # for open requests to end, once the server is told to
LINGER_SECONDS = 0.5  # for which /readyz says that it ends, at least
IDLE_SECONDS = 60  # a connection that was used waits as long for its next request
_NAME = re.compile(r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """What is served, an index or a saved result, and how.

    Port 0 is one that is free. ``hosts`` are more names that requests can be for, with or without a port; ``threads`` the
    groups of long queries that are answered at the same time; ``trust`` where inputs of somebody else's result may be read.
    """

    folder: Path
    host: str = "127.0.0.1"
    port: int = 8077
    keys: Keys | None = None
    hosts: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    threads: int = 1
    log_requests: bool = True
    trust: tuple[str, ...] = ()


def addresses(host: str, port: int) -> list[tuple[socket.AddressFamily, tuple[object, ...]]]:
    """Return the addresses of a name."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        raise ParameterError(f"--host {host}: not an address or a name of this machine") from None
    return list(dict.fromkeys((family, place) for family, _, _, _, place in found))


def check_keys(host: str, port: int, keys: Keys | None) -> None:
    """Check that nobody else's machine can reach a server without keys."""
    if keys is None and not all(is_loopback(str(place[0])) for _, place in addresses(host, port)):
        raise ParameterError(
            f"--host {host} can be reached from other machines, and there are no keys: pass --keys FILE, or --host 127.0.0.1"
        )


def check_names(names: Iterable[str]) -> None:
    """Check names that requests can be for; an empty one would stand for all names without a port."""
    for name in names:
        if not _NAME.fullmatch(name):
            raise ParameterError(f"--allow-host must be a name such as seen.example.org, or with a port; got {name[:80]!r}")


def _listen(host: str, port: int) -> list[socket.socket]:
    """Return sockets that listen; those of further addresses of a name get the port of the first one."""
    sockets: list[socket.socket] = []
    why = "this machine has no such addresses"
    for family, place in addresses(host, port):
        at = (place[0], port or (sockets[0].getsockname()[1] if sockets else 0), *place[2:])
        try:
            sockets.append(socket.create_server(at, family=family, backlog=BACKLOG))
        except OSError as error:
            if error.errno == errno.EAFNOSUPPORT:  # a name can have addresses of a kind that this machine does not use
                continue
            for one in sockets:
                one.close()
            sockets, why = [], os.strerror(error.errno or 0)
            break
    if not sockets:
        raise OutputError(f"{host}, port {port}: cannot listen: {why}")
    return sockets


class Server(uvicorn.Server):
    """uvicorn's server, which says that it ends before it does."""

    def __init__(self, config: uvicorn.Config, guard: Middleware, store: BatchedIndex | None) -> None:
        super().__init__(config)
        self._guard = guard
        self._store = store
        self._told = 0.0

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Let signals end the server, and not the process: it ends with status 0."""
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to end; at once, if told so twice."""
        if self._guard.ending:
            self.should_exit = True
        self._guard.ending, self._told = True, self._told or time.monotonic()

    async def on_tick(self, counter: int) -> bool:
        """Do what is to be done now and then, ten times a second, and tell whether it is time to end."""
        self._guard.log.flush()
        if counter % 10 == 0 and self._store is not None:
            self._store.withdraw()
        if self._guard.ending:
            for_long = time.monotonic() - self._told
            self.should_exit |= for_long > END_SECONDS or (for_long > LINGER_SECONDS and not self._guard.open)
        return await super().on_tick(counter)


def serve(serving: ServerOptions, say: Callable[[str], None]) -> None:
    """Serve a folder until a signal ends it; ``say`` is told the address."""
    check_keys(serving.host, serving.port, serving.keys)
    check_names(serving.hosts)
    is_index = os.path.exists(serving.folder / MANIFEST)
    if not is_index and not os.path.exists(serving.folder / DESCRIPTION):
        check_on_disk(serving.folder, "and what is served is a folder on this machine: copy it")
        raise InputDataError("neither an index (lookalike index create) nor a result (lookalike dedup --save)", serving.folder)
    limits, log = _within_files(serving.limits), Log(requests=serving.log_requests)
    store, sockets = None, _listen(serving.host, serving.port)
    try:
        if is_index:
            store = BatchedIndex(Index.open(serving.folder), limits, Metrics(), serving.threads)
            store.index.query(["ready"])  # kernels are loaded, or compiled, before anybody waits
        pages = desk.routes_of_index(store) if store is not None else desk.routes_of_job(serving.folder, serving.trust)
        guard = make_app(
            store, pages=pages, reading=desk.READING, limits=limits, keys=serving.keys,
            hosts=frozenset(host.lower().encode() for host in serving.hosts), log=log,
        )  # fmt: skip
        host, port = sockets[0].getsockname()[:2]
        inside = plural(len(store.index), "document") if store is not None else "a saved result"
        say(f"{show_path(serving.folder)}: {inside}, at http://{f'[{host}]' if ':' in host else host}:{port}/")
        _run(sockets, guard, store)
    finally:
        for one in sockets:
            one.close()
    idle = (store is None or store.close(0.5)) and not guard.open
    log.event("ended", all_requests_answered=idle)
    if not idle:
        # A merge of segments, or texts of a page, can take longer than anybody wants to wait for. What was not committed has
        # not happened, as after a crash; a normal exit would wait for the threads.
        sys.stdout.flush()
        os._exit(0)


def _run(sockets: list[socket.socket], guard: Middleware, store: BatchedIndex | None) -> None:
    """Run the server in an event loop."""
    for name in ("uvicorn.error", "asyncio"):
        logger = logging.getLogger(name)
        logger.addHandler(Handler(guard.log))
        logger.setLevel(logging.ERROR)  # warnings are about what strangers send, as often as they like
        logger.propagate = False
    sys.setswitchinterval(SWITCH_SECONDS)

    config = uvicorn.Config(
        guard, http=HttpToolsProtocol, ws="none", lifespan="off", interface="asgi3", log_config=None, access_log=False,
        proxy_headers=False, server_header=False, backlog=BACKLOG, timeout_keep_alive=IDLE_SECONDS, timeout_graceful_shutdown=1,
        limit_concurrency=guard.limits.connections,
    )  # fmt: skip
    runner = asyncio.Runner(loop_factory=uvloop.new_event_loop)
    try:
        runner.run(Server(config, guard, store).serve(sockets))
    finally:
        guard.log.flush()
        if not guard.open:  # it would wait for what threads still do for pages
            runner.close()


def _within_files(limits: Limits) -> Limits:
    """Return limits with as many connections as files can be open, after raising the system's limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = limits.connections + SPARE_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        wanted = min(wanted, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    return replace(limits, connections=max(wanted - SPARE_FILES, 1))
