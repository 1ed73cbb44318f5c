"""``lookalike repeats``."""

from __future__ import annotations

import json
import shutil
import sys
from typing import Any

import click

from ..settings.repeats import LINES, PASSAGES, RepeatsOptions
from ..wording import plural
from . import options
from .messages import echo, fitted

TOP, WIDEST = 10, 100  # lines that are printed, and columns of one


@click.command(cls=options.Command, short_help="Remove lines, paragraphs or passages that a corpus repeats.")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@options.of_job(RepeatsOptions)
@options.writing
@options.own(
    "--mask",
    default=None,
    metavar="TEXT",
    help="Replace each passage with TEXT instead of removing it; no document is left out.",
)
@options.own("--list", "listed", default=None, metavar="PATH",
             help="Write a table of repeated lines, or of removed passages: parquet, JSON lines or CSV.")  # fmt: skip
@options.quiet
@options.as_json
def repeats(
    inputs: tuple[str, ...], output: str | None, force: bool, mask: str | None, listed: str | None, quiet: bool,
    as_json: bool, **given: Any,
) -> None:  # fmt: skip
    """Remove lines, paragraphs or passages that occur more than once in a corpus, such as menus, footers and quotations.

    The first occurrence is kept. Lines and paragraphs are equal if their bytes are, apart from white space at both
    ends; passages if their words are, regardless of case, punctuation and white space. Documents that keep no word
    are left out; documents
    that lose nothing are written byte for byte. Without -o, nothing is written: a summary is printed.

    Examples:

    \b
        lookalike repeats pages/*.parquet -o clean/
        lookalike repeats pages/ --drop-over 100 --list repeated.jsonl -o clean/
        lookalike repeats pages.jsonl --unit paragraph --min-words 20
        lookalike repeats books.jsonl --unit passage --length 100 --mask '[...]' -o masked.jsonl
    """
    from ..formats.sources import Files
    from ..recipes.outputs import Outputs
    from ..recipes.repeats import RepeatsSettings, find_repeats
    from .progress import progress

    unit, passages = given["unit"], given["unit"] == "passage"
    others = LINES if passages else PASSAGES  # a file may say them for other jobs
    given |= {name: None for name in others if not options.was_given(name)}
    options.check_apart(output, listed, "--list")
    outputs = Outputs(output=output, table=listed, force=force, mask=mask)
    with progress(quiet) as said:
        result = find_repeats(Files(inputs), RepeatsSettings(progress=said, **given), outputs)
    rows_there, found = outputs.prints, result.summary
    if mask is not None:
        found["dropped"] = 0
    top = result.top(TOP).to_pylist() if not passages and (as_json or not quiet) else []
    if as_json:
        more: dict[str, Any] = {} if passages else {"top": top}
        click.echo(json.dumps(found | more | {"output": output, "list": listed}), err=rows_there)
    if as_json or quiet:
        return
    _print_summary(found, unit, err=rows_there)
    _print_top(top, unit, err=rows_there)
    for path in outputs.paths:
        echo(f"written: {path}", err=rows_there)
    if output is None and listed is None:
        echo("nothing was written (no -o, no --list)", err=True)


def _print_summary(found: dict[str, int], unit: str, err: bool) -> None:
    """Print what was found: lines of a name, a number and what it counts."""
    echo(plural(found["documents"], "document"), err=err)
    if unit == "passage":
        words = f"words in {plural(found['removed_passages'], 'passage')}, {found['removed_bytes']:,} bytes"
        facts = [("removed", found["removed_words"], words)]
    else:
        facts = [
            ("removed", found["removed_lines"], f"{unit}s, {found['removed_bytes']:,} bytes"),
            ("repeated", found["repeated_lines"], f"different {unit}s"),
        ]
    facts += [
        ("changed", found["changed"], ""),
        ("dropped", found["dropped"], "no word is left"),
        ("skipped", found["skipped"], "too large or unreadable: not compared, not written"),
    ]
    for name, number, what in facts:
        if number or name in ("removed", "changed"):
            echo(f"  {name:<9} {number:>13,}   {f'({what})' if what else ''}".rstrip(), err=err)


def _print_top(top: list[dict[str, Any]], unit: str, err: bool) -> None:
    """Print the most frequent lines, each on one line, cut so that it fits."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 26 + WIDEST
    if top:
        echo(f"{'count':>11}  {'documents':>11}  most frequent {unit}s", err=err)
    for row in top:
        text = " ".join(row["text"].split())
        shown = fitted(text, max(12, width - 26), at_end=True)[0]
        echo(f"{row['count']:>11,}  {row['documents']:>11,}  {shown}", err=err)
