import re
import sys

import pytest

from lookalike.cli import word_diff
from lookalike.text.shingle import Shingling

LEFT = "One two three four five.\nThe second line is here.\n" + "same words " * 60 + "end\n"
RIGHT = LEFT.replace("four", "FOUR FIVE").replace("second ", "")
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture
def shown(capsys):

    def said(width, left=LEFT, right=RIGHT, names=("a.txt", "b.txt")):
        word_diff.say_diff(left.encode(), right.encode(), names, Shingling(), width)
        return capsys.readouterr().out

    return said


@pytest.fixture
def terminal(monkeypatch, shown):
    for name in ("NO_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("FORCE_COLOR", "1")

    def said(*given):
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        return shown(*given)

    return said


def test_one_column_on_a_narrow_terminal(terminal):
    out = terminal(80)
    assert "[-" not in out and max(len(line) for line in COLOURS.sub("", out).splitlines()) <= 80
    assert re.search(r"\x1b\[[0-9;]*31mfour\x1b\[0m", out) and re.search(r"\x1b\[32mFOUR FIVE\x1b\[0m", out)


def test_two_columns_on_a_wide_one(terminal):
    lines = COLOURS.sub("", terminal(140)).splitlines()
    assert "a.txt" in lines[1] and "b.txt" in lines[1] and {len(line) for line in lines} == {140}
    line = next(line for line in lines if "One two three" in line)
    assert line.index("four five.") < 70 < line.index("FOUR FIVE five.")
    assert any(line.count("equal words") == 2 for line in lines)


def test_nothing_steers_the_terminal(terminal):
    nasty = "\x1b[2J\x1b]0;title\x07 [bold]markup[/bold] \u202e words here "
    for width in (80, 140):
        out = COLOURS.sub("", terminal(width, nasty, nasty + "x", (f"a{nasty}", "b")))
        assert not {"\x1b", "\x07", "\u202e"} & {*out} and "[bold]" in out
    assert "\x1b" not in word_diff._column_without_colours(word_diff.compare(nasty.encode(), b"x", Shingling(), word_diff.ALL))


def test_without_colours_there_are_marks(terminal, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    assert "[-four-] {+FOUR FIVE+}" in terminal(80)


def test_equal_and_empty_texts(shown):
    for left, right, said in (("a b", "a b", "a b"), ("", "a", "{+a+}"), ("a", "", "[-a-]"), ("", "", "")):
        assert shown(None, left, right) == f"{said}\n"
