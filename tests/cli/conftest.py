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


@pytest.fixture
def ends(run):
    """Runs a line, which must end with a code and have some words in standard error; returns that."""

    def ended(code, line, *said):
        found, _, err = run(line)
        assert (found, [words for words in said if words not in err]) == (code, []), err
        return err

    return ended
