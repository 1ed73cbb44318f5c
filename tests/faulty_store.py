"""A proxy before the object store of tests, which fails by counting: nothing in it is random."""

import re
import time
from contextlib import contextmanager
from http.client import HTTPConnection
from urllib.parse import unquote, urlsplit

import object_store
from web_server import Faults, Handler, running

_KEPT = ("content-length", "transfer-encoding", "connection")


class StoreFaults(Faults):
    """Only answers to a GET are cut."""

    only = ""  # requests that are concerned have this in their path
    hidden = 0  # listings that miss what was written since they began to lag
    most_at_once = now = 0

    def __init__(self, **given):
        self.written = []
        super().__init__(**given)


class _Handler(Handler):
    def _answer(self):
        faults, body = self.faults, self._body()
        with faults.lock:
            faults.requests.append(f"{self.command} {unquote(self.path)}")
            concerned = [one for one in faults.requests if faults.only in one]
            number = len(concerned) if faults.only in faults.requests[-1] else 0
            gets = sum(one.startswith("GET") for one in concerned)
            faults.now += 1
            faults.most_at_once = max(faults.most_at_once, faults.now)
        try:
            time.sleep(faults.delay)
            if faults.every and number and number % faults.every == 0 and faults.failed < faults.most:
                faults.failed += 1
                said = b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"
                self.send(faults.status, {"Content-Type": "application/xml"}, said if self.command != "HEAD" else b"")
                return
            status, headers, said = self._forward(body)
            if self.command == "PUT":
                faults.written.append(unquote(urlsplit(self.path).path))
            if "list-type" in self.path and faults.hidden:
                faults.hidden -= 1
                said = _without(said, [one.rpartition("/")[2] for one in faults.written])
            cut = faults.cut and self.command == "GET" and number and gets % faults.cut == 0 and len(said) > 64
            faults.failed += bool(cut)
            self.send(status, headers, said, len(said) // 2 if cut else None)
        finally:
            with faults.lock:
                faults.now -= 1

    do_GET = do_PUT = do_HEAD = do_POST = do_DELETE = _answer  # noqa: N815

    def _body(self):
        if self.headers.get("transfer-encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        found = b""
        while size := int(self.rfile.readline(), 16):
            found += self.rfile.read(size)
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass
        return found

    def _forward(self, body):
        there = urlsplit(object_store.server())
        connection = HTTPConnection(there.hostname, there.port)
        headers = {name: value for name, value in self.headers.items() if name.lower() not in _KEPT}
        connection.request(self.command, self.path, body, headers)
        answer = connection.getresponse()
        said = answer.read()
        found = answer.status, {name: value for name, value in answer.getheaders() if name.lower() not in _KEPT}, said
        if self.command == "HEAD":
            found[1]["Content-Length"] = answer.getheader("content-length")
        connection.close()
        return found


def _without(listing, names):
    for name in names:
        listing = re.sub(rb"<Contents>(?:(?!</Contents>).)*<Key>[^<]*" + re.escape(name.encode()) + rb"</Key>.*?</Contents>",
                         b"", listing, flags=re.DOTALL)  # fmt: skip
    return listing


@contextmanager
def failing(**given):
    faults = StoreFaults(**given)
    with running(_Handler, faults=faults) as address, object_store.environment(address):
        yield faults
