"""What is known of documents before the first round, and how much is not known after one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..values.arrow import to_arrow, to_numpy
from ..values.tables import KEPT, OPEN, STATES


@dataclass(frozen=True, slots=True, kw_only=True)
class Open:
    """Orders below ``boundary`` are references, which are kept."""

    boundary: int


def opened(rows: Iterator[pa.RecordBatch], settings: Open) -> Iterator[pa.RecordBatch]:
    """Give each document its first state."""
    for batch in rows:
        state = np.where(to_numpy(batch["order"]) < settings.boundary, KEPT, OPEN).astype(np.int8)
        turn = to_arrow(np.zeros(len(state), np.int8))
        yield pa.RecordBatch.from_arrays([batch["order"], to_arrow(state), turn], schema=STATES)


@dataclass(frozen=True, slots=True)
class Undecided:
    """The number of documents that are open."""

    combine = np.add

    def start(self) -> NDArray[Any]:
        """Return the number of no documents."""
        return np.zeros(1, np.int64)

    def add(self, total: NDArray[Any], batch: pa.RecordBatch) -> None:
        """Count those of a batch: column state."""
        total[0] += int((to_numpy(batch["state"]) == OPEN).sum())
