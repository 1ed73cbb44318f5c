"""``lookalike plan``: bands and rows for a threshold, and what a deduplication will take, before it does anything."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from ..errors import ParameterError
from ..settings.option import LINE
from ..settings.options import OPENING
from ..wording import band_counts, plural
from . import options
from .messages import echo, say_all

if TYPE_CHECKING:
    from ..planner import Plan
    from ..recipes.foresight import Foresight

_ESTIMATE, _CORPUS, _INPUTS = "Estimates", "Without INPUT", "With INPUT"
_PLANNED = ("threshold", "recall", "permutations", "bands", "rows", "verify")
_TAKES = (*_PLANNED, "measure", "floor", "keep", "memory", "threads")


@click.command(cls=options.Plain, short_help="Plan a job: bands and rows for a threshold; time, memory and disk.")
@click.argument("inputs", nargs=-1, metavar="[INPUT]...")
@options.under("Plan", options.preset,
               options.of_jobs("threshold", help="Minimum resemblance of near-duplicates."),
               options.of_jobs("recall", help="Probability of finding a pair exactly at the threshold; with --verify sketch "
                               "about half of this."),
               options.of_jobs("permutations", "bands", "rows", "verify", place=LINE))  # fmt: skip
@options.under(
    _ESTIMATE,
    options.of_jobs("keep", "memory", "threads", "work"),
    options.of_jobs("format", help="Format of the inputs; without INPUT, parquet (the default) or jsonl."),
    click.option("--duplicates", type=options.Range(0, 1), default=0.3, show_default=True,
                 help="Expected share of documents (of text, if lengths differ) with a near-duplicate."),
    click.option("--family", type=options.Range(2), default=3.0, show_default=True,
                 help="Expected size of a group of near-duplicates."),
)  # fmt: skip
@options.under(
    _CORPUS,
    click.option("--documents", type=options.Number(), default=None,
                 help="Number of documents: affects the choice of bands and rows, and estimates candidate pairs among "
                      "unrelated documents."),
    click.option("--bytes", default=None, metavar="SIZE",
                 help="Size of the text of all documents: also estimate memory, disk space and processor time of dedup."),
    click.option("--standard-error", type=options.Number(), default=None,
                 help="Also choose the smallest sketch to archive with at most this standard error at the threshold."),
    click.option("--sketch-bytes", type=int, default=None,
                 help="Also choose the most accurate sketch of at most this many bytes; with --permutations, with that "
                      "many slots."),
    click.option("--density", type=options.Number(), default=0.0, show_default=True,
                 help="Density of the sets in their universe, for sketches by permutations of it."),
)  # fmt: skip
@options.under(
    _INPUTS,
    options.of_jobs("text", "id", *(name for name in OPENING if name != "format"), "against", "trust", "within", "across",
                    "key", "measure", "floor", "max_bucket"),
)  # fmt: skip
@options.as_json
def plan(
    inputs: tuple[str, ...], documents: float | None, bytes: str | None, standard_error: float | None,
    sketch_bytes: int | None, density: float, duplicates: float, family: float, as_json: bool, **given: Any,
) -> None:  # fmt: skip
    """Show the plan for a threshold and a recall: permutations, bands, rows, the S-curve.

    With --documents and --bytes, or with INPUT, also estimate memory, disk space and processor time of dedup.
    Of INPUT only metadata and the beginnings of files are read.

    Examples:

    \b
        lookalike plan --threshold 0.8 --recall 0.99
        lookalike plan --documents 1e8 --bytes 400GB --memory 16GB
        lookalike plan crawl/*.jsonl.zst --memory 8GB --work job/
    """
    from ..engines.memory import parse_bytes
    from ..planner import plan as choose

    estimate: Any = None
    likely: dict[str, Any] = {"duplicates": duplicates, "family": family}
    if inputs:
        options.refuse("does not go with INPUT", _CORPUS)
        values, lines, estimate = _of_inputs(inputs, likely, given)
    else:
        options.refuse("needs INPUT", _INPUTS)
        if bytes is None:
            options.refuse("needs INPUT, or --documents and --bytes", _ESTIMATE)
        elif documents is None:
            raise ParameterError("--bytes needs --documents, the number of documents that have this many bytes together")
        chosen = choose(
            **{name: given[name] for name in _PLANNED}, documents=documents, standard_error=standard_error,
            sketch_bytes=sketch_bytes, density=density,
        )  # fmt: skip
        values, lines = chosen.to_dict(), _lines(chosen)
        if documents is not None and bytes is not None:
            likely |= {"documents": documents, "bytes": parse_bytes(bytes, "--bytes"), "format": given["format"] or "parquet"}
            estimate = _estimate(given, likely)
    if as_json:
        click.echo(json.dumps(values | ({} if estimate is None else {"foresight": estimate.to_dict()})))
        return
    echo(*lines)
    if estimate is not None:
        say_all(f"\ndedup of {'about ' if inputs else ''}{estimate}")
        echo(f"assumed: --duplicates {duplicates:g}, --family {family:g}")


def _estimate(values: Mapping[str, Any], likely: dict[str, Any]) -> Foresight:
    """Return what a job on one machine takes."""
    from ..recipes.foresight import foresee  # here, as a plan alone needs none of what a job does

    return foresee(**{name: values[name] for name in _TAKES}, **likely, work=values["work"] is not None)


def _lines(chosen: Plan) -> list[str]:
    """Return a plan in words."""
    estimates = ", as its estimate has to reach the threshold too" if chosen.estimation_slots else ""
    slots = f", {chosen.estimation_slots} slots for estimates (standard error {chosen.standard_error:.3f})" if estimates else ""
    lines = [
        f"threshold {chosen.threshold:g}, recall {chosen.recall:g}",
        f"  {plural(chosen.permutations, 'permutation')}: {band_counts(chosen.bands, chosen.rows)}{slots}",
        f"  probability of finding a pair at the threshold: {chosen.recall_at_threshold:.4f}{estimates}",
        "  probability of comparing a pair, by its resemblance:",
    ]
    for resemblance, probability in chosen.curve.items():
        mark = "  <- threshold" if abs(resemblance - chosen.threshold) < 1e-9 else ""
        lines.append(f"    {resemblance:.1f}  {probability:7.4f}  {'█' * round(30 * probability)}{mark}")
    if chosen.sketch is not None:
        kinds = [
            f"{plural(round(number), 'bit')} of each permutation" if number >= 1
            else f"1 bit of {round(1 / number)} permutations each"
            for number, _ in chosen.sketch.shares
        ]  # fmt: skip
        if len(kinds) > 1:
            kinds = [f"{kind} for {share:.1%}" for kind, (_, share) in zip(kinds, chosen.sketch.shares, strict=True)]
        lines.append(
            f"  archive sketch: {chosen.sketch.slots} slots, {' and '.join(kinds)}: {-(-chosen.sketch.total_bits // 8)} bytes, "
            f"standard error {chosen.sketch.standard_error:.4f} at the threshold"
        )
    if chosen.documents is not None:
        pairs = f"about {chosen.false_candidates:,.0f} candidate pairs among unrelated documents"
        lines.append(f"  {chosen.documents:,} documents: {pairs}")
    return lines


def _of_inputs(
    inputs: tuple[str, ...], likely: dict[str, Any], given: dict[str, Any]
) -> tuple[dict[str, Any], list[str], Foresight]:  # fmt: skip
    """Return the plan of a job as values and in words, and the estimate of what it takes."""
    from ..formats.sources import Files, open_sources
    from ..formats.split import note_skipped, skipped_in
    from ..inputs.sketch_rows import is_saved
    from ..inputs.sketches import as_references
    from ..recipes.preparation import expected_of
    from ..recipes.saved_sketches import reconcile_with_saved
    from ..settings.settings import Settings
    from .progress import print_notes

    against = Files(given.pop("against") or ())
    asked = Settings(**given)
    references = as_references(against, **asked.opening, trust=asked.trust)
    sources = open_sources(inputs, **asked.opening)
    splits = [*references, *sources]
    settings, _ = reconcile_with_saved(asked, references, plan_only=True)
    passing = partial(sources.skipped.passing, settings.on_error == "skip")
    documents, size = expected_of(splits, settings.text, passing)
    print_notes(None)
    note_skipped(skipped_in(references, sources))
    read = [split for split in splits if not is_saved(split)]  # of the others, few texts are
    columnar = sum(place.size for split in read if split.form.name == "parquet" for place in split.places)
    on_disk = sum(place.size for split in read for place in split.places)
    likely |= {"documents": documents, "bytes": size, "format": "parquet" if 2 * columnar >= on_disk else "jsonl"}
    estimate = _estimate(vars(settings), likely)
    by_samples = [f"containment {settings.threshold:g}, recall {settings.recall:g}", f"  {settings.finder.describe()}"]
    lines = by_samples if settings.measure == "containment" else _lines(settings.plan)
    return settings.finder.plan_dict(), lines, estimate
