"""Tables on a cluster: data frames under our types, rows in files, and rows with texts that are read where they are needed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from .engine import Batches, Step
from .spark_rows import decoded, spark_schema, wire_schema
from .spark_tasks import in_tasks
from .spark_texts import WHERE, InputTexts, TextFiles, read_wanted

if TYPE_CHECKING:
    from .spark import SparkEngine


class SparkTable:
    """Rows of a data frame under our types.

    Parameters
    ----------
    engine : SparkEngine
    frame : pyspark.sql.DataFrame
        With the columns of the schema, and perhaps others.
    schema : pyarrow.Schema
    """

    def __init__(self, engine: SparkEngine, frame: Any, schema: pa.Schema) -> None:
        self.engine, self._frame, self.schema = engine, frame, schema

    @property
    def frame(self) -> Any:
        """The rows as a data frame that has the columns of the schema."""
        return self._frame.select(*self.schema.names)

    def batches(self) -> Batches:
        """Bring the rows to the driver: they are written, and read from there file by file."""
        yield from self.engine.read_back(self)

    def select(self, names: Sequence[str]) -> SparkTable:
        """Return some columns."""
        return SparkTable(self.engine, self._frame, pa.schema([self.schema.field(name) for name in names]))

    def slice(self, begin: int, end: int) -> SparkTable:
        """Return some rows by position."""
        return self.engine.by_position(self, begin, end)

    def mapped(self, step: Step, schema: pa.Schema) -> SparkTable:
        """Run a step on all rows, a partition at a time."""
        frame = self.frame.mapInArrow(in_tasks(step, self.schema, schema), spark_schema(schema))
        return SparkTable(self.engine, frame, schema)


class StoredTable(SparkTable):
    """Rows in files of Parquet.

    Parameters
    ----------
    engine : SparkEngine
    folder : Path
    schema : pyarrow.Schema
    """

    def __init__(self, engine: SparkEngine, folder: Path, schema: pa.Schema) -> None:
        super().__init__(engine, engine.session.read.schema(spark_schema(schema)).parquet(pattern_of(folder)), schema)
        self.folder = folder

    def batches(self) -> Batches:
        """Read the rows file by file."""
        names, wire = self.schema.names, wire_schema(self.schema)
        for path in sorted(self.folder.glob("*.parquet")):
            with pq.ParquetFile(path) as file:
                for batch in file.iter_batches(columns=names, use_threads=False):
                    some = pa.Table.from_batches([batch]).select(names).cast(wire).combine_chunks()
                    yield from decoded(iter(some.to_batches()), self.schema)

    def select(self, names: Sequence[str]) -> StoredTable:
        """Return some columns."""
        return StoredTable(self.engine, self.folder, pa.schema([self.schema.field(name) for name in names]))


class TextTable(SparkTable):
    """Rows whose texts are read when they are needed.

    Parameters
    ----------
    engine : SparkEngine
    where : SparkTable
        The rows without their texts, with unit and place.
    texts : InputTexts or TextFiles
    name : str
        Of the column of texts.
    schema : pyarrow.Schema
    """

    def __init__(
        self, engine: SparkEngine, where: SparkTable, texts: InputTexts | TextFiles, name: str, schema: pa.Schema
    ) -> None:
        self.where, self.texts, self.name = where, texts, name
        super().__init__(engine, None, schema)

    @property
    def frame(self) -> Any:
        """The rows go where their texts are read, sorted as these lie there."""
        rows = self.where.frame.repartition(self.engine.n_tasks, "unit").sortWithinPartitions(*WHERE.names)
        reading = partial(read_wanted, texts=self.texts, name=self.name, schema=self.schema)
        return rows.mapInArrow(in_tasks(reading, self.where.schema, self.schema), spark_schema(self.schema))

    def select(self, names: Sequence[str]) -> SparkTable:
        """Return some columns."""
        if self.name not in names:
            return self.where.select(names)
        schema = pa.schema([self.schema.field(name) for name in names])
        return TextTable(self.engine, self.where, self.texts, self.name, schema)


def uri_of(folder: Path) -> str:
    """Return how Spark is told where to write; it takes a path as it stands, and decodes no %20."""
    return f"file://{folder.absolute()}"


def pattern_of(folder: Path) -> str:
    """Return how Spark is told what to read: a pattern that matches the folder alone."""
    return re.sub(r"([\[\]{}*?\\])", r"\\\1", uri_of(folder))
