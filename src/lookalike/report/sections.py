"""The numbers and the pictures of a page of decisions; ``dedup.html`` says what they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..results.summary import Summary
from ..settings.settings import Settings
from ..values import Int64Array
from .charts import curve, histogram, shares, spark
from .charts import lengths as draw_lengths
from .facts import BINS, LENGTHS, OUTCOMES, REMOVED, Facts, share_between
from .samples import Nearest, Samples

MOST_SOURCES = 40
SHADES = 4


@dataclass(frozen=True, slots=True)
class Contents:
    """All that a page is made of."""

    settings: Settings
    summary: Summary
    facts: Facts
    samples: Samples
    near: Nearest | None  # None: not known
    names: list[str]  # of the inputs, as shown

    @property
    def removed(self) -> int:
        """How many documents were removed; those that were left out do not count."""
        return self.summary.documents - self.summary.kept - self.summary.documents_skipped

    def recall_at(self, score: float) -> float:
        """Return the probability of finding a pair of a score."""
        return float(self.settings.finder.recall(min(max(score, 0.0), 1.0)))

    @property
    def vanished(self) -> list[str]:
        """The sources, of several, that are removed as a whole."""
        n_documents = self.facts.sources[: len(OUTCOMES)].sum(axis=0)
        many = self.facts.sources.shape[1] > 1
        return [self.names[i] for i in self.facts.vanished if many and n_documents[i] > 1]


def share(part: float, whole: float) -> str:
    """Return a share in per cent; "-" of nothing."""
    return f"{100 * part / whole:.1f}%" if whole else "-"


def size(n_bytes: float) -> str:
    """Return a size in a unit that people read."""
    for unit, factor in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= factor:
            return f"{n_bytes / factor:,.1f} {unit}"
    return f"{n_bytes:,.0f} bytes"


def flat(settings: dict[str, Any]) -> list[tuple[str, Any]]:
    """Return settings, a name and a value each."""
    out: list[tuple[str, Any]] = []
    for name, value in settings.items():
        out += [(f"{name}: {inner}", v) for inner, v in value.items()] if isinstance(value, dict) else [(name, value)]
    return [(name, value) for name, value in out if value is not None]


def matrix_of(names: Sequence[str], others: Sequence[str], table: Int64Array) -> dict[str, Any]:
    """Return a table of sources by sources, those without any number left out, each number with its shade."""
    most = max(1, int(table.max(initial=1)))
    rows = [
        (name, [(n, -(-SHADES * n // most)) for n in row]) for name, row in zip(names, table.tolist(), strict=True) if any(row)
    ]
    return {"names": names, "columns": [*names, *others], "rows": rows}


def view(told: Contents) -> dict[str, Any]:
    """Return what the template reads."""
    s, facts, near = told.summary, told.facts, told.near
    members = zip(facts.groups, told.samples.keepers, told.samples.groups, strict=True)
    n_sources = len(facts.shown)
    last = n_sources + bool(n_sources and facts.matrix[:-1, -1].any())
    names = [told.names[i] for i in facts.shown]
    return {
        "told": told, "s": s, "near": near, "total": s.near_duplicates, "misses": 0 if near is None else near.total,
        "saved": int(facts.n_bytes[REMOVED].sum()), "n_bytes": int(facts.n_bytes.sum()),
        "just_above": int(facts.scores[: BINS // 8].sum()), **_scores(told),
        "groups": [
            {
                "size": group.members.size, "keeper": keeper, "members": group.members, "pairs": pairs,
                "between": share_between(group.scores, facts.bins),
                "spark": spark(f"Near-duplicates by {s.score}", group.scores.tolist()),
            }
            for group, keeper, pairs in members
        ],
        **_sources(told), "matrix": matrix_of(names, ["all others"] * (last - n_sources), facts.matrix[:n_sources, :last])
        if n_sources > 1 else {"rows": []},
        "slices": [
            (column, [row for place, row in enumerate(rows) if place < MOST_SOURCES or row["more"]], len(rows))
            for column, rows in s.slices.items()
        ],
        "small": dict(zip(OUTCOMES, facts.lengths[:, :7].sum(axis=1).tolist(), strict=True)),  # below 64 bytes
        "lengths": _lengths(facts.lengths), "cost": shares("Seconds by stage", list(s.seconds.items())),
    }  # fmt: skip


def _scores(told: Contents) -> dict[str, Any]:
    """Return the pictures of section 3, and the recall that is expected of pairs as similar as the removed ones."""
    facts, s, near = told.facts, told.summary, told.near
    parts = [("near", facts.bins.tolist(), facts.scores.tolist())]
    if near is not None:
        parts.insert(
            0, ("miss", np.linspace(near.lowest, facts.threshold, len(near.scores) + 1).tolist(), near.scores.tolist())
        )
    looked = np.array([max(told.recall_at(middle), 1e-6) for middle in ((facts.bins[1:] + facts.bins[:-1]) / 2).tolist()])
    expected = float(facts.scores.sum() / (facts.scores / looked).sum()) if facts.scores.any() else None
    lines: list[tuple[str, str, float, tuple[float, float] | None]] = [
        ("planned", "planned", s.recall_planned, None), ("average", "at the threshold", s.recall_vouched, None),
    ]  # fmt: skip
    if expected is not None:
        lines.append(("expected", "expected", expected, None))
    if s.audit is not None and s.audit["recall"] is not None:
        lines.append(("measured", "measured", s.audit["recall"], (s.audit["low"], s.audit["high"])))
    return {
        "histogram": histogram(f"Removed near-duplicates by {s.score}", parts, facts.threshold, s.score),
        "curve": curve(f"Probability of finding a pair, by {s.score}", told.recall_at, facts.threshold, s.score, lines),
        "expected": expected,
    }


def _sources(told: Contents) -> dict[str, Any]:
    """Return what became of the documents of each source, those with most removals first."""
    counts = told.facts.sources
    total, removed = counts[: len(OUTCOMES)].sum(axis=0), counts[REMOVED].sum(axis=0)
    inputs = np.flatnonzero(total > 0)
    rows = []
    for i in inputs[np.argsort(-removed[inputs], kind="stable")][:MOST_SOURCES].tolist():
        kept, exact, near, *others = counts[: len(OUTCOMES), i].tolist()
        gone = share(removed[i], total[i]), size(counts[-1, i])
        rows.append((told.names[i], [int(total[i]), exact, near, sum(others), kept, *gone]))
    return {"sources": rows, "n_sources": len(inputs)}


def class_name(number: int) -> str:
    """Return the least length of a class, in bytes, as a label."""
    if number == 0:
        return "0"
    least = 1 << (number - 1)
    for unit, factor in (("G", 1 << 30), ("M", 1 << 20), ("k", 1 << 10)):
        if least >= factor:
            return f"{least // factor}{unit}"
    return str(least)


def _lengths(table: Int64Array) -> Any:
    """Return the picture of all documents by length and outcome."""
    there = np.flatnonzero(table.sum(axis=0))
    first, end = (int(there[0]), min(int(there[-1]) + 1, LENGTHS)) if len(there) else (0, 2)
    by = dict(zip(OUTCOMES, table[:, first:end], strict=True))
    rest = by["empty"] + by["override"] + by["key"] + by["skipped"]
    parts = [("kept", by["kept"]), ("near", by["near"]), ("exact", by["exact"]), ("empty", rest)]
    return draw_lengths(
        "Documents by length", [(name, n.tolist()) for name, n in parts], [class_name(i) for i in range(first, end)],
        "bytes of text; a class begins at its label",
    )  # fmt: skip
