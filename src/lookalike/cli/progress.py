"""Notes and progress on standard error."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from .messages import echo

if TYPE_CHECKING:
    from ..recipes.progress import Bar


class _Notes(logging.Handler):
    """Prints what the library has to say, above the line of progress if there is one; each note once."""

    def __init__(self, bar: Bar | None) -> None:
        super().__init__()
        self._bar, self._printed = bar, set[int]()

    def emit(self, record: logging.LogRecord) -> None:
        """Print one note."""
        note = record.getMessage()
        if hash(note) in self._printed:  # files are read several times
            return
        self._printed.add(hash(note))
        write = partial(echo, note, err=True)
        if self._bar is None:
            write()
        else:
            self._bar.above(write)


def print_notes(bar: Bar | None) -> None:
    """Let notes of the library appear on standard error."""
    log = logging.getLogger("lookalike")
    log.handlers = [_Notes(bar)]
    log.setLevel(logging.INFO)


@contextmanager
def progress(quiet: bool, lines: bool = False) -> Iterator[Callable[[str, int], None]]:
    """Give a function that reports progress by stage; without a terminal it is silent, or writes lines."""
    from ..recipes.progress import Lines, make_bar, no_progress

    if quiet:
        logging.getLogger("lookalike").handlers = [logging.NullHandler()]
        yield no_progress
        return
    bar = make_bar()
    print_notes(bar)
    if bar is None and not lines:
        yield no_progress
        return
    with bar or Lines(partial(echo, err=True)) as said:
        yield said
