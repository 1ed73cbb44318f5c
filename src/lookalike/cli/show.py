"""``lookalike show``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from . import options
from .messages import fitted, say

if TYPE_CHECKING:
    from ..results.explained import Explained, Row
    from ..results.members import Members
    from ..results.result import Result

_WHY = {
    "kept": "kept", "reference": "a reference document, which is never removed", "exact": "removed: a copy byte for byte",
    "near": "removed: a near-duplicate", "empty": "removed: it has no token (empty=drop)",
    "skipped": "left out: it is larger than max_document, or cannot be read", "override": "removed by an override",
    "key": "removed: an earlier document has its key",
    "spared": "kept by at_most, though a near-duplicate",
}  # fmt: skip


@click.command(cls=options.Plain, short_help="Show what a saved result decided about a document, and why.")
@click.argument("job", type=click.Path())
@click.argument("id")
@click.option("--top", type=click.IntRange(1), default=10, show_default=True,
              help="For a kept document: how many of the documents to list that were removed because of it.")  # fmt: skip
@click.option("--no-texts", is_flag=True, help="Read no text and show no diff: the inputs are not needed.")
@options.trust
@options.as_json_lines
def show(job: str, id: str, top: int, no_texts: bool, trust: tuple[str, ...], as_json: bool) -> None:
    """Show what a saved result decided about a document: who was removed, because of whom, and how the two differ.

    JOB is a folder that 'lookalike dedup --save' or Result.save wrote, ID the id of a document, by default its file and row.
    Texts are read again from the inputs of the job; of a JOB that somebody else made, only from those that --trust names.
    Words of the removed document that the kept one lacks are between [- and -], on a terminal red; words of the kept
    one that it lacks are between {+ and +}, or green.

    Examples:

    \b
        lookalike show judged/ corpus.jsonl.gz:17
        lookalike show judged/ https://example.org/a.html --no-texts
        lookalike show judged/ corpus.jsonl.gz:17 --json | jq .keeper.id
    """
    from ..files.names import shown
    from ..results.explained import explain
    from ..results.result import Result

    result = Result.open(job, trust=trust)
    for number, found in enumerate(explain(result, id, top, shown(job))):
        if as_json:
            told = found.to_dict(result, top)
            if not no_texts and found.keeper is not None:
                texts = result.texts([found.row, found.keeper])
                both = (("removed", found.row), ("kept", found.keeper))
                told["texts"] = {name: texts[row].decode(errors="replace") for name, row in both}
            click.echo(json.dumps(told))
            continue
        if number:
            say("")
        _print(result, found)
        if found.keeper is not None and found.known[found.row]["reason"] == "near" and not no_texts:
            _print_diff(result, found.known, found.row, found.keeper)


def _place(told: Row) -> str:
    """Say where a document is."""
    where = "in memory" if told["source"] is None else told["source"]
    return f"{where}, row {told['number']:,}; {told['bytes']:,} bytes"


def _why(told: Row) -> str:
    """Say what was decided."""
    return "kept by an override" if told.get("override") == "keep" and told["kept"] else _WHY[told["reason"]]


def _name(result: Result) -> str:
    """Return what scores are called."""
    return result.score_names["resemblance"].replace("_", " ")


def _score(result: Result, told: Row) -> str:
    """Say how much a removed document resembles the kept one."""
    error = f" ± {told['standard_error']:.4f}" if told.get("standard_error") is not None else ""
    return f"{_name(result)} {told['resemblance']:.4f}{error} (threshold {result.threshold:g})"


def _print(result: Result, found: Explained) -> None:
    """Print what was decided about a document."""
    known, keeper, members = found.known, found.keeper, found.members
    told = known[found.row]
    say(f"document   {told['id']}", f"           {_place(told)}")
    if keeper is not None:
        why = _WHY[told["reason"]] + ("" if told["reason"] == "key" else " of")
        stands = "kept       " if known[keeper]["kept"] else "its group  "
        say(f"decision   {why}", f"{stands}{known[keeper]['id']}", f"           {_place(known[keeper])}")
        if told["reason"] == "near":
            say(f"           {_score(result, told)}")
    elif members is None:
        say(f"decision   {_WHY[told['reason']]}")
    else:
        n = len(members.rows)
        stands = (
            f"{n:,} removed because of it, {members.n_exact:,} of them exact duplicates" if n else "none removed because of it"
        )
        say(f"decision   {_why(told)}; {stands}")
        if members.spread is not None:
            least, median, greatest = members.spread
            say(f"           {_name(result)} of the others: {least:.4f} to {greatest:.4f}, median {median:.4f}")
        _print_members(known, members)


def _print_members(known: dict[int, Row], members: Members) -> None:
    """Print which documents were removed for a kept one."""
    some = [known[row] for row in members.rows.tolist() if row in known]
    if not some:
        return
    say("removed because of it, the least similar first")
    for other in some:
        score = {"exact": "copy", "key": "key"}.get(other["reason"]) or f"{other['resemblance']:.4f}"
        say(f"  {score:<7}  {other['id']}")
    if len(members.rows) > len(some):
        say(f"  and {len(members.rows) - len(some):,} more (--top)")


def _print_diff(result: Result, known: dict[int, Row], row: int, keeper: int) -> None:
    """Print how a removed document differs from the kept one."""
    from ..report.samples import MOST_TEXT
    from .word_diff import say_diff

    texts = result.texts([row, keeper], MOST_TEXT)
    names = tuple(f"{said}: {fitted(known[other]['id'], 60)[0]}" for said, other in (("removed", row), ("kept", keeper)))
    say("")
    say_diff(texts[row], texts[keeper], (names[0], names[1]), result.settings.shingling)
