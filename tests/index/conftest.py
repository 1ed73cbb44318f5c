"""Where the tests of indexes work."""

import pytest


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    """Each test has a current folder of its own."""
    monkeypatch.chdir(tmp_path)
