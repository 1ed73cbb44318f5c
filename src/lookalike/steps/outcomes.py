"""What became of documents, counted, and the removals that rest on the lowest scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..values import Int64Array
from ..values.arrow import string, to_numpy
from .decide import REASONS

LEAST_ALIKE = 3
OUTCOMES = np.dtype([("reasons", np.int64, len(REASONS)), ("score", np.float64, LEAST_ALIKE), ("place", np.int64, LEAST_ALIKE)])


def _lowest(score: NDArray[Any], place: Int64Array) -> tuple[NDArray[Any], Int64Array]:
    """Return the lowest scores with their places; of equal scores the first place comes first."""
    order = np.lexsort((place, score))[:LEAST_ALIKE]
    return score[order], place[order]


def _together(one: NDArray[Any], other: NDArray[Any]) -> NDArray[Any]:
    """Return what became of the documents of both."""
    found = np.zeros_like(one)
    found["reasons"] = one["reasons"] + other["reasons"]
    both = [np.concatenate([one[name][0], other[name][0]]) for name in ("score", "place")]
    found["score"][0], found["place"][0] = _lowest(*both)
    return found


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Documents by reason, and of the three near-duplicates of lowest score, score and place; inf: there is none."""

    combine = staticmethod(_together)

    def start(self) -> NDArray[Any]:
        """Return what became of no documents."""
        found = np.zeros(1, OUTCOMES)
        found["score"], found["place"] = np.inf, np.iinfo(np.int64).max
        return found

    def add(self, total: NDArray[Any], batch: pa.RecordBatch) -> None:
        """Look at a batch of decisions: columns reason, resemblance and position, which is the place."""
        self.add_at(total, batch, np.asarray(to_numpy(batch.column("position")), np.int64))

    def add_at(self, total: NDArray[Any], batch: pa.RecordBatch, places: Int64Array) -> None:
        """Look at a batch of decisions, whose places are given: columns reason and resemblance."""
        reasons = batch.column("reason")
        for reason, n in (tuple(pair.values()) for pair in pc.value_counts(reasons).to_pylist()):
            total["reasons"][0, REASONS.index(reason)] += n
        near = np.flatnonzero(to_numpy(pc.equal(reasons, string("near"))))
        scores = to_numpy(batch.column("resemblance"))[near]
        lowest = _lowest(np.concatenate([total["score"][0], scores]), np.concatenate([total["place"][0], places[near]]))
        total["score"][0], total["place"][0] = lowest
