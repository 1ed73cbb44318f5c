"""What the sections of a page say of groups, sources and lengths."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..files.names import describe_skipped
from ..wording import counted
from .charts import lengths as draw_lengths
from .charts import spark
from .diff import visible
from .facts import LENGTHS, OUTCOMES, REMOVED, share_between
from .samples import Pair, short
from .sections import Contents, share, size

MOST_SOURCES = 40
SHADES = 4
_SHORT = 20  # characters of a source above a column


def groups(told: Contents) -> dict[str, Any]:
    """Section 4."""
    shown = []
    for group, keeper, pairs in zip(told.facts.groups, told.samples.keepers, told.samples.groups, strict=True):
        between = share_between(group.scores, told.facts.bins)
        members, n_near = group.members, len(group.members.scores)
        spread = "copies byte for byte" if not members.n_keys else f"{members.n_exact:,} copies byte for byte"
        if between is not None:
            spread = f"{told.summary.score} from {between[0]:.3f} to {between[2]:.3f}, half below {between[1]:.3f}"
            spread += f"; {members.n_exact:,} copies byte for byte" if members.n_exact else ""
        spread += f"; {members.n_keys:,} with an equal key" if members.n_keys else ""
        rest = "None is a near-duplicate." if members.n_keys else "All are copies byte for byte of the kept document."
        drawn = f"{len(pairs):,} of {n_near:,} near-duplicates: the least similar, and some drawn at random. "
        drawn += "Section 5 shows them side by side."
        shown.append(
            {
                "size": group.members.size,
                "keeper": keeper,
                "begins": pairs[0].begins("left") if pairs else "",
                "spread": spread,
                "spark": spark(f"Near-duplicates by {told.summary.score}", group.scores.tolist()),
                "drawn": drawn if n_near else rest,
                "pairs": [{"score": pair.score, "right": pair.right, "differs": largest_loss(pair)} for pair in pairs],
            }
        )
    how = (
        f"{counted(len(shown), 'group')}, the largest. A group is a kept document and all that are removed for it. "
        f"The bars: its near-duplicates by {told.summary.score}, from the threshold to 1."
    )
    return {"list": shown, "how": how}


def largest_loss(pair: Pair, name: str = "longest loss", most: int = 200) -> str:
    """Return how the longest stretch begins that only the right document has, as far as the page shows it."""
    if pair.compared is None:
        return ""
    lost = max((text for kind, text in pair.compared.inline if kind == "right"), key=len, default="").strip()
    if not lost:
        return f"{name}: nothing that the page shows"
    return f"{name}: “{' '.join(lost[:most].split())}{'…' if len(lost) > most else ''}”"


def sources(told: Contents) -> dict[str, Any]:
    """Section 7."""
    facts = told.facts
    counts = facts.sources
    total, removed = counts[: len(OUTCOMES)].sum(axis=0), counts[REMOVED].sum(axis=0)
    inputs = np.flatnonzero(total > 0)
    order = inputs[np.argsort(-removed[inputs], kind="stable")][:MOST_SOURCES]
    rows = []
    for i in order.tolist():
        kept, exact, near, *others = counts[: len(OUTCOMES), i].tolist()
        values = [f"{n:,}" for n in (total[i], exact, near, sum(others), kept)]
        rows.append({"name": told.names[i], "cells": [*values, share(removed[i], total[i]), size(counts[-1, i])]})
    names = [told.names[i] for i in facts.shown]
    matrix = []
    if len(names) > 1:
        most = max(1, int(facts.matrix.max()))
        for name, row in zip(names, facts.matrix.tolist(), strict=False):
            if any(row):
                matrix.append({"name": name, "cells": [(n, -(-SHADES * n // most)) for n in row]})
    rest = facts.matrix[:-1, -1].any() if len(names) else False
    columns = [{"full": name, "short": name if len(name) <= _SHORT else f"…{name[1 - _SHORT :]}"} for name in names] + [
        {"full": "all others", "short": "others"}
    ]
    if not rest:
        columns, matrix = columns[:-1], [{**row, "cells": row["cells"][:-1]} for row in matrix]
    return {
        "alarms": told.vanished(),
        "rows": rows,
        "columns": ["documents", "exact", "near", "other", "kept", "removed", "bytes removed"],
        "slices": [_slice(column, rows) for column, rows in told.summary.slices.items()],
        "matrix_title": "Which sources duplicate which",
        "matrix_corner": "removed from",
        "how": f"{len(rows):,} of {counted(len(inputs), 'source')}, those with most removals. A folder of texts is one source.",
        "matrix": matrix,
        "matrix_columns": columns,
        "matrix_how": f"{counted(len(names), 'source')}, those with most removed documents and documents kept for them. Rows: "
        "where removed documents were; columns: where their kept documents are.",
    }


def _slice(column: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what is removed by the values of a column: those with most documents, and all that lose far more than others."""
    shown = [row for place, row in enumerate(rows) if place < MOST_SOURCES or row["more"]]
    return {
        "column": visible(column),
        "how": f"{len(shown):,} of {counted(len(rows), 'value')}: those with most documents, and all that lose far more than "
        "others.",
        "rows": [
            {
                "name": short("null" if row["value"] is None else row["value"]),
                "cells": [
                    f"{row['documents']:,}", f"{row['removed']:,}", f"{row['share']:.1%}",
                    f"{row['low']:.1%} to {row['high']:.1%}",
                ],
                "more": "far more than others" if row["more"] else "",
            }
            for row in shown
        ],
    }  # fmt: skip


def class_name(number: int) -> str:
    """Return the least length of a class, in bytes, as a label."""
    if number == 0:
        return "0"
    least = 1 << (number - 1)
    for unit, factor in (("G", 1 << 30), ("M", 1 << 20), ("k", 1 << 10)):
        if least >= factor:
            return f"{least // factor}{unit}"
    return str(least)


def lengths(told: Contents) -> dict[str, Any]:
    """Section 8."""
    s, table = told.summary, told.facts.lengths
    there = np.flatnonzero(table.sum(axis=0))
    first, last = (int(there[0]), int(there[-1])) if len(there) else (0, 1)
    classes = range(first, min(last + 1, LENGTHS))
    by = {name: table[i, first : last + 1].tolist() for i, name in enumerate(OUTCOMES)}
    rest = [sum(some) for some in zip(by["empty"], by["override"], by["key"], by["skipped"], strict=True)]
    parts = [("kept", by["kept"]), ("near", by["near"]), ("exact", by["exact"]), ("empty", rest)]
    small = table[:, :7].sum(axis=1).tolist()  # below 64 bytes
    said = {name: n for name, n in zip(OUTCOMES, small, strict=True) if n}
    rows = [
        (
            "without any token",
            f"{s.empty:,}",
            "dropped" if s.empty_dropped else "kept; they match nothing" if s.empty else "",
        ),
        ("below 64 bytes", f"{sum(small):,}", ", ".join(f"{n:,} {_outcome(name)}" for name, n in said.items())),
        ("left out", f"{s.documents_skipped:,}", "not compared, not written" if s.documents_skipped else ""),
        ("files not read", f"{s.skipped['files']:,}", visible(describe_skipped(s.skipped)) if s.skipped["files"] else ""),
    ]
    picture = draw_lengths(
        "Documents by length", parts, [class_name(i) for i in classes], "bytes of text; a class begins at its label"
    )
    return {"picture": picture, "rows": rows}


def _outcome(name: str) -> str:
    names = {
        "exact": "removed as exact",
        "near": "removed as near-duplicates",
        "empty": "dropped as empty",
        "override": "removed by overrides",
        "key": "removed by key",
        "skipped": "left out",
    }
    return names.get(name, name)
