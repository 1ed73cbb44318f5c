"""``lookalike lines``."""

from __future__ import annotations

import shutil
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from ..settings.repeats import LinesOptions
from . import options
from .messages import fitted, say
from .repeats import run, say_written, tell

if TYPE_CHECKING:
    from ..results.shortened import LinesResult

TOP, WIDEST = 10, 100  # lines that are printed, and columns of one


@click.command(cls=options.Command, short_help="Remove lines or paragraphs that a corpus repeats.")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@options.of_job(LinesOptions)
@options.writing
@options.own("--list", "listed", default=None, metavar="PATH",
             help="Write all repeated lines, with how often and where they occur: parquet, JSON lines or CSV.")  # fmt: skip
@options.quiet
@options.as_json
def lines(
    inputs: tuple[str, ...], output: str | None, force: bool, listed: str | None, quiet: bool, as_json: bool,
    **given: Any,
) -> None:  # fmt: skip
    """Remove lines, or paragraphs, that occur more than once in a corpus, such as menus, cookie banners and footers.

    Lines are equal if their bytes are, but for white space at both ends. The first occurrence is kept, and later ones are
    removed with their line feed. Documents that keep no word are left out; documents that lose nothing are written byte for
    byte. Without -o, nothing is written: a summary and the most frequent lines are printed.

    Examples:

    \b
        lookalike lines pages/*.parquet -o clean/
        lookalike lines pages/ --drop-over 100 --list repeated.jsonl -o clean/
        lookalike lines pages.jsonl --unit paragraph --min-words 20
    """
    from ..recipes.lines import lines as job

    def write(result: LinesResult) -> None:
        if output is not None:
            result.write(output, force=force)
        if listed is not None:
            result.write_repeated(listed, force=force)

    result = run(job, inputs, output, listed, write, given, force=force, quiet=quiet)
    found, unit = result.summary, given["unit"]
    top = result.top(TOP).to_pylist() if as_json or not quiet else []
    facts = [
        ("removed", found["removed_lines"], f"{unit}s, {found['removed_bytes']:,} bytes"),
        ("repeated", found["repeated_lines"], f"different {unit}s"),
    ]
    tell(result, output, listed, {"top": top}, facts, quiet=quiet, as_json=as_json)
    if quiet or as_json:
        return
    _print(top, unit, err="-" in (output, listed))
    say_written(output, listed)


def _print(top: list[dict[str, Any]], unit: str, err: bool) -> None:
    """Print the most frequent lines, each on one line, cut so that it fits."""
    out = partial(say, err=err)
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 26 + WIDEST
    if top:
        out(f"{'count':>11}  {'documents':>11}  most frequent {unit}s")
    for row in top:
        text = " ".join(row["text"].split())
        out(f"{row['count']:>11,}  {row['documents']:>11,}  {fitted(text, max(12, width - 26), at_end=True)[0]}")
