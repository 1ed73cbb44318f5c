"""``lookalike history``."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from ..errors import LookalikeError, ParameterError
from ..wording import plural
from . import options
from .messages import echo

if TYPE_CHECKING:
    from ..recipes.history import History

folder = click.argument("folder", metavar="HISTORY", type=click.Path())


@click.group(cls=options.Group, short_help="Manage a history: list, counts, check, compact, forget.")
def history() -> None:
    """Manage the history that 'dedup --history' keeps: a folder with one generation per job.

    Every command first completes, or rolls back, a job that was killed while its outputs appeared.
    """


def _opened(path: str, read: bool = False, trust: Sequence[str] = ()) -> History:
    """Open a folder that is there, until the command ends."""
    from ..recipes.history import History
    from .progress import print_notes

    if not os.path.isdir(path):
        raise ParameterError(f"{path}: no such folder")
    print_notes(None)
    return click.get_current_context().with_resource(History(path, read=read, trust=trust))


@history.command("list", short_help="List the generations.")
@folder
@options.as_json_lines
def list_(folder: str, as_json: bool) -> None:
    """List the generations: their names, documents, bytes of sketches, when they were written, and their inputs."""
    from datetime import UTC, datetime

    found = _opened(folder, read=True).generations
    for one in found:
        written = datetime.fromtimestamp(one.written, UTC).isoformat(timespec="seconds")
        told = {
            "name": one.name,
            "documents": one.documents,
            "bytes": one.bytes,
            "written": written,
            "inputs": list(one.inputs),
        }
        more = f" and {len(one.inputs) - 1:,} more" if len(one.inputs) > 1 else ""
        size = f"{plural(one.documents, 'document')}, {one.bytes:,} bytes"
        line = f"{one.name}  {size}, written {written}" + (f", from {one.inputs[0]}{more}" if one.inputs else "")
        click.echo(json.dumps(told)) if as_json else echo(line)
    if not as_json:
        total = sum(one.documents for one in found)
        echo(f"{plural(len(found), 'generation')}, {plural(total, 'document')}, {sum(one.bytes for one in found):,} bytes")


@history.command(short_help="Add up how often each text occurs.")
@folder
@options.writing
@click.option("--top", type=options.Whole(1), default=20, show_default=True, help="Without -o: how many documents to list.")
@options.as_json_lines
def counts(folder: str, output: str | None, force: bool, top: int, as_json: bool) -> None:
    """Add up the counts of all jobs: how often the text of each kept document occurs.

    Each document of each generation gets n_exact, n_duplicates and n_sources. Without -o the documents with the most
    duplicates are listed.

    Examples:

    \b
        lookalike history counts history/
        lookalike history counts history/ -o counts.parquet
    """
    from ..errors import OutputError
    from ..files.names import show_path
    from ..files.urls import is_inside, path_of
    from ..formats.writers import check_table, is_stdout, write_table
    from ..recipes.counts import AddedUp, largest, without

    if output is not None:
        if as_json:
            raise ParameterError("--json lists documents, and -o writes all of them: leave one of them out")
        check_table(output, force)
        if not is_stdout(output) and is_inside(path_of(output), path_of(folder)):
            raise OutputError(f" is inside {show_path(folder)}, which holds generations only; choose another name", output)
    found = _opened(folder, read=True)
    rows, uncounted = AddedUp(found.generations), without(found.generations)
    if uncounted:
        more = f" and {len(uncounted) - 3:,} more" if len(uncounted) > 3 else ""
        echo(f"not counted: jobs that ran without counts ({', '.join(uncounted[:3])}{more})", err=True)
        if len(uncounted) == len(found.generations) and output is None and not as_json:
            return
    if output is not None:
        names = {os.path.abspath(output), os.path.realpath(output)}  # inputs are not asked for: they can be anywhere
        if any(os.fspath(place.path) in names for split in rows.sources for place in split.places):
            raise OutputError(" would replace an input; choose another name", output)
        write_table(output, rows, rows.provenance, force=force)
        said = f"{plural(len(rows), 'document')} written"
        echo(said if is_stdout(output) else f"{said}: {output}", err=is_stdout(output))
        return
    told = largest(rows, top).to_pylist()
    if as_json:
        for row in told:
            click.echo(json.dumps(row))
        return
    echo(f"{'duplicates':>12}  {'exact':>9}  {'sources':>9}  {'generation':<12}  id")
    for row in told:
        numbers = f"{row['n_duplicates']:>12,}  {row['n_exact']:>9,}  {row['n_sources']:>9,}"
        echo(f"{numbers}  {row['generation']:<12}  {row['id']}")


@history.command(short_help="Merge all generations into one.")
@folder
def compact(folder: str) -> None:
    """Merge all generations into one, named as the last. Later jobs decide as before.

    After that, the outputs of earlier jobs cannot be recreated.
    """
    found = _opened(folder)
    n = found.compact()
    echo(f"merged {n:,} generations into {found.generations[-1].name}" if n else "nothing to merge")


@history.command(short_help="Remove a generation.")
@folder
@click.argument("name")
def forget(folder: str, name: str) -> None:
    """Remove a generation. Later jobs are no longer compared with it; nothing else changes."""
    _opened(folder).forget(name)
    echo(f"removed: {name}")


@history.command(short_help="Look for damage.")
@folder
@options.trust
def check(folder: str, trust: tuple[str, ...]) -> None:
    """Read all generations, and check that the inputs they need are unchanged. Exit with status 1 if not."""
    found = _opened(folder, read=True, trust=trust)
    problems = found.check()
    for problem in problems:
        echo(problem)
    if problems:
        them = "it is" if len(problems) == 1 else "they are"
        total = plural(len(found.generations), "generation")
        raise LookalikeError(f"{len(problems):,} of {total} cannot be used as {them}")
    echo(f"{plural(len(found.generations), 'generation')}, no damage found")
