"""From a folder to a server that listens, until it is told to end."""

from __future__ import annotations

import asyncio
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

from ..errors import InputDataError, OutputError, ParameterError
from ..files.names import shown
from ..files.urls import check_on_disk
from ..index.index import Index
from ..index.manifest import NAME as MANIFEST
from ..wording import counted
from . import desk
from .app import make_app
from .guard import Guard, is_loopback
from .keys import Keys
from .limits import END_SECONDS, LINGER_SECONDS, Limits
from .logs import FLUSH_SECONDS, Handler, Log
from .metrics import Metrics
from .protocol import IDLE_SECONDS, Connection
from .store import Store

BACKLOG = 4096
SPARE_FILES = 256  # of those that a process can open: for the index
SWITCH_SECONDS = 0.001  # after which a thread that writes lets one that answers go on
_JOB = "result.json"
_NAME = re.compile(r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """What is served, and how.

    Parameters
    ----------
    folder : Path
        An index, or a saved result.
    host : str
        Address, or a name of this machine.
    port : int
        0: one that is free.
    hosts : tuple of str
        More names that requests can be for, with or without a port.
    threads : int >= 1
        Groups of long queries that are answered at the same time.
    trust : tuple of str
        Where the inputs of somebody else's result may be read.
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
    """Return sockets that are bound; those of further addresses of a name get the port of the first one."""
    sockets: list[socket.socket] = []
    try:
        for family, place in addresses(host, port):
            try:
                one = socket.socket(family, socket.SOCK_STREAM)
            except OSError:  # a name can have addresses of a kind that this machine does not use
                continue
            sockets.append(one)
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            one.bind((place[0], port or sockets[0].getsockname()[1], *place[2:]))
            one.listen(BACKLOG)
    except OSError as error:
        for one in sockets:
            one.close()
        raise OutputError(f"{host}, port {port}: cannot listen: {error.strerror}") from None
    if not sockets:
        raise OutputError(f"{host}, port {port}: cannot listen: this machine has no such addresses")
    return sockets


class Server(uvicorn.Server):
    """uvicorn's server, which says that it ends before it does, and ends stalled connections."""

    def __init__(self, config: uvicorn.Config, guard: Guard, tick: Callable[[], None]) -> None:
        super().__init__(config)
        self._guard = guard
        self._tick = tick
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
        """Do what is to be done now and then, and tell whether it is time to end."""
        if counter % 10 == 0:
            now = asyncio.get_running_loop().time()
            for connection in list(self.server_state.connections):
                connection.sweep(now)  # type: ignore[union-attr]
            self._tick()
        if self._guard.ending:
            for_long = time.monotonic() - self._told
            self.should_exit |= for_long > END_SECONDS or (for_long > LINGER_SECONDS and not self._guard.open)
        return await super().on_tick(counter)


def serve(serving: Serving, say: Callable[[str], None]) -> None:
    """Serve a folder until a signal ends it; ``say`` is told the address."""
    check_keys(serving.host, serving.port, serving.keys)
    check_names(serving.hosts)
    is_index = (serving.folder / MANIFEST).exists()
    if not is_index and not (serving.folder / _JOB).exists():
        check_on_disk(serving.folder, "and what is served is a folder on this machine: copy it")
        raise InputDataError(f"{shown(serving.folder)}: neither an index (lookalike index create) nor a saved result")
    limits, log, metrics = _within_files(serving.limits), Log(requests=serving.log_requests), Metrics()
    store = None
    sockets = _listen(serving.host, serving.port)
    try:
        if is_index:
            store = Store(Index.open(serving.folder), limits, metrics, serving.threads)
            store.index.query(["ready"])  # kernels are loaded, or compiled, before anybody waits
        pages = desk.routes_of_index(store) if store is not None else desk.routes_of_job(serving.folder, serving.trust)
        guard = make_app(
            store, pages=pages, reading=desk.READING, limits=limits, keys=serving.keys,
            hosts=frozenset(host.lower().encode() for host in serving.hosts), log=log, metrics=metrics,
        )  # fmt: skip
        host, port = sockets[0].getsockname()[:2]
        inside = counted(len(store.index), "document") if store is not None else "a saved result"
        say(f"{shown(serving.folder)}: {inside}, at http://{f'[{host}]' if ':' in host else host}:{port}/")
        _run(sockets, guard, store, log, limits)
    finally:
        for one in sockets:
            one.close()
    idle = (store is None or store.close(0.5)) and not guard.open
    log.say("ended", all_requests_answered=idle)
    if not idle:
        # A merge of segments, or texts of a page, can take longer than anybody wants to wait for. What was not committed has
        # not happened, as after a crash; a normal exit would wait for the threads.
        sys.stdout.flush()
        os._exit(0)


def _run(sockets: list[socket.socket], guard: Guard, store: Store | None, log: Log, limits: Limits) -> None:
    """Run the server in an event loop."""
    handler = Handler(log)
    for name in ("uvicorn.error", "asyncio"):
        logger = logging.getLogger(name)
        logger.addHandler(handler)
        logger.propagate = False
    sys.setswitchinterval(SWITCH_SECONDS)

    class Limited(Connection):
        """A connection with the limits of this server."""

    Limited.limits = limits
    config = uvicorn.Config(
        guard, http=Limited, ws="none", lifespan="off", interface="asgi3", log_config=None, access_log=False,
        proxy_headers=False, server_header=False, backlog=BACKLOG, timeout_keep_alive=IDLE_SECONDS, timeout_graceful_shutdown=1,
    )  # fmt: skip

    def tick() -> None:
        if store is not None:
            store.withdraw()

    async def main() -> None:
        flushing = asyncio.create_task(_flush(log))
        try:
            await Server(config, guard, tick).serve(sockets)
        finally:
            flushing.cancel()

    runner = asyncio.Runner(loop_factory=uvloop.new_event_loop)
    try:
        runner.run(main())
    finally:
        log.flush()
        if not guard.open:  # it would wait for what threads still do for pages
            runner.close()


async def _flush(log: Log) -> None:
    """Write the lines that were gathered, again and again."""
    while True:
        await asyncio.sleep(FLUSH_SECONDS)
        log.flush()


def _within_files(limits: Limits) -> Limits:
    """Return limits with as many connections as files can be open, once the system's limit was raised as far as it can be."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = limits.connections + SPARE_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        wanted = min(wanted, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    return replace(limits, connections=max(wanted - SPARE_FILES, 1))
