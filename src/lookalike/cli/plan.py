"""``lookalike plan``."""

from __future__ import annotations

import json
from typing import Any

import click

from . import options
from .messages import say, say_all


@click.command(cls=options.Plain, short_help="Show the plan for a threshold and a recall.")
@options.plan_targets
@options.planning
@click.option("--documents", type=float, default=None,
              help="Size of the corpus: states its candidate pairs among unrelated documents, and weighs in the choice of "
              "bands and rows.")  # fmt: skip
@click.option("--bytes", type=float, default=None,
              help="Bytes of text in all documents: also states memory, disk space and processor time of dedup.")  # fmt: skip
@options.of_jobs("memory", help="Memory limit of dedup: bytes, 4GB or 512MiB.  [default: 60% of the free memory]")
@options.foreseeing
@options.of_jobs("threads", help="Threads that dedup uses.  [default: all processors]")
@click.option("--work", is_flag=True, help="dedup has a work folder, where everything is stored.")
@click.option("--keep", default=None, metavar="POLICY", help="Keep policy of dedup.  [default: first]")
@click.option("--format", type=options.Choice(["parquet", "jsonl"]), default="parquet", show_default=True,
              help="Format of the inputs.")  # fmt: skip
@click.option("--verify", type=options.Choice(["exact", "sketch", "none"]), default="exact", show_default=True,
              help="With sketch, 256 slots are added for estimates, and the recall is about half.")  # fmt: skip
@click.option("--standard-error", type=float, default=None,
              help="Also choose the smallest sketch to archive with at most this standard error at the threshold.")  # fmt: skip
@click.option("--sketch-bytes", type=int, default=None,
              help="Or choose the sketch of at most this many bytes with the smallest error there; with --permutations, "
              "of as many slots.")  # fmt: skip
@click.option("--density", type=float, default=0.0, show_default=True,
              help="Density of the sets in their universe, for sketches by true permutations of one.")  # fmt: skip
@options.as_json
def plan(
    bytes: float | None, memory: str | None, duplicates: float, family: float, threads: int | None, work: bool,
    keep: str | None, format: str, standard_error: float | None, sketch_bytes: int | None, density: float,
    as_json: bool, **given: Any,
) -> None:  # fmt: skip
    """Show the plan for a threshold and a recall: permutations, bands, rows, the S-curve.

    With --documents and --bytes, also what dedup will take: memory, disk space and processor time.
    """
    from ..errors import ParameterError
    from ..planner import plan as choose

    chosen = choose(**given, standard_error=standard_error, sketch_bytes=sketch_bytes, density=density)
    foresight = None
    if bytes is not None:
        from ..recipes.foresight import foresee  # here, as a plan alone needs none of what a job does

        if given["documents"] is None:
            raise ParameterError("--bytes needs --documents, the number of documents that have this many bytes together")
        foresight = foresee(
            **given, bytes=bytes, memory=memory, duplicates=duplicates, family=family, threads=threads, work=work, keep=keep,
            format=format,
        )  # fmt: skip
    if as_json:
        click.echo(json.dumps(chosen.to_dict() | ({} if foresight is None else {"foresight": foresight.to_dict()})))
        return
    say(f"threshold {chosen.threshold:g}, recall {chosen.recall:g}")
    say(f"  {chosen.permutations} permutations: {chosen.bands} bands of {chosen.rows} rows"
               + (f", {chosen.estimation_slots} slots for estimates (standard error {chosen.standard_error:.3f})"
                  if chosen.estimation_slots else ""))  # fmt: skip
    say(f"  probability of finding a pair at the threshold: {chosen.recall_at_threshold:.4f}"
               + (", as its estimate has to reach the threshold too" if chosen.estimation_slots else ""))  # fmt: skip
    say("  probability of comparing a pair, by its resemblance:")
    for resemblance, probability in chosen.curve.items():
        mark = "  <- threshold" if abs(resemblance - chosen.threshold) < 1e-9 else ""
        say(f"    {resemblance:.1f}  {probability:7.4f}  {'█' * round(30 * probability)}{mark}")
    if chosen.sketch is not None:
        kinds = [
            f"{number} bit{'s' if number > 1 else ''} of each permutation" if number >= 1
            else f"1 bit of {round(1 / number)} permutations each"
            for number, _ in chosen.sketch.shares
        ]  # fmt: skip
        if len(kinds) > 1:
            kinds = [f"{kind} for {share:.1%}" for kind, (_, share) in zip(kinds, chosen.sketch.shares, strict=True)]
        say(
            f"  archive sketch: {chosen.sketch.slots} slots, {' and '.join(kinds)}: {-(-chosen.sketch.total_bits // 8)} bytes, "
            f"standard error {chosen.sketch.standard_error:.4f} at the threshold"
        )
    if chosen.documents is not None:
        say(f"  {chosen.documents:,} documents: about {chosen.false_candidates:,.0f} candidate pairs among unrelated documents")
    if foresight is not None:
        say_all(f"\ndedup of {foresight}")
