"""``lookalike decontaminate``."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import click

from ..choices import ReportTexts
from ..settings.decontamination import DecontaminationOptions
from ..settings.option import READ
from . import options
from .messages import echo

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
    from ..errors import ParameterError
    from ..formats.sources import Files
    from ..recipes.decontaminate import DecontaminationSettings, find_references
    from ..recipes.outputs import Outputs
    from ..wording import plural
    from .progress import progress

    if annotate and output is None:
        raise ParameterError("--annotate adds columns to the output: name it with -o")
    options.check_apart(output, matches, "--matches")
    if "-" in inputs and "-" in against:
        raise ParameterError("standard input ('-') cannot be both corpora: put one of them into a file")
    outputs = Outputs(
        output=output, table=matches, report=report, force=force, annotate=annotate, mask=mask, texts=report_texts,
        command=partial(options.repeated, "decontaminate", against=against, inputs=inputs),
    )  # fmt: skip
    with progress(quiet) as said:
        settings = DecontaminationSettings(against=Files(against), progress=said, **given)
        result = find_references(Files(inputs), settings, outputs)
    beside = outputs.prints  # rows are printed there
    found, missed = result.summary, result.not_searchable["reference"].slice(0, SHOWN).to_pylist()
    benchmarks = result.by_benchmark.to_pylist()
    if as_json:
        told = found | {"by_benchmark": benchmarks, "not_searchable": missed, "output": output, "report": report}
        click.echo(json.dumps(told), err=beside)
    if as_json or quiet:
        return
    tell, parameters = partial(echo, err=beside), result.provenance["parameters"]
    tell(f"{plural(found['documents'], 'document')}, against {plural(found['references'], 'reference document')}")
    least = parameters["threshold"]
    what = f"{parameters['measure']} >= {least:g}" if least else parameters["measure"]
    tell(f"  overlapping  {found['overlapping']:>12,}   ({what}, exact; {plural(found['matches'], 'pair')})")
    tell(f"  contaminated {found['contaminated_references']:>12,}   (reference documents that a document contains)")
    if found["skipped"]:
        tell(f"  skipped      {found['skipped']:>12,}   (too large or unreadable: not compared, not written)")
    if missed:
        unit = {"char": "character"}.get(parameters["shingling"]["unit"], parameters["shingling"]["unit"])
        tell(
            f"  not judged   {len(result.not_searchable):>12,}   (reference documents: {found['empty_references']:,} empty; "
            f"{found['short_references']:,} shorter than {plural(parameters['min_tokens'], unit)} (--min-tokens); "
            f"{found['common_references']:,} of common phrases (--common))"
        )
        tell(f"    {', '.join(map(str, missed))}{', ...' if len(result.not_searchable) > len(missed) else ''}")
    if len(benchmarks) > 1 or not isinstance(parameters["against_text"], str):
        for row in sorted(benchmarks, key=lambda row: -row["share"])[:BENCHMARKS]:
            others = [f"{row[name]:,} {name.replace('_', ' ', 1)}" for name in row if name.startswith("with_")]
            parts = [f"{row['contaminated']:,} of {row['items']:,} contaminated ({row['share']:.1%})", *others]
            tell(f"  {row['benchmark']}: {', '.join(parts)}; in {plural(row['documents'], 'document')}")
    for path in outputs.paths:
        tell(f"written: {path}")
    if len(result.not_searchable) == found["references"]:
        echo("no reference document can be searched for", err=True)
    if output is None and matches is None and report is None:
        echo("nothing was written (no -o, no --matches)", err=True)
