"""Clients that are slow, or send half of a request: the server answers the others, and ends what stalls."""

import resource
import socket
import time
from contextlib import ExitStack, suppress

import httpx
import pytest
from serve.served import TEXTS, Server, answer, connect, head, make_index, status_of
from waiting import MINUTES, until

SECONDS = 1.0


def serving(folder, seconds):
    """Run a server that waits for so many seconds."""
    options = ("--seconds", str(seconds), "--max-body", "100000", "--quiet")
    made = Server(make_index(folder / "seen.idx", TEXTS, keep_text=True), options).start()
    yield made
    assert made.stop()[0] == 0


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server that waits for longer than any test: what it ends, it does not end for slowness."""
    yield from serving(tmp_path_factory.mktemp("serve"), 6 * MINUTES)


@pytest.fixture(scope="module")
def hasty(tmp_path_factory):
    """A server that waits for a second."""
    yield from serving(tmp_path_factory.mktemp("serve"), SECONDS)


def is_well(server):
    """Check that the server answers; one that is hasty, or is full for a moment, may have to be asked again."""

    def answers():
        with suppress(httpx.TransportError), server.client() as client:
            answer = client.post("/v1/query", json={"texts": [TEXTS["a"]]})
            return answer.status_code == 200 and answer.json()["results"][0][0]["id"] == "a"

    until(answers)


def test_requests_that_do_not_arrive(hasty):
    """Nothing, empty lines, half a line, half a head, half a body: each is told, if it began, and then left."""
    sent = [b"", b"\r\n\r\n", b"POST /v1/que", b"GET /healthz HTTP/1.1\r\nHost: ", head(hasty, 50) + b"{"]
    with ExitStack() as stack:
        begun = time.monotonic()
        connections = [stack.enter_context(connect(hasty)) for _ in sent]
        for connection, data in zip(connections, sent, strict=True):
            connection.sendall(data)
        is_well(hasty)
        answers = [answer(connection)[0] for connection in connections]
        assert time.monotonic() - begun > SECONDS * 0.9
    assert [out[9:12] for out in answers] == [b"", b"", b"408", b"408", b"408"]
    assert all(b"application/problem+json" in out for out in answers[2:])


def test_a_body_that_comes_byte_by_byte(hasty):
    with connect(hasty) as connection:
        connection.sendall(head(hasty, 10_000))
        with pytest.raises(OSError):
            for _ in range(9000):
                connection.sendall(b" ")
                time.sleep(0.1)
    is_well(hasty)


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"this is not HTTP\r\n\r\n", b"400"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"400"),
        (b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"y" * 400_000, b"431"),
        (b"GET /" + b"y" * 400_000, b"431"),
    ],
    ids=["words", "TLS", "a long head", "a long path"],
)
def test_what_is_no_request(server, data, status):
    with connect(server) as connection:
        try:
            for begin in range(0, len(data), 10_000):
                connection.sendall(data[begin : begin + 10_000])
                time.sleep(0.002)
        except OSError:  # it has answered, and reads no more
            pass
        out, _ = answer(connection)
    assert out[9:12] == status or (not out and len(data) > 1000)
    is_well(server)


def test_a_large_body_is_refused_before_it_is_read(server):
    with connect(server) as connection:
        connection.sendall(head(server, 10**12))
        assert status_of(connection) == 413
        assert answer(connection)[0] == b""  # the rest is waited for, for a moment only
    with connect(server) as connection:
        connection.sendall(head(server, 10**9, b"Expect: 100-continue\r\n"))
        assert status_of(connection) == 413


def test_a_large_body_in_chunks_is_refused_on_the_way(server):
    with connect(server) as connection:
        connection.sendall(head(server, None, b"Transfer-Encoding: chunked\r\n"))
        for _ in range(11):
            connection.sendall(b"2710\r\n" + b"x" * 10_000 + b"\r\n")
        assert status_of(connection) == 413
    is_well(server)


@pytest.mark.parametrize("what", [b"websocket", b"h2c"])
def test_other_protocols_are_not_spoken(server, what):
    """The parser does not read on after such a request: it is answered, and the connection ends."""
    wish = b"Connection: Upgrade\r\nUpgrade: " + what + b"\r\n"
    with connect(server) as connection:
        connection.sendall(f"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n".encode() + wish + b"\r\n")
        assert answer(connection)[0][9:12] == b"200"
    body = b'{"texts": []}'
    with connect(server) as connection:
        connection.sendall(head(server, len(body), wish) + body)
        out, _ = answer(connection)
        assert out[9:12] == b"400" and b"let the client use HTTP/1.1" in out
    assert not [line for line in server.lines() if "pip install" in line.get("message", "")]


def test_headers_after_a_body_count_for_nothing(server):
    body = b'{"texts": []}'
    with connect(server) as connection:
        connection.sendall(head(server, None, b"Transfer-Encoding: chunked\r\n") + b"%x\r\n%b\r\n0\r\n" % (len(body), body))
        connection.sendall(b"Host: evil.example\r\n" * 1000 + b"\r\n")
        assert status_of(connection) == 200
    is_well(server)


def test_after_a_refusal_the_connection_goes_on(server):
    with connect(server) as connection:
        connection.sendall(head(server, 100_001) + b" " * 100_001)
        assert status_of(connection) == 413
        body = b'{"texts": []}'
        connection.sendall(head(server, len(body)) + body)
        assert status_of(connection) == 200


def test_requests_in_a_row_on_one_connection(server):
    body = b'{"texts": ["one two three four five six seven"], "top": 1}'
    with connect(server) as connection:
        connection.sendall((head(server, len(body)) + body) * 20)
        out = b""
        while out.count(b'"id":"a"') < 20:
            got = connection.recv(1 << 16)
            assert got, out
            out += got
    assert out.count(b"HTTP/1.1 200") == 20


def test_requests_without_end_before_an_answer_are_not_gathered(server):
    with connect(server) as connection:
        with suppress(OSError):  # it is left already
            connection.sendall(f"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n".encode() * 4000)
        out, _ = answer(connection)
    assert out.count(b"HTTP/1.1 200") < 1000
    is_well(server)


def test_a_client_that_takes_no_answers_is_left(hasty):
    """Its answers fill all buffers; the server ends the connection, and not only this one."""
    body = b'{"texts": [' + b",".join([b'"one two three four five six seven"'] * 900) + b"]}"
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(("127.0.0.1", hasty.port))
        connection.settimeout(MINUTES)
        with pytest.raises(ConnectionError):
            while True:
                connection.sendall(head(hasty, len(body)) + body)
    is_well(hasty)


def test_connections_are_limited(tmp_path):
    server = Server(make_index(tmp_path / "seen.idx", TEXTS), ("--max-connections", "5", "--quiet")).start()
    with ExitStack() as stack:
        for _ in range(5):
            stack.enter_context(connect(server))
        with connect(server) as sixth:
            assert answer(sixth)[0] == b""
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


def test_no_request_is_left_open(server, hasty):
    """After all that came before."""
    for one in (server, hasty):
        with one.client() as client:
            until(lambda client=client: "\nlookalike_open_requests 1.0\n" in client.get("/metrics").text)
