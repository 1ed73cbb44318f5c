import asyncio
import json
import select
import signal
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
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
    program: tuple = ("-m", "lookalike")

    def start(self):
        command = [sys.executable, *self.program, "serve", str(self.folder), "--port", "0", *self.options]
        self.log = self.folder.parent / f"{self.folder.name}.log"
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
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
        self.process.send_signal(number)
        status = self.process.wait(MINUTES)
        self.process.stdout.close()
        return status

    @contextmanager
    def running(self):
        self.start()
        try:
            yield self
        finally:
            assert self.stop() == 0

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


def begun(server, length=None, path="/v1/query", **headers):
    """``length``: how many bytes of a body are to come."""
    made = HTTPConnection("127.0.0.1", server.port, timeout=MINUTES)
    made.putrequest("GET" if length is None else "POST", path)
    sizes = {} if length is None else {"content-type": "application/json", "content-length": str(length)}
    for name, value in (sizes | headers).items():
        made.putheader(name.replace("_", "-"), value)
    made.endheaders()
    return made


def status_of(connection):
    answer = connection.getresponse()
    answer.read()
    return answer.status
