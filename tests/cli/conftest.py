"""Commands run in an empty folder."""

import shlex

import pytest
from cli import commands


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def run(capfd):
    """Runs a line, and words after it: (exit code, standard output, standard error)."""
    return lambda line, *words: commands.run(capfd, *shlex.split(line), *words)
