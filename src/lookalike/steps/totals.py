"""Folds over the sketches of all documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..values.arrow import to_numpy
from ..values.tables import SOURCE_BITS

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
