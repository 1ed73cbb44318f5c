"""What ``lookalike lines`` and ``lookalike passages`` share: checks before any work, what is run, what is written and said."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..errors import ParameterError
from ..settings.options import OPENING
from ..wording import counted
from .messages import say

if TYPE_CHECKING:
    from ..results.shortened import RepeatsResult

R = TypeVar("R", bound="RepeatsResult")


def run(
    job: Callable[..., R], inputs: tuple[str, ...], output: str | None, listed: str | None,
    write: Callable[[R], None], given: dict[str, Any], *, force: bool, quiet: bool,
) -> R:  # fmt: skip
    """Check what can be checked, run a job, and write what is asked for."""
    from ..engines.memory import Memory
    from ..formats.sources import open_sources
    from ..formats.writers import check_before, check_output, check_room, check_shortening, check_table
    from ..settings.limits import limit_of
    from .progress import note_skipped, progress

    if output is not None and listed is not None and os.path.realpath(output) == os.path.realpath(listed):
        raise ParameterError(f"-o and --list name the same file, {output}: give each its own")
    if output is not None:
        check_output(output, force)
    if listed is not None:
        check_table(listed, force)
    sources = open_sources(inputs, **{name: given[name] for name in OPENING})
    for written, also in ((output, listed), (listed, None)):
        if written is not None:
            check_before(written, sources, (), (also,) if also is not None else ())
    if output is not None:
        check_shortening(output, sources)
        check_room(output, sources, limit_of(given["max_document"], given["on_error"], Memory.wanted(given["memory"])))
    note_skipped(quiet, sources)
    with progress(quiet) as said:
        result = job(sources, progress=said, **given)
        write(result)
    return result


def tell(
    result: RepeatsResult, output: str | None, listed: str | None, more: dict[str, Any], facts: list[tuple[str, int, str]],
    *, quiet: bool, as_json: bool,
) -> None:  # fmt: skip
    """Say what was found: as JSON with ``more`` in it, or as lines of a name, a number and what it counts."""
    from ..formats.writers import is_stdout

    beside, found = is_stdout(output) or is_stdout(listed), result.summary | more  # rows are printed there
    if as_json:
        click.echo(json.dumps(found | {"output": output, "list": listed}), err=beside)
    if as_json or quiet:
        return
    out = partial(say, err=beside)
    out(counted(found["documents"], "document"))
    left_out = "too large or unreadable: not compared, not written"
    told = [
        ("changed", found["changed"], ""),
        ("dropped", found["dropped"], "no word is left"),
        ("skipped", found["skipped"], left_out),
    ]
    for name, number, what in [*facts, *told]:
        if number or name in ("removed", "changed"):
            out(f"  {name:<9} {number:>13,}   {f'({what})' if what else ''}".rstrip())


def say_written(output: str | None, listed: str | None) -> None:
    """Say which files were written, if any."""
    from ..formats.writers import is_stdout

    for path in (output, listed):
        if path is not None and not is_stdout(path):
            say(f"written: {path}", err=is_stdout(output) or is_stdout(listed))
    if output is None and listed is None:
        say("nothing was written (no -o, no --list)", err=True)
