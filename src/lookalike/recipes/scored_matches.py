"""The matches of an overlap, as a report reads them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..formats.split import Split
from ..inputs.read import Reading
from ..results.scored import Scored, Scores
from ..text.shingle import Shingling
from ..values import Int64Array
from .overlapping import MatchTable

if TYPE_CHECKING:
    from .overlap import OverlapResult


def scored_matches(
    result: OverlapResult, listed: MatchTable, theirs: tuple[Sequence[Split], Sequence[int]],
    ours: tuple[Sequence[Split], Sequence[int]],
) -> Scored:  # fmt: skip
    """Return the matches of an overlap; their left sides are the reference documents."""
    (references, reference_starts), (sources, starts) = theirs, ours
    parameters, s, n = result.provenance["parameters"], result.summary, result.n_references
    contained = parameters["measure"] == "containment"
    shingling = {name: parameters["shingling"][name] for name in ("unit", "width", "normalization", "fold_case")}
    passages = parameters["passage"] is not None

    def pairs() -> Scores:
        for left, right, score in listed.scores(contained):
            yield left, right + n, score

    def ids(rows: Int64Array) -> list[Any]:
        return listed.called(rows[rows < n], rows[rows >= n] - n)

    def reading(name: str) -> Reading:
        return Reading(text=parameters[name], encoding_errors=parameters["encoding_errors"])

    settings = {name: value for name, value in parameters.items() if name != "against"}
    return Scored(
        job="overlap", score=parameters["measure"], threshold=parameters["threshold"], total=s["matches"], pairs=pairs, ids=ids,
        found=lambda score: float(score >= parameters["threshold"]), sources=[*references, *sources],
        starts=np.array([*reference_starts[:-1], *(n + start for start in starts)], np.int64), n_references=len(references),
        readings=(reading("against_text"), reading("text")),
        shingling=Shingling(**shingling), settings=settings,
        facts=[("documents", f"{s['documents']:,}"), ("reference documents", f"{s['references']:,}")],
        left_out=[
            ("references without any token", s["empty_references"], "they match nothing"),
            ("references shorter than a shingle", s["short_references"], "they match documents of exactly these words"),
            ("documents too large", s["skipped"], "neither compared nor written"),
        ],
        chosen=None, seconds={},
        warnings=["References were cut into passages; the texts are shown as a whole."] if passages else [],
    )  # fmt: skip
