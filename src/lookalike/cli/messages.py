"""What commands say to a person; data is printed as JSON, which is ASCII, and does not come this way."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter

import click

from ..wording import printable


def echo(*lines: str, err: bool = False) -> None:
    """Print lines, on standard error if wanted; nothing in them can steer a terminal, or begin a line of its own."""
    for line in lines:
        click.echo(printable(line), err=err)


def say_all(text: str, err: bool = False) -> None:
    """Print a text whose ends of lines are its own."""
    echo(*text.rstrip("\n").split("\n"), err=err)


def whole_time(seconds: Mapping[str, float]) -> dict[str, float]:
    """Return the seconds of stages with those that the command has taken besides: together they are what a clock says."""
    began = click.get_current_context().find_root().obj or perf_counter()
    return {"starting": max(0.0, perf_counter() - began - sum(seconds.values())), **seconds}


def fitted(value: object, most: int | None, at_end: bool = False) -> tuple[str, int]:
    """Return a name so that it takes at most some columns, and how many it takes; what is left out becomes "…"."""
    from rich.cells import cell_len, set_cell_size

    text = printable(str(value))
    size = cell_len(text)
    if most is None or size <= most:
        return text, size
    tail = "" if at_end else _last_columns(text, (most - 1) // 2)
    head = set_cell_size(text, most - 1 - cell_len(tail)).rstrip()
    cut = f"{head}…{tail}"
    return cut, cell_len(cut)


def _last_columns(text: str, most: int) -> str:
    """Return the longest end of a text that takes at most some columns."""
    from rich.cells import cell_len

    tail = text[-most:]
    while cell_len(tail) > most:
        tail = tail[1:]
    return tail


def say_seed(given: int | str, used: int | str, err: bool = False) -> None:
    """Print the seed if it was drawn."""
    if given != used:
        echo(f"seed drawn: {used}; --set seed={used} repeats this", err=err)
