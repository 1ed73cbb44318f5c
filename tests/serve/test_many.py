"""Many connections at once: 300 in each run of the tests, 10,000 where there is time."""

import resource
from contextlib import ExitStack

import pytest
from serve.served import connect, head, status_of


@pytest.mark.parametrize("n", [300, pytest.param(10_000, marks=pytest.mark.slow)])
def test_many_connections(server, client, n):
    """Half of them have sent half of a request; others are answered beside them, and each of them in the end."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < n + 100:
        pytest.skip(f"the system allows {hard:,} open files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, n + 100), hard))
    body = b'{"texts": ["one two three four five six seven"]}'
    whole = head(server, len(body)) + body
    with ExitStack() as stack:
        connections = [stack.enter_context(connect(server)) for _ in range(n)]
        for i, connection in enumerate(connections):
            connection.sendall(whole[: len(whole) // 2] if i % 2 else b"")
        assert client.get("/readyz").status_code == 200
        for i, connection in enumerate(connections):
            connection.sendall(whole[len(whole) // 2 :] if i % 2 else whole)
        statuses = [status_of(connection) for connection in connections]
        assert set(statuses) <= {200, 429} and statuses.count(200) >= min(n, 1000)
        assert client.get("/readyz").status_code == 200
