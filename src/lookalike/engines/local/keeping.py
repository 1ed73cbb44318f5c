"""Rows on their way into the parts of a workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ...errors import IndexFormatError
from .columns import arrays_of, streamed
from .tables import UNFINISHED, Stored

if TYPE_CHECKING:
    from .engine import LocalEngine

PART_BYTES = 32 << 20


class Keeping:
    """One table on its way into parts; continues where an earlier run ended.

    Each part records up to which mark of the table it goes; one that ends within a piece is of no use after a crash. A table
    that is complete records how many parts it has.
    """

    def __init__(self, engine: LocalEngine, schema: pa.Schema, name: str) -> None:
        self.engine, self.schema, self.name = engine, schema, name
        self.workspace = engine.workspace
        self.mark = 0
        self._waiting: list[dict[str, NDArray[Any]]] = []
        self._bytes = 0
        self._part = min(PART_BYTES, engine.memory.free // 8)
        self.done = f"{name}-done" in self.workspace
        parts = self.workspace.numbered(name)
        if self.done and int(self.workspace.get(f"{name}-done")["parts"][0]) != len(parts):
            raise IndexFormatError(f"{self.workspace.folder}: parts of the job are missing; empty the folder and start again")
        if not self.done:
            marks = [int(self.workspace.get(part)["mark"][0]) for part in parts]
            while marks and marks[-1] == UNFINISHED:
                marks.pop()
                self.workspace.discard(parts.pop())
            self.mark = marks[-1] if marks else 0

    def take(self, batch: pa.RecordBatch) -> None:
        """Keep some rows."""
        arrays = arrays_of(batch)
        n_bytes = sum(array.nbytes for array in arrays.values())
        self._waiting.append(arrays)
        self._bytes += n_bytes
        self.engine.count(n_bytes)
        if self.workspace.on_disk and self._bytes > 2 * self._part:
            self._flush(UNFINISHED)

    def end(self, mark: int) -> None:
        """Take note that all rows up to a mark have come."""
        self.mark = mark
        limit = self._part if self.workspace.on_disk else PART_BYTES
        if self._bytes > limit:  # in memory too: to put all of a table together would take its memory twice
            self._flush(mark)

    def _flush(self, mark: int) -> None:
        waiting, self._waiting, self._bytes = self._waiting, [], 0
        self.workspace.append(self.name, streamed(waiting) | {"mark": np.array([mark])})

    def finish(self) -> Stored:
        """Return all that was kept."""
        if self._waiting:
            self._flush(self.mark)
        if not self.workspace.numbered(self.name):
            none = [pa.nulls(0, field.type) for field in self.schema]
            self._waiting = [arrays_of(pa.RecordBatch.from_arrays(none, schema=self.schema))]
            self._flush(self.mark)
        parts = self.workspace.numbered(self.name)
        if not self.done:
            self.workspace.put(f"{self.name}-done", {"parts": np.array([len(parts)])})
        first = self.schema.names[0]
        starts = np.cumsum([0, *(len(self.workspace.get(part)[first]) for part in parts)])
        return Stored(self.workspace, parts, starts, self.schema, self.engine.threads)
