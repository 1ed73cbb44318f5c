"""Data frames as inputs: a frame's rows have neither order nor place, and may be made anew each time that they are asked for.

So the pass that sketches them also writes their texts to files in the work folder, and what is compared later is what was
sketched. Their order is that of a column and their ids: sketches are sorted by it, and numbered.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ..errors import InputDataError, RowError
from ..formats._split import Limit
from ..formats.memory import table_split
from ..inputs.reading import Reading, read_split
from ..values.tables import SOURCE_BITS
from .engine import Batches, Step
from .spark_rows import encoded, spark_schema, wire_schema
from .spark_tables import SparkTable, StoredTable
from .spark_tasks import explained
from .spark_texts import WHERE, Spool, TextFiles

if TYPE_CHECKING:
    from .spark import SparkEngine

_ROW = re.compile(r", row (\d+)")


@dataclass(frozen=True, eq=False)
class FrameInput:
    """A data frame in the place of a split.

    Parameters
    ----------
    name : str
        For messages.
    frame : pyspark.sql.DataFrame
    limit : Limit
        How large documents may be.
    """

    name: str
    frame: Any
    limit: Limit = field(default_factory=Limit)
    places: tuple[Any, ...] = ()

    def __getstate__(self) -> dict[str, Any]:
        """Leave the frame behind: tasks have no use for it."""
        return {**self.__dict__, "frame": None}

    def label(self, number: int) -> int:
        """Return the number of a row in the order of the frame: never asked for, as frames have ids."""
        return number

    def file(self, number: int) -> None:
        """Return None: there is no file."""

    def identity(self) -> dict[str, Any]:
        """Return what is known of a frame: its columns."""
        return {"name": self.name, "columns": dict(self.frame.dtypes)}

    def expected(self, text: str) -> tuple[int, int]:
        """Return that nothing is known of the number of rows and bytes."""
        return 0, 0


class Frames(list[FrameInput]):
    """Data frames as the inputs of a job, references first."""


class FrameSource(SparkTable):
    """The documents of data frames.

    Parameters
    ----------
    engine : SparkEngine
    inputs : Frames
    reading : Reading
        With ids.
    """

    def __init__(self, engine: SparkEngine, inputs: Sequence[FrameInput], reading: Reading) -> None:
        self.inputs, self.reading = list(inputs), reading
        self.texts = TextFiles(str(engine.folder / "spooled"))
        self.sketched: SparkTable | None = None
        super().__init__(engine, None, pa.schema([*reading.schema, *WHERE]))

    def mapped(self, step: Step, schema: pa.Schema) -> SparkTable:
        """Run a step on all documents, whose texts are written to files on the way."""
        reading, frames = self.reading, []
        given = (reading.text, reading.id, reading.priority, reading.order_by, reading.within)
        names = list(dict.fromkeys(name for name in given if name is not None))
        for number, given_frame in enumerate(self.inputs):
            source = replace(given_frame, frame=None)
            task = partial(
                _read_and_run, source=source, number=number, reading=reading, folder=self.texts.folder, step=step, schema=schema
            )
            frames.append(given_frame.frame.select(*(f"`{name}`" for name in names)).mapInArrow(task, spark_schema(schema)))
        self.sketched = SparkTable(self.engine, reduce(lambda one, other: one.unionByName(other), frames), schema)
        return self.sketched

    def numbered(self, rows: SparkTable, name: str) -> SparkTable:
        """Store what was made of the documents, sorted; give them positions and numbers in that order."""
        from pyspark.sql import functions

        engine = self.engine
        engine.discard_texts(self.texts, f"{name}-unsorted")
        stored = StoredTable(engine, engine.write(rows, f"{name}-unsorted"), rows.schema)
        column, source = functions.col, functions.shiftright("position", SOURCE_BITS)
        keys = [source]
        if self.reading.order_by is not None:
            keys += [functions.length("order_by") == 0, column("order_by")]  # a null has no bytes, and comes last
        keys += [functions.when(~column("id_is_text"), column("id").cast("bigint")), column("id")]
        joined, place = engine.numbered(SparkTable(engine, stored.frame.orderBy(*keys), rows.schema), name)
        counted = stored.frame.groupBy(source.alias("source")).agg(functions.count("*").alias("n"))
        sizes = {row.source: row.n for row in engine.act(counted.collect)}
        before = functions.lit(sizes.get(0, 0) if len(self.inputs) > 1 else 0)
        row = functions.when(source == 0, place).otherwise(place - before)
        made = {"position": functions.shiftleft(source, SOURCE_BITS) + row, "number": row + 1}
        return SparkTable(engine, joined.withColumns({key: new.cast("bigint") for key, new in made.items()}), rows.schema)

    def where(self, ranked: SparkTable) -> SparkTable:
        """Return order, unit and place of all documents."""
        return ranked.select(["order", *WHERE.names])


def _read_and_run(
    batches: Iterator[Any], source: FrameInput, number: int, reading: Reading, folder: str, step: Step, schema: pa.Schema
) -> Iterator[Any]:
    """Run a step on the documents of some rows of a frame, in a task."""
    last: list[pa.RecordBatch] = []
    with explained():
        try:
            yield from encoded(step(_documents(batches, source, number, reading, folder, last)), wire_schema(schema))
        except RowError as error:
            positions = last[0].column("position").to_pylist()
            found = last[0].column("id")[positions.index(error.position)].as_py()
            raise InputDataError(f"{source.name}, id {found!r}: {error.what}") from error.__cause__


def _documents(
    batches: Iterator[Any], source: FrameInput, number: int, reading: Reading, folder: str, last: list[pa.RecordBatch]
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


class _named_by_id:  # noqa: N801
    """Name a row in an error by its id: numbers of rows mean nothing in a frame."""

    def __init__(self, ids: pa.Array) -> None:
        self.ids = ids

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        """Say it otherwise."""
        if isinstance(error, InputDataError) and not isinstance(error, RowError) and (found := _ROW.search(str(error))):
            name: Callable[[Any], str] = repr
            said = _ROW.sub(lambda _: f", id {name(self.ids[int(found[1])].as_py())}", str(error), count=1)
            raise InputDataError(said) from error.__cause__
