"""Tables on a cluster: rows of Spark's, rows that steps make in a task, rows in files, rows whose texts are read when needed.

Steps that follow each other run in one task; rows become Spark's own only where Spark has to move or join them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol

import pyarrow as pa
from numpy.typing import NDArray

from ...files.urls import AnyPath, Url
from ...formats.split import Split
from ...inputs.read import Reading
from ...values import Int64Array
from ..engine import Batches, Fold, Step, Table
from .columns import spark_schema
from .files import TableFiles, read_rows, rows_of
from .packs import Joining
from .tasks import NUMBERS, Task, in_tasks, one_after_the_other, read_units, some_columns
from .texts import WHERE, InputTexts, TextFiles, TextsOfJob, located, read_wanted, units_of

UNIT_BYTES = 64 << 20
"""Bytes on the disk of a piece of an input that a task reads."""


class Cluster(Protocol):
    """What tables ask of their engine: to run steps, and to bring rows together."""

    session: Any
    folder: AnyPath

    def run_on(self, frame: Any, task: Task, schema: pa.Schema) -> Any:
        """Return what a task makes of the parts of a data frame."""
        ...

    def numbers(self, n: int) -> Any:
        """Return a data frame of the numbers below n, each a task of its own."""
        ...

    def tasks_for(self, rows: int | None, rows_each: int) -> int:
        """Return how many tasks are worth their while."""
        ...

    @property
    def texts_of_a_task(self) -> int:
        """Rows with texts that meet in a task, about."""
        ...

    def together_by(self, rows: SparkTable, by: str, cut: int | Int64Array, sort: tuple[str, ...]) -> Stepped:
        """Bring rows to the tasks of their buckets, where they are sorted."""
        ...

    def joined_packs(self, left: SparkTable, right: SparkTable, settings: Joining) -> Stepped:
        """Join rows by packs of both sides."""
        ...

    def by_position(self, table: SparkTable, begin: int, end: int) -> SparkTable:
        """Return the rows from so many on up to so many, by position."""
        ...

    def read_back(self, rows: SparkTable) -> Batches:
        """Bring rows to the driver."""
        ...

    def fold(self, rows: Table, fold: Fold) -> NDArray[Any]:
        """Add rows up into a small array."""
        ...

    def write(self, rows: SparkTable, name: str, again: bool = False, adaptive: bool = False) -> TableFiles:
        """Let the tasks write rows to files, unless they are there."""
        ...

    def numbered(
        self, rows: SparkTable, keys: Sequence[tuple[str, bool]], name: str, kept: pa.Schema
    ) -> tuple[StoredTable, Int64Array]:
        """Sort rows over all tasks and store some columns; also return how many rows all earlier tasks have."""
        ...

    def discard_texts(self, files: TextFiles, name: str) -> None:
        """Remove texts that a driver left that died before the table of their places was whole."""
        ...


class SparkTable:
    """Rows of a data frame under our types; it may have more columns. ``rows``: about how many, where that is known."""

    def __init__(self, engine: Cluster, frame: Any, schema: pa.Schema, rows: int | None = None) -> None:
        self.engine, self._frame, self.schema, self.rows = engine, frame, schema, rows

    @property
    def frame(self) -> Any:
        """The rows as a data frame that has the columns of the schema."""
        return self._frame.select(*self.schema.names)

    def batches(self) -> Batches:
        """Bring the rows to the driver: they are written, and read from there file by file."""
        yield from self.engine.read_back(self)

    def select(self, names: Sequence[str]) -> SparkTable:
        return SparkTable(self.engine, self._frame, pa.schema([self.schema.field(name) for name in names]), self.rows)

    def slice(self, begin: int, end: int) -> SparkTable:
        return self.engine.by_position(self, begin, end)

    def mapped(self, step: Step, schema: pa.Schema) -> SparkTable:
        """Run a step on all rows, a partition at a time."""
        return Stepped(self.engine, self.frame, self.schema, (step,), schema, self.rows)


class Stepped(SparkTable):
    """Rows that steps make, one after the other in one task, from a data frame of the schema ``before``."""

    def __init__(
        self, engine: Cluster, frame: Any, before: pa.Schema, steps: tuple[Step, ...], schema: pa.Schema, rows: int | None
    ) -> None:  # fmt: skip
        super().__init__(engine, None, schema, rows)
        self._from, self._before, self._steps = frame, before, steps

    @property
    def frame(self) -> Any:
        chain = partial(one_after_the_other, steps=self._steps)
        return self.engine.run_on(self._from, in_tasks(chain, self._before, self.schema), self.schema)

    def mapped(self, step: Step, schema: pa.Schema) -> Stepped:
        return Stepped(self.engine, self._from, self._before, (*self._steps, step), schema, self.rows)

    def select(self, names: Sequence[str]) -> SparkTable:
        if list(names) == self.schema.names:
            return self
        return self.mapped(partial(some_columns, names=tuple(names)), pa.schema([self.schema.field(name) for name in names]))


class MadeTable(SparkTable):
    """Rows that are made, in tasks of their own, when they are asked for; steps that follow run in the same tasks."""

    @property
    def _made(self) -> SparkTable:
        raise NotImplementedError

    @property
    def frame(self) -> Any:
        return self._made.frame

    def mapped(self, step: Step, schema: pa.Schema) -> SparkTable:
        """Run a step on the rows where they are made."""
        return self._made.mapped(step, schema)

    def select(self, names: Sequence[str]) -> SparkTable:
        return self._made.select(names)


class StoredTable(MadeTable):
    """Rows in files of Parquet, which tasks read themselves where steps come next."""

    def __init__(self, engine: Cluster, files: TableFiles, schema: pa.Schema) -> None:
        super().__init__(engine, None, schema, files.rows)
        self.files = files

    def for_callers(self) -> Any:
        """Return the rows as a data frame that Spark reads, with the types that it gives them."""
        if isinstance(self.files.folder, Url):  # Spark's own reader may not reach the store: it needs other packages
            return self.frame
        ddl = spark_schema(self.schema)
        if not self.files.names:
            return self.engine.session.createDataFrame([], ddl)
        return self.engine.session.read.schema(ddl).parquet(*map(pattern_of, self.files.paths))

    def batches(self) -> Batches:
        for path in self.files.paths:
            yield from rows_of(path, self.schema)

    @property
    def _made(self) -> Stepped:
        shares = self.files.shares()
        reading = partial(read_rows, files=self.files, shares=shares, schema=self.schema)
        return Stepped(self.engine, self.engine.numbers(len(shares)), NUMBERS, (reading,), self.schema, self.rows)

    def select(self, names: Sequence[str]) -> StoredTable:
        return StoredTable(self.engine, self.files, pa.schema([self.schema.field(name) for name in names]))


class Derived(MadeTable):
    """Rows that a step makes from others of which it needs some columns; what nobody asks for is not read.

    ``rows`` have what the step needs, and all of the schema that it does not add; ``schema`` is bound to the step, which yields
    its columns. ``added`` is the column that the step adds, if that is all it does.
    """

    def __init__(
        self, engine: Cluster, rows: SparkTable, needed: tuple[str, ...], step: Callable[..., Batches],
        schema: pa.Schema, added: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(engine, None, schema, rows.rows)
        self._rows, self._needed, self._step, self._added = rows, needed, step, added

    @property
    def _made(self) -> SparkTable:
        return self._rows.mapped(partial(self._step, schema=self.schema), self.schema)

    def select(self, names: Sequence[str]) -> SparkTable:
        if self._added is not None and self._added not in names:
            return self._rows.select(names)
        read = dict.fromkeys([*(name for name in names if name != self._added), *self._needed])
        schema = pa.schema([self.schema.field(name) for name in names])
        return Derived(self.engine, self._rows.select(list(read)), self._needed, self._step, schema, self._added)


class Both(SparkTable):
    """The rows of two tables of one schema, on which steps run apart."""

    def __init__(self, engine: Cluster, first: SparkTable, second: SparkTable) -> None:
        rows = None if first.rows is None or second.rows is None else first.rows + second.rows
        super().__init__(engine, None, first.schema, rows)
        self._first, self._second = first, second

    @property
    def frame(self) -> Any:
        return self._first.frame.union(self._second.frame)

    def mapped(self, step: Step, schema: pa.Schema) -> Both:
        return Both(self.engine, self._first.mapped(step, schema), self._second.mapped(step, schema))

    def select(self, names: Sequence[str]) -> Both:
        return Both(self.engine, self._first.select(names), self._second.select(names))


class Joined(MadeTable):
    """Rows that are joined when they are asked for; columns that nobody asks for are not moved."""

    def __init__(self, engine: Cluster, left: SparkTable, right: SparkTable, settings: Joining) -> None:
        super().__init__(engine, None, settings.schema, left.rows)
        self._left, self._right, self._settings = left, right, settings

    @property
    def _made(self) -> Stepped:
        return self.engine.joined_packs(self._left, self._right, self._settings)

    def select(self, names: Sequence[str]) -> SparkTable:
        some = self._settings.of(names)
        joined = Joined(self.engine, self._left.select(some.left.names), self._right.select(some.right.names), some)
        return joined if some.schema.names == list(names) else joined._made.select(names)


class TextTable(MadeTable):
    """Rows (``where``: unit and place) whose texts are read when needed; ``stored``: from files that were written for it."""

    def __init__(
        self, engine: Cluster, where: SparkTable, texts: TextsOfJob, name: str, schema: pa.Schema, stored: bool = False
    ) -> None:
        super().__init__(engine, None, schema, where.rows)
        self.where, self.texts, self.name, self.stored = where, texts, name, stored

    @property
    def _made(self) -> Stepped:
        """The rows go where their texts are read, sorted as these lie there."""
        n = self.engine.tasks_for(self.rows, self.engine.texts_of_a_task)
        rows = self.engine.together_by(self.where, "unit", n, ("place",))
        return rows.mapped(partial(read_wanted, texts=self.texts, name=self.name, schema=self.schema), self.schema)

    def select(self, names: Sequence[str]) -> SparkTable:
        if self.name not in names:
            return self.where.select(names)
        schema = pa.schema([self.schema.field(name) for name in names])
        return TextTable(self.engine, self.where, self.texts, self.name, schema)


class Source(MadeTable):
    """The documents of the inputs, read anew wherever they are needed."""

    def __init__(self, engine: Cluster, splits: Sequence[Split], reading: Reading) -> None:
        self.texts = InputTexts(units_of(splits, UNIT_BYTES), reading)
        super().__init__(engine, None, reading.schema)

    @property
    def _made(self) -> Stepped:
        numbers = self.engine.numbers(len(self.texts.units))
        return Stepped(self.engine, numbers, NUMBERS, (partial(read_units, texts=self.texts),), self.schema, None)

    def where(self, ranked: SparkTable) -> SparkTable:
        """Return order, unit and place of all documents."""
        schema = pa.schema([ranked.schema.field("order"), *WHERE])
        return ranked.select(["order", "position"]).mapped(partial(located, starts=self.texts.starts, schema=schema), schema)


def pattern_of(path: AnyPath) -> str:
    """Return how Spark is told what to read: a pattern that matches the path alone; it decodes no %20."""
    return re.sub(r"([\[\]{}*?\\])", r"\\\1", f"file://{path.absolute()}")
