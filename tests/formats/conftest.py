import pytest
from formats.format_samples import install_toy
from formats.lakes import ROWS


@pytest.fixture(scope="session")
def toy_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    install_toy(folder)
    return folder


@pytest.fixture
def toy(toy_folder, monkeypatch):
    monkeypatch.syspath_prepend(toy_folder)
    return toy_folder


@pytest.fixture
def table(tables, tmp_path):
    tables.append(tmp_path / "t", ROWS)
    return tmp_path / "t"
