"""Ids that come more than once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ..values.arrow import to_arrow, to_numpy

REPEATED = pa.schema([("first", pa.int64()), ("again", pa.int64())])


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeated:
    """Positions below ``boundary`` are references: an id of one may be that of another document, too."""

    boundary: int


def repeated(rows: Iterator[pa.RecordBatch], settings: Repeated) -> Iterator[pa.RecordBatch]:
    """Name the positions of each id that has come before.

    Parameters
    ----------
    rows : iterator of record batches
        Columns id and position; equal ids together, sorted by position.
    settings : Repeated

    Yields
    ------
    pyarrow.RecordBatch
        Columns first and again: of each repeat, the position just before it with that id, and its own.
    """
    last: pa.RecordBatch | None = None
    for batch in rows:
        if not len(batch):
            continue
        both = batch if last is None else pa.Table.from_batches([last, batch]).combine_chunks().to_batches()[0]
        ids = both["id"]
        same = to_numpy(pa.compute.equal(ids.slice(1), ids.slice(0, len(both) - 1)))
        positions = to_numpy(both["position"])
        one, other = positions[:-1][same], positions[1:][same]
        kind = (one < settings.boundary) == (other < settings.boundary)
        yield pa.RecordBatch.from_arrays([to_arrow(one[kind]), to_arrow(np.asarray(other[kind]))], schema=REPEATED)
        last = batch.slice(len(batch) - 1)
