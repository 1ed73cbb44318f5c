"""The documents of all inputs, as the local engine reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ...errors import InputDataError
from ...files.ahead import make_first, map_ahead
from ...files.workspace import Workspace
from ...formats.split import Split
from ...inputs.read import ReadOptions, read_documents, read_split
from ...inputs.sketch_rows import is_saved
from ...inputs.texts import wanted_texts
from ...text.texts import Later, Texts, from_arrow_array
from ...values.arrow import to_numpy
from ...values.tables import SOURCE_BITS
from ..engine import Batches
from ..progress import share_of
from .tables import LazyTable, Piece
from .texts import MemoryTexts, TextLog

PIECE_BYTES = 4 << 20
SMALL, TOGETHER = 1 << 15, 256  # bytes of batches that are put together, and how many


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
                yield Piece(partial(self._made, texts, batch, place), mark + rows)
                continue
            for begin, end in texts.cut(PIECE_BYTES):
                yield Piece(partial(iter, [batch.slice(begin, end - begin)]), mark + rows - len(texts) + end)

    def _together(self, read: Iterator[tuple[int, Texts, pa.RecordBatch]]) -> Iterator[tuple[Texts, pa.RecordBatch]]:
        """Put together what comes in small batches: of very many small files each is one."""
        waiting: list[pa.RecordBatch] = []
        for number, texts, batch in read:
            small = number >= self._n_saved and not isinstance(texts, Later) and texts.n_bytes < SMALL
            if waiting and (not small or len(waiting) == TOGETHER):
                yield _joined(waiting)
                waiting = []
            if small:
                waiting.append(batch)
            else:
                yield texts, batch
            del texts, batch
        if waiting:
            yield _joined(waiting)

    def _made(self, later: Later, batch: pa.RecordBatch, place: int | None) -> Batches:
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


def _joined(batches: list[pa.RecordBatch]) -> tuple[Texts, pa.RecordBatch]:
    (batch,) = pa.Table.from_batches(batches).combine_chunks().to_batches()
    return from_arrow_array(batch.column("text")), batch
