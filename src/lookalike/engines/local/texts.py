"""Texts by row: of all documents, in memory; or of those that are compared, in the parts of a workspace."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import IndexFormatError
from ...files.layout import ChunkedArray
from ...files.workspace import Workspace
from ...text.texts import Texts, concatenate, take_rows
from ...values import Int64Array
from ...values.arrays import runs
from .columns import inverse


def _take_by_part(numbers: NDArray[Any], rows: Int64Array, take: Callable[[int, Int64Array], Texts]) -> Texts:
    """Copy texts together, in the order given, from parts, told by number, one after the other."""
    order = np.argsort(numbers, kind="stable")
    parts = [take(int(numbers[order[begin]]), rows[order[begin:end]]) for begin, end in runs(numbers[order])]
    return parts[0] if len(parts) == 1 else concatenate(parts).take(inverse(order))


class MemoryTexts:
    """Texts in memory, in chunks of several rows, row after row."""

    def __init__(self) -> None:
        self.chunks: list[Texts] = []
        self.n_bytes = 0
        self._starts: Int64Array | None = None
        self._turn = threading.Lock()

    def append(self, texts: Texts) -> None:
        self.chunks.append(texts)
        self.n_bytes += texts.n_bytes
        self._starts = None

    def put(self, place: int, texts: Texts) -> None:
        """Hold a chunk in place of one of as many rows that is empty; threads may do so side by side."""
        self.chunks[place] = texts
        with self._turn:
            self.n_bytes += texts.n_bytes

    def begin_with(self, chunks: list[Texts], n_rows: int) -> None:
        """Hold these chunks in place of those that have the first rows, so many."""
        ends = np.cumsum([len(texts) for texts in self.chunks])
        replaced = int(np.searchsorted(ends, n_rows)) + 1 if n_rows else 0
        self.n_bytes += sum(texts.n_bytes for texts in chunks) - sum(texts.n_bytes for texts in self.chunks[:replaced])
        self.chunks[:replaced] = chunks
        self._starts = None

    def take(self, rows: Int64Array) -> Texts:
        """Copy the texts of some rows together."""
        if self._starts is None:
            self._starts = np.cumsum([0, *map(len, self.chunks)])
        chunk = np.searchsorted(self._starts, rows, side="right") - 1
        return take_rows(self.chunks, chunk, rows - self._starts[chunk])


class TextLog:
    """Texts of all documents on the disk, as they came."""

    STEM = "extracted"

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def append(self, first: int, texts: Texts) -> None:
        """Write some texts in a row, of which the first belongs to row ``first``; a row may come again after a crash."""
        data = texts.content
        self._workspace.append(self.STEM, {"first": np.array([first]), "data": data, "sizes": np.diff(texts.offsets)})

    def read(self, begin: int, end: int) -> Iterator[tuple[int, Texts]]:
        """Yield (first row, texts) of the rows from ``begin`` to ``end``, in their order."""
        row = begin
        for name in self._workspace.numbered(self.STEM):
            part = self._workspace.get(name)
            first, sizes = int(part["first"][0]), part["sizes"]
            if first <= row < first + len(sizes):
                yield row, Texts(part["data"], np.concatenate([[0], np.cumsum(sizes)])[row - first :])
                row = first + len(sizes)
        if row < end:
            raise IndexFormatError("parts of the job are missing; empty the folder and start again", self._workspace.folder)


class _Partition:
    """The texts of partition p; each chunk has ``rows-p`` (ascending, and from chunk to chunk), ``sizes-p`` and ``data-p``."""

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
        self._last: tuple[int, Texts] | None = None

    def _at_hand(self, i: int) -> Texts:
        """Read a chunk, unless it was the last one asked for: rows are mostly asked for in their order."""
        last = self._last
        if last is None or last[0] != i:
            self._last = last = (i, self._read(i))
        return last[1]

    def _read(self, i: int) -> Texts:
        data = self._workspace.get(self._names[i])[self._data]
        return Texts(data, np.concatenate([[0], np.cumsum(self._sizes[i])]))

    def take(self, rows: Int64Array) -> Texts:
        """Copy the texts of some rows together."""
        place = np.searchsorted(self._rows, rows)
        if len(rows) and (int(place.max()) >= len(self._rows) or (self._rows[place] != rows).any()):
            raise IndexFormatError("parts of the job are missing; empty the folder and start again", self._workspace.folder)
        chunk = np.searchsorted(self._starts, place, side="right") - 1
        local = place - self._starts[chunk]
        if len(rows) == 1:  # not copied: it may be large
            first = int(local[0])
            return (self._held.__getitem__ if self._held else self._at_hand)(int(chunk[0])).slice(first, first + 1)
        if self._held is not None:
            return take_rows(self._held, chunk, local)
        return _take_by_part(chunk, local, lambda i, some: self._at_hand(i).take(some))


class PartitionedTexts:
    """Texts on the disk by the partition of each row; those below ``n_held`` are read as a whole, others a chunk at a time."""

    def __init__(self, workspace: Workspace, partition: NDArray[np.int32], n_held: int) -> None:
        self._partition = partition
        chunks = workspace.numbered(Spilling.STEM)
        self._turn = threading.Lock()
        self._open = lru_cache(2)(lambda number: _Partition(workspace, chunks, number, number < n_held))

    def _at(self, number: int) -> _Partition:
        with self._turn:  # two threads would read it twice
            return self._open(number)

    def take(self, rows: Int64Array) -> Texts:
        """Copy the texts of some rows together, in the order given."""
        return _take_by_part(self._partition[rows], rows, lambda number, some: self._at(number).take(some))


class Spilling:
    """Writes texts, met in the order of rows, into chunks of ``limit`` bytes sorted by partition; negative: not wanted."""

    STEM = "texts"

    def __init__(self, workspace: Workspace, partition: NDArray[np.int32], limit: int) -> None:
        self._workspace = workspace
        self._partition = partition
        self._limit = limit
        chunks = workspace.numbered(self.STEM)
        self.until = int(workspace.get(chunks[-1])["until"][0]) if chunks else 0
        self._rows: list[Int64Array] = []
        self._texts: list[Texts] = []
        self._waiting = 0

    def take(self, first_row: int, texts: Texts) -> None:
        """Take those of some texts in a row that are wanted."""
        local = np.flatnonzero(self._partition[first_row : first_row + len(texts)] >= 0)
        self._texts.append(texts.take(local))
        self._rows.append(first_row + local)
        self._waiting += self._texts[-1].n_bytes
        self.until = first_row + len(texts)
        if self._waiting > self._limit:
            self.flush()

    def take_all(self, documents: Iterator[tuple[int, Texts]], check: Callable[[], None]) -> None:
        """Take those of all texts that are wanted, and write them; ``check`` is called after some of them."""
        for first, texts in documents:
            self.take(first, texts)
            check()
        self.flush()

    def flush(self) -> None:
        if not self._rows:
            return
        texts, rows = self._texts, np.concatenate(self._rows)
        self._texts, self._rows, self._waiting = [], [], 0
        partition, sizes = self._partition[rows], np.concatenate([np.diff(some.offsets) for some in texts])
        chunk = np.repeat(np.arange(len(texts)), [len(some) for some in texts])
        local = np.concatenate([np.arange(len(some)) for some in texts])
        order = np.argsort(partition, kind="stable")

        def gathered(places: Int64Array) -> Iterator[NDArray[np.uint8]]:
            """Make the texts of one partition when it is its turn to be written."""
            yield take_rows(texts, chunk[places], local[places]).data

        arrays: dict[str, Any] = {"until": np.array([self.until])}
        for begin, stop in runs(partition[order]):
            places = order[begin:stop]
            number = int(partition[places[0]])
            arrays[f"rows-{number}"] = rows[places]
            arrays[f"sizes-{number}"] = sizes[places]
            arrays[f"data-{number}"] = ChunkedArray(np.dtype(np.uint8), (int(sizes[places].sum()),), gathered(places))
        self._workspace.append(self.STEM, arrays)
