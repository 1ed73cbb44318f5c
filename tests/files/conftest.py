import pytest
from files.container_twin import three_batches


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def path(tmp_path):
    return three_batches(tmp_path)
