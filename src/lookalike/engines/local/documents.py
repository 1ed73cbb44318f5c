"""The documents of all inputs, as the local engine reads them; their texts again, from memory or from a workspace."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ...errors import IndexFormatError, InputDataError
from ...files.ahead import make_first, map_ahead
from ...files.layout import ChunkedArray
from ...files.workspace import Workspace
from ...formats.split import Split
from ...inputs.read import ReadOptions, read_documents, read_split
from ...inputs.sketch_rows import is_saved
from ...inputs.texts import wanted_texts
from ...text.texts import Later, Texts, concatenate, from_arrow_array, take_rows
from ...values import Int64Array
from ...values.arrays import runs
from ...values.arrow import to_numpy
from ...values.tables import SOURCE_BITS
from ..engine import Batches
from ..progress import share_of
from .tables import LazyTable, Piece, inverse

PIECE_BYTES = 4 << 20
SMALL, FEW, TOGETHER = 1 << 15, 16, 256  # bytes and rows of batches that are put together, and how many


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
        self._names: list[str] = []
        self._reached: NDArray[Any] = np.empty(0)  # the row that a part, or one before it, ends at
        self._last: tuple[str, int, Texts] | None = None  # many inputs may have texts in one part

    def append(self, first: int, texts: Texts) -> None:
        """Write some texts in a row, of which the first belongs to row ``first``; a row may come again after a crash."""
        data = texts.content
        self._workspace.append(self.STEM, {"first": np.array([first]), "data": data, "sizes": np.diff(texts.offsets)})
        self._names = []

    def _part(self, name: str) -> tuple[int, Texts]:
        """Read a part, unless it was the last one asked for."""
        last = self._last
        if last is None or last[0] != name:
            part = self._workspace.get(name)
            bounds = np.concatenate([[0], np.cumsum(part["sizes"])])
            self._last = last = (name, int(part["first"][0]), Texts(part["data"], bounds))
        return last[1:]

    def read(self, begin: int, end: int) -> Iterator[tuple[int, Texts]]:
        """Yield (first row, texts) of the rows from ``begin`` to ``end``, in their order."""
        if not self._names:
            names = list(self._workspace.numbered_names(self.STEM))
            parts = map(self._workspace.get, names)
            self._reached = np.maximum.accumulate([int(part["first"][0]) + len(part["sizes"]) for part in parts])
            self._names = names
        row = begin
        for name in self._names[int(np.searchsorted(self._reached, begin, "right")) :]:
            if row >= end:
                return
            first, texts = self._part(name)
            if first <= row < first + len(texts):
                yield row, texts.slice(row - first, len(texts))
                row = first + len(texts)
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
        chunks = workspace.numbered_names(Spilling.STEM)
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
        chunks = workspace.numbered_names(self.STEM)
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


class Documents(LazyTable):
    """The documents of all inputs; texts are held or read again, or, where costly to make again (web pages, PDF), kept."""

    def __init__(
        self, splits: Sequence[Split], reading: ReadOptions, *, threads: int, workspace: Workspace,
        progress: Callable[[str, int], None],
    ) -> None:  # fmt: skip
        self.schema, self.threads = reading.schema, threads
        self.splits, self.reading, self.progress = splits, reading, progress
        self._share = share_of(progress)
        self._amounts = Amounts(splits if self._share else ())
        self.held: MemoryTexts | None = None if workspace.on_disk or reading.once else MemoryTexts()
        self.rows_of = np.zeros(len(splits), np.int64)
        self._kept = TextLog(workspace)
        self._n_saved = sum(map(is_saved, splits))
        self._fetched = np.zeros(0, np.bool_)
        self._costly = bool(reading.pages) or any(split.form.parsed for split in splits)

    @property
    def saved_rows(self) -> int:
        """How many documents, at the front, are known by sketches that an earlier job saved."""
        return int(self.rows_of[: self._n_saved].sum())

    def fetch(self, wanted: NDArray[np.bool_]) -> None:
        """Hold those texts of saved documents that are wanted, of a flag for each; where texts are held."""
        if self.held is None or (len(self._fetched) and not (wanted & ~self._fetched).any()):
            return
        self._fetched = wanted
        self.held.begin_with([texts for _, texts in self._saved(0, wanted)], len(wanted))

    def _saved(self, begin: int, wanted: NDArray[np.bool_]) -> Iterator[tuple[int, Texts]]:
        """Read texts of saved documents; yield (first row, texts) from a row on, those that are not wanted empty."""
        first = 0
        for source, n in zip(self.splits, self.rows_of[: self._n_saved].tolist(), strict=False):
            if begin < first + n:
                source.check_unchanged()
                for row, texts in wanted_texts(source, wanted[first : first + n], max(0, begin - first)):
                    self.progress("reading candidates again", len(texts))
                    yield first + row, texts
            first += n

    def pieces(self, mark: int) -> Iterator[Piece]:
        """Yield the documents after so many, about ``PIECE_BYTES`` of text at a time."""
        rows, splits = 0, self._amounts.splits or self.splits
        reading = replace(self.reading, later=True)
        for texts, batch in self._together(read_documents(splits, reading, self.rows_of if mark else None)):
            np.add.at(self.rows_of, to_numpy(batch.column("position")) >> SOURCE_BITS, 1)
            if self.held is not None:
                self.held.append(texts)
            elif self._costly and not self.reading.once:
                self._kept.append(mark + rows, texts)
            rows += len(texts)
            self._tell()
            if isinstance(texts, Later):
                place = None if self.held is None else len(self.held.chunks) - 1
                yield Piece(partial(self._make_texts, texts, batch, place), mark + rows)
                continue
            for begin, end in texts.cut(PIECE_BYTES):
                yield Piece(partial(iter, [batch.slice(begin, end - begin)]), mark + rows - len(texts) + end)

    def _together(self, read: Iterator[tuple[int, Texts, pa.RecordBatch]]) -> Iterator[tuple[Texts, pa.RecordBatch]]:
        """Put together what comes in small batches: of very many small files each is one."""
        waiting: list[pa.RecordBatch] = []
        for number, texts, batch in read:
            small = number >= self._n_saved and not isinstance(texts, Later) and texts.n_bytes < SMALL and len(texts) <= FEW
            if waiting and (not small or len(waiting) == TOGETHER):
                yield _join_batches(waiting)
                waiting = []
            if small:
                waiting.append(batch)
            else:
                yield texts, batch
            del texts, batch
        if waiting:
            yield _join_batches(waiting)

    def _make_texts(self, later: Later, batch: pa.RecordBatch, place: int | None) -> Batches:
        """Make texts, hold them in the place that was left for them, and add them to their documents."""
        texts, held = later.make(), self.held
        if held is not None and place is not None:
            held.put(place, texts)
        at = batch.schema.get_field_index("text")
        yield batch.set_column(at, batch.schema.field(at), texts.column())

    def release_texts(self) -> None:
        """Hold no texts any longer."""
        row = 0
        for texts in self.held.chunks if self.held is not None and self._costly else ():
            self._kept.append(row, texts)
            row += len(texts)
        self.held = None

    def read_again(self, begin: int, wanted: NDArray[np.bool_]) -> Iterator[tuple[int, Texts]]:
        """Read once more; yield (first row, texts) from a row on. Of saved documents those are read that are wanted, by row."""
        starts = np.concatenate([[0], np.cumsum(self.rows_of)])
        yield from self._saved(begin, wanted)
        begin = max(begin, self.saved_rows)
        if self._costly:
            yield from self._kept.read(begin, int(starts[-1]))
            return
        skipped = np.clip(begin - starts[:-1], 0, self.rows_of)
        bare = ReadOptions(text=self.reading.text, encoding_errors=self.reading.encoding_errors)

        numbers = [number for number in range(len(self.splits)) if starts[number + 1] > begin]
        sources = ((self.splits[number], int(skipped[number])) for number in numbers)
        makes = ((source.remote_bytes, partial(_unchanged, source, bare, row)) for source, row in sources)
        for number, rows in zip(numbers, map_ahead(make_first, makes), strict=True):
            source, first, end = self.splits[number], int(starts[number]), int(starts[number + 1])
            row = first + int(skipped[number])
            for texts, _ in rows:
                self.progress("reading candidates again", len(texts))
                if self._share is not None:
                    self._share("reading candidates again", row + len(texts), int(starts[-1]), "documents")
                yield row, texts
                row += len(texts)
            if row != end:
                raise InputDataError(f"{end - first:,} rows were read at first, {row - first:,} now; run again", source.name)

    def in_order(self, begin: int, wanted: NDArray[np.bool_]) -> Iterator[tuple[int, Texts]]:
        """Yield (first row, texts) from a row on, as they are held or else read once more; they may be let go meanwhile."""
        if self.held is not None:
            self.fetch(wanted[: self.saved_rows])
        row = 0
        for texts in list(self.held.chunks) if self.held is not None else ():
            if self.held is None:
                break
            if begin < row + len(texts):
                yield row, texts
            row += len(texts)
        if self.held is None:
            yield from self.read_again(max(begin, row), wanted)

    def texts_of(self, number: int) -> Iterator[bytes]:
        """Yield the texts of an input that were parsed, and kept for that."""
        row, n_rows = int(self.rows_of[:number].sum()), int(self.rows_of[number])
        of_input = (
            texts.row(i)
            for first, texts in self.in_order(row, np.zeros(self.saved_rows, np.bool_))
            for i in range(max(0, row - first), len(texts))
        )
        return islice(of_input, n_rows)

    def _tell(self) -> None:
        """Report how much of the inputs is read: bytes on the disk; of values in memory, rows."""
        if self._share is None:
            return
        if self._amounts.total:
            self._share("sketches", self._amounts.done, self._amounts.total, "bytes")
        else:
            total = sum(split.expected(self.reading.text)[0] for split in self.splits)
            self._share("sketches", int(self.rows_of.sum()), total, "documents")


class Amounts:
    """Counts the bytes on the disk that are read of inputs, as ``splits`` tell; none of saved sketches: few texts are read."""

    def __init__(self, splits: Sequence[Split]) -> None:
        sizes = [0 if is_saved(split) else sum(place.size for place in split.places) for split in splits]
        self._starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        self.total = int(self._starts[-1])
        self._number = self._bytes = 0
        self.splits = [replace(split, on_read=partial(self._note, number)) for number, split in enumerate(splits)]

    def _note(self, number: int, n_bytes: int) -> None:
        if number != self._number:
            self._number, self._bytes = number, 0
        self._bytes += n_bytes

    @property
    def done(self) -> int:
        """Bytes that are read: all of the inputs before the one that was read last, and some of that one."""
        return min(int(self._starts[self._number]) + self._bytes, int(self._starts[self._number + 1]))


def _unchanged(source: Split, reading: ReadOptions, row: int) -> Iterator[tuple[Texts, pa.RecordBatch]]:
    """Read one input again, beyond some rows."""
    source.check_unchanged()
    yield from read_split(source, 0, reading, row)


def _join_batches(batches: list[pa.RecordBatch]) -> tuple[Texts, pa.RecordBatch]:
    (batch,) = pa.Table.from_batches(batches).combine_chunks().to_batches()
    return from_arrow_array(batch.column("text")), batch
