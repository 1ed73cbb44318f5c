"""``lookalike tune``."""

from __future__ import annotations

import json
from math import inf

import click

from . import options
from .messages import say

SHOWN = 12


@click.command(cls=options.Plain, short_help="List the fastest searches of fingerprints.")
@click.option("-n", "--fingerprints", type=float, required=True, metavar="N",
              help="How many 64-bit fingerprints are searched, such as 1e7.")  # fmt: skip
@click.option("--radius", type=click.IntRange(0, 16), default=3, show_default=True, help="How many of the 64 bits can differ.")
@click.option("--recall", type=click.FloatRange(0, 1, min_open=True), default=0.95, show_default=True,
              help="Share of pairs that must be found.")  # fmt: skip
@click.option("--memory", default=None, metavar="SIZE", help="Memory limit of a search, such as 4GB.")
@click.option("--sigma", type=click.FloatRange(0, min_open=True), default=0.2, show_default=True,
              help="Median difference of the sums behind the bits of near-duplicates, in standard deviations.")  # fmt: skip
@options.as_json
def tune(fingerprints: float, radius: int, recall: float, memory: str | None, sigma: float, as_json: bool) -> None:
    """List the searches of fingerprints that fit a memory and a recall, the fastest first, by a model of a 2.6 GHz core.

    The recall of WeakBitIndex is computed for queries that are drawn, and stated with its standard error; the probes are so
    many that it exceeds the recall asked for by two of these.

    Examples:

    \b
        lookalike tune -n 1e7 --recall 0.95 --memory 1GB
    """
    from dataclasses import asdict

    from ..engines.memory import parse_bytes
    from ..errors import ParameterError
    from ..search.tuning import choices

    if not fingerprints.is_integer():  # nor are nan and infinity
        raise ParameterError(f"--fingerprints must be a whole number; got {fingerprints}")
    n = int(fingerprints)
    most = inf if memory is None else parse_bytes(memory)
    found = choices(n, radius=radius, recall=recall, memory=most, sigma=sigma)
    if as_json:
        click.echo(json.dumps({"choices": [asdict(choice) for choice in found]}))
        return
    say(f"Searches of {n:,} fingerprints within {radius} bits, recall at least {recall}:")
    if not found:
        say("  none: allow more memory or a lower recall")
        return
    say(f"  {'us/query':>10}  {'MB':>8}  {'recall, standard error':22}  method")
    for choice in found[:SHOWN]:
        share = f"{choice.recall:.4f}" + (f" ± {choice.error:.4f}" if choice.error else "")
        line = f"  {choice.nanoseconds / 1e3:>10,.2f}  {choice.memory / 1e6:>8,.0f}  {share:22}  {choice.method}"
        say(line)
