import json
import signal
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from cli.commands import fails
from serve.desk_jobs import plain
from serve.served import JSON, TEXTS, Server, begun, make_index, status_of
from waiting import until

import lookalike as la
from lookalike.serve.bodies import Limits
from lookalike.serve.server import _within_files, check_keys, check_names

KEY = "a-key-of-a-writer"
SECRET = "privateword"


def test_what_cannot_be_served(tmp_path, capsys):
    open_keys = tmp_path / "keys.toml"
    open_keys.write_text(f'write = ["{KEY}"]\n')
    open_keys.chmod(0o644)
    status, said = fails(capsys, "serve", tmp_path, "--keys", open_keys)
    assert status == 2 and "chmod 600" in said and KEY not in said
    for host in ("127.0.0.1", "127.1.2.3", "::1", "localhost"):
        check_keys(host, 8077, None)
    check_names(["seen.example.org", "localhost", "seen_2.example:443", "[::1]:8077", "10.0.0.1"])


def test_a_port_that_is_taken(tmp_path, capsys):
    la.Index.create(tmp_path / "seen.idx").close()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        status, said = fails(capsys, "serve", tmp_path / "seen.idx", "--port", taken.getsockname()[1])
    assert status == 1 and "Address already in use" in said


def test_connections_fit_open_files(monkeypatch):
    limits = [(256, 1000)]
    monkeypatch.setattr("lookalike.serve.server.resource.getrlimit", lambda _: limits[-1])
    monkeypatch.setattr("lookalike.serve.server.resource.setrlimit", lambda _, pair: limits.append(pair))
    assert _within_files(Limits()).connections == 1000 - 256 and limits[1:] == [(1000, 1000)]
    assert _within_files(Limits(connections=100)).connections == 100 and len(limits) == 2


PATIENT = """
import sys
from lookalike.cli.main import main
from lookalike.serve import server
server.END_SECONDS = 3600.0
main(sys.argv[1:])
"""


@pytest.fixture
def server(tmp_path):
    """It waits for open requests for as long as it takes."""
    (tmp_path / "keys.toml").write_text(f'write = ["{KEY}"]\n')
    (tmp_path / "keys.toml").chmod(0o600)
    options = ("--keys", str(tmp_path / "keys.toml"), "--host", "0.0.0.0", "--allow-host", "seen.example")
    made = Server(make_index(tmp_path / "seen.idx", keep_text=True), options, program=("-c", PATIENT)).start()
    yield made
    if made.process.poll() is None:
        made.stop(signal.SIGKILL)


def test_logs_have_no_texts_ids_or_keys(server):
    allowed = {"authorization": f"Bearer {KEY}", "x-request-id": "from-a-test"}
    assert server.said == f"{server.folder}: 3 documents, at http://0.0.0.0:{server.port}/\n"
    with server.client(headers=allowed) as client:
        assert client.get("/readyz", headers={"host": "seen.example", "x-request-id": "another"}).status_code == 200
        client.post("/v1/documents", json={"documents": [{"id": f"id-{SECRET}", "text": f"text {SECRET}"}]})
        client.post("/v1/query", json={"texts": [SECRET]})
        client.post("/v1/query", content=b'{"texts": "' + SECRET.encode(), headers=JSON)
        client.get(f"/v1/documents/{SECRET}?{SECRET}")
        client.get(f"/{SECRET}", headers={"user-agent": SECRET, "host": SECRET, "authorization": f"Bearer {SECRET}"})
        client.request(SECRET.upper(), "/readyz")

    def told():
        return [line for line in server.lines() if line.get("id") == "from-a-test"]

    until(lambda: len(told()) > 4)
    written = server.log.read_text()
    lines = told()
    assert SECRET not in written.lower() and KEY not in written
    assert [(line["method"], line["route"], line["status"]) for line in lines] == [
        ("POST", "/v1/documents", 200),
        ("POST", "/v1/query", 200),
        ("POST", "/v1/query", 400),
        ("GET", "/v1/documents/{id}", 404),
        ("GET", "other", 421),
    ]
    names = {"time", "event", "id", "client", "method", "route", "status", "ms", "bytes_in", "bytes_out"}
    assert all(set(line) == names and line["ms"] >= 0 and line["client"] == "127.0.0.1" for line in lines)


def test_a_signal_lets_open_requests_end(server):
    allowed = {"authorization": f"Bearer {KEY}"}
    body = json.dumps({"texts": [TEXTS["a"]]}).encode()
    with closing(begun(server, len(body), **allowed)) as half, server.client() as client, ThreadPoolExecutor(1) as pool:
        half.send(body[:10])
        until(lambda: "\nlookalike_open_requests 2.0\n" in client.get("/metrics", headers=allowed).text)
        stopping = pool.submit(server.stop)
        until(lambda: client.get("/readyz").status_code == 503)
        answers = [client.get(path) for path in ("/readyz", "/healthz", "/v1/documents/a")]
        time.sleep(0.7)
        half.send(body[10:])
        assert status_of(half) == 200 and stopping.result() == 0
    statuses = [(answer.status_code, answer.headers.get("connection")) for answer in answers]
    assert statuses == [(503, "close"), (200, None), (503, "close")]
    last = server.lines()[-1]
    assert last == {"time": last["time"], "event": "ended", "all_requests_answered": True}


SLOW = """
import sys, time
from lookalike.cli.main import main
from lookalike.serve import desk_job, server
server.END_SECONDS = 0.5
desk_job.Desk.list_removals = lambda *_: (open(f"{sys.argv[2]}.begun", "w").close(), time.sleep(3600))
main(sys.argv[1:])
"""


def test_a_page_that_takes_long_does_not_hold_up_the_end(tmp_path):
    server = Server(plain(tmp_path), program=("-c", SLOW)).start()
    with server.client() as client, ThreadPoolExecutor(1) as pool:
        pool.submit(client.get, "/v1/removals")
        until(server.folder.with_name(f"{server.folder.name}.begun").exists)
        assert server.stop() == 0
    assert server.lines()[-1]["event"] == "ended" and not server.lines()[-1]["all_requests_answered"]
