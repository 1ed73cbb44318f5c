"""A server that runs in a process of its own, or an application without one, and what is asked of it."""

import asyncio
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx
from waiting import MINUTES

import lookalike as la

TEXTS = {
    "a": "one two three four five six seven",
    "b": "one two three four five six eight",
    "c": "nothing of the kind is to be heard or seen here",
}
JSON = {"content-type": "application/json"}


@dataclass
class Server:
    folder: Path
    options: tuple = ()
    environment: dict = field(default_factory=dict)
    program: tuple = ("-m", "lookalike")

    def start(self):
        command = [sys.executable, *self.program, "serve", str(self.folder), "--port", "0", *self.options]
        self.log = self.folder.parent / f"{self.folder.name}.log"
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=log, text=True, env=os.environ | self.environment
            )
        ready, _, _ = select.select([self.process.stdout], [], [], MINUTES)
        said = self.process.stdout.readline() if ready else ""
        assert "http://" in said, (said, self.log.read_text())
        self.said = said
        self.port = int(said.rstrip("/\n").rpartition(":")[2])
        self.url = f"http://127.0.0.1:{self.port}"
        return self

    def client(self, **more):
        return httpx.Client(base_url=self.url, timeout=MINUTES, trust_env=False, **more)

    def stop(self, number=signal.SIGTERM):
        begun = time.monotonic()
        self.process.send_signal(number)
        status = self.process.wait(MINUTES)
        self.process.stdout.close()
        return status, time.monotonic() - begun

    def lines(self):
        return [json.loads(line) for line in self.log.read_text().splitlines() if line.startswith("{")]


def make_index(folder, texts=TEXTS, **more):
    with la.Index.create(folder, **{"threshold": 0.5, "width": 2} | more) as index:
        if texts:
            index.add(list(texts), list(texts.values()))
    return folder


def ask(app, method="GET", path="/healthz", base="http://127.0.0.1:8077", **more):
    async def asking():
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=base) as client:
            return await client.request(method, path, **more)

    return asyncio.run(asking())


def connect(server):
    made = socket.create_connection(("127.0.0.1", server.port))
    made.settimeout(MINUTES)
    return made


def head(server, length, extra=b""):
    return (f"POST /v1/query HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nContent-Type: application/json\r\n".encode()
            + extra + (b"" if length is None else b"Content-Length: %d\r\n" % length) + b"\r\n")  # fmt: skip


def status_of(connection):
    """Read one answer; return its status."""
    out = b""
    while b"\r\n\r\n" not in out:
        got = connection.recv(1 << 16)
        assert got, out
        out += got
    top, _, body = out.partition(b"\r\n\r\n")
    length = int(top.partition(b"content-length: ")[2].partition(b"\r")[0])
    while len(body) < length:
        body += connection.recv(1 << 16)
    return int(top[9:12])


def answer(connection):
    """Return what comes until the connection ends."""
    out = b""
    with suppress(ConnectionResetError):
        while got := connection.recv(1 << 16):
            out += got
    return out
