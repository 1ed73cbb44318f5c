"""``lookalike groups``."""

from __future__ import annotations

import json
import shutil
import sys
from typing import TYPE_CHECKING, Any

import click

from ..errors import ParameterError
from ..wording import counted
from . import options
from .messages import fitted, say

if TYPE_CHECKING:
    from ..results.members import Members
    from ..results.result import Result

SAMPLED = 3  # removed documents that are named
_NARROW, _WIDEST = 40, 60  # columns of a name on a terminal, and of one anywhere


@click.command(cls=options.Plain, short_help="List the largest groups of near-duplicates of a saved result.")
@click.argument("job", type=click.Path())
@click.option("--top", type=click.IntRange(1), default=20, show_default=True, help="How many groups to list.")
@click.option("--min-size", type=click.IntRange(2), default=2, show_default=True, metavar="N",
              help="List only groups of at least N documents.")  # fmt: skip
@click.option("--matrix", is_flag=True, help="List, in place of groups, how many documents of one source (dedup --set "
              "source=COLUMN; "
              "default: the inputs) were removed for documents of another.")  # fmt: skip
@options.as_json_lines
def groups(job: str, top: int, min_size: int, matrix: bool, as_json: bool) -> None:
    """List the largest groups of a saved result: a kept document, and those that were removed because of it.

    JOB is a folder that 'lookalike dedup --save' or Result.save wrote. For each group: how many documents it has, how many of
    them are copies byte for byte, the least and the median resemblance of the others to the kept document, or containment in
    it, its id, and the ids of those removed that resemble it least.

    Examples:

    \b
        lookalike dedup corpus.jsonl.gz --save judged/
        lookalike groups judged/ --top 5
        lookalike groups judged/ --min-size 100 --json | jq .kept
        lookalike groups judged/ --matrix
        lookalike show judged/ corpus.jsonl.gz:17
    """
    import numpy as np

    from ..results.members import Numbers
    from ..results.result import Result
    from ..results.rows import rows_at

    result = Result.open(job)
    if matrix:
        if min_size != 2:
            raise ParameterError("--min-size is for groups, and --matrix lists sources: choose one")
        _print_matrix(result, top, as_json)
        return
    decisions = result.rows()
    total, found = Numbers(decisions).largest_groups(top, min_size)
    rows = np.concatenate([np.empty(0, np.int64), *([group.row, *group.rows[:SAMPLED]] for group in found)]).astype(np.int64)
    told = rows_at(decisions.select(["id", "reason"]), rows)
    ids = dict(zip(rows.tolist(), told["id"].to_pylist(), strict=True))
    if as_json:
        references = {row for row, why in zip(rows.tolist(), told["reason"].to_pylist(), strict=True) if why == "reference"}
        for group in found:
            click.echo(json.dumps(_described(group, ids, group.row in references, result.score_names["resemblance"])))
        return
    s = result.summary
    of = f" of at least {min_size:,} documents" if min_size > 2 else ""
    say(f"{counted(total, 'group')}{of}; {s.documents - s.kept:,} of {s.documents:,} documents removed")
    if found:
        _print_table(found, ids, s.score)


def _print_matrix(result: Result, top: int, as_json: bool) -> None:
    """Print which sources share documents."""
    rows = result.matrix.slice(0, top).to_pylist()
    if as_json:
        for row in rows:
            click.echo(json.dumps(row))
        return
    names = [
        ["null" if row[end] is None else fitted(row[end], _WIDEST)[0] for row in rows] for end in ("removed_from", "kept_in")
    ]
    width = max([12, *map(len, names[0])])
    say(f"{'documents':>12}  {'removed from':<{width}}  kept in")
    for row, gone, kept in zip(rows, *names, strict=True):
        say(f"{row['documents']:>12,}  {gone:<{width}}  {kept}")


def _described(group: Members, ids: dict[int, Any], is_reference: bool, key: str) -> dict[str, Any]:
    """Return a group as JSON has it."""
    names = ("least", "median", "greatest")
    scores = [*group.scores.tolist(), *[1.0] * group.n_exact, *[None] * group.n_keys]
    sample = [{"id": ids[row], key: score} for row, score in zip(group.rows.tolist()[:SAMPLED], scores, strict=False)]
    return {
        "kept": ids[group.row], "is_reference": is_reference, "documents": group.size, "exact": group.n_exact,
        key: None if group.spread is None else dict(zip(names, group.spread, strict=True)), "least_alike": sample,
    }  # fmt: skip


def _print_table(found: list[Members], ids: dict[int, Any], score: str) -> None:
    """Print a line per group; on a terminal, names are cut so that it fits."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    most = _WIDEST if width is None else min(_NARROW, max(12, (width - 42) // 2))
    kept = [fitted(ids[group.row], most) for group in found]
    column = max(4, *(size for _, size in kept))
    last = "removals contained least" if score == "containment" else "least similar removals"
    say(f"{'documents':>9}  {'exact':>7}  {'least':>6}  {'median':>6}  {'kept':<{column}}  {last}")
    for group, (name, size) in zip(found, kept, strict=True):
        least, median = ("-", "-") if group.spread is None else (f"{value:.4f}" for value in group.spread[:2])
        line = f"{group.size:>9,}  {group.n_exact:>7,}  {least:>6}  {median:>6}  {name}{' ' * (column - size)}  "
        room = None if width is None else max(12, width - 39 - column - 1)
        names = ", ".join(fitted(ids[row], most)[0] for row in group.rows[:SAMPLED].tolist())
        say(line + fitted(names + (", ..." if len(group.rows) > SAMPLED else ""), room, at_end=True)[0])
