"""``lookalike pairs``."""

from __future__ import annotations

import json
from functools import partial

import click

from . import options
from .saying import say, say_seed


@click.command(short_help="List all pairs of near-duplicates.")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@options.targets
@options.method
@options.writing
@click.option("--verify", type=click.Choice(["exact", "sketch", "none"]), default="exact", show_default=True,
              help="Whether resemblances are exact or estimated; none lists candidates without them.")  # fmt: skip
@click.option("--max-pairs", type=click.IntRange(1), default=None, help="Compare, and list, at most this many pairs.")
@options.reading
@options.shingling
@options.planning
@options.guarding
@options.reporting
@options.running
def pairs(
    inputs: tuple[str, ...], threshold: float, recall: float, method: str, radius: int, output: str | None, force: bool,
    verify: str, max_pairs: int | None, text: str, html: bool, id: str | None, within: str | None, against: tuple[str, ...],
    trust: tuple[str, ...], glob: tuple[str, ...] | None, format: str | None, delimiter: str | None, encoding_errors: str,
    unit: str, width: int | None,
    normalization: str,
    fold_case: bool, permutations: int | None, bands: int | None, rows: int | None, max_document: str | None,
    on_error: str, seed: int | str, threads: int | None,
    memory: str | None, quiet: bool, as_json: bool, report: str | None, report_texts: str,
) -> None:  # fmt: skip
    """List all pairs of near-duplicates: left_id, right_id, resemblance. Without -o only the summary is printed.

    Examples:

    \b
        lookalike pairs corpus.jsonl.gz -t 0.7 -o pairs.parquet
        lookalike pairs new.jsonl --against archive.parquet --id url -o matches.csv
    """
    from ..errors import ParameterError
    from ..formats.sources import open_sources
    from ..formats.writers import check_table, is_stdout
    from ..inputs.sketches import open_references
    from ..recipes.pairs import find_pairs
    from ..settings.settings import Settings
    from ..wording import counted, text_size
    from .interrupts import explained
    from .outputs import Outputs
    from .progress import note_skipped, progress

    if output is not None:
        check_table(output, force)
    beside = is_stdout(output)  # pairs are printed there
    sources = open_sources(inputs, glob=glob, format=format, delimiter=delimiter)
    references = open_references(against, glob=glob, format=format, delimiter=delimiter, trust=trust) or None
    if report is not None and verify == "none":
        raise ParameterError("--report needs scores: leave out --verify none")
    outputs = Outputs(output=output, report=report, force=force, texts=report_texts)
    outputs.check(sources, references or [], [], html)
    note_skipped(quiet, sources, references)
    with explained() as leaves, progress(quiet) as said:
        settings = Settings(
            threshold=threshold, recall=recall, within=within, verify=verify, max_pairs=max_pairs, text=text, id=id, html=html,
            glob=glob, format=format, delimiter=delimiter, encoding_errors=encoding_errors, unit=unit, width=width,
            normalization=normalization,
            fold_case=fold_case, method=method, radius=radius, permutations=permutations, bands=bands, rows=rows,
            max_document=max_document, on_error=on_error, seed=seed, threads=threads, memory=memory,
        )  # fmt: skip
        result = find_pairs(sources, settings, references, said)
        if report is not None:
            from ..files.names import shown
            from ..report.inputs import command_of

            said("writing the report", 0)
            given = [{"name": shown(name)} for name in (*against, *inputs)]  # as they were named here: folders, globs, "-"
            again = command_of(settings, given, len(against), "pairs")
            result.report(report, texts=report_texts, force=force, command=again)
        if output is not None:
            said("writing", 0)
            leaves.writing(output)
            result.write(output, force=force)
            leaves.written(output)
    summary = result.summary
    if as_json:
        told = summary | {"settings": result.provenance["parameters"], "output": output, "report": report}
        click.echo(json.dumps(told), err=beside)
    if as_json or quiet:
        return
    tell = partial(say, err=beside)
    verified = {"exact": "exact", "sketch": "ESTIMATED", "none": "NOT VERIFIED"}[summary["verified_by"]]
    references_said = f", against {counted(summary['reference'], 'reference document')}" if summary["reference"] else ""
    tell(f"{counted(summary['documents'], 'document')}, {text_size(summary['text_bytes'])}{references_said}")
    tell(f"  pairs  {summary['pairs']:>12,}   ({summary['score']} >= {summary['threshold']:g}, {verified})")
    if summary["cut_by_max_pairs"]:
        tell("  the list was cut by --max-pairs: there are more")
    tell(
        f"recall at the threshold: {summary['recall_planned']:.4f}, higher above it; "
        f"{counted(summary['candidate_pairs'], 'pair')} compared",
        f"{sum(summary['seconds'].values()):.2f} s; peak memory {summary['peak_memory'] / 1e6:,.0f} MB",
    )
    say_seed(seed, settings.seed, err=beside)
    for path in outputs.paths:
        tell(f"written: {path}")
    if not outputs.paths and not beside:
        say("nothing was written (no -o)", err=True)
