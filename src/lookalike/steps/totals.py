"""Folds over the sketches or the decisions of all documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..values import Int64Array
from ..values.arrow import string, to_numpy
from ..values.tables import SOURCE_BITS
from .decide import REASONS

N, REFERENCES, EMPTY, BYTES, TEXT_IDS = range(5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Counts of documents, references, empty documents that are none, bytes of text, and ids that are no integers.

    Parameters
    ----------
    boundary : int
        The position of the first document that is no reference.
    """

    boundary: int
    combine = np.add

    def start(self) -> NDArray[Any]:
        """Return the counts of no documents."""
        return np.zeros(5, np.int64)

    def add(self, total: NDArray[Any], batch: pa.RecordBatch) -> None:
        """Count the documents of a batch: columns position, empty, bytes and, perhaps, id_is_text, skipped and override."""
        reference = to_numpy(batch["position"]) < self.boundary
        empty = to_numpy(batch["empty"])
        if "skipped" in batch.schema.names:
            empty = empty & ~to_numpy(batch["skipped"])
        if "override" in batch.schema.names:  # one that is removed by hand counts as that
            empty = empty & (to_numpy(batch["override"]) >= 0)
        total[N] += len(batch)
        total[REFERENCES] += int(reference.sum())
        total[EMPTY] += int((empty & ~reference).sum())
        total[BYTES] += int(to_numpy(batch["bytes"]).sum())
        if "id_is_text" in batch.schema.names:
            total[TEXT_IDS] += int(to_numpy(batch["id_is_text"]).sum())


@dataclass(frozen=True, slots=True)
class Number:
    """The number of rows."""

    combine = np.add

    def start(self) -> NDArray[Any]:
        """Return the number of no rows."""
        return np.zeros(1, np.int64)

    def add(self, total: NDArray[Any], batch: pa.RecordBatch) -> None:
        """Count the rows of a batch."""
        total[0] += len(batch)


@dataclass(frozen=True, slots=True)
class Kinds:
    """The first position at which a priority of each kind comes; a kind is the first byte of a priority."""

    combine = np.minimum

    def start(self) -> NDArray[Any]:
        """Return what is known of no documents."""
        return np.full(256, np.iinfo(np.int64).max)

    def add(self, total: NDArray[Any], batch: pa.RecordBatch) -> None:
        """Look at the priorities of a batch: columns position and priority; one without bytes is a null."""
        column = batch["priority"].cast(pa.large_binary())
        _, offsets, data = column.buffers()
        bounds = np.frombuffer(offsets, np.int64)[column.offset : column.offset + len(column) + 1]
        there = np.diff(bounds) > 0
        kinds = np.frombuffer(data or b"", np.uint8)[bounds[:-1][there]]
        np.minimum.at(total, kinds, to_numpy(batch["position"])[there])


@dataclass(frozen=True, slots=True)
class OfInputs:
    """How many rows each of so many inputs has."""

    n: int
    combine = np.add

    def start(self) -> NDArray[Any]:
        """Return the numbers for no rows."""
        return np.zeros(self.n, np.int64)

    def add(self, total: NDArray[Any], batch: pa.RecordBatch) -> None:
        """Count the rows of a batch: column position."""
        total += np.bincount(to_numpy(batch["position"]) >> SOURCE_BITS, minlength=self.n)


@dataclass(frozen=True, slots=True, kw_only=True)
class BySource:
    """Counts of documents, and of those kept, by source.

    Parameters
    ----------
    n : int
        How many sources there are.
    """

    n: int
    combine = np.add

    def start(self) -> NDArray[Any]:
        """Return the counts of no documents."""
        return np.zeros((2, self.n), np.int64)

    def add(self, total: NDArray[Any], batch: pa.RecordBatch) -> None:
        """Count the documents of a batch of decisions: columns position and kept."""
        source = to_numpy(batch.column("position")) >> SOURCE_BITS
        total[0] += np.bincount(source, minlength=self.n)
        total[1] += np.bincount(source[to_numpy(batch.column("kept"))], minlength=self.n)


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
