"""Options that are given twice, of which the first would be lost, and empty names, which would mean the current folder."""

import pytest
from json_lines import write_lines

from .commands import run

TWICE = [
    ("dedup", ["x.jsonl", "-t", "0.8", "-t", "0.9"], "-t / --threshold"),
    ("dedup", ["x.jsonl", "-o", "a.jsonl", "--id", "k", "-o", "b.jsonl"], "-o / --output"),
    ("dedup", ["x.jsonl", "--set", "fold_case=true", "--set", "fold_case=false"], "fold_case"),
    ("repeats", ["x.jsonl", "--memory", "1GB", "--memory", "2GB"], "--memory"),
    ("compare", ["x", "y", "--seed", "1", "--seed", "2"], "--seed"),
    ("index", ["query", "i", "x", "--top", "1", "--top", "2"], "--top"),
    ("index", ["create", "i", "--set", "seed=1", "--set", "seed=2"], "seed"),
    ("plan", ["-t", ".8", "-t", ".9"], "-t / --threshold"),
]


@pytest.mark.parametrize(("command", "words", "names"), TWICE)
def test_an_option_that_takes_one_value_is_given_once(capsys, tmp_path, monkeypatch, command, words, names):
    monkeypatch.chdir(tmp_path)
    code, _, error = run(capsys, command, *words)
    assert code == 2 and f"{names} is given " in error and "but takes one value" in error and not list(tmp_path.iterdir())


def test_flags_and_options_of_several_values_can_be_repeated(capsys, tmp_path):
    path = write_lines(tmp_path / "x.jsonl", [{"a": "1", "b": "2", "text": "one two"}])
    assert run(capsys, "dedup", path, "--json", "--json", "--key", "a", "--key", "b", "--text", "text")[0] == 0
    assert run(capsys, "dedup", tmp_path, "--glob", "*.jsonl", "--glob", "*.md")[0] == 0


EMPTY = [
    ("dedup", ["x.jsonl", "-o", ""], "--output"),
    ("dedup", ["x.jsonl", "-o", "y.jsonl", "--history", ""], "--history"),
    ("dedup", ["x.jsonl", "--against", "y", "--against="], "--against"),
    ("dedup", ["x.jsonl", ""], "INPUT"),
    ("repeats", ["x.jsonl", "--list", ""], "--list"),
    ("index", ["create", ""], "INDEX"),
    ("history", ["compact", ""], "HISTORY"),
]


@pytest.mark.parametrize(("command", "words", "name"), EMPTY)
def test_an_empty_name_is_no_current_folder(capsys, tmp_path, monkeypatch, command, words, name):
    monkeypatch.chdir(tmp_path)
    code, _, error = run(capsys, command, *words)
    assert code == 2 and f"{name} is empty: give it a value" in error and not list(tmp_path.iterdir())
