"""``lookalike pairs``."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import click

from ..choices import ReportTexts
from ..settings.options import PairOptions, SearchOptions
from . import options
from .messages import echo, say_seed, whole_time


@click.command(cls=options.Command, short_help="List all pairs of near-duplicates.")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@options.preset
@options.of_job(SearchOptions, "verify", "against", "measure", "max_bucket")
@options.of_jobs(
    "measure", help="Measure that must reach the threshold. Containment: share of a document's shingles that another has."
)
@options.of_jobs("against", help="Reference documents to compare with; pairs of two references are not listed. A "
                                 "folder can be one of saved sketches. Can be repeated.")  # fmt: skip
@options.of_job(PairOptions)
@options.writing
@options.reporting
@options.quiet
@options.as_json
def pairs(
    inputs: tuple[str, ...], output: str | None, force: bool, report: str | None, report_texts: ReportTexts, quiet: bool,
    as_json: bool, **given: Any,
) -> None:  # fmt: skip
    """List all pairs of near-duplicates: left_id, right_id, resemblance. Without -o only the summary is printed.

    Examples:

    \b
        lookalike pairs corpus.jsonl.gz -t 0.7 -o pairs.parquet
        lookalike pairs new.jsonl --against archive.parquet --id url -o matches.csv
    """
    from ..engines.memory import peak_memory
    from ..formats.sources import Files
    from ..formats.writers import is_stdout
    from ..recipes.outputs import Outputs
    from ..recipes.pairs import find_pairs
    from ..settings.settings import PairSettings
    from ..wording import plural, text_size
    from .progress import progress

    beside = is_stdout(output)  # pairs are printed there
    against = options.as_files(given)
    command = partial(options.repeated, "pairs", against=against, inputs=inputs)
    outputs = Outputs(table=output, report=report, force=force, texts=report_texts, command=command)
    with outputs.leaves, progress(quiet) as said:
        settings = PairSettings(progress=said, **given)
        result = find_pairs(Files(inputs), settings, outputs)
    seconds = whole_time(result.summary["seconds"])
    summary = result.summary | {"seconds": seconds, "peak_memory": peak_memory()}
    if as_json:
        told = summary | {"settings": result.provenance["parameters"], "output": output, "report": report}
        click.echo(json.dumps(told), err=beside)
    if as_json or quiet:
        return
    tell = partial(echo, err=beside)
    verified = {"exact": "exact", "sketch": "ESTIMATED", "none": "NOT VERIFIED"}[summary["verified_by"]]
    references_said = f" and {plural(summary['reference'], 'reference document')}" if summary["reference"] else ""
    tell(f"{plural(summary['documents'], 'document')}{references_said}, {text_size(summary['text_bytes'])}")
    tell(f"  pairs  {summary['pairs']:>12,}   ({summary['score']} >= {summary['threshold']:g}, {verified})")
    if summary["documents_skipped"]:
        tell(f"  left out {summary['documents_skipped']:>9,}   (too large or unreadable: not compared)")
    if summary["cut_by_max_pairs"]:
        tell("  the list was cut by --max-pairs: there are more")
    tell(*(f"  warning: {warning}" for warning in summary["warnings"]))
    if summary["crowded"]:
        crowded = plural(summary["crowded"], "document")
        tell(f"  {crowded} in large buckets, usually of boilerplate: all pairs of them are found, as with recall 1")
    above = ", higher above it" if summary["recall_planned"] < 1 else ""
    tell(
        f"recall at the threshold: {summary['recall_planned']:.4f}{above}; "
        f"{plural(summary['candidate_pairs'], 'pair')} compared"
        + (" (identical texts count as one)" if summary["pairs"] > summary["candidate_pairs"] else ""),
        f"{sum(summary['seconds'].values()):.2f} s; peak memory {summary['peak_memory'] / 1e6:,.0f} MB",
    )
    say_seed(given["seed"], settings.seed, err=beside)
    for path in outputs.paths:
        tell(f"written: {path}")
    if not outputs.paths and not beside:
        echo("nothing was written (no -o)", err=True)
