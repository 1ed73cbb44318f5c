"""Pairs each once, and the documents that they are made of."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ..values.tables import LINKS
from ._batches import Batches, batch_of, ints, starts_of

MEMBERS = pa.schema([("order", pa.int64())])


def sides(rows: Batches) -> Batches:
    """Give both documents of each pair a row."""
    for batch in rows:
        for side in ("left", "right"):
            yield batch_of(MEMBERS, ints(batch, side))


def distinct(rows: Batches) -> Batches:
    """Leave one row of each document."""
    before = None
    for batch in rows:
        if len(batch):
            orders = ints(batch, "order")
            yield batch_of(MEMBERS, orders[starts_of(orders, before)])
            before = int(orders[-1])


def each_once(rows: Batches) -> Batches:
    """Leave one of equal links."""
    before = (-1, -1)
    for batch in rows:
        if len(batch):
            left, right = ints(batch, "left"), ints(batch, "right")
            fresh = np.ones(len(left), np.bool_)
            fresh[1:] = (left[1:] != left[:-1]) | (right[1:] != right[:-1])
            fresh[0] = (left[0], right[0]) != before
            before = (int(left[-1]), int(right[-1]))
            yield batch_of(LINKS, left[fresh], right[fresh])
