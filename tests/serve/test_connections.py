"""Clients that are slow, or send half of a request: the server answers the others."""

import resource
from contextlib import ExitStack, suppress

import httpx
import pytest
from serve.served import TEXTS, Server, answer, connect, head, make_index, status_of
from waiting import MINUTES, until


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server that waits for longer than any test: what it ends, it does not end for slowness. After all, no request is open."""
    folder = make_index(tmp_path_factory.mktemp("serve") / "seen.idx", keep_text=True)
    made = Server(folder, ("--seconds", f"{6 * MINUTES}", "--max-body", "100000", "--quiet")).start()
    yield made
    with made.client() as client:
        until(lambda: "\nlookalike_open_requests 1.0\n" in client.get("/metrics").text)
    assert made.stop()[0] == 0


def is_well(server):
    """Check that the server answers; one that is hasty, or is full for a moment, may have to be asked again."""

    def answers():
        with suppress(httpx.TransportError), server.client() as client:
            answer = client.post("/v1/query", json={"texts": [TEXTS["a"]]})
            return answer.status_code == 200 and answer.json()["results"][0][0]["id"] == "a"

    until(answers)


def test_a_large_body_is_refused(server):
    """Before it is read, or in chunks on the way; after one that was refused the connection goes on."""
    for top in (head(server, 10**12), head(server, 10**9, b"Expect: 100-continue\r\n")):
        with connect(server) as connection:
            connection.sendall(top)
            assert status_of(connection) == 413
    with connect(server) as connection:
        connection.sendall(head(server, None, b"Transfer-Encoding: chunked\r\n"))
        for _ in range(11):
            connection.sendall(b"2710\r\n" + b"x" * 10_000 + b"\r\n")
        assert status_of(connection) == 413
    with connect(server) as connection:
        for body, status in ((b" " * 100_001, 413), (b'{"texts": []}', 200)):
            connection.sendall(head(server, len(body)) + body)
            assert status_of(connection) == status
    is_well(server)


@pytest.mark.parametrize("what", [b"websocket", b"h2c"])
def test_other_protocols_are_not_spoken(server, what):
    """The parser does not read on after such a request: it is answered, and the connection ends."""
    wish = b"Connection: Upgrade\r\nUpgrade: " + what + b"\r\n"
    with connect(server) as connection:
        connection.sendall(f"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n".encode() + wish + b"\r\n")
        assert answer(connection)[9:12] == b"200"
    body = b'{"texts": []}'
    with connect(server) as connection:
        connection.sendall(head(server, len(body), wish) + body)
        out = answer(connection)
        assert out[9:12] == b"400" and b"let the client use HTTP/1.1" in out
    assert not [line for line in server.lines() if "pip install" in line.get("message", "")]


def test_connections_and_the_time_of_a_body_are_limited(tmp_path):
    options = ("--max-connections", "5", "--seconds", "1", "--quiet")
    server = Server(make_index(tmp_path / "seen.idx"), options).start()
    with ExitStack() as stack:
        for _ in range(5):
            stack.enter_context(connect(server))
        with server.client() as sixth:
            assert sixth.get("/healthz").status_code == 503
    is_well(server)
    with connect(server) as connection:
        connection.sendall(head(server, 50) + b"{")
        out = answer(connection)
    assert out[9:12] == b"408" and b"application/problem+json" in out
    is_well(server)
    assert server.stop()[0] == 0


@pytest.mark.parametrize("n", [300, pytest.param(10_000, marks=pytest.mark.slow)])
def test_many_connections(server, n):
    """Half of them have sent half of a request; others are answered beside them, and each of them in the end."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < n + 100:
        pytest.skip(f"the system allows {hard:,} open files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, n + 100), hard))
    body = b'{"texts": ["one two three four five six seven"]}'
    whole = head(server, len(body)) + body
    with server.client() as client, ExitStack() as stack:
        connections = [stack.enter_context(connect(server)) for _ in range(n)]
        for i, connection in enumerate(connections):
            connection.sendall(whole[: len(whole) // 2] if i % 2 else b"")
        assert client.get("/readyz").status_code == 200
        for i, connection in enumerate(connections):
            connection.sendall(whole[len(whole) // 2 :] if i % 2 else whole)
        statuses = [status_of(connection) for connection in connections]
        assert set(statuses) <= {200, 429} and statuses.count(200) >= min(n, 1000)
        assert client.get("/readyz").status_code == 200
