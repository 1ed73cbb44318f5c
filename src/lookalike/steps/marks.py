"""Documents that are in a crowd."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from ..values.arrow import to_arrow, to_numpy

MARKS = pa.schema([("order", pa.int64())])


def marks(rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the orders of documents that are linked with themselves."""
    for batch in rows:
        left, right = (to_numpy(batch[name]) for name in ("left", "right"))
        yield pa.RecordBatch.from_arrays([to_arrow(left[left == right])], schema=MARKS)
