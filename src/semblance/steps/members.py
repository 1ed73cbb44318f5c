"""The documents that pairs are made of."""

from __future__ import annotations

import pyarrow as pa

from ._batches import Batches, batch_of, ints, starts_of

MEMBERS = pa.schema([("order", pa.int64())])


def sides(rows: Batches) -> Batches:
    """Give both documents of each pair a row.

    Parameters
    ----------
    rows : iterator of RecordBatch
        PAIRS.

    Yields
    ------
    RecordBatch
        MEMBERS, with repeats.
    """
    for batch in rows:
        for side in ("left", "right"):
            yield batch_of(MEMBERS, ints(batch, side))


def distinct(rows: Batches) -> Batches:
    """Leave one row of each document.

    Parameters
    ----------
    rows : iterator of RecordBatch
        MEMBERS that meet by order.

    Yields
    ------
    RecordBatch
        MEMBERS.
    """
    before = None
    for batch in rows:
        if len(batch):
            orders = ints(batch, "order")
            yield batch_of(MEMBERS, orders[starts_of(orders, before)])
            before = int(orders[-1])
