"""Ids that come more than once, and the rows at some positions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..values.arrow import to_arrow, to_numpy

REPEATED = pa.schema([("first", pa.int64()), ("again", pa.int64())])


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeated:
    """Positions below ``boundary`` are references: an id of one may be that of another document, too.

    ``unnamed`` says whether the references, and the others, have default ids, which may repeat.
    """

    boundary: int
    unnamed: tuple[bool, bool] = (False, False)


def repeated(rows: Iterator[pa.RecordBatch], settings: Repeated) -> Iterator[pa.RecordBatch]:
    """Name the positions of each id that has come before."""
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
        kind &= ~np.array(settings.unnamed)[(other >= settings.boundary).astype(np.int64)]
        yield pa.RecordBatch.from_arrays([to_arrow(one[kind]), to_arrow(np.asarray(other[kind]))], schema=REPEATED)
        last = batch.slice(len(batch) - 1)


def _earlier(one: NDArray[Any], other: NDArray[Any]) -> NDArray[Any]:
    """Return which of two repeats comes first."""
    return one if (one[1], one[0]) <= (other[1], other[0]) else other


@dataclass(frozen=True, slots=True)
class Earliest:
    """The repeat that comes first: the position of the row before it, and its own; the largest integers: there is none."""

    combine = staticmethod(_earlier)

    def start(self) -> NDArray[Any]:
        """Return what no rows have."""
        return np.full(2, np.iinfo(np.int64).max)

    def add(self, total: NDArray[Any], batch: pa.RecordBatch) -> None:
        """Look at a batch of REPEATED."""
        first, again = (to_numpy(batch[name]) for name in ("first", "again"))
        if len(again):
            place = int(np.argmin(again))
            total[:] = _earlier(total, np.array([first[place], again[place]]))


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
