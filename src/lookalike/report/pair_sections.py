"""What the page of a list of pairs says in its sections, and what pages of each job say differently."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..results.scored_pairs import ScoredPairs
from .breakdown import SHADES, largest_loss
from .charts import curve, histogram, shares, spark
from .diff import visible
from .facts import PairFacts, binned, chosen_sources
from .samples import Samples, short
from .sections import OPENED, flat, share

_ANCHORED = "if these are right, the others, which are at least as similar, most likely are too."
_BENCHMARKS = 40  # that are shown
_CAUTION = "Before you use this list:"
_DUPLICATES = {"yes": "Duplicate", "yes_key": "d", "no": "Not a duplicate"}

WORDS = {
    "dedup": {
        **_DUPLICATES,
        "caution": "Before you delete anything:",
        "least": f"The closest calls: {_ANCHORED} Red words are lost with the removed document; green words are in the "
        "kept one only.",
        "because": "was removed as a near-duplicate of",
        "left": "kept",
        "right": "removed",
        "also": "also kept",
        "scored": "removed near-duplicates",
        "question": "Is the removed document a duplicate of the kept one? The share judged “duplicate” is the precision of the "
        "removals. Documents judged “not a duplicate” can be exported as a list of documents to keep.",
        "head": "kept:",
        "member": "documents",
        "other": "removed",
        "groups": "The largest groups",
        "least_title": "The least similar removals",
        "lost": "longest loss",
        "export": "overrides.jsonl",
    },
    "pairs": {
        **_DUPLICATES,
        "caution": _CAUTION,
        "least": f"The closest calls: {_ANCHORED} Red words are in the later document only, green words in the earlier one.",
        "because": "resembles",
        "left": "earlier",
        "right": "later",
        "also": "later",
        "scored": "pairs",
        "question": "Are the two documents duplicates? The share judged “duplicate” is the precision of the list.",
        "head": "of",
        "member": "pairs",
        "other": "with",
        "groups": "Documents in most pairs",
        "least_title": "The least similar pairs",
        "lost": "only in the later document",
        "sides": "Rows: where the earlier document is; columns: where the later one is.",
        "export": "",
    },
    "decontaminate": {
        "yes": "Match",
        "yes_key": "m",
        "no": "Not a match",
        "caution": _CAUTION,
        "least": f"The closest calls: {_ANCHORED} Red words are in the document only, green words in the reference only.",
        "because": "overlaps with",
        "left": "reference",
        "right": "document",
        "also": "document",
        "scored": "matches",
        "question": "Does the document contain the reference? The share judged “match” is the precision of the matches.",
        "head": "of",
        "member": "matches",
        "other": "with",
        "groups": "Documents in most matches",
        "least_title": "The least similar matches",
        "lost": "only in the document",
        "sides": "Rows: where the reference is; columns: where the document is.",
        "export": "",
    },
}


def scored_sections(
    scored: ScoredPairs, facts: PairFacts, samples: Samples, inputs: list[dict[str, Any]], command: str
) -> dict[str, Any]:  # fmt: skip
    """Return what the template says of each section but 5 and 6."""
    words = WORDS[scored.job]
    what, first = words["scored"], int(scored.starts[scored.n_references])
    n_documents = int(scored.starts[-1]) - first
    involved = int((facts.in_pairs[first:] > 0).sum())
    of_them = f"{involved:,} of {n_documents:,} documents ({share(involved, n_documents)}) are in one."
    least = f"{len(samples.least):,} of {scored.total:,} {what}, the least similar. Long equal stretches are left out."
    tiles = [(f"{scored.total:,}", what), (f"{involved:,}", f"documents in {what}")]
    return {
        "warnings": scored.warnings,
        "verdict": {
            "sentence": f"{scored.total:,} {what} have a {scored.score} of at least {scored.threshold:g}; {of_them}",
            "recall": "",
            "tiles": [*tiles, *((value, name) for name, value in scored.facts)],
            "settings": [(name, short(value)) for name, value in flat(scored.settings)],
            "inputs": inputs,
            "n_inputs": f"{len(scored.sources):,}",
            "inputs_shown": f"{len(inputs):,} of {len(scored.sources):,} inputs, in their order.",
            "command": visible(command),
        },
        "least": {"pairs": samples.least, "opened": OPENED, "how": least},
        "scores": _scores(scored, facts),
        "groups": _groups(scored, facts, samples),
        "sources": _sources(scored, facts),
        "lengths": {"picture": "", "rows": [(name, f"{n:,}", what) for name, n, what in scored.left_out]},
        "thresholds": _thresholds(scored, facts),
        "cost": _cost(scored),
    }


def _scores(scored: ScoredPairs, facts: PairFacts) -> dict[str, Any]:
    """Section 3."""
    words, planned = WORDS[scored.job], scored.found(scored.threshold)
    parts = [("near", facts.bins.tolist(), facts.scores.tolist())]
    what = "pairs exactly at the threshold" if scored.job == "pairs" else "all: the search is exact"
    return {
        "histogram": histogram(f"{words['scored'].capitalize()} by {scored.score}", parts, scored.threshold, scored.score),
        "curve": curve(f"Probability of finding a pair, by {scored.score}", scored.found, scored.threshold, scored.score,
                       [("planned", "planned", planned, None)]),
        "curve_caption": "The curve: the probability that a pair is found.",
        "removed": f"{scored.total:,}",
        "misses": "",
        "how": "",
        "levels": [("planned", f"{planned:.4f}", what)],
    }  # fmt: skip


def _groups(scored: ScoredPairs, facts: PairFacts, samples: Samples) -> dict[str, Any]:
    """Section 4."""
    shown, words = [], WORDS[scored.job]
    for keeper, pairs in zip(samples.keepers, samples.groups, strict=True):
        scores = binned(np.array([pair.score for pair in pairs]), facts.bins)
        others = [
            {
                "score": p.score,
                "right": p.right if p.left is keeper else p.left,
                "differs": largest_loss(p, words["lost"]),
            }
            for p in pairs
        ]
        shown.append(
            {
                "size": keeper.n_pairs,
                "keeper": keeper,
                "begins": pairs[0].begins("left" if pairs[0].left is keeper else "right") if pairs else "",
                "spread": "",
                "spark": spark(f"The shown ones by {scored.score}", scores.tolist()),
                "drawn": f"{len(pairs):,} of {keeper.n_pairs:,}, the first ones. Section 5 shows them side by side.",
                "pairs": others,
            }
        )
    return {"list": shown, "how": f"{len(shown):,} documents, those in most {words['scored']}."}


def _benchmarks(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the table of benchmarks in section 7; nothing where there are none."""
    if not rows:
        return {}
    shown = sorted(rows, key=lambda row: -row["share"])[:_BENCHMARKS]
    names = ["contaminated", "items", "documents", *(name for name in rows[0] if name.startswith("with_"))]
    unjudged = [f"{row['empty'] + row['short'] + row['common']:,}" for row in shown]
    cells = [[share(row["contaminated"], row["items"]), *(f"{row[name]:,}" for name in names)] for row in shown]
    return {
        "columns": ["share", *(name.replace("_", " ", 1) for name in names), "not judged"],
        "rows": [
            {"name": short(row["benchmark"]), "cells": [*some, n]} for row, some, n in zip(shown, cells, unjudged, strict=True)
        ],
        "how": f"{len(shown):,} of {len(rows):,} benchmarks, those with the largest share of items in documents. Not "
        "judged: items that are empty, too short, or made of common phrases.",
    }


def _sources(scored: ScoredPairs, facts: PairFacts) -> dict[str, Any]:
    """Section 7."""
    names = [short(source.identity()["name"]) for source in scored.sources]
    involved = np.bincount(scored.source_of(np.flatnonzero(facts.in_pairs)), minlength=len(names))
    sizes = np.diff(scored.starts)
    order = np.argsort(-involved, kind="stable")[:40].tolist()
    rows = [{"name": names[i], "cells": [f"{sizes[i]:,}", f"{involved[i]:,}", share(involved[i], sizes[i])]} for i in order]
    chosen = chosen_sources(facts)
    table = facts.matrix[np.ix_(chosen, chosen)]
    most = max(1, int(table.max(initial=1)))
    cells = [[(n, -(-SHADES * n // most)) for n in row] for row in table.tolist()]
    matrix = [{"name": names[i], "cells": row} for i, row in zip(chosen, cells, strict=True) if any(n for n, _ in row)]
    matrix = matrix if len(names) > 1 else []
    words = WORDS[scored.job]
    return {
        "alarms": [],
        "benchmarks": _benchmarks(scored.benchmarks),
        "slices": [],
        "columns": ["documents", f"in {words['scored']}", "share"],
        "rows": rows,
        "how": f"{len(rows):,} of {len(names):,} sources, those with most documents in {words['scored']}.",
        "matrix": matrix,
        "matrix_title": f"Which sources meet: number of {words['scored']}",
        "matrix_corner": f"{words['left']} document",
        "matrix_columns": [{"full": names[i], "short": names[i][-20:]} for i in chosen],
        "matrix_how": f"{len(chosen):,} sources, those with most {words['scored']}. {words['sides']}",
    }


def _thresholds(scored: ScoredPairs, facts: PairFacts) -> dict[str, Any]:
    """Section 9."""
    word = WORDS[scored.job]["scored"]
    rows = [
        (f"{value:g}", f"{n:,}", share(n, scored.total))
        for value, n in zip(facts.thresholds.tolist(), facts.still.tolist(), strict=True)
    ]
    return {
        "rows": rows, "columns": [word, "share"], "note": "These numbers are exact.", "near": "", "near_how": "", "pairs": [],
        "how": f"What a higher threshold would do, from the scores of all {scored.total:,} {word}.",
    }  # fmt: skip


def _cost(scored: ScoredPairs) -> dict[str, Any]:
    """Section 10."""
    return {
        "picture": shares("Seconds by stage", list(scored.seconds.items())) if scored.seconds else "",
        "caption": "Seconds of each stage of the job, without this report." if scored.seconds else "Times are not known.",
        "rows": scored.facts,
    }
