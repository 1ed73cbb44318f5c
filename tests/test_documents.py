"""What the documents say is run: examples in docstrings, Python in the README, the commands' names."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import semblance as sb

ROOT = Path(__file__).parents[1]
MODULES = [m.name for m in pkgutil.walk_packages(sb.__path__, "semblance.") if not m.name.endswith("__main__")]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_every_public_name_exists_and_is_documented():
    assert sb.__all__ == sorted(sb.__all__)
    for name in sb.__all__:
        assert getattr(sb, name).__doc__, name
    with pytest.raises(AttributeError):
        _ = sb.no_such_name


def test_python_in_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it writes a file
    scope: dict = {}
    for block in re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL):
        exec(block, scope)
    assert scope["result"].keep.tolist() == scope["kept"].mask.tolist() == [True, False, True]


def test_options_in_the_readme_exist():
    from semblance.cli.main import program

    known = {option for command in program.commands.values() for p in command.params for option in p.opts}
    lines = re.findall(r"^(?:\$ )?semblance (?!finds).*$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert len(lines) > 5
    for line in lines:
        command = line.removeprefix("$ ").split()[1]
        assert command in program.commands
        for option in re.findall(r"(?<= )--?[a-z][a-z-]*", line.partition("#")[0]):
            assert option in known, line
