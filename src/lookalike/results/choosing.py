"""Some rows of a result: the least alike, or some drawn by a seed, whatever the batches that rows come in."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..hashing import derive
from ..kernels.hashing import mix_keys
from ..values import Int64Array, UInt64Array
from ..values.arrow import string, to_arrow, to_numpy
from .rows import Rows, collect

TOGETHER = 64  # rows between two that are fetched in one go


class Lowest:
    """The rows of the lowest values among all that are added; of equal values the first ones.

    Parameters
    ----------
    n : int
        How many rows are wanted.
    """

    def __init__(self, n: int) -> None:
        self.n = n
        self.values: NDArray[np.generic] = np.empty(0)
        self.rows = np.empty(0, np.int64)

    def add(self, values: NDArray[np.generic], rows: Int64Array) -> None:
        """Take more rows into account."""
        both = np.concatenate([self.values.astype(values.dtype), values])
        least = np.argsort(both, kind="stable")[: self.n]
        self.values, self.rows = both[least], np.concatenate([self.rows, rows])[least]


class Draw:
    """Rows drawn at random, each with the same probability: those of the lowest hashes of row and seed.

    Parameters
    ----------
    n : int
        How many rows are wanted.
    purpose : str
        Draws for different purposes have nothing to do with each other.
    """

    def __init__(self, n: int, seed: int, purpose: str) -> None:
        self._lowest, self._word = Lowest(n), derive(seed, purpose, 1)
        self.total = 0

    def add(self, rows: Int64Array) -> None:
        """Take more rows into account."""
        self.total += len(rows)
        keys: UInt64Array = np.empty(len(rows), np.uint64)
        mix_keys(rows.astype(np.uint64), keys)
        mix_keys(keys ^ self._word[0], keys)
        self._lowest.add(keys, rows)

    @property
    def rows(self) -> Int64Array:
        """The rows drawn, in their order."""
        return np.sort(self._lowest.rows)

    @property
    def in_turn(self) -> Int64Array:
        """The rows in the order in which they were drawn: a smaller draw has the first of them."""
        return self._lowest.rows


def of_reason(batch: pa.RecordBatch, *reasons: str) -> NDArray[np.bool_]:
    """Tell for which rows of decisions the reason is one of some."""
    column = batch.column("reason")
    found = np.zeros(len(batch), np.bool_)
    for reason in reasons:
        found |= to_numpy(pc.equal(column, string(reason)))
    return found


def least_alike(decisions: Rows, n: int) -> Lowest:
    """Find the removed near-duplicates with the lowest scores."""
    lowest, first = Lowest(n), 0
    for batch in decisions.select(["reason", "resemblance"]).batches():
        near = np.flatnonzero(of_reason(batch, "near"))
        lowest.add(to_numpy(batch.column("resemblance"))[near], first + near)
        first += len(batch)
    return lowest


def drawn(decisions: Rows, n: int, seed: int, purpose: str, reasons: Sequence[str]) -> Draw:
    """Draw rows whose reason is one of some."""
    draw, first = Draw(n, seed, purpose), 0
    for batch in decisions.select(["reason"]).batches():
        draw.add(first + np.flatnonzero(of_reason(batch, *reasons)))
        first += len(batch)
    return draw


def rows_at(rows: Rows, places: Int64Array) -> pa.Table:
    """Return the rows at some places, in the order of the places."""
    wanted = np.unique(places)
    parts, begin = [], 0
    while begin < len(wanted):
        end = begin + 1
        while end < len(wanted) and wanted[end] - wanted[end - 1] <= TOGETHER:
            end += 1
        some = collect(rows.slice(int(wanted[begin]), int(wanted[end - 1]) + 1))
        parts.append(some.take(to_arrow(wanted[begin:end] - wanted[begin])))
        begin = end
    if not parts:
        return collect(rows.slice(0, 0))
    return pa.concat_tables(parts).take(to_arrow(np.searchsorted(wanted, places))).combine_chunks()
