"""A web server that fails as it is told, by counting, and answers what the Hub of Hugging Face is asked for."""

import json
import re
import threading
import time
from contextlib import contextmanager
from email.utils import formatdate
from hashlib import sha1
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

HUB = re.compile(r"/api/datasets/(?P<name>[^/]+/[^/]+)/(?P<what>tree|paths-info)/(?P<revision>[^/]+)/?(?P<path>.*)")
RESOLVED = re.compile(r"/datasets/(?P<name>[^/]+/[^/]+)/resolve/(?P<revision>[^/]+)/(?P<path>.+)")


class Faults:
    every = 0  # each such request fails
    status = 503  # by this
    most = 1 << 30  # so many at most
    cut = 0  # each such answer with a body of some size ends in its middle
    delay = 0.0  # seconds before each answer
    failed = 0

    def __init__(self, **given):
        self.requests, self.lock = [], threading.Lock()
        vars(self).update(given)


class Site(Faults):
    """Data sets: {(OWNER/NAME, revision): {path: bytes}}."""

    status = 500
    ranges = True
    says = None  # what it says in place of the true Content-Length
    tags = True  # versions have ETags and times of change
    compressed = False
    total = True  # parts say how large the file is
    token = ""  # what must be sent to read a data set
    bodies = 0
    address = ""

    def __init__(self, **given):
        self.files, self.data_sets, self.gone, self.heads = {}, {}, {}, []  # gone: {path: where it is now}
        super().__init__(**given)


class Handler(BaseHTTPRequestHandler):
    protocol_version, disable_nagle_algorithm = "HTTP/1.1", True

    def log_message(self, *given):
        pass

    def send(self, status, headers, body, n_bytes=None):
        self.send_response_only(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body[:n_bytes])
        if n_bytes is not None:
            self.wfile.flush()
            self.close_connection = True


@contextmanager
def running(handler, **members):
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (handler,), members))
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


class _Handler(Handler):
    def _answer(self):
        site, body = self.site, self.rfile.read(int(self.headers.get("content-length") or 0))
        raw = urlsplit(self.path).path
        path = unquote(raw)
        with site.lock:
            site.requests.append(f"{self.command} {path} {self.headers.get('range', '')}".rstrip())
            site.heads.append(dict(self.headers))
            fails = site.every and len(site.requests) % site.every == 0 and site.failed < site.most
            site.failed += bool(fails)
        time.sleep(site.delay)
        if fails:
            self._send(site.status, b"not now")
        elif path in site.gone:
            self._send(302, b"", {"Location": site.gone[path], "Transfer-Encoding": "chunked"})  # whose chunks never come
        elif found := HUB.fullmatch(raw):
            self._hub(found, body)
        elif found := RESOLVED.fullmatch(raw):
            held = site.data_sets.get((found["name"], unquote(found["revision"])), {}).get(unquote(found["path"]))
            if site.token and self.headers.get("authorization") != f"Bearer {site.token}":
                self._send(401, b"Access is restricted", {"X-Error-Code": "GatedRepo"})
            else:
                self._file(held)
        else:
            self._file(site.files.get(path))

    do_GET = do_HEAD = do_POST = _answer  # noqa: N815

    def _json(self, said, status=200, **headers):
        self._send(status, json.dumps(said).encode(), {"Content-Type": "application/json", **headers})

    def _hub(self, found, body):
        held = self.site.data_sets.get((found["name"], unquote(found["revision"])))
        if held is None:
            known = found["name"] in {name for name, _ in self.site.data_sets}
            self._json({}, 404 if known else 401, **{"X-Error-Code": "RevisionNotFound" if known else "RepoNotFound"})
            return
        folders = {path.rsplit("/", n)[0] for path in held for n in range(1, path.count("/") + 1)}

        def told(path):
            content = held.get(path, path.encode())
            kind = {"type": "file", "size": len(content)} if path in held else {"type": "directory"}
            return kind | {"path": path, "oid": sha1(content).hexdigest()}

        at, every = unquote(found["path"]), sorted({*held, *folders})
        if found["what"] == "paths-info":
            asked = parse_qs(body.decode())["paths"]
            self._json([told(path) for path in every if path in asked])
        elif at and at not in folders:
            self._json({}, 404, **{"X-Error-Code": "EntryNotFound"})
        else:
            inside, deep = f"{at}/" if at else "", "recursive=true" in self.path.lower()
            below = [path for path in every if path.startswith(inside)]
            self._json([told(path) for path in below if deep or "/" not in path.removeprefix(inside)])

    def _file(self, held):
        site = self.site
        if held is None:
            self._send(404, b"none of that name")
            return
        headers = {"ETag": f'"{sha1(held).hexdigest()}"', "Last-Modified": formatdate(1e9, usegmt=True)} if site.tags else {}
        if site.compressed:
            headers["Content-Encoding"] = "gzip"
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("range", ""))
        if not asked or not site.ranges:
            self._send(200, held, headers)
        elif not held:
            self._send(416, b"", headers | {"Content-Range": "bytes */0"})
        else:
            part = held[int(asked[1]) : int(asked[2]) + 1]
            of = f"bytes {asked[1]}-{int(asked[1]) + len(part) - 1}/{len(held) if site.total else '*'}"
            self._send(206, part, headers | {"Content-Range": of})

    def _send(self, status, body, headers=None):
        site, large = self.site, len(body) > 64
        site.bodies += large
        cut = site.cut and large and site.bodies % site.cut == 0 and site.failed < site.most
        site.failed += bool(cut)
        other = {"Content-Length": str(site.says)} if site.says is not None and large else {}
        self.send(status, {**(headers or {}), **other}, body, len(body) // 2 if cut else len(body) if other else None)


@contextmanager
def serving(**given):
    site = Site(**given)
    with running(_Handler, site=site) as site.address:
        yield site
