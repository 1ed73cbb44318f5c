"""``lookalike show``: the groups of a saved result, one document, or what changed since another result."""

from __future__ import annotations

import json
import shutil
import sys
from typing import TYPE_CHECKING

import click

from ..errors import ParameterError
from ..settings.option import RUN
from ..wording import plural
from . import options
from .messages import echo, fitted

if TYPE_CHECKING:
    from ..results.explained import Explanation, Row
    from ..results.members import Members
    from ..results.result import Result

SAMPLED = 3  # removed documents that are named
_NARROW, _WIDEST = 20, 60  # columns of a name on a terminal, and elsewhere
_GROUPS, _DOCUMENT, _CHANGES = "Groups (no ID)", "One document (ID)", "Changes (--against)"
_WHY = {
    "kept": "kept", "reference": "a reference document, which is never removed", "exact": "removed: an exact duplicate",
    "near": "removed: a near-duplicate", "empty": "removed: it has no token (empty=drop)",
    "skipped": "left out: it is larger than max_document, or cannot be read", "override": "removed by an override",
    "key": "removed: an earlier document has its key",
    "spared": "kept by at_most, though a near-duplicate",
}  # fmt: skip
_SAID = {
    "came": "only in {1}", "went": "only in {0}", "removed": "kept before, removed now",
    "restored": "removed before, kept now", "moved": "removed for another document",
}  # fmt: skip


@click.command(cls=options.Plain, short_help="Show the groups of a saved result, one document, or what changed.")
@click.argument("result", type=click.Path())
@click.argument("id", required=False)
@options.own("--min-size", group=_GROUPS, type=options.Whole(2), default=2, show_default=True, metavar="N",
             help="List only groups of at least N documents.")  # fmt: skip
@options.own("--matrix", group=_GROUPS, is_flag=True,
             help="Count removals by source instead: removed from, kept in (dedup --set source=COLUMN).")  # fmt: skip
@options.own(
    "--no-texts", group=_DOCUMENT, is_flag=True, help="Do not read texts or show differences; works without the inputs."
)
@options.under(_DOCUMENT, options.trust)
@options.own("--against", group=_CHANGES, metavar="OLDER", type=click.Path(), default=None,
             help="Compare with an older saved result, by the ids of documents.")  # fmt: skip
@options.own("-o", "--output", group=_CHANGES, metavar="FILE", default=None,
             help="Write a row per changed document, to changes.jsonl for example.")  # fmt: skip
@options.own("--force", group=_CHANGES, is_flag=True, help="Replace an existing output.")
@options.own("--top", group=RUN, type=options.Whole(1), default=None, metavar="N",
             help="List at most N groups, or documents removed because of ID.  [default: 20 groups, 10 documents]")  # fmt: skip
@options.as_json_lines
def show(
    result: str, id: str | None, against: str | None, output: str | None, force: bool, min_size: int, matrix: bool,
    no_texts: bool, trust: tuple[str, ...], top: int | None, as_json: bool,
) -> None:  # fmt: skip
    """Show the largest groups of a saved result, the decision about one document, or what changed since an older result.

    RESULT is a folder that 'lookalike dedup --save' or Result.save wrote.

    Without ID: the largest groups, each a kept document and those removed because of it, with the number of documents and of
    exact copies, the least and the median score, and the ids least like the kept document.

    With ID, by default file:row: whether the document was kept, or because of which document it was removed, and how the two
    differ: [-words only in the removed document-], on a terminal red; {+words only in the kept one+}, or green. Texts are read
    from the inputs; for a RESULT that someone else made, only from those that --trust names.

    With --against: how many documents came, went, or were decided differently.

    Examples:

    \b
        lookalike dedup corpus.jsonl.gz --save judged/
        lookalike show judged/ --min-size 100 --json | jq .kept
        lookalike show judged/ corpus.jsonl.gz:17
        lookalike dedup corpus.jsonl.gz -t 0.7 --save looser/
        lookalike show looser/ --against judged/ -o changes.jsonl
    """
    from ..results.result import Result

    if id is not None:
        options.refuse("is not for one document: leave out the ID", _GROUPS, _CHANGES)
    else:
        options.refuse("needs the ID of a document", _DOCUMENT)
    if against is None:
        options.refuse("needs --against", _CHANGES)
    else:
        options.refuse("does not go with --against", _GROUPS, "top")
    if matrix:
        options.refuse("does not go with --matrix", "min_size")
    opened = Result.open(result, trust=trust)
    if against is not None:
        _show_changes(Result.open(against), opened, (against, result), output, force, as_json)
    elif id is not None:
        _show_document(opened, result, id, top or 10, no_texts, as_json)
    elif matrix:
        _print_matrix(opened, top or 20, as_json)
    else:
        _show_groups(opened, top or 20, min_size, as_json)


def _show_groups(result: Result, top: int, min_size: int, as_json: bool) -> None:
    """Print the largest groups."""
    import numpy as np

    from ..results.members import Numbers
    from ..results.rows import rows_at

    decisions = result.rows()
    total, found = Numbers(decisions).largest_groups(top, min_size)
    rows = np.concatenate([np.empty(0, np.int64), *([group.row, *group.rows[:SAMPLED]] for group in found)]).astype(np.int64)
    known = dict(zip(rows.tolist(), rows_at(decisions.select(["id", "reason"]), rows).to_pylist(), strict=True))
    if as_json:
        for group in found:
            click.echo(json.dumps(_described(group, known, result.score_names["resemblance"])))
        return
    s = result.summary
    of = f" of at least {min_size:,} documents" if min_size > 2 else ""
    echo(f"{plural(total, 'group')}{of}; {s.documents - s.kept:,} of {s.documents:,} documents removed")
    if found:
        _print_table(found, known, s.score)


def _print_matrix(result: Result, top: int, as_json: bool) -> None:
    """Print which sources share documents."""
    rows = result.matrix.slice(0, top).to_pylist()
    if as_json:
        for row in rows:
            click.echo(json.dumps(row))
        return
    echo("   documents  removed from  ->  kept in")
    for row in rows:
        ends = ("null" if row[end] is None else fitted(row[end], _WIDEST)[0] for end in ("removed_from", "kept_in"))
        echo(f"{row['documents']:>12,}  {'  ->  '.join(ends)}")


def _described(group: Members, known: dict[int, Row], key: str) -> Row:
    """Return a group as JSON has it."""
    scores = [*group.scores.tolist(), *[1.0] * group.n_exact, *[None] * group.n_keys]
    kept = known[group.row]
    return {
        "kept": kept["id"], "is_reference": kept["reason"] == "reference", "documents": group.size, "exact": group.n_exact,
        key: None if group.spread is None else dict(zip(("least", "median", "greatest"), group.spread, strict=True)),
        "least_alike": [
            {"id": known[row]["id"], key: score} for row, score in zip(group.rows.tolist()[:SAMPLED], scores, strict=False)
        ],
    }  # fmt: skip


def _print_table(found: list[Members], known: dict[int, Row], score: str) -> None:
    """Print a line per group, which a terminal has room for."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    most = _WIDEST if width is None else _NARROW
    kept = [fitted(known[group.row]["id"], most) for group in found]
    column = max(4, *(size for _, size in kept))
    last = "removals contained least" if score == "containment" else "least similar removals"
    echo(f"{'documents':>9}  {'exact':>7}  {'least':>6}  {'median':>6}  {'kept':<{column}}  {last}")
    for group, (name, size) in zip(found, kept, strict=True):
        least, median = ("-", "-") if group.spread is None else (f"{value:.4f}" for value in group.spread[:2])
        line = f"{group.size:>9,}  {group.n_exact:>7,}  {least:>6}  {median:>6}  {name}{' ' * (column - size)}  "
        names = ", ".join(fitted(known[row]["id"], most)[0] for row in group.rows[:SAMPLED].tolist())
        echo(fitted(line + names + (", ..." if len(group.rows) > SAMPLED else ""), width, at_end=True)[0])


def _show_document(result: Result, name: str, id: str, top: int, no_texts: bool, as_json: bool) -> None:
    """Print what was decided about the documents of an id."""
    from ..files.names import show_path
    from ..results.explained import explain

    for number, found in enumerate(explain(result, id, top, show_path(name))):
        if as_json:
            told = found.to_dict(result, top)
            if not no_texts and found.keeper is not None:
                texts = result.texts([found.row, found.keeper])
                both = (("removed", found.row), ("kept", found.keeper))
                told["texts"] = {name: texts[row].decode(errors="replace") for name, row in both}
            click.echo(json.dumps(told))
            continue
        if number:
            echo("")
        _print(result, found)
        if found.keeper is not None and found.known[found.row]["reason"] == "near" and not no_texts:
            _print_diff(result, found.known, found.row, found.keeper)


def _print(result: Result, found: Explanation) -> None:
    """Print what was decided about a document."""
    known, members, told = found.known, found.members, found.known[found.row]
    score = result.score_names["resemblance"].replace("_", " ")
    why = "kept by an override" if told.get("override") == "keep" and told["kept"] else _WHY[told["reason"]]
    _print_place("document", told)
    if found.keeper is not None:
        kept = known[found.keeper]
        echo(f"decision   {why}{'' if told['reason'] == 'key' else ' of'}")
        _print_place("kept" if kept["kept"] else "its group", kept)
        if told["reason"] == "near":
            error = f" ± {told['standard_error']:.4f}" if told.get("standard_error") is not None else ""
            echo(f"           {score} {told['resemblance']:.4f}{error} (threshold {result.threshold:g})")
    elif members is None:
        echo(f"decision   {why}")
    else:
        n, some = len(members.rows), [known[row] for row in members.rows.tolist() if row in known]
        copies = f", {members.n_exact:,} of them exact duplicates" if n else ""
        echo(f"decision   {why}; {f'{n:,}' if n else 'none'} removed because of it{copies}")
        if members.spread is not None:
            least, median, greatest = members.spread
            echo(f"           {score} of the others: {least:.4f} to {greatest:.4f}, median {median:.4f}")
        if some:
            echo("removed because of it, the least similar first")
        for other in some:
            alike = {"exact": "copy", "key": "key"}.get(other["reason"]) or f"{other['resemblance']:.4f}"
            echo(f"  {alike:<7}  {other['id']}")
        if n > len(some) > 0:
            echo(f"  and {n - len(some):,} more (--top)")


def _print_place(label: str, told: Row) -> None:
    """Print the id of a document, and where it is."""
    where = "in memory" if told["source"] is None else told["source"]
    row = "" if told["id"] == where else f", row {told['number']:,}"  # a file that is one document has none
    echo(f"{label:<11}{told['id']}", f"           {where}{row}; {told['bytes']:,} bytes of text")


def _print_diff(result: Result, known: dict[int, Row], row: int, keeper: int) -> None:
    """Print how a removed document differs from the kept one."""
    from ..report.samples import MOST_TEXT
    from .word_diff import say_diff

    texts = result.texts([row, keeper], MOST_TEXT)
    names = tuple(f"{said}: {fitted(known[other]['id'], 60)[0]}" for said, other in (("removed", row), ("kept", keeper)))
    echo("")
    say_diff(texts[row], texts[keeper], (names[0], names[1]), result.settings.shingling)


def _show_changes(
    before: Result, now: Result, names: tuple[str, str], output: str | None, force: bool, as_json: bool
) -> None:  # fmt: skip
    """Compare two results, and print or write what changed."""
    from .. import __version__
    from ..formats.writers import check_table, is_stdout, write_table
    from ..results.changes import changes

    if is_stdout(output) and as_json:
        raise ParameterError("--json prints counts, and -o - the changes: leave one of them out")
    if output is not None:
        check_table(output, force)
    found = changes(before, now)
    counts = dict.fromkeys(_SAID, 0) | {one["values"]: one["counts"] for one in found["change"].value_counts().to_pylist()}
    if output is not None:
        write_table(output, found, {"lookalike": __version__, "inputs": [{"name": name} for name in names]}, force=force)
    if as_json:
        click.echo(json.dumps(counts | {"output": output}))
        return
    for name, n in counts.items():
        echo(f"{_SAID[name].format(*names):<36}{n:>12,}", err=is_stdout(output))
    if output is not None and not is_stdout(output):
        echo(f"written: {output}")
