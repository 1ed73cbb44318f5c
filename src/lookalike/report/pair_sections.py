"""The numbers and the pictures of a page of pairs; ``pairs.html`` says what they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..results.scored_pairs import ScoredPairs
from .charts import curve, histogram, shares, spark
from .facts import PairFacts, binned, chosen_sources
from .samples import Samples, short
from .sections import MOST_SOURCES, matrix_of, share


def view_pairs(scored: ScoredPairs, facts: PairFacts, samples: Samples, what: str) -> dict[str, Any]:
    """Return what the template reads; ``what``: what the pairs are called."""
    first, planned = int(scored.starts[scored.n_references]), scored.found(scored.threshold)
    parts, names = [("near", facts.bins.tolist(), facts.scores.tolist())], [short(s.identity()["name"]) for s in scored.sources]
    groups = [
        {
            "size": keeper.n_pairs, "keeper": keeper, "pairs": pairs,
            "spark": spark(
                f"The shown ones by {scored.score}", binned(np.array([pair.score for pair in pairs]), facts.bins).tolist()
            ),
        }
        for keeper, pairs in zip(samples.keepers, samples.groups, strict=True)
    ]  # fmt: skip
    chosen = chosen_sources(facts.matrix.sum(axis=0) + facts.matrix.sum(axis=1))
    in_pairs = np.bincount(scored.source_of(np.flatnonzero(facts.in_pairs)), minlength=len(names)).tolist()
    sizes = np.diff(scored.starts).tolist()
    order = sorted(range(len(names)), key=lambda i: -in_pairs[i])[:MOST_SOURCES]
    seconds = list(scored.seconds.items())
    return {
        "scored": scored, "total": scored.total, "involved": int((facts.in_pairs[first:] > 0).sum()),
        "n_documents": int(scored.starts[-1]) - first, "planned": planned, "misses": 0, "groups": groups,
        "histogram": histogram(f"{what.capitalize()} by {scored.score}", parts, scored.threshold, scored.score),
        "curve": curve(f"Probability of finding a pair, by {scored.score}", scored.found, scored.threshold, scored.score,
                       [("planned", "planned", planned, None)]),
        "sources": [(names[i], [sizes[i], in_pairs[i], share(in_pairs[i], sizes[i])]) for i in order],
        "matrix": matrix_of([names[i] for i in chosen], [], facts.matrix[np.ix_(chosen, chosen)])
        if len(names) > 1 else {"rows": []},
        "cost": shares("Seconds by stage", seconds) if seconds else "", **_benchmarks(scored.benchmarks),
    }  # fmt: skip


def _benchmarks(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the table of benchmarks in section 7, those first of which the largest share of items is in documents."""
    names = ["contaminated", "items", "documents", *(name for name in (rows[0] if rows else ()) if name.startswith("with_"))]
    shown = [
        (
            short(row["benchmark"]),
            [
                share(row["contaminated"], row["items"]),
                *(row[name] for name in names),
                row["empty"] + row["short"] + row["common"],
            ],
        )
        for row in sorted(rows, key=lambda row: -row["share"])[:MOST_SOURCES]
    ]
    return {"columns": ["share", *(name.replace("_", " ", 1) for name in names), "not judged"], "benchmarks": shown}
