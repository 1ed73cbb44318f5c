"""The tables of the local engine: rows made piece by piece in threads, columns kept in a workspace, values by order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..files.store import Workspace
from ..kernels._threads import in_order
from ..values import Int64Array
from .engine import Batches

ROWS = 1 << 16  # of a stored table that are given to a step at a time
Columns = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Piece:
    """Rows that one thread makes: how, and the mark from which a job goes on when they are done."""

    make: Callable[[], Batches]
    mark: int = 0


class Lazy:
    """Rows that are made when they are asked for, a piece for each thread at a time.

    Parameters
    ----------
    schema : pyarrow.Schema
    pieces : callable
        From a mark to the pieces after it.
    threads : int
    """

    def __init__(self, schema: pa.Schema, pieces: Callable[[int], Iterator[Piece]], threads: int) -> None:
        self.schema = schema
        self.pieces = pieces
        self.threads = threads

    def marked(self, mark: int = 0) -> Iterator[tuple[int | None, pa.RecordBatch | None]]:
        """Yield the rows after a mark, and after each piece its own mark without rows."""
        if self.threads == 1:
            for piece in self.pieces(mark):
                for batch in piece.make():
                    yield None, batch
                yield piece.mark, None
            return
        for done, batches in in_order(_made, self.pieces(mark), self.threads):
            for batch in batches:
                yield None, batch
            yield done, None

    def batches(self) -> Batches:
        """Make the rows and yield them."""
        for _, batch in self.marked():
            if batch is not None and len(batch):
                yield batch

    def mapped(self, step: Callable[[Batches], Batches], schema: pa.Schema) -> Lazy:
        """Return the rows that a step makes of these."""

        def pieces(mark: int) -> Iterator[Piece]:
            for piece in self.pieces(mark):
                yield replace(piece, make=partial(_stepped, step, piece.make))

        return Lazy(schema, pieces, self.threads)

    def select(self, names: Sequence[str]) -> Lazy:
        """Return some columns."""
        schema = pa.schema([self.schema.field(name) for name in names])
        return self.mapped(partial(_chosen, list(names)), schema)


def _made(piece: Piece) -> tuple[int, list[pa.RecordBatch]]:
    return piece.mark, list(piece.make())


def _stepped(step: Callable[[Batches], Batches], make: Callable[[], Batches]) -> Batches:
    return step(make())


def _chosen(names: list[str], rows: Batches) -> Batches:
    for batch in rows:
        yield batch.select(names)


class Stored:
    """Columns of all documents in the parts of a workspace, one part after the other; a row's number is its ``order``.

    With ``place`` the order of row i is ``place[i]``. Rows may be left out by ``mask``, by row number.
    """

    def __init__(
        self, workspace: Workspace, parts: list[str], starts: Int64Array, schema: pa.Schema, threads: int,
        place: Int64Array | None = None, mask: NDArray[np.bool_] | None = None,
    ) -> None:  # fmt: skip
        self.workspace, self.parts, self.starts, self.schema, self.threads = workspace, parts, starts, schema, threads
        self.place, self.mask = place, mask

    def __len__(self) -> int:
        """Return the number of rows, those that are left out too."""
        return int(self.starts[-1])

    def having(self, **changed: Any) -> Stored:
        """Return the same columns with another schema, place or mask."""
        known = {"schema": self.schema, "place": self.place, "mask": self.mask} | changed
        return Stored(self.workspace, self.parts, self.starts, threads=self.threads, **known)

    def select(self, names: Sequence[str]) -> Stored:
        """Return some columns."""
        return self.having(schema=pa.schema([self.schema.field(name) for name in names]))

    def columns(self, *names: str) -> Iterator[tuple[int, list[NDArray[Any]]]]:
        """Yield (first row, some arrays) of part after part, all rows."""
        for part, first in zip(self.parts, self.starts.tolist(), strict=False):
            arrays = self.workspace.get(part)
            yield first, [arrays[name] for name in names]

    def column(self, name: str) -> NDArray[Any]:
        """Return one array of all rows."""
        parts = [arrays[0] for _, arrays in self.columns(name)]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def rows_of(self, orders: Int64Array) -> Int64Array:
        """Return the row numbers of orders."""
        return orders if self.place is None else self._row_of[orders]

    @property
    def _row_of(self) -> Int64Array:
        assert self.place is not None
        rows = np.empty(len(self.place), np.int64)
        rows[self.place] = np.arange(len(self.place))
        return rows

    def orders_of(self, begin: int, end: int) -> Int64Array:
        """Return the orders of rows in a row."""
        return np.arange(begin, end) if self.place is None else self.place[begin:end]

    def take(self, name: str, rows: Int64Array) -> NDArray[Any]:
        """Return one array at some rows, in the order given."""
        if len(self.parts) == 1:
            taken: NDArray[Any] = self.workspace.get(self.parts[0])[name][rows]
            return taken
        order = np.argsort(rows, kind="stable")
        bounds = np.searchsorted(rows[order], self.starts)
        pieces = []
        for i in np.flatnonzero(np.diff(bounds)).tolist() or [0]:
            places = rows[order[bounds[i] : bounds[i + 1]]] - self.starts[i]
            pieces.append(self.workspace.get(self.parts[i])[name][places])
        sorted_values = np.concatenate(pieces)
        out = np.empty_like(sorted_values)
        out[order] = sorted_values
        return out
