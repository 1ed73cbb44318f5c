"""Where the tests of files work."""

import pytest
from files.container_twin import three_batches


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    """Each test has a current folder of its own."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def path(tmp_path):
    """A file of three batches."""
    return three_batches(tmp_path)
