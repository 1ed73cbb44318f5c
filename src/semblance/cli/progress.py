"""Notes and progress on standard error."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .saying import say


def note_skipped(quiet: bool, *inputs: Any) -> None:
    """Say on standard error which files of folders and globs were not read, where there are any."""
    from ..files.places import describe_skipped, skipped_in

    skipped = skipped_in(*inputs)
    if skipped["files"] and not quiet:
        say(f"files not read: {describe_skipped(skipped)}", err=True)


class _Notes(logging.Handler):
    """Prints what the library has to say."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print one note."""
        say(record.getMessage(), err=True)


def _print_notes() -> None:
    log = logging.getLogger("semblance")
    log.handlers = [_Notes()]
    log.setLevel(logging.INFO)


@contextmanager
def progress(quiet: bool) -> Iterator[Callable[[str, int], None]]:
    """Give a function that reports amounts done of named stages; it draws on a terminal, and is silent elsewhere."""
    if quiet:
        yield lambda stage, amount: None
        return
    _print_notes()
    if not sys.stderr.isatty():
        yield lambda stage, amount: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    units = {"sketching": "documents", "verifying": "pairs"}
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TextColumn("{task.fields[done]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", done="")
        done: dict[str, int] = {}

        def report(stage: str, amount: int) -> None:
            done[stage] = done.get(stage, 0) + amount
            bar.update(task, description=stage, done=f"{done[stage]:,} {units.get(stage, '')}" if done[stage] else "")

        yield report
