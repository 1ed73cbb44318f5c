"""``lookalike history``, and what ``dedup --history`` does beside a job."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from ..errors import LookalikeError, ParameterError
from ..wording import counted
from . import options
from .messages import say

if TYPE_CHECKING:
    from ..files.publication import Publication
    from ..formats.split import Inputs, Split
    from ..recipes.history import History
    from ..results.result import Result
    from ..settings.settings import Settings
    from .outputs import Leaves, Outputs

folder = click.argument("folder", metavar="HISTORY", type=click.Path())


class Seeing:
    """A job that is run against all of a history, and adds to it."""

    def __init__(self, history: History, outputs: Outputs, how: Mapping[str, Any]) -> None:
        self._history, self.outputs, self._how = history, outputs, how
        self._added = False

    def begin(self, sources: Sequence[Split], others: Sequence[Split], settings: Settings) -> Inputs | None:
        """Return the references of the job; None if it has run before, what it wrote is there, and nothing is left of it."""
        from pathlib import Path

        from ..files.workspace import unfinished_job
        from ..formats.writers import check_output
        from ..recipes.turns import turn_of

        outputs, history = self.outputs, self._history
        self._turn = turn = turn_of(history.folder, history.generations, sources, settings, others, **self._how)
        if turn.job is not None and not outputs.force:
            made = (outputs.report, outputs.save, outputs.removed)
            report, save, removed = (None if path and os.path.lexists(path) else path for path in made)
            wrote = outputs.output is not None and turn.has_written(outputs.output)
            self.outputs = replace(outputs, report=report, save=save, removed=removed, output=None if wrote else outputs.output)
            left = settings.work is not None and unfinished_job(Path(settings.work)) is not None
            if wrote and not left and not self.outputs.paths:
                return None
        for path in (self.outputs.output, self.outputs.removed):
            if path is not None:
                check_output(path, outputs.force)
        return turn.references(self._history.trusted, others, self.outputs.paths)

    def publish(self, result: Result, write: Callable[[Publication], str | None], leaves: Leaves) -> None:
        """Write everything, and let it appear together with what the job adds."""
        from ..files.publication import Publication

        with Publication(self._history.folder) as together:
            output = write(together)
            leaves.said = f"to finish writing the outputs, run: lookalike history list {self._history.folder}"
            self._added = self._turn.publish(together, result, output)
        for path in self.outputs.paths:
            leaves.written(path)

    def to_dict(self) -> dict[str, Any]:
        """Return what ``--json`` says of it."""
        known = self._added or self._turn.job is not None
        return {"generation": self._turn.name if known else None, "added": self._added}

    def __str__(self) -> str:
        """Say what was added."""
        if self._turn.job is not None:
            return f"{self._history.folder} has the generation {self._turn.name} of this job; nothing was added"
        if not self._added:
            return f"nothing was added to {self._history.folder}"
        return f"added: generation {self._turn.name} of {self._history.folder}"


def open_seeing(
    history: str | None, how: Mapping[str, Any], outputs: Outputs, given: Mapping[str, Any], engine: str | None
) -> Seeing | None:
    """Open what a job is told with ``--history``, until the command ends; None: nothing."""
    if history is None:
        if how["name"] is not None or not how["texts"]:
            raise ParameterError("generation and history_texts are for --history")
        return None
    from ..files.urls import as_url
    from ..recipes.history import History

    rows = [path or "" for path in (outputs.output, outputs.removed)]
    away = outputs.prints or any(as_url(path, ask=False) is not None for path in rows)
    if engine == "spark" or outputs.save_sketches is not None or away:
        raise ParameterError(
            "--history writes files and folders on one machine, and saves sketches itself: on a cluster, on an object store, "
            "and for -o -, use --against and --set save_sketches=DIR"
        )
    if given["seed"] == "random":
        raise ParameterError("--history compares sketches of all jobs, which need the same seed: a number, not random")
    found = click.get_current_context().with_resource(History(history, trust=given["trust"]))
    _say_recovered(found)
    return Seeing(found, outputs, how)


def _say_recovered(history: History) -> None:
    if history.recovered is not None:
        how = (
            "completed: its outputs and its generation are there"
            if history.recovered
            else "rolled back: its outputs were incomplete"
        )
        say(f"{history.folder}: an interrupted job was {how}", err=True)


@click.group(cls=options.Group, short_help="Manage a history: list, counts, check, compact, forget.")
def history() -> None:
    """Manage the history that 'dedup --history' keeps: a folder with one generation per job.

    Every command first completes, or rolls back, a job that was killed while its outputs appeared.
    """


def _opened(path: str, read: bool = False, trust: Sequence[str] = ()) -> History:
    """Open a folder that is there, until the command ends."""
    from ..recipes.history import History

    if not os.path.isdir(path):
        raise ParameterError(f"{path}: no such folder")
    found = click.get_current_context().with_resource(History(path, read=read, trust=trust))
    _say_recovered(found)
    return found


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
        size = f"{counted(one.documents, 'document')}, {one.bytes:,} bytes"
        line = f"{one.name}  {size}, written {written}, from {', '.join(one.inputs[:1]) or 'no input'}{more}"
        click.echo(json.dumps(told)) if as_json else say(line)
    if not as_json:
        total = sum(one.documents for one in found)
        say(f"{counted(len(found), 'generation')}, {counted(total, 'document')}, {sum(one.bytes for one in found):,} bytes")


@history.command(short_help="Add up how often each text occurs.")
@folder
@options.writing
@click.option("--top", type=click.IntRange(1), default=20, show_default=True, help="Without -o: how many documents to list.")
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
    from ..files.names import shown
    from ..files.urls import is_inside, path_of
    from ..formats.writers import check_table, is_stdout, write_table
    from ..recipes.counts import AddedUp, largest, without

    if output is not None:
        if as_json:
            raise ParameterError("--json lists documents, and -o writes all of them: leave one of them out")
        check_table(output, force)
        if not is_stdout(output) and is_inside(path_of(output), path_of(folder)):
            raise OutputError(f" is inside {shown(folder)}, which holds generations only; choose another name", output)
    found = _opened(folder, read=True)
    rows, uncounted = AddedUp(found.generations), without(found.generations)
    if uncounted:
        more = f" and {len(uncounted) - 3:,} more" if len(uncounted) > 3 else ""
        say(f"not counted: jobs that ran without counts ({', '.join(uncounted[:3])}{more})", err=True)
        if len(uncounted) == len(found.generations) and output is None and not as_json:
            return
    if output is not None:
        names = {os.path.abspath(output), os.path.realpath(output)}  # inputs are not asked for: they can be anywhere
        if any(os.fspath(place.path) in names for split in rows.sources for place in split.places):
            raise OutputError(" would replace an input; choose another name", output)
        write_table(output, rows, rows.provenance, force=force)
        said = f"{counted(len(rows), 'document')} written"
        say(said if is_stdout(output) else f"{said}: {output}", err=is_stdout(output))
        return
    told = largest(rows, top).to_pylist()
    if as_json:
        for row in told:
            click.echo(json.dumps(row))
        return
    say(f"{'duplicates':>12}  {'exact':>9}  {'sources':>9}  {'generation':<12}  id")
    for row in told:
        numbers = f"{row['n_duplicates']:>12,}  {row['n_exact']:>9,}  {row['n_sources']:>9,}"
        say(f"{numbers}  {row['generation']:<12}  {row['id']}")


@history.command(short_help="Merge all generations into one.")
@folder
def compact(folder: str) -> None:
    """Merge all generations into one, named as the last. Later jobs decide as before.

    After that, the outputs of earlier jobs cannot be recreated.
    """
    found = _opened(folder)
    n = found.compact()
    say(f"merged {n:,} generations into {found.generations[-1].name}" if n else "nothing to merge")


@history.command(short_help="Remove a generation.")
@folder
@click.argument("name")
def forget(folder: str, name: str) -> None:
    """Remove a generation. Later jobs are no longer compared with it; nothing else changes."""
    _opened(folder).forget(name)
    say(f"removed: {name}")


@history.command(short_help="Look for damage.")
@folder
@options.trust
def check(folder: str, trust: tuple[str, ...]) -> None:
    """Read all generations, and check that the inputs they need are unchanged. Exit with status 1 if not."""
    found = _opened(folder, read=True, trust=trust)
    problems = found.check()
    for problem in problems:
        say(problem)
    if problems:
        them = "it is" if len(problems) == 1 else "they are"
        total = counted(len(found.generations), "generation")
        raise LookalikeError(f"{len(problems):,} of {total} cannot be used as {them}")
    say(f"{counted(len(found.generations), 'generation')}, no damage found")
