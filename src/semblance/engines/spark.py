"""The engine for a cluster: tables are data frames, steps run in Spark's tasks, rows meet by Spark's shuffles.

Nothing comes to the driver but folds, and rows that a caller asks for by ``batches``, which it reads from files. Stored tables
are Parquet in a folder that driver and workers share.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, reduce
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from ..inputs.reading import Reading
from ..values.tables import SOURCE_BITS
from .engine import Batches, Fold, Step
from .spark_rows import decoded, in_tasks, spark_schema, wire_schema
from .spark_tasks import FOLDED, PLACED, add_up, number_rows, read_number, read_wanted

SMALL, TASKS = 4 << 20, 8
"""Bytes of folds that come to the driver at once, and from how many tasks at most."""


class SparkTable:
    """Rows of a data frame under our types."""

    def __init__(self, engine: SparkEngine, frame: Any, schema: pa.Schema) -> None:
        self.engine, self.frame, self.schema = engine, frame, schema

    def batches(self) -> Batches:
        """Bring the rows to the driver: they are written, and read from there."""
        yield from self.engine.store(self, self.engine.new_name()).batches()

    def select(self, names: Sequence[str]) -> SparkTable:
        """Return some columns."""
        schema = pa.schema([self.schema.field(name) for name in names])
        return SparkTable(self.engine, self.frame.select(*names), schema)

    def slice(self, begin: int, end: int) -> SparkTable:
        """Return some rows by position."""
        return self.engine.by_position(self, begin, end)


class StoredTable(SparkTable):
    """Rows in files."""

    def __init__(self, engine: SparkEngine, folder: Path, schema: pa.Schema) -> None:
        super().__init__(engine, engine.session.read.schema(spark_schema(schema)).parquet(str(folder)), schema)
        self.folder = folder

    def batches(self) -> Batches:
        """Read the rows file by file."""
        names, wire = self.schema.names, wire_schema(self.schema)
        for file in sorted(self.folder.glob("*.parquet")):
            with pq.ParquetFile(file) as opened:
                for batch in opened.iter_batches(columns=names):
                    some = pa.Table.from_batches([batch]).select(names).cast(wire).combine_chunks()
                    yield from decoded(iter(some.to_batches()), self.schema)


class Source(SparkTable):
    """The documents of the inputs, read anew wherever they are needed."""

    def __init__(self, engine: SparkEngine, splits: Sequence[Any], reading: Reading) -> None:
        self.splits, self.reading = list(splits), reading
        step = partial(read_number, splits=self.splits, reading=reading)
        numbers = engine.session.range(0, len(self.splits), 1, max(1, len(self.splits)))
        frame = numbers.mapInArrow(
            in_tasks(step, pa.schema([("id", pa.int64())]), reading.schema), spark_schema(reading.schema)
        )
        super().__init__(engine, frame, reading.schema)


class SparkEngine:
    """Runs steps on a cluster.

    Parameters
    ----------
    session : pyspark.sql.SparkSession
    folder : path
        Shared by driver and workers; stored tables go there.
    """

    joins_in_place = False
    components = slices = together = sieve = None

    def __init__(self, session: Any, folder: Path) -> None:
        self.session, self.folder = session, folder
        self._source: Source | None = None
        self._orders: SparkTable | None = None
        self._names = count()

    def new_name(self) -> str:
        """Return a name for rows that are kept only so that the driver can read them."""
        return f"read-{next(self._names)}"

    def source(self, splits: Sequence[Any], reading: Reading) -> SparkTable:
        """Return the documents of some inputs."""
        self._source = Source(self, splits, reading)
        return self._source

    def rows(self, table: pa.Table) -> SparkTable:
        """Return rows that are in memory already."""
        frame = self.session.createDataFrame(_plain(table), spark_schema(table.schema))
        return SparkTable(self, frame, table.schema)

    def map(self, rows: SparkTable, step: Step, schema: pa.Schema) -> SparkTable:
        """Run a step on all rows, a partition at a time."""
        frame = rows.frame.select(*rows.schema.names)
        return SparkTable(self, frame.mapInArrow(in_tasks(step, rows.schema, schema), spark_schema(schema)), schema)

    def meet(self, rows: SparkTable, by: str | None, sort: str | tuple[str, ...], once: bool = False) -> SparkTable:
        """Bring rows of equal ``by`` together by a shuffle, each partition sorted."""
        from pyspark.sql import functions

        names = [sort] if isinstance(sort, str) else list(sort)
        frame, schema = rows.frame.select(*rows.schema.names), rows.schema
        if by is None:
            return SparkTable(self, frame.repartition(1).sortWithinPartitions(*names), schema)
        if pa.types.is_nested(schema.field(by).type):
            frame = frame.select(functions.explode(by).alias("key"), "order")
            schema, by = pa.schema([("key", pa.int64()), ("order", pa.int64())]), "key"
        if once:
            frame = frame.dropDuplicates()
        return SparkTable(self, frame.repartition(by).sortWithinPartitions(by, *names), schema)

    def join(self, left: SparkTable, right: SparkTable, on: str, how: str) -> SparkTable:
        """Add the columns of the row of ``right`` whose order is ``on``."""
        if right is self._source:
            return self._with_texts(left, on)
        if how in ("semi", "anti"):
            keys = right.frame.select(right.frame["order"].alias("__order")).dropDuplicates()
            frame = left.frame.select(*left.schema.names)
            return SparkTable(self, frame.join(keys, frame[on] == keys["__order"], f"left_{how}"), left.schema)
        prefix = "" if on == "order" else f"{on}_"
        added = {field.name: f"{prefix}{field.name}" for field in right.schema if field.name != "order"}
        other = right.frame.select(
            right.frame["order"].alias("__order"), *(right.frame[name].alias(new) for name, new in added.items())
        )
        frame = left.frame.select(*left.schema.names)
        fields = [*left.schema, *(right.schema.field(name).with_name(new) for name, new in added.items())]
        joined = frame.join(other, frame[on] == other["__order"], how).drop("__order")
        return SparkTable(self, joined, pa.schema(fields))

    def _with_texts(self, left: SparkTable, on: str) -> SparkTable:
        """Add the text of each row: the rows go where their input is read."""
        assert self._source is not None and self._orders is not None
        schema = left.schema.append(pa.field("text" if on == "order" else f"{on}_text", pa.large_binary()))
        rows = self.join(left, self._orders, on, "inner") if on != "order" or "position" not in left.schema.names else left
        place = "position" if "position" in rows.schema.names else f"{on}_position"
        step = partial(read_wanted, splits=self._source.splits, reading=self._source.reading, place=place, schema=schema)
        from pyspark.sql import functions

        number = functions.shiftright(rows.frame[place], SOURCE_BITS)
        frame = rows.frame.repartition(len(self._source.splits), number).sortWithinPartitions(place).select(*rows.schema.names)
        return SparkTable(self, frame.mapInArrow(in_tasks(step, rows.schema, schema), spark_schema(schema)), schema)

    def union(self, first: SparkTable, second: SparkTable) -> SparkTable:
        """Return the rows of both."""
        names = first.schema.names
        return SparkTable(self, first.frame.select(*names).unionByName(second.frame.select(*names)), first.schema)

    def fold(self, rows: SparkTable, fold: Fold) -> NDArray[Any]:
        """Add rows up in the tasks, then the arrays of the tasks, so many at a time that few come to the driver."""
        start = fold.start()
        folded = in_tasks(partial(add_up, fold=fold), rows.schema, FOLDED)
        frame = rows.frame.select(*rows.schema.names).mapInArrow(folded, spark_schema(FOLDED))
        combine = in_tasks(partial(add_up, fold=fold, again=True), FOLDED, FOLDED)
        few = max(1, min(TASKS, SMALL // max(1, start.nbytes)))
        frame = frame.repartition(few).mapInArrow(combine, spark_schema(FOLDED))
        totals = [np.frombuffer(row.total, start.dtype).reshape(start.shape) for row in frame.collect()]
        return reduce(fold.combine, totals, start)

    def rank(self, rows: SparkTable, by: Sequence[str], boundary: int) -> SparkTable:
        """Add the order: rows are sorted over all partitions, each numbers its own, and the sizes of those before are added."""
        from pyspark.sql import functions

        frame = rows.frame
        reference = frame["position"] < boundary
        keys = [functions.when(reference, frame["position"]).otherwise(boundary).asc()]
        for name in by:
            column = frame[name.removeprefix("-")]
            if pa.types.is_large_binary(rows.schema.field(name.removeprefix("-")).type):
                keys.append(functions.coalesce(functions.length(column) == 0, functions.lit(True)).asc())
            keys.append(column.desc() if name.startswith("-") else column.asc())
        placed = pa.schema([*rows.schema, *PLACED])
        numbered = (
            frame.orderBy(*keys)
            .select(*rows.schema.names)
            .mapInArrow(in_tasks(partial(number_rows, schema=placed), rows.schema, placed), spark_schema(placed))
        )
        stored = self.store(SparkTable(self, numbered, placed), "ranked")
        sizes = {row["part"]: row["n"] for row in stored.frame.groupBy("part").agg(functions.count("*").alias("n")).collect()}
        starts, total = {}, 0
        for part in sorted(sizes):
            starts[part], total = total, total + sizes[part]
        before = (
            functions.create_map(*(functions.lit(value) for pair in starts.items() for value in pair))
            if starts
            else functions.lit(0)
        )
        added = before[stored.frame["part"]] + stored.frame["place"] if starts else functions.lit(0)
        ranked = stored.frame.select(*rows.schema.names, added.cast("bigint").alias("order"))
        table = SparkTable(self, ranked, rows.schema.append(pa.field("order", pa.int64())))
        self._orders = table.select(["order", "position"])
        return table

    def by_position(self, table: SparkTable, begin: int, end: int) -> SparkTable:
        """Return the rows from so many on up to so many, by position."""
        from pyspark.sql import functions

        total = table.frame.count()
        if begin <= 0 and end >= total:
            return table
        positions = table.frame.select("position").orderBy("position")
        bounds = [row["position"] for row in positions.offset(begin).limit(1).collect()]
        last = [row["position"] for row in positions.offset(end).limit(1).collect()]
        frame = table.frame.filter(functions.col("position") >= bounds[0] if bounds and begin < end else functions.lit(False))
        frame = frame.filter(functions.col("position") < last[0]) if last else frame
        return SparkTable(self, frame, table.schema)

    def store(self, rows: SparkTable, name: str) -> StoredTable:
        """Make the rows and keep them; those of a job that is gone on with are found."""
        if isinstance(rows, StoredTable):
            return rows
        folder = self.folder / name
        if not (folder / "_SUCCESS").exists():
            rows.frame.select(*rows.schema.names).write.mode("overwrite").parquet(str(folder))
        return StoredTable(self, folder, rows.schema)

    def close(self) -> None:
        """Remove what was kept."""
        import shutil

        shutil.rmtree(self.folder, ignore_errors=True)


def _plain(table: pa.Table) -> pa.Table:
    """Return a table under the types that Spark takes."""
    return table.cast(wire_schema(table.schema))
