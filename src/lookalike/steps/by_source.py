"""How many documents of each source there are, and how many of them are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..values.arrow import to_numpy
from ..values.tables import SOURCE_BITS


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
