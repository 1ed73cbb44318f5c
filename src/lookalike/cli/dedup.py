"""``lookalike dedup``."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from ..errors import LookalikeError
from ..settings.group_options import GroupOptions
from ..settings.options import OPENING, DedupOptions, SearchOptions
from . import options
from .messages import say, say_all, say_seed, whole_time

if TYPE_CHECKING:
    from ..files.publication import Publication


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
@options.own("--history", default=None, metavar="DIR",
             help="Skip documents that earlier jobs kept, and add the new ones to this folder.")  # fmt: skip
@options.own("--generation", hidden=True, default=None, metavar="NAME",
             help="For --history: name of the new generation; must sort after the last one.  "
             "[default: the last number plus one]")  # fmt: skip
@options.own("--history-texts", hidden=True, is_flag=True, default=True,
             help="For --history: keep texts in its folder. Otherwise later jobs read them from the inputs, which must "
                  "not move or change.")  # fmt: skip
@options.own("--save", default=None, metavar="DIR",
             help="Save the decisions and the reasons to a folder, for show and serve.")  # fmt: skip
@options.own("--fail-if-removed", type=options.Share(), default=None, multiple=True, metavar="[COLUMN:]SHARE",
             help="Exit with status 1, and write no documents, if more than this share of all (or of any value of "
                  "COLUMN), or a whole input, would be removed.")  # fmt: skip
@options.reporting
@options.own("--audit", hidden=True, type=click.IntRange(1), default=None, metavar="N",
             help="Measure the recall: compare N random kept documents with all others.")  # fmt: skip
@options.own("--attributes", hidden=True, is_flag=True,
             help="Write Dolma attribute files to the folder -o instead of documents.")  # fmt: skip
@options.quiet
@options.as_json
@options.on_a_cluster
def dedup(
    inputs: tuple[str, ...], output: str | None, force: bool, removed: str | None, save_sketches: str | None, save: str | None,
    fail_if_removed: tuple[tuple[str, float], ...], report: str | None, report_texts: str, audit: int | None, quiet: bool,
    as_json: bool, master: str | None, conf: tuple[str, ...], attributes: bool,
    against: tuple[str, ...] | None, engine: str | None, history: str | None, generation: str | None,
    history_texts: bool,
    **given: Any,
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
    from ..engines.memory import Memory, peak_memory
    from ..errors import ParameterError
    from ..files.urls import path_of
    from ..files.workspace import begin_anew, written_before
    from ..formats.sources import open_sources
    from ..formats.writers import check_room, means_folder
    from ..inputs.sketches import open_references
    from ..recipes.dedup import dedup as run
    from ..settings.limits import limit_of
    from ..settings.settings import Settings
    from .history import open_seeing
    from .outputs import Outputs, check_removed, explained, over_limits, repeated
    from .progress import progress

    work, against = given["work"], against or ()
    limits = dict(fail_if_removed)
    given["slices"] = tuple(dict.fromkeys([*(given["slices"] or ()), *(name for name in limits if name)])) or None
    how = {name: given[name] for name in OPENING}
    running = options.engine_of(engine, master, conf, given["threads"])
    check_where: Callable[[str, bool], object]
    if engine == "spark":
        from ..recipes.spark.files import check_where

        if attributes:
            raise ParameterError("attributes are written on one machine; on Spark, --annotate writes them with the rows")
    else:
        from ..formats.writers import check_output as check_where
    outputs = Outputs(
        output=output, report=report, save=save, save_sketches=save_sketches, removed=removed, force=force,
        annotate=given["annotate"],
        attributes=attributes,
        texts=report_texts,
        done=written_before(work, (output, report, save, removed, save_sketches)) if work else (),
    )  # fmt: skip
    annotate, given["annotate"] = given["annotate"], given["annotate"] or removed is not None
    adding = {"name": generation, "texts": history_texts}
    seeing = open_seeing(history, adding, outputs, given, engine)
    for path in (output, removed):
        if path is not None and seeing is None:
            check_where(path, outputs.may_replace(path))
    sources = open_sources(inputs, **how)
    replaced = save_sketches if outputs.may_replace(save_sketches) else None
    references = open_references(against, **how, but=replaced, trust=given["trust"]) or None
    ignored = given["ignore"] or ()
    given["ignore"] = open_sources(ignored) if ignored else None
    if seeing is not None:
        references = seeing.begin(sources, references or (), Settings(**given))
        outputs, files = seeing.outputs, outputs
        if references is None:
            if as_json:
                click.echo(json.dumps(files.to_dict() | seeing.to_dict()))
            elif not quiet:
                say(f"{output} is up to date; {seeing}")
            return
    outputs.check(sources, references or [], [work, given["overrides"], history, *ignored], given["html"])
    for path in (output, removed) if engine != "spark" else ():
        if path is not None:
            check_room(path, sources, limit_of(given["max_document"], given["on_error"], Memory.wanted(given["memory"])))
    if work and force:
        begin_anew(path_of(work))
    with explained(work is not None) as leaves, progress(quiet, lines=engine == "spark") as said, running as runs:
        result = run(sources, against=references or None, engine=runs, progress=said, **given)
        leaves.noted = result.note

        if audit is not None:
            said("auditing", 0)
            result.audit(audit, seed=int(result.settings.seed))

        def write(together: Publication | None = None) -> str | None:
            def guard() -> None:
                if not limits:
                    return
                over = over_limits(result.summary.slices, limits)
                try:
                    check_removed(
                        result.by_input(), limits.get("", 1.0), work is not None, outputs.feeding, outputs.judged, over
                    )
                except LookalikeError:
                    if together is not None:  # what people judge the job by
                        together.publish()
                    raise

            more = ["--history", history] if history else []
            command = partial(repeated, "dedup", result.settings.config(), against, inputs, more)
            return outputs.write(result, command, said, leaves, guard, together)

        write() if seeing is None else seeing.publish(result, write, leaves)
        result.close()
        settings, seconds = result.settings, whole_time(result.summary.seconds)
        summary = replace(result.summary, seconds=seconds, peak_memory=peak_memory())
    beside = outputs.prints  # documents go to standard output
    if as_json:
        added = {} if seeing is None else seeing.to_dict()
        click.echo(json.dumps(summary.to_dict() | {"settings": settings.to_dict()} | outputs.to_dict() | added), err=beside)
    if as_json or quiet:
        return
    say_all(str(summary), err=beside)
    say_seed(given["seed"], settings.seed, err=beside)
    for path in outputs.paths:
        unread = summary.skipped["files"] if path in (output, removed) and means_folder(path) else 0
        say(f"written: {path}{f' (without the files that were not read: {unread:,})' if unread else ''}", err=beside)
    if seeing is not None:
        say(str(seeing), err=beside)
    if output is None and removed is None and not outputs.paths:
        way = "--annotate writes only with -o: add -o annotated.jsonl" if annotate else (
            "add --annotate -o annotated.jsonl to see who matched whom")  # fmt: skip
        say(f"nothing was written (no -o); {way}", err=True)
