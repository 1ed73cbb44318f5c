"""``lookalike dedup``."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

import click

from . import options
from .saying import say, say_all, say_seed


@click.command(short_help="Remove near-duplicates from files.")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@options.targets
@options.method
@options.writing
@click.option("--annotate", is_flag=True, help="Write every row, with keep, duplicate_of, resemblance, cluster added.")
@click.option("--keep", default="first", show_default=True, metavar="POLICY",
              help="Which of several near-duplicates to keep: first, last, longest, shortest, largest:COLUMN, "
              "smallest:COLUMN.")  # fmt: skip
@click.option("--verify", type=click.Choice(["exact", "sketch"]), default="exact", show_default=True,
              help="Whether removals rest on exact or on estimated resemblances.")  # fmt: skip
@click.option("--empty", type=click.Choice(["keep", "drop"]), default="keep", show_default=True,
              help="What to do with documents without any token; they never match.")  # fmt: skip
@options.reading
@options.saving_sketches
@options.shingling
@options.planning
@options.guarding
@options.saving
@options.overriding
@options.reporting
@options.audit
@options.running
@options.pausing
@options.engines
def dedup(
    inputs: tuple[str, ...], threshold: float, recall: float, method: str, radius: int, output: str | None, force: bool,
    annotate: bool, keep: str, verify: str, empty: str, text: str, html: bool, id: str | None, within: str | None,
    against: tuple[str, ...], trust: tuple[str, ...], glob: tuple[str, ...] | None, format: str | None, delimiter: str | None,
    encoding_errors: str, unit: str, width: int | None,
    normalization: str, fold_case: bool, permutations: int | None, bands: int | None, rows: int | None,
    max_document: str | None, on_error: str, seed: int | str, threads: int | None, memory: str | None, quiet: bool,
    as_json: bool, work: str | None, resume: bool, engine: str | None, master: str | None, conf: tuple[str, ...],
    dry_run: bool, duplicates: float, family: float, report: str | None, report_texts: str, audit: int | None,
    save: str | None, save_sketches: str | None, overrides: str | None, fail_if_removed: float | None,
) -> None:  # fmt: skip
    """Remove near-duplicates from files, folders, globs or standard input ("-").

    A document is removed if and only if an earlier kept document is found whose resemblance to it is at least the threshold;
    --keep determines the order. Without -o, only the summary is printed.

    Examples:

    \b
        lookalike dedup pages/*.parquet --text body --id url -t 0.8 --recall 0.99 -o clean/
        lookalike dedup corpus.jsonl.gz -o corpus-clean.jsonl.gz
        lookalike dedup corpus.jsonl.gz --report page.html --audit 500 --save judged/
        lookalike dedup notes/ --glob '*.{md,txt}' --keep longest
        lookalike dedup crawl/*.jsonl.zst --memory 8GB --work job/ -o clean/     # after a crash: again, with --resume
        zcat dump.jsonl.gz | lookalike dedup - --format jsonl --annotate -o annotated.jsonl
        lookalike dedup week48/ --against seen/ --save-sketches seen/week48 -o clean/week48     # every week; see the how-to
        lookalike dedup s3://lake/crawl/ --engine spark --master spark://host:7077 --work s3://lake/job -o s3://lake/clean
    """
    from ..engines.memory import Memory
    from ..errors import ParameterError
    from ..files.workspace import written_before
    from ..formats.sources import open_sources
    from ..formats.writers import check_room, is_stdout, means_folder
    from ..inputs.sketches import open_references
    from ..settings.limits import limit_of
    from .interrupts import explained
    from .outputs import Outputs
    from .progress import progress

    chosen: dict[str, Any] = {
        "threshold": threshold, "recall": recall, "keep": keep, "within": within, "empty": empty, "verify": verify,
        "work": work, "resume": resume, "annotate": annotate, "text": text, "id": id, "html": html, "glob": glob,
        "format": format, "delimiter": delimiter, "encoding_errors": encoding_errors, "unit": unit, "width": width,
        "normalization": normalization,
        "fold_case": fold_case, "method": method, "radius": radius, "permutations": permutations, "bands": bands, "rows": rows,
        "max_document": max_document, "on_error": on_error, "overrides": overrides, "seed": seed, "memory": memory,
    }  # fmt: skip
    running: AbstractContextManager[Callable[..., Any]]
    if engine == "spark" and any(given is not None for given in (report, audit, save)):
        raise ParameterError(
            "--report, --audit and --save are for the engine of this machine; Spark writes decisions as tables"
        )
    if engine == "spark":
        from ..spark.writing import check_where
        from .spark import check_options
        from .spark import running as on_spark

        running = on_spark(master, check_options(threads, conf))
    elif master is not None or conf:
        raise ParameterError("--master and --conf are for --engine spark")
    else:
        from ..formats.writers import check_output as check_where
        from ..recipes.dedup import dedup as run

        running = nullcontext(partial(run, threads=threads, engine=engine))
    outputs = Outputs(
        output=output, report=report, save=save, save_sketches=save_sketches, force=force, annotate=annotate,
        texts=report_texts, done=written_before(work, (output, report, save, save_sketches)) if work and resume else (),
    )  # fmt: skip
    if output is not None:
        check_where(output, outputs.may_replace(output))
    sources = open_sources(inputs, glob=glob, format=format, delimiter=delimiter)
    replaced = save_sketches if outputs.may_replace(save_sketches) else None
    references = open_references(
        against, glob=glob, format=format, delimiter=delimiter, but=replaced, trust=trust
    ) or None  # fmt: skip
    outputs.check(sources, references or [], [work, overrides], html)
    if output is not None and engine != "spark":
        check_room(output, sources, limit_of(max_document, on_error, Memory.wanted(memory)))
    if dry_run:
        from .dry_run import show

        show(engine, [*(references or []), *sources], chosen, threads, duplicates, family, as_json)
        return
    with explained(work is not None) as leaves, progress(quiet, lines=engine == "spark") as said, running as job:
        result = job(sources, against=references, progress=said, **chosen)
        leaves.noted = result.note

        def guard() -> None:
            if fail_if_removed is not None:
                from .guarding import check_removed

                before = [path for path in (report, save) if path is not None]
                check_removed(result.by_input(), fail_if_removed, work is not None, outputs.feeding, before)

        if audit is not None:
            said("auditing", 0)
            result.audit(audit, seed=int(result.settings.seed))
        outputs.write(result, lambda: _again(result.settings, against, inputs), said, leaves, guard)
        summary, settings = result.summary, result.settings
        result.close()
    beside = is_stdout(output)  # documents are printed there
    if as_json:
        click.echo(json.dumps(summary.to_dict() | {"settings": settings.to_dict()} | outputs.to_dict()), err=beside)
    if as_json or quiet:
        return
    say_all(str(summary), err=beside)
    say_seed(seed, settings.seed, err=beside)
    for path in outputs.paths:
        unread = summary.skipped["files"] if path == output and means_folder(path) else 0
        say(f"written: {path}{f' (without the files that were not read: {unread:,})' if unread else ''}", err=beside)
    if not outputs.paths and not beside:
        way = "--annotate writes only with -o: add -o annotated.jsonl" if annotate else (
            "add --annotate -o annotated.jsonl to see who matched whom")  # fmt: skip
        say(f"nothing was written (no -o); {way}", err=True)


def _again(settings: Any, against: Sequence[str], inputs: Sequence[str]) -> str:
    """Return the command that repeats a job, with inputs as they were named: folders, globs, "-"."""
    from ..files.names import shown
    from ..report.inputs import command_of

    return command_of(settings, [{"name": shown(name)} for name in (*against, *inputs)], len(against))
