"""``lookalike dedup``."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from typing import Any

import click

from ..settings.options import DedupOptions, GroupOptions, RunOptions, SearchOptions
from . import options
from .messages import echo, say_all, say_seed, whole_time


@click.command(cls=options.Command, short_help="Remove near-duplicates from files.")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@options.preset
@options.of_job(SearchOptions)
@options.of_job(DedupOptions)
@options.of_job(GroupOptions)
@options.writing
@options.own("--removed", default=None, metavar="PATH",
             help="Write the removed documents, as with --annotate.")  # fmt: skip
@options.own("--save-sketches", hidden=True, default=None, metavar="DIR",
             help="Save sketches of the kept documents to a new folder, for --against of later jobs.")  # fmt: skip
@options.of_job(RunOptions)
@options.own("--save", default=None, metavar="DIR",
             help="Save the decisions and the reasons to a folder, for show and serve.")  # fmt: skip
@options.reporting
@options.own("--audit", hidden=True, type=options.Whole(1), default=None, metavar="N",
             help="Measure the recall: compare N random kept documents with all others.")  # fmt: skip
@options.own("--attributes", hidden=True, is_flag=True,
             help="Write Dolma attribute files to the folder -o instead of documents.")  # fmt: skip
@options.quiet
@options.as_json
@options.on_a_cluster
def dedup(
    inputs: tuple[str, ...], output: str | None, force: bool, removed: str | None, save_sketches: str | None, save: str | None,
    report: str | None, report_texts: str, audit: int | None, quiet: bool, as_json: bool, master: str | None,
    conf: tuple[str, ...], attributes: bool, engine: str | None, **given: Any,
) -> None:  # fmt: skip
    """Remove near-duplicates from files, folders, globs or standard input ("-").

    A document is removed if and only if an earlier kept document is found whose resemblance to it is at least the threshold;
    --keep determines the order. Without -o, only the summary is printed.

    Examples:

    \b
        lookalike dedup pages/*.parquet --text body --id url -t 0.8 --recall 0.99 -o clean/
        lookalike dedup corpus.jsonl.gz --report page.html --set audit=500 --save judged/
        lookalike dedup crawl/*.jsonl.zst --memory 8GB --work job/ -o clean/     # after a crash: again
        zcat dump.jsonl.gz | lookalike dedup - --format jsonl --annotate -o annotated.jsonl
        lookalike dedup crawl/2024-10/ --history history/ -o fresh/2024-10     # every month: only what is new
        lookalike dedup 'hf://datasets/OWNER/NAME/data/*.parquet' -o clean/     # or s3://, gs://, abfss://, hdfs://, https://
        lookalike dedup s3://lake/crawl/ --engine spark --set master=spark://host:7077 --work s3://lake/job -o s3://lake/clean
    """
    from ..engines.memory import peak_memory
    from ..formats.sources import Files
    from ..formats.writers import means_folder
    from ..recipes.dedup import run_job
    from ..recipes.outputs import InterruptHint, Outputs
    from ..settings.settings import RunSettings
    from .progress import progress

    history, seed = given["history"], given["seed"]
    against = options.as_files(given)
    more = ["--history", history] if history else []
    outputs = Outputs(
        output=output, report=report, save=save, save_sketches=save_sketches, removed=removed, force=force,
        attributes=attributes, texts=report_texts, audit=audit, leaves=InterruptHint(given["work"] is not None),
        command=partial(options.repeated, "dedup", against=against, inputs=inputs, more=more),
    )  # fmt: skip
    running = options.engine_of(engine, master, conf, given["threads"])
    with outputs.leaves, progress(quiet, lines=engine == "spark") as said, running as runs:
        done = run_job(Files(inputs), RunSettings(engine=runs, progress=said, **given), outputs)
        if (result := done.result) is not None:
            result.close()
    beside = outputs.prints  # documents go to standard output
    if result is None:
        if as_json:
            click.echo(json.dumps(outputs.to_dict() | done.to_dict()))
        elif not quiet:
            echo(f"{output} is up to date; {done}")
        return
    settings, seconds = result.settings, whole_time(result.summary.seconds)
    summary = replace(result.summary, seconds=seconds, peak_memory=peak_memory())
    if as_json:
        told = summary.to_dict() | {"settings": settings.to_dict()} | done.outputs.to_dict() | done.to_dict()
        click.echo(json.dumps(told), err=beside)
    if as_json or quiet:
        return
    say_all(str(summary), err=beside)
    say_seed(seed, settings.seed, err=beside)
    for path in done.outputs.paths:
        unread = summary.skipped["files"] if path in (output, removed) and means_folder(path) else 0
        echo(f"written: {path}{f' (without the files that were not read: {unread:,})' if unread else ''}", err=beside)
    if history is not None:
        echo(str(done), err=beside)
    if not (outputs.rows or done.outputs.paths):
        way = "--annotate writes only with -o: add -o annotated.jsonl" if given["annotate"] else (
            "add --annotate -o annotated.jsonl to see who matched whom")  # fmt: skip
        echo(f"nothing was written (no -o); {way}", err=True)
