import resource
from contextlib import ExitStack, closing, suppress
from http.client import HTTPConnection
from socket import create_connection

import httpx
import pytest
from serve.served import JSON, TEXTS, Server, begun, make_index, status_of
from waiting import MINUTES, until


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """It waits for longer than any test: what it ends, it does not end for slowness."""
    folder = make_index(tmp_path_factory.mktemp("serve") / "seen.idx", keep_text=True)
    with Server(folder, ("--seconds", f"{6 * MINUTES}", "--max-body", "100000", "--quiet")).running() as made:
        yield made
        with made.client() as client:
            until(lambda: "\nlookalike_open_requests 1.0\n" in client.get("/metrics").text)


def is_well(server):
    """A server that is full may have to be asked again."""

    def answers():
        with suppress(httpx.TransportError), server.client() as client:
            answer = client.post("/v1/query", json={"texts": [TEXTS["a"]]})
            return answer.status_code == 200 and answer.json()["results"][0][0]["id"] == "a"

    until(answers)


def test_a_large_body_is_refused(server):
    """Before it is read, or in chunks on the way; the connection goes on."""
    for length, expect in ((10**12, ""), (10**9, "100-continue")):
        with closing(begun(server, length, expect=expect)) as connection:
            assert status_of(connection) == 413
    with closing(HTTPConnection("127.0.0.1", server.port)) as connection:
        connection.request("POST", "/v1/query", (b"x" * 10_000 for _ in range(11)), JSON, encode_chunked=True)
        assert status_of(connection) == 413
        for body, status in ((b" " * 100_001, 413), (b'{"texts": []}', 200)):
            connection.request("POST", "/v1/query", body, JSON)
            assert status_of(connection) == status
    is_well(server)


@pytest.mark.parametrize("what", ["websocket", "h2c"])
def test_other_protocols_are_not_spoken(server, what):
    """The parser does not read on after such a request."""
    wish, body = {"connection": "Upgrade", "upgrade": what}, b'{"texts": []}'
    for length, path, status, said in (
        (None, "/healthz", 200, b"alive"),
        (len(body), "/v1/query", 400, b"let the client use HTTP/1.1"),
    ):
        with closing(begun(server, length, path, **wish)) as connection:
            connection.send(body if length else b"")
            answer = connection.getresponse()
            assert answer.status == status and said in answer.read() and answer.will_close
    assert not [line for line in server.lines() if "pip install" in line.get("message", "")]


def test_connections_and_the_time_of_a_body_are_limited(tmp_path):
    options = ("--max-connections", "5", "--seconds", "1", "--quiet")
    with Server(make_index(tmp_path / "seen.idx"), options).running() as server:
        with ExitStack() as stack:
            for _ in range(5):
                stack.enter_context(create_connection(("127.0.0.1", server.port)))
            with server.client() as sixth:
                assert sixth.get("/healthz").status_code == 503
        is_well(server)
        with closing(begun(server, 50)) as connection:
            connection.send(b"{")
            answer = connection.getresponse()
            assert answer.status == 408 and b'"status":408' in answer.read()
        is_well(server)


@pytest.mark.parametrize("n", [300, pytest.param(10_000, marks=pytest.mark.slow)])
def test_many_connections(server, n):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < n + 100:
        pytest.skip(f"the system allows {hard:,} open files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, n + 100), hard))
    body = b'{"texts": ["one two three four five six seven"]}'
    with server.client() as client, ExitStack() as stack:
        connections = [stack.enter_context(closing(begun(server, len(body)))) for _ in range(n)]
        for part in (body[:20], body[20:]):
            for connection in connections[::2]:
                connection.send(part)
            assert client.get("/readyz").status_code == 200
        for connection in connections[1::2]:
            connection.send(body)
        statuses = [status_of(connection) for connection in connections]
        assert set(statuses) <= {200, 429} and statuses.count(200) >= min(n, 1000)
        assert client.get("/readyz").status_code == 200
