"""``semblance overlap``."""

from __future__ import annotations

import json
from typing import Any

import click

from . import options


@click.command(short_help="Find documents that appear in another corpus.")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option("--against", multiple=True, required=True, metavar="PATH", help="The other corpus. May be repeated.")
@click.option("--measure", type=click.Choice(["resemblance", "containment"]), default="resemblance", show_default=True,
              help="Shingles in common over all shingles of the two, or over those of the smaller.")  # fmt: skip
@click.option("-t", "--threshold", type=float, default=0.8, show_default=True, help="What the measure must reach.")
@click.option("--passage", type=click.IntRange(1), default=None,
              help="Match passages of so many shingles of the other corpus, not whole documents.")  # fmt: skip
@options.writing
@click.option("--annotate", is_flag=True, help="Write every row, with the best match and its scores added.")
@click.option("--matches", default=None, metavar="PATH", help="Write all matches too: parquet, JSON lines or CSV.")
@click.option("--text", default="text", show_default=True, help="Column or field that holds the text.")
@click.option("--id", "id", default=None, help="Column or field that holds a unique id.  [default: file:row]")
@click.option("--glob", default=None, metavar="PATTERN", help="Which files of a folder are read.")
@click.option("--format", "format", type=click.Choice(["parquet", "jsonl", "csv", "txt"]), default=None,
              help="In place of what the suffix says; needed for standard input ('-').")  # fmt: skip
@options.encoding
@options.shingling
@click.option("--threads", type=click.IntRange(1), default=None,
              help="The result does not depend on it.  [default: all processors]")  # fmt: skip
@click.option("--quiet", is_flag=True, help="No progress, no notes.")
@options.as_json
def overlap(
    inputs: tuple[str, ...], against: tuple[str, ...], output: str | None, force: bool, annotate: bool, matches: str | None,
    quiet: bool, as_json: bool, **settings: Any,
) -> None:  # fmt: skip
    """Find documents that appear in another corpus, such as test questions in training data; exactly.

    With -o the documents that do not are written, or, with --annotate, all.

    Examples:

    \b
        semblance overlap train/*.parquet --against eval.jsonl -o clean/
        semblance overlap train/ --against eval.jsonl --measure containment --passage 50 --matches matches.csv
    """
    from ..io.formats import check_output
    from ..io.outputs import check_before
    from ..io.sources import open_sources
    from ..io.writers import format_of, write_table
    from ..pipeline.overlap import overlap as run
    from ..pipeline.wording import counted
    from .progress import note_skipped, progress

    if output is not None:
        check_output(output, force)
    if matches is not None:
        format_of(check_output(matches, force))
    sources, references = (open_sources(g, glob=settings["glob"], format=settings["format"]) for g in (inputs, against))
    for written, also in ((output, (matches,) if matches is not None else ()), (matches, ())):
        if written is not None:
            check_before(written, sources, references, also)
    note_skipped(quiet, sources, references)
    with progress(quiet) as report:
        result = run(sources, against=references, progress=report, **settings)
        if output is not None:
            result.write(output, annotate=annotate, force=force)
        if matches is not None:
            write_table(matches, result.matches, result.provenance, sources=[*sources, *references], force=force)
    n = int(result.overlaps.sum())
    if as_json:
        said = {"documents": result.n_documents, "references": result.n_references, "overlapping": n, "output": output}
        click.echo(json.dumps(said | {"matches": len(result.matches)}))
        return
    click.echo(f"{counted(result.n_documents, 'document')}, against {result.n_references:,}")
    what = f"{settings['measure']} >= {settings['threshold']:g}, measured"
    click.echo(f"  overlapping  {n:>12,}   ({what}; {counted(len(result.matches), 'pair')})")
    for path in (output, matches):
        if path is not None:
            click.echo(f"written: {path}")
    if output is None and matches is None and not quiet:
        click.echo("nothing was written (no -o, no --matches)", err=True)
