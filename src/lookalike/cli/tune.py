"""``lookalike tune``."""

from __future__ import annotations

import json
from math import inf

import click

from . import options
from .saying import say

SHOWN = 12


@click.command(short_help="Measure and choose searches of fingerprints.")
@click.option("-n", "--fingerprints", type=click.IntRange(1), default=None, metavar="N",
              help="List searches for N 64-bit fingerprints.")  # fmt: skip
@click.option("--radius", type=click.IntRange(0, 16), default=3, show_default=True, help="How many of the 64 bits can differ.")
@click.option("--recall", type=click.FloatRange(0, 1, min_open=True), default=0.95, show_default=True,
              help="Share of pairs that must be found.")  # fmt: skip
@click.option("--memory", default=None, metavar="SIZE", help="Memory limit of a search, such as 4GB.")
@click.option("--sigma", type=click.FloatRange(0, min_open=True), default=0.2, show_default=True,
              help="Median difference of the sums behind the bits of near-duplicates, in standard deviations.")  # fmt: skip
@click.option("--measure/--no-measure", default=True, show_default=True,
              help="Measure this machine, and keep the constants for later searches.")  # fmt: skip
@options.quiet
@options.as_json
def tune(
    fingerprints: int | None,
    radius: int,
    recall: float,
    memory: str | None,
    sigma: float,
    measure: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Measure what searches of fingerprints cost on this machine, and choose one.

    Examples:

    \b
        lookalike tune
        lookalike tune -n 10000000 --recall 0.95 --memory 1GB --no-measure
    """
    from dataclasses import asdict

    from ..engines.memory import parse_bytes
    from ..search.costs import check_costs_folder, machine_costs, save_costs
    from ..search.tune import choices, measure_costs
    from .progress import progress

    most = inf if memory is None else parse_bytes(memory)
    kept = None
    if measure:
        check_costs_folder()
        with progress(quiet) as report:
            report("measuring", 0)
            costs = measure_costs()
        kept = str(save_costs(costs))
    else:
        costs = machine_costs()
    found = []
    if fingerprints is not None:
        found = choices(fingerprints, radius=radius, recall=recall, memory=most, costs=costs, sigma=sigma)
    if as_json:
        click.echo(json.dumps({"costs": asdict(costs), "kept": kept, "choices": [asdict(choice) for choice in found]}))
        return
    say(f"Nanoseconds a step ({costs.source}):")
    for name, value in asdict(costs).items():
        if name not in ("sizes", "source"):
            say(f"  {name:8}" + ("  ".join(f"{x:8.1f}" for x in value) if isinstance(value, tuple) else f"{value:8.1f}"))
    if kept is not None:
        say(f"kept in {kept}")
    if fingerprints is None:
        say("add -n N to list the searches recommended for N fingerprints")
        return
    say("", f"Searches of {fingerprints:,} fingerprints within {radius} bits, recall at least {recall}:")
    if not found:
        say("  none: allow more memory or a lower recall")
        return
    say(f"  {'us/query':>10}  {'MB':>8}  {'recall':>6}  method")
    for choice in found[:SHOWN]:
        line = f"  {choice.nanoseconds / 1e3:>10,.2f}  {choice.memory / 1e6:>8,.0f}  {choice.recall:>6.3f}  {choice.method}"
        say(line)
