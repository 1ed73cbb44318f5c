"""``lookalike diff``."""

from __future__ import annotations

import json

import click

from ..errors import ParameterError
from . import options
from .messages import say

_SAID = {
    "came": "only in {now}", "went": "only in {before}", "removed": "kept before, removed now",
    "restored": "removed before, kept now", "moved": "removed for another document",
}  # fmt: skip


@click.command(cls=options.Plain, short_help="Compare two saved results: what came, went, or was decided otherwise.")
@click.argument("before", type=click.Path())
@click.argument("now", type=click.Path())
@click.option(
    "-o", "--output", default=None, metavar="FILE", help="Write a row per different document, to changes.jsonl for example."
)
@click.option("--force", is_flag=True, help="Replace an existing output.")
@options.as_json
def diff(before: str, now: str, output: str | None, force: bool, as_json: bool) -> None:
    """Compare two saved results by the ids of their documents: what came, what went, and what was decided otherwise.

    BEFORE and NOW are folders that 'lookalike dedup --save' or Result.save wrote.

    Examples:

    \b
        lookalike dedup corpus.jsonl.gz --id id --save judged/
        lookalike dedup corpus.jsonl.gz --id id -t 0.7 --save looser/
        lookalike diff judged/ looser/ -o changes.jsonl
    """
    from .. import __version__
    from ..formats.writers import check_table, is_stdout, write_table
    from ..results.changes import changes
    from ..results.result import Result

    if is_stdout(output) and as_json:
        raise ParameterError("--json prints counts, and -o - the changes: leave one of them out")
    if output is not None:
        check_table(output, force)
    found = changes(Result.open(before), Result.open(now))
    counts = dict.fromkeys(_SAID, 0) | {one["values"]: one["counts"] for one in found["change"].value_counts().to_pylist()}
    if output is not None:
        write_table(output, found, {"lookalike": __version__, "inputs": [{"name": before}, {"name": now}]}, force=force)
    if as_json:
        click.echo(json.dumps(counts | {"output": output}))
        return
    for name, n in counts.items():
        say(f"{_SAID[name].format(before=before, now=now):<36}{n:>12,}", err=is_stdout(output))
    if output is not None and not is_stdout(output):
        say(f"written: {output}")
