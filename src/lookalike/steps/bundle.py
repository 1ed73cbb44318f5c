"""Turn pairs into bundles of a document, the pivot, and all that it is to be compared with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ..values.tables import SOURCE_BITS
from ._batches import Batches, batch_of, ints, starts_of

BUNDLED = pa.schema([("bundle", pa.int64()), ("order", pa.int64())])


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundling:
    """How large bundles may be.

    Parameters
    ----------
    most : int, optional
        Partners in a bundle; a pivot with more has several bundles, of different numbers. None: as many as there are.
    """

    most: int | None = None


def bundle(rows: Batches, settings: Bundling) -> Batches:
    """Yield a row for the pivot of each bundle, and then one for each of its partners."""
    most = settings.most or 1 << SOURCE_BITS
    before, partners = None, 0
    for batch in rows:
        if not len(batch):
            continue
        left, right = ints(batch, "left"), ints(batch, "right")
        starts, index = starts_of(left, before), np.arange(len(left))
        within = index - np.maximum.accumulate(np.where(starts, index, 0))
        within[np.cumsum(starts) == 0] += partners  # of a pivot that came before
        before, partners = int(left[-1]), int(within[-1]) + 1
        begins, numbers = within % most == 0, left + (within // most << SOURCE_BITS)
        place = index + np.cumsum(begins)
        bundles, orders = (np.empty(len(left) + int(begins.sum()), np.int64) for _ in range(2))
        bundles[place], orders[place] = numbers, right
        pivots = place[begins] - 1
        bundles[pivots], orders[pivots] = numbers[begins], left[begins]
        yield batch_of(BUNDLED, bundles, orders)
