"""The engine for a cluster: tables are data frames, steps run in Spark's tasks, rows meet by Spark's shuffles.

Nothing comes to the driver but sums, and rows that a caller asks for by ``batches``, which it reads from files. Stored tables
are Parquet in a folder that driver and workers share.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from functools import partial, reduce
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..errors import OutputError
from ..files.atomic import atomic_file
from ..inputs.reading import Reading
from ..values.tables import SOURCE_BITS
from .engine import Batches, Fold, Step
from .spark_frames import Frames, FrameSource
from .spark_rows import spark_schema, wire_schema
from .spark_session import N_TASKS, settings_for
from .spark_tables import SparkTable, StoredTable, TextTable, uri_of
from .spark_tasks import FOLDED, PLACED, add_up, in_tasks, number_rows, raised_again, read_units
from .spark_texts import WHERE, InputTexts, TextFiles, located, spool, units_of

SMALL = 1 << 14
"""Bytes of a sum that comes to the driver directly; a larger one is read from a file."""
COMBINED_BY = 8
"""Tasks that combine the sums of all others."""
UNIT_BYTES = 64 << 20
"""Bytes on the disk of a piece of an input that a task reads."""

Progress = Callable[[str, int], None]


class Source(SparkTable):
    """The documents of the inputs, read anew wherever they are needed."""

    def __init__(self, engine: SparkEngine, splits: Sequence[Any], reading: Reading) -> None:
        self.texts = InputTexts(units_of(splits, UNIT_BYTES), reading)
        n = len(self.texts.units)
        step = in_tasks(partial(read_units, texts=self.texts), pa.schema([("id", pa.int64())]), reading.schema)
        numbers = engine.session.range(0, n, 1, max(1, n))
        super().__init__(engine, numbers.mapInArrow(step, spark_schema(reading.schema)), reading.schema)

    def where(self, ranked: SparkTable) -> SparkTable:
        """Return order, unit and place of all documents."""
        starts = np.array([unit.start for unit in self.texts.units], np.int64)
        schema = pa.schema([ranked.schema.field("order"), *WHERE])
        return ranked.select(["order", "position"]).mapped(partial(located, starts=starts, schema=schema), schema)


class StoredTexts(TextTable):
    """Texts that were written to files, and the table of where each is."""


class SparkEngine:
    """Runs steps on a cluster.

    Parameters
    ----------
    session : pyspark.sql.SparkSession
    folder : path
        Shared by driver and workers; stored tables go there. It is made, and removed by ``close``.
    progress : callable, optional
        Called with the name of each table before it is made, and 0.
    """

    joins_in_place = False
    components = slices = together = sieve = None

    def __init__(self, session: Any, folder: str | Path, progress: Progress | None = None) -> None:
        self.session, self.folder = session, Path(folder)
        self.n_tasks = int(session.conf.get(N_TASKS))
        self._progress = progress
        self._source: Source | FrameSource | None = None
        self._ranked: SparkTable | None = None
        self._sizes = np.zeros(0, np.int64)  # rows of each input
        self._names = count()

    def act(self, action: Callable[[], Any]) -> Any:
        """Let Spark work; what a task of ours refuses is raised as it was there."""
        with settings_for(self.session), raised_again():
            return action()

    def source(self, splits: Sequence[Any], reading: Reading) -> SparkTable:
        """Return the documents of some inputs."""
        self._source = FrameSource(self, splits, reading) if isinstance(splits, Frames) else Source(self, splits, reading)
        return self._source

    def rows(self, table: pa.Table) -> SparkTable:
        """Return rows that are in memory already."""
        wire = wire_schema(table.schema)
        frame = (
            self.session.createDataFrame(table.cast(wire))
            if len(table)
            else self.session.createDataFrame([], spark_schema(table.schema))
        )
        return SparkTable(self, frame, table.schema)

    def map(self, rows: SparkTable, step: Step, schema: pa.Schema) -> SparkTable:
        """Run a step on all rows, a partition at a time."""
        return rows.mapped(step, schema)

    def meet(self, rows: SparkTable, by: str | None, sort: str | tuple[str, ...], once: bool = False) -> SparkTable:
        """Bring rows of equal ``by`` together by a shuffle, each partition sorted."""
        from pyspark.sql import functions

        names = [sort] if isinstance(sort, str) else list(sort)
        frame, schema = rows.frame, rows.schema
        if by is None:
            return SparkTable(self, frame.repartition(1).sortWithinPartitions(*names), schema)
        if pa.types.is_nested(schema.field(by).type):
            frame = frame.select(functions.explode(by).alias("key"), "order")
            schema, by = pa.schema([("key", pa.int64()), ("order", pa.int64())]), "key"
        frame = frame.repartition(by)
        if once:
            frame = frame.dropDuplicates()  # rows that are equal are in one partition already
        return SparkTable(self, frame.sortWithinPartitions(by, *names), schema)

    def join(self, left: SparkTable, right: SparkTable, on: str, how: str) -> SparkTable:
        """Add the columns of the row of ``right`` whose order is ``on``."""
        if right is self._source or isinstance(right, StoredTexts):
            return self._with_texts(left, right, on)
        frame = left.frame
        if how in ("semi", "anti"):
            keys = right.select(["order"]).frame.withColumnRenamed("order", "__order").dropDuplicates()
            return SparkTable(self, frame.join(keys, frame[on] == keys["__order"], f"left_{how}"), left.schema)
        prefix = "" if on == "order" else f"{on}_"
        added = {field.name: f"{prefix}{field.name}" for field in right.schema if field.name != "order"}
        other = right.frame.withColumnsRenamed({**added, "order": "__order"})
        fields = [*left.schema, *(right.schema.field(name).with_name(new) for name, new in added.items())]
        return SparkTable(self, frame.join(other, frame[on] == other["__order"], how), pa.schema(fields))

    def _with_texts(self, left: SparkTable, right: SparkTable, on: str) -> TextTable:
        """Add the text of each row."""
        assert self._ranked is not None
        if isinstance(right, StoredTexts):
            where, texts = right.where, right.texts
        else:
            assert self._source is not None
            where, texts = self._source.where(self._ranked), self._source.texts
        name = "text" if on == "order" else f"{on}_text"
        frame, other = left.frame, where.select(["order", *WHERE.names]).frame.withColumnRenamed("order", "__order")
        rows = SparkTable(self, frame.join(other, frame[on] == other["__order"], "inner"), pa.schema([*left.schema, *WHERE]))
        return TextTable(self, rows, texts, name, left.schema.append(pa.field(name, pa.large_binary())))

    def union(self, first: SparkTable, second: SparkTable) -> SparkTable:
        """Return the rows of both."""
        return SparkTable(self, first.frame.unionByName(second.select(first.schema.names).frame), first.schema)

    def fold(self, rows: SparkTable, fold: Fold) -> NDArray[Any]:
        """Add rows up in the tasks, then the sums of the tasks in a few others, and in one."""
        start = fold.start()
        sums = rows.mapped(partial(add_up, fold=fold), FOLDED)
        for n in (1,) if start.nbytes <= SMALL else (COMBINED_BY, 1):
            few = SparkTable(self, sums.frame.repartition(n), FOLDED)
            sums = few.mapped(partial(add_up, fold=fold, again=True), FOLDED)
        if start.nbytes <= SMALL:
            found = [bytes(row.total) for row in self.act(sums.frame.collect)]
        else:
            found = [value.as_buffer() for batch in sums.batches() for value in batch.column(0)]
        return reduce(fold.combine, (np.frombuffer(one, start.dtype).reshape(start.shape) for one in found), start)

    def rank(self, rows: SparkTable, by: Sequence[str], boundary: int) -> SparkTable:
        """Add the order; where it follows the inputs it is the place there, otherwise rows are sorted over all partitions."""
        self._sizes = self._sizes_of(rows)
        if by[0] in ("position", "-position"):
            ranked = self._ranked_by_place(rows, by[0].startswith("-"), boundary)
        else:
            ranked = self._ranked_by_sorting(rows, by, boundary)
        self._ranked = ranked
        return ranked

    def _sizes_of(self, rows: SparkTable) -> NDArray[Any]:
        """Return how many rows each input has."""
        from pyspark.sql import functions

        sources = rows.frame.groupBy(functions.shiftright("position", SOURCE_BITS).alias("source"))
        found = self.act(sources.agg(functions.count("*").alias("n")).collect)
        sizes = np.zeros(1 + max((row.source for row in found), default=-1), np.int64)
        for row in found:
            sizes[row.source] = row.n
        return sizes

    def _ranked_by_place(self, rows: SparkTable, backwards: bool, boundary: int) -> SparkTable:
        from pyspark.sql import functions

        n_references, total = int(self._sizes[: boundary >> SOURCE_BITS].sum()), int(self._sizes.sum())
        before = pa.table({"__source": np.arange(len(self._sizes)), "__before": np.cumsum(self._sizes) - self._sizes})
        starts, frame = functions.broadcast(self.rows(before).frame), rows.frame
        joined = frame.join(starts, functions.shiftright("position", SOURCE_BITS) == starts["__source"])
        place = functions.col("__before") + functions.col("position").bitwiseAND((1 << SOURCE_BITS) - 1)
        if backwards:
            place = functions.when(place < n_references, place).otherwise(n_references + total - 1 - place)
        return self._with_order(rows, joined, place)

    def _with_order(self, rows: SparkTable, frame: Any, order: Any) -> SparkTable:
        schema = rows.schema.append(pa.field("order", pa.int64()))
        return SparkTable(self, frame.select(*rows.schema.names, order.cast("bigint").alias("order")), schema)

    def _ranked_by_sorting(self, rows: SparkTable, by: Sequence[str], boundary: int) -> SparkTable:
        from pyspark.sql import functions

        frame = rows.frame
        keys = [functions.when(frame["position"] < boundary, frame["position"]).otherwise(boundary).asc()]
        for name in by:
            column = frame[name.removeprefix("-")]
            if pa.types.is_large_binary(rows.schema.field(name.removeprefix("-")).type):
                keys.append(functions.coalesce(functions.length(column) == 0, functions.lit(True)).asc())
            keys.append(column.desc() if name.startswith("-") else column.asc())
        stored, place = self.numbered(SparkTable(self, frame.orderBy(*keys), rows.schema), "ranked")
        return self._with_order(rows, stored, place)

    def numbered(self, rows: SparkTable, name: str) -> tuple[Any, Any]:
        """Store sorted rows; return them as a data frame, and the column that numbers them over all partitions."""
        from pyspark.sql import functions

        schema = pa.schema([*rows.schema, *PLACED])
        stored = self.store(rows.mapped(partial(number_rows, schema=schema), schema), name)
        counted = stored.frame.groupBy("part").agg(functions.count("*").alias("n"))
        sizes = np.array(sorted((row.part, row.n) for row in self.act(counted.collect))).reshape(-1, 2)
        before = pa.table({"__part": sizes[:, 0], "__before": np.cumsum(sizes[:, 1]) - sizes[:, 1]})
        starts = functions.broadcast(self.rows(before).frame)
        joined = stored.frame.join(starts, stored.frame["part"] == starts["__part"])
        return joined, functions.col("__before") + functions.col("index")

    def by_position(self, table: SparkTable, begin: int, end: int) -> SparkTable:
        """Return the rows from so many on up to so many, by position."""
        if begin <= 0 and end >= int(self._sizes.sum()):
            return table
        from pyspark.sql import functions

        ends = np.cumsum(self._sizes)

        def position(place: int) -> int:
            source = min(int(np.searchsorted(ends, place, side="right")), len(ends) - 1)
            return (source << SOURCE_BITS) + place - int(ends[source] - self._sizes[source])

        column, frame = functions.col("position"), table.frame
        wanted = (column >= position(begin)) & (column < position(end)) if begin < end else functions.lit(False)
        return SparkTable(self, frame.filter(wanted), table.schema)

    def by_input(self, rows: SparkTable) -> SparkTable:
        """Return rows cut into runs of positions, each sorted by them."""
        frame = rows.frame.repartitionByRange(self.n_tasks, "position").sortWithinPartitions("position")
        return SparkTable(self, frame, rows.schema)

    def store(self, rows: SparkTable, name: str) -> SparkTable:
        """Make the rows and keep them; those of a job that is gone on with are found."""
        if isinstance(rows, StoredTable | StoredTexts):
            return rows
        if isinstance(rows, TextTable):
            files = TextFiles(str(self.folder / f"{name}-files"))
            self.discard_texts(files, name)
            schema = pa.schema([field for field in [*rows.schema, *WHERE] if field.name != rows.name])
            where = self.store(rows.mapped(partial(spool, folder=files.folder, schema=schema), schema), name)
            return StoredTexts(self, where, files, rows.name, rows.schema)
        if isinstance(self._source, FrameSource) and self._source.sketched is rows:
            return self._source.numbered(rows, name)
        return StoredTable(self, self.write(rows, name), rows.schema)

    def write(self, rows: SparkTable, name: str, again: bool = False) -> Path:
        """Write rows to files, unless they are there; return their folder.

        Each time that is a new one, which ``NAME.done`` names in the end: of a driver that was killed tasks may still run, or
        its JVM may clear up after them, while the next driver writes the same table.
        """
        done = self.folder / f"{name}.done"
        if done.exists() and not again:
            return self.folder / done.read_text()
        if self._progress is not None:
            self._progress(name, 0)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"{self.folder}: cannot be used as work folder: {error.strerror or error}") from None
        for left in self.folder.glob(f"{name}-{'[0-9a-f]' * 16}"):  # by a driver that was killed
            shutil.rmtree(left, ignore_errors=True)
        made = self.folder / f"{name}-{os.urandom(8).hex()}"
        self.act(lambda: rows.frame.write.parquet(uri_of(made)))
        if not again:
            with atomic_file(done) as stream:
                stream.write(made.name.encode())
        return made

    def discard_texts(self, files: TextFiles, name: str) -> None:
        """Remove texts that a driver left that died before the table of their places was whole: nothing names them."""
        if not (self.folder / f"{name}.done").exists():
            shutil.rmtree(files.folder, ignore_errors=True)

    def read_back(self, rows: SparkTable) -> Batches:
        """Bring rows to the driver by files that are removed again."""
        name = f"read-{next(self._names)}"
        folder = self.write(rows, name, again=True)
        yield from StoredTable(self, folder, rows.schema).batches()
        shutil.rmtree(folder, ignore_errors=True)

    def close(self) -> None:
        """Remove what was kept; first what says that tables are whole, lest parts of them count if this is interrupted."""
        for done in self.folder.glob("*.done"):
            done.unlink(missing_ok=True)
        shutil.rmtree(self.folder, ignore_errors=True)
