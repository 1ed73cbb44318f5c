"""Joins on a cluster: the packs of both sides that have a bucket in common meet in a task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from ...values import Int64Array
from ...values.arrow import to_arrow, to_numpy
from ..engine import Batches
from .sorting import joined

RIGHT, LEFT = 0, 1
"""The sides of a join, in the order in which their packs come."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Joining:
    """How rows are joined.

    Parameters
    ----------
    on : str
        The column of the left rows that is looked up in ``order`` of the right ones.
    left, right, schema : pyarrow.Schema
        Of the rows of both sides, and of what comes of them.
    """

    on: str
    how: str
    left: pa.Schema
    right: pa.Schema
    schema: pa.Schema

    def of(self, names: Sequence[str]) -> Joining:
        """Return the join that gives some columns of what comes of this one, and the one that it is on."""
        added = {new: name for new, name in zip(self.schema.names[len(self.left) :], self._added, strict=True) if new in names}
        left = pa.schema([field for field in self.left if field.name in names or field.name == self.on])
        right = pa.schema([field for field in self.right if field.name == "order" or field.name in added.values()])
        schema = pa.schema([field for field in self.schema if field.name in left.names or field.name in added])
        return replace(self, left=left, right=right, schema=schema)

    @property
    def _added(self) -> list[str]:
        return [] if self.how in ("semi", "anti") else [name for name in self.right.names if name != "order"]


class _Right:
    """The right rows of a bucket, by order."""

    def __init__(self, rows: list[pa.RecordBatch], schema: pa.Schema) -> None:
        self.rows = joined(rows) if rows else pa.RecordBatch.from_pylist([], schema)
        orders = np.asarray(to_numpy(self.rows.column("order")), np.int64)
        self._place = np.argsort(orders, kind="stable")
        self._orders = orders[self._place]

    def find(self, wanted: Int64Array) -> tuple[Int64Array, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
        """Return the row of each order, and whether there is one."""
        if not len(self._orders):
            return np.zeros(len(wanted), np.int64), np.zeros(len(wanted), np.bool_)
        at = np.minimum(np.searchsorted(self._orders, wanted), len(self._orders) - 1)
        return self._place[at], self._orders[at] == wanted


def join_packs(batches: Batches, settings: Joining) -> Batches:
    """Join the rows of packs."""
    rows: list[pa.RecordBatch] = []
    before, right = -1, None
    for batch in batches:
        columns = (to_numpy(batch.column(name)).tolist() for name in ("bucket", "side"))
        for bucket, side, pack in zip(*columns, batch.column("pack"), strict=True):
            if bucket != before:
                before, rows, right = bucket, [], None
            kind = settings.right if side == RIGHT else settings.left
            some = pa.ipc.read_record_batch(pack.as_buffer(), kind)
            if side == RIGHT:
                rows.append(some)
                continue
            if right is None:
                right, rows = _Right(rows, settings.right), []
            yield _looked_up(some, right, settings)


def _looked_up(batch: pa.RecordBatch, right: _Right, settings: Joining) -> pa.RecordBatch:
    """Join some rows of the left side."""
    wanted = np.asarray(to_numpy(batch.column(settings.on), -1), np.int64)  # of no document
    rows, found = right.find(wanted)
    if settings.how in ("semi", "anti"):
        return batch.filter(to_arrow(found == (settings.how == "semi")))
    if settings.how == "inner":
        batch, taken = batch.filter(to_arrow(found)), right.rows.take(to_arrow(rows[found]))
    else:
        taken = right.rows.take(to_arrow(rows, ~found)) if len(right.rows) else _nulls(right.rows.schema, len(batch))
    added = [taken.column(name) for name in settings.right.names if name != "order"]
    return pa.RecordBatch.from_arrays([*batch.columns, *added], schema=settings.schema)


def _nulls(schema: pa.Schema, n: int) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.nulls(n, field.type) for field in schema], schema=schema)
