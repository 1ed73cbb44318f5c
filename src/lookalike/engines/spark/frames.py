"""Data frames as inputs, whose rows have neither order nor place, and may be made anew each time that they are asked for.

So the pass that sketches them also writes their texts to files, and what is compared later is what was sketched. Sketches are
sorted by the column of their order and their ids, and numbered.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from ...errors import InputDataError, RowError
from ...files.places import FoundFile
from ...files.urls import AnyPath
from ...formats.format import Format
from ...formats.memory import TABLES, table_split
from ...formats.split import Limit, Names, Split, names_of
from ...inputs.read import ReadOptions, read_split
from ...inputs.sketch_rows import is_saved
from ...values import Int64Array
from ...values.arrow import to_arrow, to_numpy
from ...values.tables import SOURCE_BITS
from ..engine import Batches, Step
from .columns import encoded, wire_schema
from .order import Sizes, frame_keys, key_fields, sort_and_number, with_frame_keys, with_made
from .tables import Cluster, SparkTable, Stage, StoredTable, of_numbers, union
from .tasks import explained, one_after_the_other, read_units
from .texts import WHERE, FrameTexts, InputTexts, Spool, TextFiles, units_of


@dataclass(frozen=True, eq=False)
class FrameInput:
    """A data frame in the place of a split; the name is for messages."""

    name: str
    frame: Any
    limit: Limit = field(default_factory=Limit)
    places: tuple[FoundFile, ...] = ()
    form: ClassVar[Format] = TABLES  # that its rows are read as

    def __getstate__(self) -> dict[str, Any]:
        """Leave the frame behind: tasks have no use for it."""
        return {**self.__dict__, "frame": None}

    def label(self, number: int) -> int:
        """Return the number of a row in the order of the frame: never asked for, as frames have ids."""
        return number

    def file(self, number: int) -> None:
        """Return None: there is no file."""

    def identity(self) -> dict[str, Any]:
        return {"name": self.name, "columns": dict(self.frame.dtypes)}

    def expected(self, text: Names) -> tuple[int, int]:
        """Return that nothing is known of the number of rows and bytes."""
        return 0, 0


class Frames(list[Split | FrameInput]):
    """Data frames as the inputs of a job, references first, among them those of saved sketches."""


class FrameSource(SparkTable):
    """The documents of data frames, which come to one step alone; ``reading`` names a column of ids."""

    def __init__(self, engine: Cluster, inputs: Sequence[Split | FrameInput], reading: ReadOptions) -> None:
        self.inputs, self.reading = list(inputs), reading
        self.spooled = TextFiles(engine.folder / "spooled")
        saved = InputTexts(units_of([one for one in inputs if isinstance(one, Split) and is_saved(one)]), reading)
        self.texts = FrameTexts(saved, self.spooled)
        self.sketched: SparkTable | None = None
        self._saved: SparkTable | None = None
        super().__init__(engine, pa.schema([*reading.schema, *WHERE]), self._read)

    def _read(self) -> tuple[Stage, ...]:
        """Let the tasks that make the rows of a frame read them as documents, and write the texts to files."""
        reading, stages = self.reading, []
        given = (*names_of(reading.text), reading.id, *reading.others)
        names = [f"`{name.replace('`', '``')}`" for name in dict.fromkeys(given) if name is not None]
        for number, one in enumerate(self.inputs):
            if isinstance(one, FrameInput):
                run = partial(_read_and_run, source=one, number=number, reading=reading, folder=self.spooled.folder)
                stages.append(Stage(one.frame.select(*names), run))
        return tuple(stages)

    def mapped(self, step: Step, schema: pa.Schema) -> SparkTable:
        """Run a step on all documents, saved ones apart."""
        self.sketched, texts = super().mapped(step, schema), self.texts.saved
        if texts.units:
            steps = (partial(read_units, texts=texts), partial(_with_places, starts=texts.starts), step)
            self._saved = of_numbers(self.engine, len(texts.units), partial(one_after_the_other, steps=steps), schema)
        return self.sketched

    def store_numbered(self, rows: SparkTable, name: str) -> SparkTable:
        """Store what was made of the documents, sorted; give them positions and numbers in that order."""
        engine = self.engine
        engine.discard_texts(self.spooled, f"{name}-unsorted")
        stored = StoredTable(engine, engine.write(rows, f"{name}-unsorted", adaptive=True), rows.schema)
        keys = frame_keys(rows.schema)
        keyed = pa.schema([*rows.schema, *key_fields(keys)])
        with_keys = stored.mapped(partial(with_frame_keys, schema=keyed), keyed)
        in_order, before = sort_and_number(with_keys, keys, name, rows.schema)
        sizes = engine.aggregate(stored.select(["position"]), Sizes(len(self.inputs)))[0]
        placed = in_order.mapped(partial(_add_positions, before=before, sizes=sizes, schema=rows.schema), rows.schema)
        if self._saved is None:
            return placed
        return union(StoredTable(engine, engine.write(self._saved, f"{name}-saved"), rows.schema), placed)

    def where(self, ranked: SparkTable) -> SparkTable:
        """Return order, unit and place of all documents."""
        return ranked.select(["order", *WHERE.names])


def _add_positions(batches: Batches, before: Int64Array, sizes: Int64Array, schema: pa.Schema) -> Batches:
    """Give sorted and numbered documents their positions, and numbers from 1."""
    firsts = np.cumsum(sizes) - sizes
    for batch in batches:
        source = to_numpy(batch.column("position")) >> SOURCE_BITS
        row = before[to_numpy(batch.column("part"))] + to_numpy(batch.column("index")) - firsts[source]
        made = {"position": (source << SOURCE_BITS) + row, "number": row + 1}
        yield with_made(batch, made, schema)


def _with_places(batches: Batches, starts: Int64Array) -> Batches:
    """Add to saved documents where their texts are: units below zero, and positions."""
    for batch in batches:
        positions = to_numpy(batch.column("position"))
        units = to_arrow(-np.searchsorted(starts, positions, side="right"))
        yield pa.RecordBatch.from_arrays([*batch.columns, units, batch.column("position")], [*batch.schema.names, *WHERE.names])


def _read_and_run(
    batches: Iterator[Any], source: FrameInput, number: int, reading: ReadOptions, folder: AnyPath, step: Step, after: pa.Schema
) -> Iterator[Any]:
    """Run a step on the documents of some rows of a frame, in a task."""
    last: list[pa.RecordBatch] = []
    with explained():
        try:
            yield from encoded(step(_documents(batches, source, number, reading, folder, last)), wire_schema(after))
        except RowError as error:
            positions = last[0].column("position").to_pylist()
            found = last[0].column("id")[positions.index(error.position)].as_py()
            raise _of_id(source.name, found, error) from error.__cause__


def _documents(
    batches: Iterator[Any], source: FrameInput, number: int, reading: ReadOptions, folder: AnyPath, last: list[pa.RecordBatch]
) -> Batches:
    """Yield documents with the places of their texts; the one that was yielded last is in ``last``."""
    texts, row = Spool(folder), 0
    schema = pa.schema([*reading.schema, *WHERE])
    for batch in batches:
        split = replace(table_split(pa.Table.from_batches([batch]), source.name), limit=source.limit)
        with _named_by_id(batch.column(reading.id)):
            for _, documents in read_split(split, number, reading, 0, row):
                row += len(documents)
                last[:] = [documents]
                yield pa.RecordBatch.from_arrays([*documents.columns, *texts.add(documents.column("text"))], schema=schema)
    texts.close()


def _of_id(name: str | None, id: object, error: InputDataError) -> InputDataError:
    return InputDataError(error.reason, f"{name}, id {id!r}", column=error.column)


@contextmanager
def _named_by_id(ids: pa.Array) -> Iterator[None]:
    """Name a row in an error by its id: numbers of rows mean nothing in a frame."""
    try:
        yield
    except InputDataError as error:
        if isinstance(error, RowError) or error.row is None:
            raise
        raise _of_id(error.path, ids[error.row].as_py(), error) from error.__cause__
