"""Ids that come more than once, and the rows at some positions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..values.arrow import to_arrow, to_numpy
from .batches import Batches, one_batch
from .totals import LARGEST, Total

REPEATED = pa.schema([("first", pa.int64()), ("again", pa.int64())])


def repeated(rows: Batches, boundary: int, unnamed: tuple[bool, bool] = (False, False)) -> Batches:
    """Name the positions of each id that has come before.

    Positions below ``boundary`` are references: an id of one may be that of another document, too. ``unnamed`` says whether the
    references, and the others, have default ids, which may repeat.
    """
    last: pa.RecordBatch | None = None
    for batch in rows:
        if not len(batch):
            continue
        both = batch if last is None else one_batch([last, batch])
        ids = both["id"]
        same = to_numpy(pa.compute.equal(ids.slice(1), ids.slice(0, len(both) - 1)))
        positions = to_numpy(both["position"])
        one, other = positions[:-1][same], positions[1:][same]
        kind = (one < boundary) == (other < boundary)
        kind &= ~np.array(unnamed)[(other >= boundary).astype(np.int64)]
        yield pa.RecordBatch.from_arrays([to_arrow(one[kind]), to_arrow(np.asarray(other[kind]))], schema=REPEATED)
        last = batch.slice(len(batch) - 1)


def _earlier(one: NDArray[Any], other: NDArray[Any]) -> NDArray[Any]:
    """Return which of two repeats comes first."""
    return one if (one[1], one[0]) <= (other[1], other[0]) else other


def _add_repeats(total: NDArray[Any], batch: pa.RecordBatch) -> None:
    """Look at a batch of REPEATED."""
    first, again = (to_numpy(batch[name]) for name in ("first", "again"))
    if len(again):
        place = int(np.argmin(again))
        total[:] = _earlier(total, np.array([first[place], again[place]]))


EARLIEST = Total(_add_repeats, 2, fill=LARGEST, combine=_earlier)
"""The repeat that comes first: the position of the row before it, and its own; the largest integers: there is none."""


def at_positions(rows: Batches, positions: tuple[int, ...]) -> Batches:
    """Choose the rows at some positions."""
    for batch in rows:
        found = np.isin(to_numpy(batch["position"]), positions)
        if found.any():
            yield batch.filter(to_arrow(found))
