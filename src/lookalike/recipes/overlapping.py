"""The matches of an overlap, in memory or on the disk, and as a table when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from ..files.workspace import Workspace
from ..inputs.ids import Ids
from ..values import Float64Array, Int64Array
from ..values.arrow import to_arrow
from .passages import Passages

STEM = "matches"
NAMES = ("rows", "passages", "resemblance", "containment")
PART_BYTES = 4 << 20
Columns = tuple[Int64Array, Int64Array, Float64Array, Float64Array]


class Found:
    """Matches as they are found, in the order of the documents: part after part.

    Parameters
    ----------
    most : int
        Bytes that are held in memory; then all goes to the disk.
    """

    def __init__(self, most: int) -> None:
        self._most, self._n_bytes = most, 0
        self._waiting: list[Columns] = []
        self._waiting_bytes = 0
        self._workspace = Workspace()
        self._spans: list[tuple[int, int]] = []  # the first and the last document of each part
        self.n = 0

    def append(self, rows: Int64Array, passages: Int64Array, resemblance: Float64Array, containment: Float64Array) -> None:
        """Take some matches."""
        if not len(rows):
            return
        self._waiting.append((rows, passages, resemblance, containment))
        self._waiting_bytes += sum(column.nbytes for column in self._waiting[-1])
        self.n += len(rows)
        if self._waiting_bytes > min(PART_BYTES, self._most):
            self.flush()

    def flush(self) -> None:
        """Make a part of what waits."""
        if not self._waiting:
            return
        columns = [np.concatenate(column) for column in zip(*self._waiting, strict=True)]
        self._workspace.append(STEM, dict(zip(NAMES, columns, strict=True)))
        self._spans.append((int(columns[0][0]), int(columns[0][-1])))
        self._n_bytes += self._waiting_bytes
        self._waiting, self._waiting_bytes = [], 0
        if self._n_bytes > self._most and not self._workspace.on_disk:
            self._workspace.move_to_disk()

    def parts(self, begin: int = 0, end: int | None = None) -> Iterator[Columns]:
        """Yield the columns of each part with matches of documents from ``begin`` up to ``end``; all were flushed."""
        for number, (first, last) in enumerate(self._spans):
            if last >= begin and (end is None or first < end):
                part = self._workspace.get(f"{STEM}-{number:06}")
                yield part["rows"], part["passages"], part["resemblance"], part["containment"]


class MatchTable:
    """The matches of an overlap as rows, which are made as they are gone through.

    Parameters
    ----------
    ids, names : Ids
        Of the documents, and of the reference documents.
    sizes : (int, int)
        How many there are of each.
    whole : bool
        Whether reference documents were matched as a whole.
    """

    def __init__(self, found: Found, ids: Ids, names: Ids, sizes: tuple[int, int], passages: Passages, whole: bool) -> None:
        self._found, self._ids, self._names, self._sizes, self._whole = found, ids, names, sizes, whole
        self._document, self._start = passages.document, passages.start
        none: list[Any] = [np.empty(0, kind) for kind in (np.int64, np.int64, np.float64, np.float64)]
        self.schema = self._rows(*none).schema

    def __len__(self) -> int:
        """Return the number of matches."""
        return self._found.n

    def _rows(self, rows: Int64Array, chosen: Int64Array, resemblance: Float64Array, containment: Float64Array) -> pa.Table:
        return pa.table({
            "id": taken(self._ids, rows, self._sizes[0]),
            "reference": taken(self._names, self._document[chosen], self._sizes[1]),
            "passage": to_arrow(self._start[chosen], np.full(len(chosen), self._whole)),
            "resemblance": resemblance,
            "containment": containment,
        })  # fmt: skip

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Make the rows and yield them."""
        for columns in self._found.parts():
            yield from self._rows(*columns).to_batches()

    def scores(self, contained: bool) -> Iterator[tuple[Int64Array, Int64Array, Float64Array]]:
        """Yield (reference document, document, score) of all matches: the containment, or the resemblance."""
        for rows, passages, resemblance, containment in self._found.parts():
            yield self._document[passages], rows, containment if contained else resemblance

    def called(self, references: Int64Array, rows: Int64Array) -> list[Any]:
        """Return the ids of some reference documents, and of some documents."""
        theirs = taken(self._names, references, self._sizes[1]).to_pylist()
        return [*theirs, *taken(self._ids, rows, self._sizes[0]).to_pylist()]

    def table(self) -> pa.Table:
        """Return all rows."""
        return pa.Table.from_batches(list(self.batches()), self.schema).combine_chunks()

    def best(self, begin: int, end: int) -> tuple[Int64Array, pa.Table]:
        """Return (documents from ``begin`` to ``end`` that have matches, ascending; the best match of each)."""
        rows, tables = [np.empty(0, np.int64)], [self.schema.empty_table()]
        for found, passages, resemblance, containment in self._found.parts(begin, end):
            firsts = np.flatnonzero(np.diff(found, prepend=-1))  # matches of a document are together, the best first
            firsts = firsts[(found[firsts] >= begin) & (found[firsts] < end)]
            rows.append(found[firsts])
            tables.append(self._rows(found[firsts], passages[firsts], resemblance[firsts], containment[firsts]))
        return np.concatenate(rows), pa.concat_tables(tables)


def taken(ids: Ids, rows: Int64Array, n_rows: int) -> pa.Array:
    """Return the ids of some rows, of the same type whether there are rows or not."""
    return ids.take(rows) if len(rows) or not n_rows else ids.take(np.zeros(1, np.int64)).slice(0, 0)
