"""``lookalike show``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from . import options
from .messages import fitted, say

if TYPE_CHECKING:
    from ..results.members import Members
    from ..results.result import Result

_WHY = {
    "kept": "kept", "reference": "a reference document, which is never removed", "exact": "removed: a copy byte for byte",
    "near": "removed: a near-duplicate", "empty": "removed: it has no token (--empty drop)",
    "skipped": "left out: it is larger than --max-document, or cannot be read", "override": "removed by an override",
}  # fmt: skip
_TOLD = ["position", "source", "row", "number", "bytes", "id", "kept", "reason", "keeper"]
Row = dict[str, Any]


@click.command(short_help="Show what a saved result decided about a document, and why.")
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
    from ..errors import InputDataError
    from ..files.names import shown
    from ..results.members import Numbers, names_like, rows_named
    from ..results.result import Result

    result = Result.open(job, trust=trust)
    decisions = result.rows()
    rows = rows_named(decisions, id)
    if not rows:
        like = names_like(decisions, id)
        said = f"; similar ids: {', '.join(like)}" if like else ""
        raise InputDataError(f"{shown(job)}: no document has the id {id}{said}")
    numbers = Numbers(decisions)
    for number, row in enumerate(reversed(rows)):  # that of the input, then a reference
        told = _rows(result, [row])[row]
        members = numbers.members([row])[0] if told["kept"] else None
        keeper = None if members is not None or told["keeper"] is None else int(numbers.keeper[row])
        others = [keeper] if keeper is not None else members.rows[:top].tolist() if members is not None else []
        known = {row: told} | _rows(result, others)
        if as_json:
            _print_json(result, known, row, keeper, members, top, no_texts)
        else:
            if number:
                say("")
            _print(result, known, row, keeper, members)
            if keeper is not None and told["reason"] == "near" and not no_texts:
                _print_diff(result, known, row, keeper)


def _rows(result: Result, rows: list[int]) -> dict[int, Row]:
    """Return what was decided about some documents."""
    import numpy as np

    from ..results.rows import rows_at

    names = [name for name in (*_TOLD, "override", *result.score_names) if name in result.rows().schema.names]
    told = rows_at(result.rows(names), np.array(rows, np.int64))
    return dict(zip(rows, told.to_pylist(), strict=True))


def _place(told: Row) -> str:
    """Say where a document is."""
    where = "in memory" if told["source"] is None else told["source"]
    return f"{where}, row {told['number']:,}; {told['bytes']:,} bytes"


def _why(told: Row) -> str:
    """Say what was decided."""
    return "kept by an override" if told.get("override") == "keep" and told["kept"] else _WHY[told["reason"]]


def _score(result: Result, told: Row) -> str:
    """Say how much a removed document resembles the kept one."""
    name = result.score_names["resemblance"].replace("_", " ")
    error = f" ± {told['standard_error']:.4f}" if told.get("standard_error") is not None else ""
    return f"{name} {told['resemblance']:.4f}{error} (threshold {result.threshold:g})"


def _print(result: Result, known: dict[int, Row], row: int, keeper: int | None, members: Members | None) -> None:
    """Print what was decided about a document."""
    told = known[row]
    say(f"document   {told['id']}", f"           {_place(told)}")
    if keeper is not None:
        say(f"decision   {_WHY[told['reason']]} of", f"kept       {known[keeper]['id']}", f"           {_place(known[keeper])}")
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
            say(f"           resemblance of the others: {least:.4f} to {greatest:.4f}, median {median:.4f}")
        _print_members(known, members)


def _print_members(known: dict[int, Row], members: Members) -> None:
    """Print which documents were removed for a kept one."""
    some = [known[row] for row in members.rows.tolist() if row in known]
    if not some:
        return
    say("removed because of it, the least similar first")
    for other in some:
        score = f"{other['resemblance']:.4f}" if other["reason"] == "near" else "copy"
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


def _print_json(
    result: Result, known: dict[int, Row], row: int, keeper: int | None, members: Members | None, top: int, no_texts: bool
) -> None:  # fmt: skip
    """Print all of it as a line of JSON."""
    places = ("id", "source", "row", "number", "bytes")
    told = known[row]
    scores = {name: told[column] for column, name in result.score_names.items()} if told["keeper"] is not None else {}
    found = {name: told[name] for name in (*places, "kept", "reason", "override") if name in told} | scores
    if keeper is not None:
        found["keeper"] = {name: known[keeper][name] for name in places} | {
            "is_reference": known[keeper]["reason"] == "reference"
        }
    if members is not None:
        found |= {"n_exact": members.n_exact, "n_duplicates": len(members.rows)}
        some = [known[other] for other in members.rows[:top].tolist()]
        found["least_alike"] = [{"id": other["id"], "resemblance": other["resemblance"]} for other in some]
    if not no_texts and keeper is not None:
        texts = result.texts([row, keeper])
        found["texts"] = {"removed": texts[row].decode(errors="replace"), "kept": texts[keeper].decode(errors="replace")}
    click.echo(json.dumps(found))
