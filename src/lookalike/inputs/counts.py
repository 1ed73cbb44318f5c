"""What a job counted, saved beside its sketches: how many documents of each source a kept document stands for.

Rows (``COUNTS``) are sorted by the folder that has the kept document (``Counts.of``), then by its row there, then by the first
document of the source.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import numpy as np
import pyarrow as pa
from msgspec import Meta, Struct

from ..files.descriptions import Count
from ..files.folder import folder_of, parquet_file
from ..files.streams import reading
from ..files.urls import AnyPath
from ..values.arrow import to_numpy
from ..values.tables import SOURCE_BITS, check_values

COUNTS = pa.schema([
    ("row", pa.int64()),  # of the document, among all of its folder
    ("source", pa.large_string()),  # null: documents without one
    ("documents", pa.int64()),  # of the source: the kept one, and those that were removed for it by text, or spared
    ("n_exact", pa.int64()),
    ("n_duplicates", pa.int64()),  # removed for it; by their keys, too, which are none of the documents
])  # fmt: skip
MOST = 1 << SOURCE_BITS  # documents of a source
GROUP_ROWS = 1 << 16  # of a file that are written, and so read, together; as many at most
RowsName = Annotated[str, Meta(pattern=r"^(_sketches/)?[A-Za-z0-9][A-Za-z0-9._=-]*\Z")]
"""The name of a file in a folder of saved sketches."""


class Part(Struct):
    """Rows about the documents of one folder of saved sketches: that of a checksum, or ("") the one that these rows are in."""

    folder: str
    rows: Count


class Counts(Struct):
    """What the description of saved sketches says of what their job counted."""

    name: RowsName
    source: str | None  # the column that sources are told by; None: they are the input files
    of: list[Part]
    without: list[str] = []  # generations that were merged, and whose jobs counted nothing

    def __post_init__(self) -> None:
        """Check that there is one part about each folder."""
        if len({one.folder for one in self.of}) < len(self.of):
            raise ValueError("it has several parts about one folder")


class CountRows:
    """Rows about the ``documents`` of one folder, in a file with others; they are read as they are asked for."""

    def __init__(self, folder: AnyPath, counts: Counts, part: int, documents: int) -> None:
        self._path, self._counts, self._documents = folder / counts.name, counts, documents
        begin = sum(one.rows for one in counts.of[:part])
        self._batches = self._read(begin, begin + counts.of[part].rows)
        self._held: pa.RecordBatch | None = None

    def below(self, row: int) -> Iterator[pa.RecordBatch]:
        """Yield the rows about documents before one, that were not asked for before."""
        while True:
            if self._held is None:
                self._held = next(self._batches, None)
            if self._held is None:
                return
            end = int(np.searchsorted(to_numpy(self._held.column("row")), row))
            yield self._held.slice(0, end)
            if end < len(self._held):
                self._held = self._held.slice(end)
                return
            self._held = None

    def _read(self, begin: int, end: int) -> Iterator[pa.RecordBatch]:
        """Read some rows and check them; the file is open while a row group is read: there can be very many."""
        first, group, last = 0, 0, -1
        with reading(str(self._path), "damaged", MemoryError):
            next(folder_of(self._path.parent).sizes([self._path.name]))  # a reader would wait for a pipe
            while first < end:
                with parquet_file(self._path, checked=True) as file:
                    n_rows = sum(one.rows for one in self._counts.of)
                    there = file.metadata.num_rows == n_rows and group < file.num_row_groups
                    if not there or not file.schema_arrow.equals(COUNTS):
                        raise ValueError("it has other rows, or other columns, than were written")
                    n = file.metadata.row_group(group).num_rows
                    if not 0 <= n <= GROUP_ROWS:
                        raise ValueError(f"{n:,} rows are in one group; as many as {GROUP_ROWS:,} are written together")
                    low, high = max(begin - first, 0), min(end - first, n)
                    table = file.read_row_group(group, use_threads=False).slice(low, high - low) if low < high else None
                    if table is not None and len(table) < high - low:
                        raise ValueError("it is cut short")
                for batch in table.combine_chunks().to_batches() if table is not None else ():
                    last = self._check(batch, last)
                    yield batch
                first, group = first + n, group + 1

    def _check(self, batch: pa.RecordBatch, last: int) -> int:
        """Check some rows; return the last document, before which none may come."""
        bounds: dict[str, tuple[float, float]] = {name: (0, MOST) for name in COUNTS.names if name != "source"}
        bounds["row"] = 0, self._documents - 1
        check_values(batch, bounds, ("source",))
        rows = to_numpy(batch.column("row"))
        if rows[0] < last or (np.diff(rows) < 0).any():
            raise ValueError("its column row does not ascend")
        return int(rows[-1])
