"""Tables in files that the tasks write and read themselves, so that rows do not pass through Spark's own rows for that."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ...files.folder import create, parquet_file, put
from ...files.urls import AnyPath
from ...values.arrays import runs
from ...values.arrow import to_numpy
from ..engine import Batches
from .columns import changed, stored_schema

WRITTEN = pa.schema([("name", pa.large_string()), ("rows", pa.int64()), ("bytes", pa.int64())])
GROUP_BYTES = 16 << 20
"""Bytes of a row group, about."""
TASK_BYTES = 64 << 20
"""Bytes on the disk that a task reads, about."""


@dataclass(frozen=True, slots=True)
class TableFiles:
    """The files of a stored table."""

    folder: AnyPath
    names: tuple[str, ...]  # begin with the number of the task that wrote them, and ascend
    counts: tuple[int, ...]  # rows of each
    sizes: tuple[int, ...]  # bytes on the disk

    @property
    def rows(self) -> int:
        return sum(self.counts)

    @property
    def paths(self) -> list[AnyPath]:
        return [self.folder / name for name in self.names]

    def shares(self) -> list[tuple[int, int]]:
        """Return which files each task reads: the first, and the one after the last."""
        sizes = np.array(self.sizes, np.int64)
        return runs((np.cumsum(sizes) - sizes) // TASK_BYTES)

    @staticmethod
    def task_of(name: str) -> int:
        return int(name.partition("-")[0])

    def save(self, marker: AnyPath) -> None:
        """Say that the table is whole."""
        held = {"names": self.names, "counts": self.counts, "sizes": self.sizes}
        put(marker, json.dumps(held).encode())

    @classmethod
    def load(cls, marker: AnyPath, folder: AnyPath) -> TableFiles | None:
        """Return the files of a table that is whole; None: there is none."""
        try:
            held = json.loads(marker.read_bytes())
        except (FileNotFoundError, ValueError):  # on HDFS a file is there while it is written
            return None
        return cls(folder, *(tuple(held[name]) for name in ("names", "counts", "sizes")))


def partition() -> int:
    """Return the number of the task that this is."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return context.partitionId() if context is not None else 0


def write_rows(batches: Batches, folder: AnyPath, schema: pa.Schema) -> Batches:
    """Write rows to a file of this attempt's own, and say its name: Spark takes the rows, so the name, of one attempt only."""
    yield from write_file(batches, folder, partition(), schema)


def write_file(batches: Batches, folder: AnyPath, number: int, schema: pa.Schema) -> Batches:
    """Write rows to a file whose name begins with a number, and ends as no other's does; say its name, if there are rows."""
    path = folder / f"{number:08}-{os.urandom(8).hex()}.parquet"
    n_rows, schema = 0, stored_schema(schema)
    with ExitStack() as stack:
        writer: pq.ParquetWriter | None = None
        for group in _groups(batches, schema):
            writer = writer or _writer(stack.enter_context(create(path)), schema)
            writer.write_table(group, len(group))
            n_rows += len(group)
        if writer is None:
            return
        writer.close()
    row = {"name": path.name, "rows": n_rows, "bytes": path.stat().st_size}
    yield pa.RecordBatch.from_pylist([row], WRITTEN)


def _groups(batches: Batches, schema: pa.Schema) -> Iterator[pa.Table]:
    held: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        if len(batch):
            held.append(changed(batch, schema))
            size += batch.nbytes
        if size >= GROUP_BYTES:
            yield pa.Table.from_batches(held, schema)
            held, size = [], 0
    if held:
        yield pa.Table.from_batches(held, schema)


def _writer(stream: Any, schema: pa.Schema) -> pq.ParquetWriter:
    return pq.ParquetWriter(
        stream, schema, compression="zstd", compression_level=1, use_dictionary=False, write_page_checksum=True
    )


def read_rows(batches: Batches, files: TableFiles, shares: Sequence[tuple[int, int]], schema: pa.Schema) -> Batches:
    """Yield the rows of the shares of a table whose numbers come."""
    for batch in batches:
        for number in to_numpy(batch.column(0)).tolist():
            begin, end = shares[number]
            for path in files.paths[begin:end]:
                yield from rows_of(path, schema)


def rows_of(path: AnyPath, schema: pa.Schema) -> Batches:
    with parquet_file(path) as file:
        for group in range(file.metadata.num_row_groups):
            table = file.read_row_group(group, schema.names, use_threads=False).select(schema.names)
            for batch in table.combine_chunks().to_batches():
                yield changed(batch, schema)
