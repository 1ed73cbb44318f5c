"""Tables on a cluster: rows of Spark's, rows that steps make in a task, rows in files, rows whose texts are read when needed.

Steps that follow each other run in one task; rows become Spark's own only where Spark has to move or join them. Tables of a few
rows are ``here``: the driver runs their steps itself, as a task takes longer to begin.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ...files.urls import AnyPath, Url
from ...values.arrow import to_arrow, to_numpy
from ..engine import Aggregate, Batches, Step, Table
from ..local.bundles import CLOSED, ComponentPartitions, all_pairs, connected_documents, find_roots
from ..local.joins import filter_rows
from ..progress import WorkProgress
from .columns import decoded, spark_schema
from .files import TableFiles, read_rows, rows_of
from .tasks import NUMBERS, Task, one_after_the_other, run_step, some_columns
from .texts import TextFiles, TextsOfJob

VARYING = 64
"""Bytes that a value of no fixed width counts for."""
DRIVER_BYTES, PAIR_BYTES, DOCUMENT_BYTES = 1 << 30, 72, 32
"""What the driver may take to find components, and what each pair and each document takes of it."""
COMPONENT_BYTES = 64 << 20
"""Bytes of the texts of a component that a task walks; its sets take about five times as many."""


class Cluster(Protocol):
    """What tables ask of their engine: to run steps, and to bring rows together."""

    session: Any
    own_session: Any
    folder: AnyPath
    few_bytes: int  # of rows that the driver works on itself

    def run_on(self, frame: Any, task: Task, schema: pa.Schema) -> Any:
        """Return what a task makes of the parts of a data frame."""
        ...

    def numbers(self, n: int) -> Any:
        """Return a data frame of the numbers below n, each a task of its own."""
        ...

    def with_texts(self, rows: TextTable) -> SparkTable:
        """Let rows go where their texts are, and read these."""
        ...

    def by_position(self, table: SparkTable, begin: int, end: int) -> SparkTable:
        """Return the rows from so many on up to so many, by position."""
        ...

    def read_back(self, rows: SparkTable) -> Batches:
        """Bring rows to the driver."""
        ...

    def upload(self, rows: SparkTable) -> StoredTable:
        """Write rows that the driver makes, for tasks to read."""
        ...

    def aggregate(self, rows: Table, fold: Aggregate) -> NDArray[Any]:
        """Add rows up into a small array."""
        ...

    def write(self, rows: SparkTable, name: str, again: bool = False, adaptive: bool = False) -> TableFiles:
        """Let the tasks write rows to files, unless they are there."""
        ...

    def discard_texts(self, files: TextFiles, name: str) -> None:
        """Remove texts that a driver left that died before the table of their places was whole."""
        ...


@dataclass(frozen=True, slots=True)
class Stage:
    """Steps that run one after the other in the tasks of a data frame; ``run`` is told them as ``step``, and their schema.

    A number stands for the frame of the numbers below it. Without ``run`` the steps are for the driver alone.
    """

    frame: Any
    run: Callable[..., Iterator[Any]] | None
    steps: tuple[Step, ...] = ()


class SparkTable:
    """Rows that stages make when they are asked for; steps that follow run in the same tasks.

    ``make`` returns the stages, whose rows are put together; ``pick`` the table of some columns, where these can be had without
    the others; ``rows``: about how many, where that is known. The stages of what is ``here`` are of numbers.
    """

    def __init__(
        self, engine: Cluster, schema: pa.Schema, make: Callable[[], tuple[Stage, ...]], rows: int | None = None,
        pick: Callable[[Sequence[str]], SparkTable] | None = None, here: bool = False,
    ) -> None:  # fmt: skip
        self.engine, self.schema, self.rows, self.here = engine, schema, rows, here
        self._make, self._pick = make, pick

    @property
    def stages(self) -> tuple[Stage, ...]:
        return self._make()

    @property
    def frame(self) -> Any:
        """The rows as a data frame that has the columns of the schema."""
        whole, *others = map(self._frame_of, self.stages)
        for frame in others:
            whole = whole.union(frame)
        return whole

    def _frame_of(self, stage: Stage) -> Any:
        if stage.run is None:
            return self.engine.upload(SparkTable(self.engine, self.schema, lambda: (stage,), here=True)).frame
        frame = self.engine.numbers(stage.frame) if isinstance(stage.frame, int) else stage.frame
        if not stage.steps:
            return frame
        chain = partial(one_after_the_other, steps=stage.steps)
        return self.engine.run_on(frame, partial(stage.run, step=chain, after=self.schema), self.schema)

    def batches(self) -> Batches:
        """Make the rows on the driver, or let tasks write them, and read them from there file by file."""
        if not self.here:
            yield from self.engine.read_back(self)
            return
        for stage in self.stages:
            numbers = pa.RecordBatch.from_arrays([to_arrow(np.arange(stage.frame))], schema=NUMBERS)
            yield from decoded(one_after_the_other(iter([numbers]), stage.steps), self.schema)

    def select(self, names: Sequence[str]) -> SparkTable:
        if self._pick is not None:
            return self._pick(names)
        if list(names) == self.schema.names:
            return self
        return self.mapped(partial(some_columns, names=tuple(names)), some_fields(self.schema, names))

    def slice(self, begin: int, end: int) -> SparkTable:
        return self.engine.by_position(self, begin, end)

    def mapped(self, step: Step, schema: pa.Schema) -> SparkTable:
        """Run a step on all rows, a partition at a time."""
        stages = tuple(replace(stage, steps=(*stage.steps, step)) for stage in self.stages)
        return SparkTable(self.engine, schema, lambda: stages, self.rows, here=self.here)


def of_frame(engine: Cluster, frame: Any, schema: pa.Schema, rows: int | None = None) -> SparkTable:
    """Return the rows of a data frame, which may have more columns."""
    stage = Stage(frame.select(*schema.names), partial(run_step, before=schema))
    return SparkTable(
        engine, schema, lambda: (stage,), rows, lambda names: of_frame(engine, frame, some_fields(schema, names), rows)
    )


def of_numbers(engine: Cluster, n: int, step: Step, schema: pa.Schema, rows: int | None = None) -> SparkTable:
    """Return what a step makes of the numbers below n, each in a task of its own."""
    here = are_few(engine, rows, schema)
    return SparkTable(engine, schema, lambda: (Stage(n, partial(run_step, before=NUMBERS), (step,)),), rows, here=here)


def are_few(engine: Cluster, rows: int | None, schema: pa.Schema) -> bool:
    """Tell whether the driver works on so many rows itself."""
    return rows is not None and rows * sum(map(_width, schema.types)) <= engine.few_bytes


def _width(kind: pa.DataType) -> int:
    """Return the bytes of a value, about."""
    if pa.types.is_fixed_size_list(kind):
        return int(kind.list_size) * _width(kind.value_type)
    return max(1, kind.bit_width // 8) if pa.types.is_primitive(kind) or pa.types.is_fixed_size_binary(kind) else VARYING


def of_driver(engine: Cluster, make: Callable[[], Batches], schema: pa.Schema, rows: int | None = None) -> SparkTable:
    """Return rows that the driver makes when they are asked for."""
    return SparkTable(engine, schema, lambda: (Stage(1, None, (lambda _: make(),)),), rows, here=True)


def derived(
    rows: SparkTable, needed: tuple[str, ...], step: Callable[..., Batches], schema: pa.Schema, added: str | None = None
) -> SparkTable:
    """Return what a step makes of rows of which it needs some columns; what nobody asks for is not read.

    ``rows`` have what the step needs, and all of the schema that it does not add; ``schema`` is bound to the step, which yields
    its columns. ``added`` is the column that the step adds, if that is all it does.
    """

    def pick(names: Sequence[str]) -> SparkTable:
        if added is not None and added not in names:
            return rows.select(names)
        read = dict.fromkeys([*(name for name in names if name != added), *needed])
        return derived(rows.select(list(read)), needed, step, some_fields(schema, names), added)

    return SparkTable(
        rows.engine, schema, lambda: rows.mapped(partial(step, schema=schema), schema).stages, rows.rows, pick, rows.here
    )


def union(first: SparkTable, second: SparkTable) -> SparkTable:
    """Return the rows of two tables of one schema, on which steps run apart."""
    rows = None if first.rows is None or second.rows is None else first.rows + second.rows
    return SparkTable(
        first.engine, first.schema, lambda: first.stages + second.stages, rows,
        lambda names: union(first.select(names), second.select(names)), first.here and second.here,
    )  # fmt: skip


class StoredTable(SparkTable):
    """Rows in files of Parquet, which tasks read themselves where steps come next."""

    def __init__(self, engine: Cluster, files: TableFiles, schema: pa.Schema) -> None:
        super().__init__(engine, schema, self._read, files.rows, here=are_few(engine, files.rows, schema))
        self.files = files

    def _read(self) -> tuple[Stage, ...]:
        shares = self.files.shares()
        reading = partial(read_rows, files=self.files, shares=shares, schema=self.schema)
        return of_numbers(self.engine, len(shares), reading, self.schema).stages

    def frame_in(self, session: Any) -> Any:
        """Return the rows as a data frame of a session, with the types that Spark gives them."""
        if isinstance(self.files.folder, Url):  # Spark's own reader may not reach the store: it needs other packages
            (stage,) = self.stages
            return self._frame_of(replace(stage, frame=session.range(0, stage.frame, 1, max(1, stage.frame))))
        ddl = spark_schema(self.schema)
        if not self.files.names:
            return session.createDataFrame([], ddl)
        return session.read.schema(ddl).parquet(*map(pattern_of, self.files.paths))

    def batches(self) -> Batches:
        for path in self.files.paths:
            yield from rows_of(path, self.schema)

    def select(self, names: Sequence[str]) -> StoredTable:
        return StoredTable(self.engine, self.files, some_fields(self.schema, names))


class WholeComponents(SparkTable):
    """Bundles of whole components, which the driver makes; ``present``: orders in one; ``whole``: no component is left out."""

    def __init__(self, engine: Cluster, division: ComponentPartitions, make: Callable[[], Batches]) -> None:
        made = of_driver(engine, make, CLOSED, int(division.present.sum()))
        super().__init__(engine, CLOSED, lambda: made.stages, made.rows, here=True)
        self.present, self.whole = division.present, bool((division.of_order < division.n_closed).all())

    def left_out(self, rows: SparkTable, on: str) -> SparkTable:
        """Return the rows whose order is in no bundle."""
        if self.whole:
            return of_driver(self.engine, lambda: iter(()), rows.schema, 0)
        return self.engine.upload(
            of_driver(self.engine, lambda: filter_rows(on, self.present, False, rows.batches()), rows.schema)
        )


def connectable(pairs: int, n: int) -> bool:
    """Tell whether the driver finds the components of so many pairs of n documents."""
    return PAIR_BYTES * pairs + DOCUMENT_BYTES * n <= DRIVER_BYTES


def closed_of(pairs: SparkTable, documents: SparkTable, n: int) -> WholeComponents | None:
    """Connect pairs of n documents of which there are order and bytes; None: they do not fit the driver's memory."""
    assert isinstance(pairs, StoredTable)
    if not connectable(pairs.files.rows, n):
        return None
    sizes = np.zeros(n, np.int64)
    for batch in documents.select(["order", "bytes"]).batches():
        sizes[to_numpy(batch.column("order"))] = to_numpy(batch.column("bytes"))
    division = ComponentPartitions(*connected_documents(find_roots(pairs, n)), n, sizes.__getitem__, 1 << 60, COMPONENT_BYTES)
    counting = partial(WorkProgress, None, "", division.n_bytes, "bytes", 1)

    def bundles() -> Batches:
        for piece in division.pieces(partial(all_pairs, pairs), sizes.__getitem__, counting, 0):
            yield from piece.make()

    return WholeComponents(pairs.engine, division, bundles)


class TextTable(SparkTable):
    """Rows (``where``: unit and place) whose texts are read when needed; ``stored``: from files that were written for it."""

    def __init__(
        self, engine: Cluster, where: SparkTable, texts: TextsOfJob, name: str, schema: pa.Schema, stored: bool = False
    ) -> None:
        super().__init__(engine, schema, lambda: engine.with_texts(self).stages, where.rows)
        self.where, self.texts, self.name, self.stored = where, texts, name, stored

    def select(self, names: Sequence[str]) -> SparkTable:
        if self.name not in names:
            return self.where.select(names)
        return TextTable(self.engine, self.where, self.texts, self.name, some_fields(self.schema, names))


def some_fields(schema: pa.Schema, names: Sequence[str]) -> pa.Schema:
    return pa.schema([schema.field(name) for name in names])


def pattern_of(path: AnyPath) -> str:
    """Return how Spark is told what to read: a pattern that matches the path alone; it decodes no %20."""
    return re.sub(r"([\[\]{}*?\\])", r"\\\1", f"file://{path.absolute()}")
