"""Turn pairs into bundles of a document, the pivot, and all that it is to be compared with."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ._batches import Batches, batch_of, ints, starts_of

BUNDLED = pa.schema([("bundle", pa.int64()), ("order", pa.int64())])


def bundle(rows: Batches) -> Batches:
    """Yield a row for the pivot of each bundle, and then one for each of its partners.

    Parameters
    ----------
    rows : iterator of RecordBatch
        PAIRS that meet by left, sorted by right.

    Yields
    ------
    RecordBatch
        With the columns bundle (the order of the pivot) and order; texts are joined on order, and meet by bundle again.
    """
    before = None
    for batch in rows:
        if not len(batch):
            continue
        left, right = ints(batch, "left"), ints(batch, "right")
        begins = starts_of(left, before)
        place = np.arange(len(left)) + np.cumsum(begins)
        bundles, orders = (np.empty(len(left) + int(begins.sum()), np.int64) for _ in range(2))
        bundles[place], orders[place] = left, right
        pivots = place[begins] - 1
        bundles[pivots] = orders[pivots] = left[begins]
        before = int(left[-1])
        yield batch_of(BUNDLED, bundles, orders)
