"""Texts by row: of all documents, in memory; or of those that are compared, in the parts of a workspace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..io.workspace import Workspace
from ..kernels.shingling import gather_rows
from ..text.texts import Texts
from ..values import Int64Array
from ..values.arrays import runs


def _gather(chunk: Int64Array, local: Int64Array, sizes: Int64Array, read: Callable[[int], Texts]) -> Texts:
    """Copy texts together, in the order given, from chunks read one after the other."""
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    data = np.empty(offsets[-1], np.uint8)
    by_chunk = np.argsort(chunk, kind="stable")
    for begin, end in runs(chunk[by_chunk]):
        places = by_chunk[begin:end]
        texts = read(int(chunk[places[0]]))
        gather_rows(texts.data, texts.offsets, local[places], offsets[places], data)
    return Texts(data, offsets)


class HeldTexts:
    """Texts in memory, in chunks of several rows, row after row."""

    def __init__(self) -> None:
        self.chunks: list[Texts] = []
        self.n_bytes = 0
        self._starts: Int64Array | None = None

    def append(self, texts: Texts) -> None:
        """Hold some more."""
        self.chunks.append(texts)
        self.n_bytes += texts.n_bytes
        self._starts = None

    def take(self, rows: Int64Array, sizes: Int64Array) -> Texts:
        """Copy the texts of some rows, of so many bytes, together."""
        if self._starts is None:
            self._starts = np.cumsum([0, *map(len, self.chunks)])
        chunk = np.searchsorted(self._starts, rows, side="right") - 1
        return _gather(chunk, rows - self._starts[chunk], sizes, self.chunks.__getitem__)


class SpilledTexts:
    """The texts of one partition, in the chunks that were written while the documents were read again.

    A chunk holds, for partition p, ``rows-p`` (ascending, and from chunk to chunk), ``sizes-p`` and ``data-p``.
    """

    def __init__(self, workspace: Workspace, chunks: list[str], partition: int, hold: bool) -> None:
        self._workspace = workspace
        self._data = f"data-{partition}"
        parts = [(name, workspace.get(name)) for name in chunks]
        parts = [(name, part) for name, part in parts if f"rows-{partition}" in part]
        self._names = [name for name, _ in parts]
        rows = [part[f"rows-{partition}"] for _, part in parts]
        self._sizes = [part[f"sizes-{partition}"] for _, part in parts]
        self._rows = np.concatenate([np.empty(0, np.int64), *rows])
        self._starts = np.cumsum([0, *map(len, rows)])
        self._held = [self._read(i) for i in range(len(parts))] if hold else None

    def _read(self, i: int) -> Texts:
        data = self._workspace.get(self._names[i])[self._data]
        return Texts(data, np.concatenate([[0], np.cumsum(self._sizes[i])]))

    def take(self, rows: Int64Array, sizes: Int64Array) -> Texts:
        """Copy the texts of some rows, of so many bytes, together."""
        place = np.searchsorted(self._rows, rows)
        chunk = np.searchsorted(self._starts, place, side="right") - 1
        return _gather(chunk, place - self._starts[chunk], sizes, self._held.__getitem__ if self._held else self._read)


class Spilling:
    """Writes texts, met in the order of their rows, into chunks sorted by partition."""

    STEM = "texts"

    def __init__(self, workspace: Workspace, rows: Int64Array, partition: Int64Array, sizes: Int64Array, limit: int) -> None:
        self._workspace = workspace
        self._rows, self._partition, self._sizes, self._limit = rows, partition, sizes, limit
        chunks = workspace.numbered(self.STEM)
        self.until = int(workspace.get(chunks[-1])["until"][0]) if chunks else 0
        self._data: list[NDArray[np.uint8]] = []
        self._begin = int(np.searchsorted(rows, self.until))
        self._waiting = 0

    def take(self, first_row: int, texts: Texts) -> None:
        """Take those of some texts in a row that are wanted.

        Raises
        ------
        ValueError
            If one has another size than it had.
        """
        begin, end = np.searchsorted(self._rows, [first_row, first_row + len(texts)]).tolist()
        local, sizes = self._rows[begin:end] - first_row, self._sizes[begin:end]
        if not np.array_equal(texts.offsets[local + 1] - texts.offsets[local], sizes):
            raise ValueError("a text has another size than before")
        self._data.append(_gather(np.zeros(len(local), np.int64), local, sizes, lambda _: texts).data)
        self._waiting += len(self._data[-1])
        self.until = first_row + len(texts)
        if self._waiting > self._limit:
            self.flush()

    def flush(self) -> None:
        """Write what waits as a chunk."""
        end = int(np.searchsorted(self._rows, self.until))
        chosen = slice(self._begin, end)
        sizes, partition = self._sizes[chosen], self._partition[chosen]
        order = np.argsort(partition, kind="stable")
        data = np.concatenate([np.empty(0, np.uint8), *self._data])
        self._data = []
        texts = Texts(data, np.concatenate([[0], np.cumsum(sizes)]))
        arrays: dict[str, NDArray[Any]] = {"until": np.array([self.until])}
        for begin, stop in runs(partition[order]):
            places = order[begin:stop]
            number = int(partition[places[0]])
            arrays[f"rows-{number}"] = self._rows[chosen][places]
            arrays[f"sizes-{number}"] = sizes[places]
            arrays[f"data-{number}"] = _gather(np.zeros(len(places), np.int64), places, sizes[places], lambda _: texts).data
        self._workspace.append(self.STEM, arrays)
        self._begin, self._waiting = end, 0
