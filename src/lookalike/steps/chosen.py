"""A few rows of which the positions are known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ..values.arrow import to_arrow, to_numpy


@dataclass(frozen=True, slots=True, kw_only=True)
class Positions:
    """The positions of the rows that are wanted."""

    positions: tuple[int, ...]


def at_positions(rows: Iterator[pa.RecordBatch], settings: Positions) -> Iterator[pa.RecordBatch]:
    """Choose the rows at some positions."""
    for batch in rows:
        found = np.isin(to_numpy(batch["position"]), settings.positions)
        if found.any():
            yield batch.filter(to_arrow(found))
