"""One server for each module of tests."""

import pytest
from served import Server, make_index


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server of an index that keeps its texts, without keys."""
    made = Server(make_index(tmp_path_factory.mktemp("serve") / "seen.idx", keep_text=True)).start()
    yield made
    if made.process.poll() is None:
        assert made.stop()[0] == 0


@pytest.fixture
def client(server):
    """A client of it."""
    with server.client() as made:
        yield made
