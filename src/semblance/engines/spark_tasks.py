"""What Spark's tasks run beside the steps: reading inputs, numbering rows, adding up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ..inputs.reading import Reading, read_split
from ..values.arrow import to_arrow, to_numpy
from ..values.tables import SOURCE_BITS
from .engine import Batches, Fold

FOLDED = pa.schema([("total", pa.large_binary())])
PLACED = pa.schema([("part", pa.int64()), ("place", pa.int64())])
_ROW = (1 << SOURCE_BITS) - 1


def read_number(batches: Batches, splits: Sequence[Any], reading: Reading) -> Batches:
    """Yield the documents of the inputs whose numbers come."""
    for batch in batches:
        for number in to_numpy(batch.column(0)).tolist():
            for _, documents in read_split(splits[number], number, reading):
                yield documents


def read_wanted(batches: Batches, splits: Sequence[Any], reading: Reading, place: str, schema: pa.Schema) -> Batches:
    """Add texts to rows sorted by their positions; each input is read once, up to the last row wanted of it."""
    number, documents = -1, iter(())
    held: Any = None
    for batch in batches:
        positions = to_numpy(batch.column(place))
        done = 0
        while done < len(batch):
            wanted = int(positions[done])
            if wanted >> SOURCE_BITS != number:
                number, held = wanted >> SOURCE_BITS, None
                documents = read_split(splits[number], number, reading)
            while held is None or int(held.column("position")[-1].as_py()) < wanted:
                held = next(documents)[1]
            first, last = (int(held.column("position")[i].as_py()) for i in (0, len(held) - 1))
            stop = done + int(np.searchsorted(positions[done:], last, side="right"))
            rows = positions[done:stop] - first
            texts = held.column("text").take(to_arrow(rows))
            part = batch.slice(done, stop - done)
            columns = [part.column(field.name) for field in schema if field.name in part.schema.names]
            yield pa.RecordBatch.from_arrays([*columns, texts], schema=schema)
            done = stop


def number_rows(batches: Batches, schema: pa.Schema) -> Batches:
    """Add to each row its partition and its place there."""
    from pyspark import TaskContext

    context = TaskContext.get()
    part, place = context.partitionId() if context is not None else 0, 0
    for batch in batches:
        n = len(batch)
        columns = [*batch.columns, to_arrow(np.full(n, part, np.int64)), to_arrow(np.arange(place, place + n))]
        yield pa.RecordBatch.from_arrays(columns, schema=schema)
        place += n


def add_up(batches: Batches, fold: Fold, again: bool = False) -> Iterator[pa.RecordBatch]:
    """Yield one row, the array of all rows that come; with ``again`` these are such arrays."""
    total, some = fold.start(), False
    for batch in batches:
        some = True
        if again:
            for value in batch.column(0):
                total = fold.combine(total, np.frombuffer(value.as_buffer(), total.dtype).reshape(total.shape))
        else:
            fold.add(total, batch)
    if some:
        yield pa.RecordBatch.from_arrays([pa.array([total.tobytes()], pa.large_binary())], schema=FOLDED)
