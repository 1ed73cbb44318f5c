"""``lookalike passages``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ..errors import ParameterError
from ..settings.repeats import PassagesOptions
from ..wording import counted
from . import options
from .repeats import run, say_written, tell

if TYPE_CHECKING:
    from ..results.shortened import PassagesResult


@click.command(cls=options.Command, short_help="Remove passages of many words that occurred before.")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@options.of_job(PassagesOptions)
@options.writing
@options.own("--mask", default=None, metavar="TEXT", help="Write TEXT in place of each passage; then no document is left out.")
@options.own("--list", "listed", default=None, metavar="PATH",
             help="Write all removed passages, with where they are: parquet, JSON lines or CSV.")  # fmt: skip
@options.quiet
@options.as_json
def passages(
    inputs: tuple[str, ...], output: str | None, force: bool, mask: str | None, listed: str | None, quiet: bool,
    as_json: bool, **given: Any,
) -> None:  # fmt: skip
    """Remove passages of --length words or more that occurred before in a corpus, in an earlier document or in the same one.

    The first occurrence is kept. Words are compared without regard to case, punctuation and white space. Documents that keep no
    word are left out; documents that lose nothing are written byte for byte. Without -o, nothing is written.

    Examples:

    \b
        lookalike passages pages/*.parquet -o clean/
        lookalike passages pages/ --length 100 --list removed.jsonl
        lookalike passages books.jsonl --mask '[...]' -o masked.jsonl
    """
    from ..recipes.passages import passages as job

    if mask is not None and output is None:
        raise ParameterError("--mask changes what is written: name an output with -o")

    def write(result: PassagesResult) -> None:
        if output is not None:
            result.write(output, mask=mask, force=force)
        if listed is not None:
            result.write_removed(listed, force=force)

    result = run(job, inputs, output, listed, write, given, force=force, quiet=quiet)
    found = result.summary
    what = f"words in {counted(found['removed_passages'], 'passage')}, {found['removed_bytes']:,} bytes"
    more = {} if mask is None else {"dropped": 0}
    tell(result, output, listed, more, [("removed", found["removed_words"], what)], quiet=quiet, as_json=as_json)
    if not (quiet or as_json):
        say_written(output, listed)
