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


PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_in_the_documents_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some of it writes files
    scope: dict = {}
    for block in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL):
        if page.name == "README.md" and "overlap(train" in block:
            continue
        exec(block, scope)
    if page.name == "README.md":
        assert scope["result"].keep.tolist() == scope["kept"].mask.tolist() == [True, False, True]


def commands(group):
    """All commands, those of groups with their two words."""
    for name, command in group.commands.items():
        yield from (
            (((name, *rest), c) for rest, c in commands(command)) if hasattr(command, "commands") else [((name,), command)]
        )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_options_in_the_documents_exist(page):
    from semblance.cli.main import program

    known = dict(commands(program))
    text = page.read_text()
    lines = re.findall(r"^(?:\$ )?semblance (?!finds).*$", text, re.MULTILINE) + re.findall(r"`semblance ([a-z][^`]*)`", text)
    assert len(lines) > 5 or page.name != "README.md"
    for line in lines:
        words = line.removeprefix("$ ").removeprefix("semblance ").split()
        command = known.get(tuple(words[:1])) or known.get(tuple(words[:2]))
        if command is None:
            assert words[0] in program.commands or words[0].startswith("-"), line
            continue
        options = {option for p in command.params for option in p.opts}
        for option in re.findall(r"(?<= )--?[a-z][a-z-]*", line.partition("#")[0]):
            assert option in options, line


def test_the_curves_in_the_documents_are_those_of_the_planner():
    """The table of docs/choosing-parameters.md, number by number."""
    text = (ROOT / "docs" / "choosing-parameters.md").read_text()
    rows = re.findall(r"recall ([0-9.]+) \((\d+) bands of (\d+) rows\) \| (.*?) \|\n", text)
    assert len(rows) == 2
    for recall, bands, rows_each, shown in rows:
        plan = sb.plan(threshold=0.8, recall=float(recall))
        assert (plan.bands, plan.rows) == (int(bands), int(rows_each))
        for value, exact in zip(shown.split(" | "), plan.curve.values(), strict=True):
            assert abs(float(value) - exact) <= 0.6 * 10 ** -len(value.partition(".")[2])
