"""``lookalike compare --diff``: marks in files, colours on terminals, columns on wide ones."""

import re
import sys

import pytest
from cli.commands import status

from lookalike.cli import word_diff
from lookalike.text.shingle import Shingling

LEFT = "One two three four five.\nThe second line is here.\n" + "same words " * 60 + "end\n"
RIGHT = LEFT.replace("four", "FOUR FIVE").replace("second ", "")
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture
def files(tmp_path):
    for name, text in (("a.txt", LEFT), ("b.txt", RIGHT)):
        (tmp_path / name).write_text(text)
    return str(tmp_path / "a.txt"), str(tmp_path / "b.txt")


def test_marks_where_output_is_no_terminal(files, capsys):
    assert status("compare", *files, "--diff") == 0
    numbers, diff = capsys.readouterr().out.split("\n\n", 1)
    assert numbers.startswith("shingles") and "Hamming" in numbers
    assert diff.startswith("One two three [-four-] {+FOUR FIVE+} five.\nThe [-second-] line is here.\nsame ")
    assert " equal words ... " in diff and "\x1b" not in diff


def test_without_it_there_is_none_and_with_json_it_is_refused(files, capsys):
    assert status("compare", *files) == 0 and "[-" not in capsys.readouterr().out
    assert status("compare", *files, "--diff", "--json") == 2
    assert "--diff is for people" in capsys.readouterr().err


@pytest.fixture
def terminal(monkeypatch):
    """Makes what is shown look like that on a terminal with colors."""
    for name in ("NO_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("FORCE_COLOR", "1")

    def shown_there(capsys, *arguments):
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        return shown(capsys, *arguments)

    return shown_there


def shown(capsys, width, left=LEFT, right=RIGHT, names=("a.txt", "b.txt")):
    """What is printed."""
    word_diff.say_diff(left.encode(), right.encode(), names, Shingling(), width)
    return capsys.readouterr().out


def test_one_column_on_a_narrow_terminal(terminal, capsys):
    out = terminal(capsys, 80)
    assert "[-" not in out and max(len(line) for line in COLOURS.sub("", out).splitlines()) <= 80
    assert re.search(r"\x1b\[[0-9;]*31mfour\x1b\[0m", out) and re.search(r"\x1b\[32mFOUR FIVE\x1b\[0m", out)


def test_two_columns_on_a_wide_one(terminal, capsys):
    out = COLOURS.sub("", terminal(capsys, 140))
    lines = out.splitlines()
    assert "a.txt" in lines[1] and "b.txt" in lines[1] and {len(line) for line in lines} == {140}
    line = next(line for line in lines if "One two three" in line)
    assert line.index("four five.") < 70 < line.index("FOUR FIVE five.")
    assert any(line.count("equal words") == 2 for line in lines)


def test_nothing_steers_the_terminal(terminal, capsys):
    nasty = "\x1b[2J\x1b]0;title\x07 [bold]markup[/bold] \u202e words here "
    for width in (80, 140):
        out = COLOURS.sub("", terminal(capsys, width, nasty, nasty + "x", (f"a{nasty}", "b")))
        assert "\x1b" not in out and "\x07" not in out and "\u202e" not in out and "[bold]" in out
    assert "\x1b" not in word_diff._column_without_colours(word_diff.compare(nasty.encode(), b"x", Shingling(), word_diff.ALL))


def test_without_colours_there_are_marks(terminal, capsys, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    assert "[-four-] {+FOUR FIVE+}" in terminal(capsys, 80)


def test_equal_and_empty_texts(capsys):
    assert shown(capsys, None, "a b", "a b") == "a b\n"
    assert shown(capsys, None, "", "a") == "{+a+}\n" and shown(capsys, None, "a", "") == "[-a-]\n"
    assert shown(capsys, None, "", "") == "\n"
