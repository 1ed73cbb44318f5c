import pytest
from serve.served import Server, make_index


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    with Server(make_index(tmp_path_factory.mktemp("served") / "seen.idx", keep_text=True)).running() as made:
        yield made


@pytest.fixture
def client(server):
    with server.client() as made:
        yield made
