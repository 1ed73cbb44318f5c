import shlex

import pytest
from cli import commands


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def run(capfd):
    return lambda line, *words: commands.run(capfd, *shlex.split(line), *words)


@pytest.fixture
def ends(run):
    def ended(code, line, *said):
        found, _, err = run(line)
        assert (found, [words for words in said if words not in err]) == (code, []), err
        return err

    return ended
