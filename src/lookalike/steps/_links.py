"""Links in batches of bounded size, and the parts of groups that come in pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa

from ..values import Int64Array
from ..values.arrow import to_numpy
from ..values.tables import LINKS

AT_A_TIME = 1 << 18
Write = Callable[[Int64Array, Int64Array, Int64Array], int]


def written(total: int, write: Write, done: int = 0) -> Iterator[pa.RecordBatch]:
    """Yield ``total`` links, of which ``write(at, left, right)`` writes the next ones; the first group begins at ``done``."""
    at = np.array([0, done, 0], np.int64)
    while total:
        left, right = (np.empty(min(total, AT_A_TIME), np.int64) for _ in range(2))
        total -= write(at, left, right)
        yield pa.record_batch([left, right], schema=LINKS)


def at_most(links: Iterator[pa.RecordBatch], limit: int | None) -> Iterator[pa.RecordBatch]:
    """Stop after so many links of two documents."""
    if limit is None:
        yield from links
        return
    while limit and (batch := next(links, None)) is not None:
        pairs = np.cumsum(to_numpy(batch["left"]) != to_numpy(batch["right"]))
        batch = batch[: int(np.searchsorted(pairs, limit)) + 1]
        limit -= int(pairs[batch.num_rows - 1])
        yield batch


def head_places(orders: Int64Array, heads: int, boundary: int) -> Int64Array:
    """Return where in a group its first references and its first others are."""
    references = int(np.searchsorted(orders, boundary))
    return np.concatenate([np.arange(min(heads, references)), np.arange(references, min(references + heads, len(orders)))])
