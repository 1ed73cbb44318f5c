"""``lookalike decontaminate``."""

from __future__ import annotations

import json
import os
from functools import partial
from typing import Any

import click

from ..choices import ReportTexts
from ..settings.decontamination import DecontaminationOptions
from ..settings.option import READ
from ..settings.options import OPENING
from . import options
from .messages import say

SHOWN = 5  # reference documents that are named
BENCHMARKS = 20  # that are named


@click.command(cls=options.Command, short_help="Remove documents that contain test questions or other references.")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@options.own("--against", group=READ, multiple=True, required=True, metavar="PATH",
             help="Reference documents, such as test questions. Can be repeated.")  # fmt: skip
@options.of_job(DecontaminationOptions)
@options.writing
@options.own("--annotate", is_flag=True, help="Write every row, with the best match and its scores added.")
@options.own(
    "--mask", default=None, metavar="TEXT", help="Write every row, with TEXT instead of what is in a reference document."
)
@options.own("--matches", default=None, metavar="PATH", help="Write all matches too: parquet, JSON lines or CSV.")
@options.reporting
@options.quiet
@options.as_json
def decontaminate(
    inputs: tuple[str, ...], against: tuple[str, ...], output: str | None, force: bool, annotate: bool, mask: str | None,
    matches: str | None, quiet: bool, as_json: bool, report: str | None, report_texts: ReportTexts, **given: Any,
) -> None:  # fmt: skip
    """Remove documents that contain reference documents, such as training pages that contain test questions.

    The search is exact. With -o, the documents that contain none are written or, with --annotate or --mask, all documents. A
    reference document with fewer words than --width is found if all of it is in a document.

    Examples:

    \b
        lookalike decontaminate train/*.parquet --against evals/ -o clean/
        lookalike decontaminate train/ --against qa.jsonl --against-text question --against-text answer --mask '' -o masked/
        lookalike decontaminate train/ --against evals/ --measure ngram:13 --json
        lookalike decontaminate train/ --against books/ --passage 50 --matches matches.csv
    """
    from ..engines.memory import Memory
    from ..errors import ParameterError
    from ..formats.cuts import check_one_column
    from ..formats.sources import open_sources
    from ..formats.writers import check_before, check_output, check_room, check_table, is_stdout
    from ..recipes.decontaminate import decontaminate as run
    from ..settings.limits import limit_of
    from ..wording import counted
    from .outputs import check_page, repeated
    from .progress import note_skipped, progress

    if annotate and output is None:
        raise ParameterError("--annotate adds columns to the output: name it with -o")
    if mask is not None and output is None:
        raise ParameterError("--mask changes what is written: name an output with -o")
    if mask is not None:
        check_one_column(given["text"], "mask (--mask)")
    if output is not None and matches is not None and os.path.realpath(output) == os.path.realpath(matches):
        raise ParameterError(f"-o and --matches name the same file, {output}: give each its own")
    if "-" in inputs and "-" in against:
        raise ParameterError("standard input ('-') cannot be both corpora: put one of them into a file")
    check_page(report)
    if output is not None:
        check_output(output, force)
    if matches is not None:
        check_table(matches, force)
    how = {name: given[name] for name in OPENING}
    sources, references = (open_sources(paths, **how) for paths in (inputs, against))
    page = (report,) if report is not None else ()
    for written, also in ((output, (matches, *page) if matches is not None else page), (matches, page)):
        if written is not None:
            check_before(written, sources, references, also)
    if output is not None:
        check_room(output, sources, limit_of(given["max_document"], given["on_error"], Memory.wanted(given["memory"])))
    if report is not None:
        from ..report.page import check_report

        check_report(report, [*sources, *references], force)
    note_skipped(quiet, sources, references)
    with progress(quiet) as said:
        result = run(sources, against=references, progress=said, **given)
        if report is not None:
            again = repeated("decontaminate", result.provenance["config"], against, inputs)
            result.report(report, texts=report_texts, force=force, command=again)
        if output is not None:
            result.write(output, annotate=annotate, mask=mask, force=force)
        if matches is not None:
            result.write_matches(matches, force=force)
    beside = is_stdout(output) or is_stdout(matches)  # rows are printed there
    found, missed = result.summary, result.not_searchable["reference"].slice(0, SHOWN).to_pylist()
    benchmarks = result.by_benchmark.to_pylist()
    if as_json:
        told = found | {"by_benchmark": benchmarks, "not_searchable": missed, "output": output, "report": report}
        click.echo(json.dumps(told), err=beside)
    if as_json or quiet:
        return
    tell, parameters = partial(say, err=beside), result.provenance["parameters"]
    tell(f"{counted(found['documents'], 'document')}, against {counted(found['references'], 'reference document')}")
    least = parameters["threshold"]
    what = f"{parameters['measure']} >= {least:g}" if least else parameters["measure"]
    tell(f"  overlapping  {found['overlapping']:>12,}   ({what}, exact; {counted(found['matches'], 'pair')})")
    tell(f"  contaminated {found['contaminated_references']:>12,}   (reference documents that a document contains)")
    if found["skipped"]:
        tell(f"  skipped      {found['skipped']:>12,}   (too large or unreadable: not compared, not written)")
    if missed:
        unit = {"char": "character"}.get(parameters["shingling"]["unit"], parameters["shingling"]["unit"])
        tell(
            f"  not judged   {len(result.not_searchable):>12,}   (reference documents: {found['empty_references']:,} empty; "
            f"{found['short_references']:,} shorter than {counted(parameters['min_tokens'], unit)} (--min-tokens); "
            f"{found['common_references']:,} of common phrases (--common))"
        )
        tell(f"    {', '.join(map(str, missed))}{', ...' if len(result.not_searchable) > len(missed) else ''}")
    if len(benchmarks) > 1 or not isinstance(parameters["against_text"], str):
        for row in sorted(benchmarks, key=lambda row: -row["share"])[:BENCHMARKS]:
            others = [f"{row[name]:,} {name.replace('_', ' ', 1)}" for name in row if name.startswith("with_")]
            parts = [f"{row['contaminated']:,} of {row['items']:,} contaminated ({row['share']:.1%})", *others]
            tell(f"  {row['benchmark']}: {', '.join(parts)}; in {counted(row['documents'], 'document')}")
    for path in (output, matches, report):
        if path is not None and not is_stdout(path):
            tell(f"written: {path}")
    if len(result.not_searchable) == found["references"]:
        say("no reference document can be searched for", err=True)
    if output is None and matches is None and report is None:
        say("nothing was written (no -o, no --matches)", err=True)
