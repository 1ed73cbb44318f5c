"""Texts on a cluster, read by the tasks that need them, from the inputs or from files that other tasks wrote.

A *unit* (a piece of an input, or a file of texts) is read from its beginning on, at most once: rows come sorted by unit and
place.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ...files.folder import create, parquet_file
from ...files.urls import AnyPath
from ...formats.split import Split
from ...inputs.read import ReadOptions
from ...inputs.texts import reader_of
from ...text.texts import from_arrow_array
from ...values import Int64Array
from ...values.arrays import runs
from ...values.arrow import to_arrow, to_numpy
from ...values.tables import SOURCE_BITS
from ..engine import Batches

GROUP_BYTES = 4 << 20
"""Bytes of text in a row group of a file of texts, about."""
BATCH_BYTES = 16 << 20
"""Bytes of text in a batch that goes to Spark, or one text."""
UNIT_BYTES = 64 << 20
"""Bytes on the disk of a piece of an input that a task reads."""

WHERE = pa.schema([("unit", pa.int64()), ("place", pa.int64())])
_TEXT = pa.schema([("text", pa.large_binary())])
_ROW = (1 << SOURCE_BITS) - 1
Held = tuple[int, pa.Array]
Reader = Callable[[int], Held]


@dataclass(frozen=True, slots=True)
class Unit:
    """A piece of an input: which input, its first row, and the split that reads it."""

    number: int
    first: int
    split: Split

    @property
    def start(self) -> int:
        """The position of its first document."""
        return (self.number << SOURCE_BITS) + self.first


@dataclass(frozen=True, slots=True)
class InputTexts:
    """The texts of inputs; a document's unit is the piece that it is in, its place its position."""

    units: tuple[Unit, ...]
    reading: ReadOptions

    @property
    def starts(self) -> Int64Array:
        """The positions that units begin with."""
        return np.array([unit.start for unit in self.units], np.int64)

    def open(self, unit: int) -> Reader:
        """Return what gives the batch of texts that holds a place, and its first place; places only ascend."""
        piece = self.units[unit]
        piece.split.check_unchanged()
        texts = reader_of(piece.split, self.reading)

        def read(place: int) -> Held:
            first, batch = texts.at(place - piece.start)
            return piece.start + first, batch.texts.column()

        return read


@dataclass(frozen=True, slots=True)
class TextFiles:
    """Texts in files that tasks wrote; a unit is the number in a file's name, a place the row there."""

    folder: AnyPath

    def path(self, unit: int) -> AnyPath:
        return self.folder / f"{unit:016x}.parquet"

    def open(self, unit: int) -> Reader:
        """Return what gives the row group that holds a place, and its first place; places only ascend."""
        file = parquet_file(self.path(unit))
        sizes = [file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)]
        starts = np.cumsum([0, *sizes])
        held: list[Any] = [-1, None]

        def read(place: int) -> Held:
            group = int(np.searchsorted(starts, place, side="right")) - 1
            if group != held[0]:
                text = file.read_row_group(group, ["text"], use_threads=False).column("text").combine_chunks()
                held[:] = [group, text if isinstance(text, pa.Array) else pa.concat_arrays(text.chunks)]
            return int(starts[group]), held[1].cast(pa.large_binary())

        return read


@dataclass(frozen=True, slots=True)
class FrameTexts:
    """The texts of data frames, which tasks wrote, and of saved documents, whose units are below zero: -1 is the first."""

    saved: InputTexts
    spooled: TextFiles

    def open(self, unit: int) -> Reader:
        return self.saved.open(-1 - unit) if unit < 0 else self.spooled.open(unit)


TextsOfJob = InputTexts | TextFiles | FrameTexts


def read_wanted(batches: Batches, texts: TextsOfJob, name: str, schema: pa.Schema) -> Batches:
    """Add texts to rows sorted by unit and place."""
    unit, read = -(1 << 63), None  # no unit has that number
    for batch in batches:
        units, places = (to_numpy(batch.column(column)) for column in WHERE.names)
        done = 0
        while done < len(batch):
            if units[done] != unit:
                unit = int(units[done])
                read = texts.open(unit)
            assert read is not None
            first, held = read(int(places[done]))
            stop = int(np.searchsorted(units, unit, side="right"))
            stop = done + int(np.searchsorted(places[done:stop], first + len(held)))
            wanted = places[done:stop] - first
            sizes = np.diff(from_arrow_array(held).offsets)[wanted]
            for begin, end in runs((np.cumsum(sizes) - sizes) // BATCH_BYTES):
                rows, some = batch.slice(done + begin, end - begin), held.take(to_arrow(wanted[begin:end]))
                yield pa.RecordBatch.from_arrays(
                    [some if field.name == name else rows.column(field.name) for field in schema], schema=schema
                )
            del held
            done = stop


class Spool:
    """A file of texts, one for each attempt of a task: rows name it, so that it counts if Spark takes those of that attempt."""

    def __init__(self, folder: AnyPath) -> None:
        self.unit = int.from_bytes(os.urandom(8)) >> 1
        self._files = TextFiles(folder)
        self._writer: pq.ParquetWriter | None = None
        self._file = ExitStack()
        self._held: list[pa.Array] = []
        self._size = self._rows = 0

    def add(self, texts: pa.Array) -> list[pa.Array]:
        """Write texts; return their units and places."""
        n = len(texts)
        self._held.append(texts)
        self._size += int(np.diff(from_arrow_array(texts).offsets).sum())
        if self._size >= GROUP_BYTES:
            self._write()
        first, self._rows = self._rows, self._rows + n
        return [to_arrow(np.full(n, self.unit)), to_arrow(np.arange(first, self._rows))]

    def _write(self) -> None:
        if self._writer is None:
            stream = self._file.enter_context(create(self._files.path(self.unit)))
            self._writer = pq.ParquetWriter(stream, _TEXT, compression="lz4", use_dictionary=False)
        group = pa.Table.from_arrays([pa.chunked_array(self._held)], schema=_TEXT)
        self._writer.write_table(group, max(1, len(group)))
        self._held, self._size = [], 0

    def close(self) -> None:
        """Write what is left; the file is on the disk then."""
        if self._held:
            self._write()
        if self._writer is not None:
            self._writer.close()
            self._file.close()


def spool(batches: Batches, folder: AnyPath, schema: pa.Schema) -> Batches:
    """Write the texts of rows to a file, and give unit and place in their stead."""
    file = Spool(folder)
    for batch in batches:
        where = dict(zip(WHERE.names, file.add(batch.column("text")), strict=True))
        columns = [where[field.name] if field.name in where else batch.column(field.name) for field in schema]
        yield pa.RecordBatch.from_arrays(columns, schema=schema)
    file.close()


def units_of(splits: Sequence[Split]) -> tuple[Unit, ...]:
    """Return the pieces that inputs are read in, in the order of positions; tasks are what parses side by side."""
    alone = (replace(split, threads=1) for split in splits)
    return tuple(Unit(number, first, piece) for number, split in enumerate(alone) for first, piece in split.pieces(UNIT_BYTES))


def located(batches: Batches, starts: np.ndarray[Any, Any], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Add to rows with positions the unit and place where their texts are; ``starts`` are the positions units begin with."""
    for batch in batches:
        positions = to_numpy(batch.column("position"))
        where = {"unit": np.searchsorted(starts, positions, side="right") - 1, "place": positions}
        columns = [to_arrow(where[f.name]) if f.name in where else batch.column(f.name) for f in schema]
        yield pa.RecordBatch.from_arrays(columns, schema=schema)
