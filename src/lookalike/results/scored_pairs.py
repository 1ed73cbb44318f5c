"""Pairs of documents with their scores, as a report reads them: what the jobs that list pairs have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..formats.split import Split
from ..inputs.read import ReadOptions
from ..text.shingle import Shingling
from ..values import Int64Array
from ..values.tables import positions_of

Scores = Iterator[tuple[Int64Array, Int64Array, NDArray[np.float64]]]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ScoredPairs:
    """The pairs of a job. A row is the place of a document among all, references first."""

    job: str
    score: str  # what scores are
    threshold: float
    total: int
    pairs: Callable[[], Scores]  # rows, left before right
    ids: Callable[[Int64Array], list[Any]]  # from rows
    found: Callable[[float], float]  # probability of finding a pair of a score
    sources: Sequence[Split]  # references first
    starts: Int64Array  # the first row of each source, and the number of rows
    n_references: int  # sources of references
    readings: tuple[ReadOptions, ReadOptions]  # of references, of documents
    shingling: Shingling
    settings: dict[str, Any]  # what the result depends on
    facts: list[tuple[str, str]]  # what else is known: name, value
    left_out: list[tuple[str, int, str]]  # cannot be in a pair: why, how many, meaning
    config: dict[str, Any]  # the settings with which the job can be repeated
    seconds: dict[str, float]
    warnings: list[str]
    benchmarks: Sequence[dict[str, Any]] = ()  # what was found of each, where references are items of some

    def source_of(self, rows: Int64Array) -> Int64Array:
        """Return the number of the source of each row."""
        return np.asarray(np.searchsorted(self.starts, rows, side="right") - 1, np.int64)

    def positions(self, rows: Int64Array) -> Int64Array:
        """Return the positions of rows."""
        return positions_of(rows, self.starts)
