"""Pairs of documents with their scores, as a report reads them: what the jobs that list pairs have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..formats.split import Split
from ..inputs.read import Reading
from ..settings.settings import Settings
from ..text.shingle import Shingling
from ..values import Int64Array
from ..values.tables import SOURCE_BITS

Scores = Iterator[tuple[Int64Array, Int64Array, NDArray[np.float64]]]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Scored:
    """The pairs of a job. A row is the place of a document among all, references first.

    Parameters
    ----------
    score : str
        What the scores are.
    total : int
        How many pairs there are.
    pairs : callable
        Yields (left, right, score): rows, left before right.
    ids : callable
        From rows to ids.
    found : callable
        From a score to the probability with which a pair of that score is found.
    sources : sequence of Split
        References first.
    starts : ndarray of int64, shape (n_sources + 1,)
        The first row of each source, and the number of rows.
    n_references : int
        Sources of references.
    readings : (Reading, Reading)
        How the texts of references, and of documents, are read.
    settings : dict
        What the result depends on.
    facts : list of (str, str)
        What else is known: a name and a value each.
    left_out : list of (str, int, str)
        Documents that cannot be in a pair: why, how many, and what that means.
    chosen : Settings, optional
        The settings, where they are those of ``dedup`` and ``pairs``.
    """

    job: str
    score: str
    threshold: float
    total: int
    pairs: Callable[[], Scores]
    ids: Callable[[Int64Array], list[Any]]
    found: Callable[[float], float]
    sources: Sequence[Split]
    starts: Int64Array
    n_references: int
    readings: tuple[Reading, Reading]
    shingling: Shingling
    settings: dict[str, Any]
    facts: list[tuple[str, str]]
    left_out: list[tuple[str, int, str]]
    chosen: Settings | None
    seconds: dict[str, float]
    warnings: list[str]

    def source_of(self, rows: Int64Array) -> Int64Array:
        """Return the number of the source of each row."""
        return np.asarray(np.searchsorted(self.starts, rows, side="right") - 1, np.int64)

    def positions(self, rows: Int64Array) -> Int64Array:
        """Return the positions of rows."""
        source = self.source_of(rows)
        return np.asarray((source << SOURCE_BITS) + rows - self.starts[source], np.int64)
