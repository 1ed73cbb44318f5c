"""What commands say to a person; data is printed as JSON, which is ASCII, and does not come this way."""

from __future__ import annotations

import click

from ..wording import printable


def say(*lines: str, err: bool = False) -> None:
    """Print lines, on standard error if wanted; nothing in them can steer a terminal, or begin a line of its own."""
    for line in lines:
        click.echo(printable(line), err=err)


def say_all(text: str, err: bool = False) -> None:
    """Print a text whose ends of lines are its own."""
    say(*text.rstrip("\n").split("\n"), err=err)


def say_seed(given: int | str, used: int | str) -> None:
    """Print the seed if it was drawn."""
    if given != used:
        say(f"seed drawn: {used}; --seed {used} repeats this")
