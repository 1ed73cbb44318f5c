"""Small arrays added up over rows, in any order and in any number of tasks: counts of documents, and of what became of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..values import Int64Array
from ..values.arrow import string, to_numpy
from ..values.tables import SOURCE_BITS
from .batches import DIGEST_BYTES, as_words
from .decide import REASONS

N, REFERENCES, EMPTY, BYTES, TEXT_IDS, WHOLE, SHORT, LONGER, SKIPPED, SKIPPED_REFERENCES = range(10)
LARGEST = np.iinfo(np.int64).max
LEAST_ALIKE = 3
OUTCOME = np.dtype([("reasons", np.int64, len(REASONS)), ("score", np.float64, LEAST_ALIKE), ("place", np.int64, LEAST_ALIKE)])


@dataclass(frozen=True, slots=True, eq=False)
class Total:
    """What a function adds up, as an engine folds it: the array of no rows is full of one value; ``combine`` adds two."""

    add: Callable[[NDArray[Any], pa.RecordBatch], None]
    shape: int | tuple[int, ...] = 1
    fill: int | NDArray[Any] = 0
    dtype: Any = np.int64
    combine: Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]] = np.add

    def start(self) -> NDArray[Any]:
        """Return the array of no rows."""
        if isinstance(self.fill, int) and not self.fill:  # the system gives zeros where they are needed, and only there
            return np.zeros(self.shape, self.dtype)
        return np.full(self.shape, self.fill, self.dtype)


def _add_documents(total: NDArray[Any], batch: pa.RecordBatch, boundary: int) -> None:
    """Count those of a batch: position, empty, bytes and, perhaps, id_is_text, skipped, whole, override and short."""
    reference = to_numpy(batch["position"]) < boundary
    empty = to_numpy(batch["empty"])
    if "skipped" in batch.schema.names:
        skipped = to_numpy(batch["skipped"])
        empty = empty & ~skipped
        total[SKIPPED] += int((skipped & ~reference).sum())
        total[SKIPPED_REFERENCES] += int((skipped & reference).sum())
    if "override" in batch.schema.names:  # one that is removed by hand counts as that
        empty = empty & (to_numpy(batch["override"]) >= 0)
    total[N] += len(batch)
    total[REFERENCES] += int(reference.sum())
    total[EMPTY] += int((empty & ~reference).sum())
    total[BYTES] += int(to_numpy(batch["bytes"]).sum())
    if "short" in batch.schema.names:
        short = to_numpy(batch["short"])[~(to_numpy(batch["empty"]) | reference)]
        total[SHORT] += int(short.sum())
        total[LONGER] += int((~short).sum())
    if "id_is_text" in batch.schema.names:
        total[TEXT_IDS] += int(to_numpy(batch["id_is_text"]).sum())
    if "whole" in batch.schema.names:
        total[WHOLE] += int(to_numpy(batch["whole"]).sum())


def documents(boundary: int) -> Total:
    """Documents, references, empty documents that are none, bytes of text, ids that are no integers, whole pages, texts of
    no more than one shingle, and of more, but for references, and documents and references left out: see ``N`` and others.

    Positions below ``boundary`` are references.
    """
    return Total(partial(_add_documents, boundary=boundary), 10)


def _add_rows(total: NDArray[Any], batch: pa.RecordBatch) -> None:
    """Count the rows of a batch."""
    total += len(batch)


N_ROWS = Total(_add_rows)


def _add_kinds(total: NDArray[Any], batch: pa.RecordBatch, priority: str) -> None:
    """Look at the priorities of a batch: columns position and that; one without bytes is a null."""
    column = batch[priority].cast(pa.large_binary())
    _, offsets, data = column.buffers()
    bounds = np.frombuffer(offsets, np.int64)[column.offset : column.offset + len(column) + 1]
    there = np.diff(bounds) > 0
    kinds = np.frombuffer(data or b"", np.uint8)[bounds[:-1][there]]
    np.minimum.at(total, kinds, to_numpy(batch["position"])[there])


def kinds(priority: str) -> Total:
    """The first position at which a priority of each kind comes; a kind is the first byte of a priority."""
    return Total(partial(_add_kinds, priority=priority), 256, fill=LARGEST, combine=np.minimum)


def _add_inputs(total: NDArray[Any], batch: pa.RecordBatch) -> None:
    """Count the rows of a batch: columns position and, if there is a second row of counts, kept."""
    source = to_numpy(batch["position"]) >> SOURCE_BITS
    total[0] += np.bincount(source, minlength=total.shape[1])
    if len(total) > 1:
        total[1] += np.bincount(source[to_numpy(batch["kept"])], minlength=total.shape[1])


def of_inputs(n: int, kept: bool = False) -> Total:
    """How many rows each of n inputs has; with ``kept`` these are decisions, and a second row says how many are kept."""
    return Total(_add_inputs, (1 + kept, n))


def _add_saved(total: NDArray[Any], batch: pa.RecordBatch) -> None:
    """Count the rows of a batch, and add up their digests: columns position and digest."""
    _add_inputs(total[None, :-2], batch)
    total[-2:] += as_words(batch["digest"], DIGEST_BYTES, np.uint64).sum(axis=0).view(np.int64)


def of_saved(n: int) -> Total:
    """How many rows each of n inputs has; then two numbers by which other rows are known, as many of the same inputs too."""
    return Total(_add_saved, n + 2)


def _lowest(score: NDArray[Any], place: Int64Array) -> tuple[NDArray[Any], Int64Array]:
    """Return the lowest scores with their places; of equal scores the first place comes first."""
    order = np.lexsort((place, score))[:LEAST_ALIKE]
    return score[order], place[order]


def _both_outcomes(one: NDArray[Any], other: NDArray[Any]) -> NDArray[Any]:
    """Return what became of the documents of both."""
    found = np.zeros_like(one)
    found["reasons"] = one["reasons"] + other["reasons"]
    both = [np.concatenate([one[name][0], other[name][0]]) for name in ("score", "place")]
    found["score"][0], found["place"][0] = _lowest(*both)
    return found


def add_outcomes(total: NDArray[Any], batch: pa.RecordBatch, places: Int64Array | None = None) -> None:
    """Look at a batch of decisions: columns reason, resemblance and, if places are not given, position, which is the place."""
    reasons = batch.column("reason")
    for reason, n in (tuple(pair.values()) for pair in pc.value_counts(reasons).to_pylist()):
        total["reasons"][0, REASONS.index(reason)] += n
    near = np.flatnonzero(to_numpy(pc.equal(reasons, string("near"))))
    scores = to_numpy(batch.column("resemblance"))[near]
    places = np.asarray(to_numpy(batch.column("position")), np.int64) if places is None else places
    lowest = _lowest(np.concatenate([total["score"][0], scores]), np.concatenate([total["place"][0], places[near]]))
    total["score"][0], total["place"][0] = lowest


_NOBODY = np.array((np.zeros(len(REASONS)), np.full(LEAST_ALIKE, np.inf), np.full(LEAST_ALIKE, LARGEST)), OUTCOME)
OUTCOMES = Total(add_outcomes, fill=_NOBODY, dtype=OUTCOME, combine=_both_outcomes)
"""Documents by reason, and of the three near-duplicates of lowest score, score and place; inf: there is none."""
