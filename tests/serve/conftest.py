"""One server for the tests that need nothing special of it."""

import pytest
from serve.served import Server, make_index


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """A server of an index that keeps its texts, without keys."""
    made = Server(make_index(tmp_path_factory.mktemp("served") / "seen.idx", keep_text=True)).start()
    yield made
    assert made.stop()[0] == 0


@pytest.fixture
def client(server):
    with server.client() as made:
        yield made
