"""The word diff of two texts on a terminal, side by side where it is wide."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from ..report.comparison import DIFFERS, Comparison, compare

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

    from ..text.shingle import Shingling

WIDE = 120  # columns from which on texts are side by side
ALL = 1 << 40  # bytes: nothing is cut
_MARKS = {"left": ("[-", "-]"), "right": ("{+", "+}")}
_STYLES = {"left": "red strike", "right": "green"}


def say_diff(left: bytes, right: bytes, names: tuple[str, str], shingling: Shingling, width: int | None = None) -> None:
    """Print which words of two texts differ: in colours on a terminal, else between ``[-`` and ``-]``, ``{+`` and ``+}``.

    Long equal stretches are left out. Nothing in the texts can steer a terminal.
    """
    found = compare(left, right, shingling, ALL)
    if not sys.stdout.isatty():
        click.echo(_column_without_colours(found))
    else:
        from rich.console import Console

        console = Console(width=width)
        if console.no_color:
            click.echo(_column_without_colours(found))
        else:
            console.print(_beside(found, names) if console.width >= WIDE else _in_line(found))
    if found.cut:
        click.echo(found.cut)


def _column_without_colours(found: Comparison) -> str:
    parts = []
    for kind, text in _in_order(found):
        before, after = _MARKS.get(kind, ("", ""))
        parts.append(f" ... {text} equal words ... " if kind == "left out" else f"{before}{text}{after}")
    return "".join(parts).rstrip("\n")


def _in_order(found: Comparison) -> list[tuple[str, str]]:
    """Return the form of one column, the left text before the right one."""
    out = list(found.inline)
    for i in range(len(out)):
        if out[i][0] == "right":
            after = next((j for j in (i + 1, i + 2) if j < len(out) and out[j][0] == "left"), None)
            if after is not None and (after == i + 1 or not out[i + 1][1].strip()):
                out[i], out[after] = out[after], out[i]
    return out


def _in_line(found: Comparison) -> Text:
    """Return one column in colours."""
    from rich.text import Text

    shown = Text()
    for kind, text in _in_order(found):
        said, style = (f" ... {text} equal words ... ", "dim") if kind == "left out" else (text, _STYLES.get(kind, ""))
        shown.append(said, style)
    shown.rstrip()
    return shown


def _beside(found: Comparison, names: tuple[str, str]) -> RenderableType:
    """Return two columns in colours."""
    from rich.table import Table
    from rich.text import Text

    from ..report.samples import short

    table = Table(expand=True)
    for name in names:
        table.add_column(Text(short(name)), ratio=1, overflow="fold")
    for row in found.rows:
        if isinstance(row, int):
            said = f"... {row:,} equal words ..."
            table.add_row(Text(said, "dim"), Text(said, "dim"))
        else:
            table.add_row(_side(row[0], "left"), _side(row[-1], "right"))
    return table


def _side(runs: list[Any], which: str) -> Text:
    """Return a side of a paragraph in colours."""
    from rich.text import Text

    shown = Text()
    for code, text in zip(runs[::2], runs[1::2], strict=True):
        words = text.rstrip()
        shown.append(words, _STYLES[which] if code & DIFFERS else "")
        shown.append(text[len(words) :])
    shown.rstrip()
    return shown
