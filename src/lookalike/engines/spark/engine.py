"""The engine for a cluster: steps run in Spark's tasks, which read and write files of their own; rows meet by Spark's shuffles.

Nothing comes to the driver but sums, names of files, rows that a caller asks for by ``batches``, read from files, and what one
task would do alone: tables of few rows without texts are made there; so are components, where the pairs fit its memory.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial, reduce
from itertools import chain, count
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ... import __version__
from ...errors import OutputError
from ...files.folder import folder_of
from ...files.urls import AnyPath, path_of
from ...formats.split import Split
from ...inputs.read import ReadOptions
from ...values import Int64Array
from ...values.tables import SOURCE_BITS
from ..engine import Aggregate, Batches, Step, Table
from ..progress import Progress
from .columns import spark_schema
from .files import WRITTEN, TableFiles, write_rows
from .frames import Frames, FrameSource
from .order import Inputs, Sizes, between, ordered_by_place, position_of, ranked_by_sorting
from .packs import LEFT, PACKED, RIGHT, JoinSettings, Packing, exploded, join_packs, pack_batches, unpacked
from .session import own_session, planned_once, release, usual_tasks
from .tables import (
    SparkTable,
    StoredTable,
    TextTable,
    WholeComponents,
    closed_of,
    derived,
    of_driver,
    of_frame,
    of_numbers,
    some_fields,
    union,
)
from .tasks import FOLDED, Task, add_up, on_checked, raised_again, read_units, some_columns, yield_table
from .texts import WHERE, InputTexts, TextFiles, TextsOfJob, located, read_wanted, spool, units_of

SMALL = 1 << 14
"""Bytes of a sum that comes to the driver directly; a larger one is read from a file."""
COMBINED_BY = 8
"""Tasks that combine the sums of all others."""
ROWS_OF_A_TASK, TEXTS_OF_A_TASK, TEXT_BYTES_OF_A_TASK, MOST_TIMES = 1 << 17, 1 << 11, 1 << 23, 1 << 4
"""Rows that meet in a task, about, where there are few, texts, and their bytes; how many times as many where there are many."""


class SparkEngine:
    """Runs steps on a cluster; stored tables are Parquet in ``folder``.

    Driver and workers share it; it is made, and removed by ``close``. ``progress`` is told each table before it is made, and 0.
    Work is done in a session of its own; frames of callers, and what they get, are of ``session``, whose settings stay.
    """

    joins_keep_order = False
    few_bytes = 32 << 20  # of rows that the driver works on itself: a stage of Spark takes some tenths of a second to begin

    def __init__(self, session: Any, folder: str | os.PathLike[str], progress: Progress | None = None) -> None:
        self.session, self.own_session, self.folder = session, own_session(session), path_of(folder)
        self.n_tasks = usual_tasks(session)
        self._progress = progress
        self._source: SparkTable | None = None
        self._texts: TextsOfJob | None = None  # of the source
        self._ranked: SparkTable | None = None
        self._sizes = np.zeros(0, np.int64)  # rows of each input
        self._text_bytes = 0  # of a document, on average
        self._names = count()
        self._key = os.urandom(16)
        self.marker: AnyPath | None = None  # a file of the work folder that workers must see

    def act(self, action: Callable[[], Any], adaptive: bool = False) -> Any:
        """Let Spark work; what a task of ours refuses is raised as it was there."""
        with nullcontext() if adaptive else planned_once(self.own_session), raised_again():
            return action()

    def run_on(self, frame: Any, task: Task, schema: pa.Schema) -> Any:
        """Return what a task makes of the parts of a data frame; each worker is checked before it runs one."""
        versions = (__version__, release(self.session.version))
        checked = partial(on_checked, task=task, versions=versions, marker=self.marker)
        return frame.mapInArrow(checked, spark_schema(schema))

    def numbers(self, n: int) -> Any:
        return self.own_session.range(0, n, 1, max(1, n))

    def tasks_for(self, rows: int | None, rows_each: int) -> int:
        """Return how many tasks are worth their while; more than is usual only where they would get too much."""
        if rows is None:
            return self.n_tasks
        wanted = -(-rows // rows_each)
        return max(1, min(wanted, self.n_tasks), wanted // MOST_TIMES)

    @property
    def texts_of_a_task(self) -> int:
        """Rows with texts that meet in a task, about, where there are few: the fewer, the longer texts are."""
        return max(1, min(TEXTS_OF_A_TASK, TEXT_BYTES_OF_A_TASK // max(1, self._text_bytes)))

    def source(self, splits: Sequence[Split], reading: ReadOptions) -> SparkTable:
        self._sizes = np.zeros(len(splits), np.int64)
        if isinstance(splits, Frames):
            self._source = source = FrameSource(self, splits, reading)
            self._texts = source.texts
        else:
            self._texts = texts = InputTexts(units_of(splits), reading)
            self._source = of_numbers(self, len(texts.units), partial(read_units, texts=texts), reading.schema)
        return self._source

    def rows(self, table: pa.Table) -> SparkTable:
        return of_numbers(self, 1, partial(yield_table, table=table), table.schema, len(table))

    def map(self, rows: Table, step: Step, schema: pa.Schema) -> SparkTable:
        """Run a step on all rows, a partition at a time."""
        return own(rows).mapped(step, schema)

    def group_by(self, rows: Table, by: str | None, sort: str | tuple[str, ...], once: bool = False) -> SparkTable:
        """Bring rows of equal ``by`` together by a shuffle, each partition sorted."""
        rows, names = own(rows), (sort,) if isinstance(sort, str) else tuple(sort)
        if by is None and rows.here:
            return self.together_by(rows, names[0], 1, names)
        if by is None:
            return of_frame(self, rows.frame.repartition(1).sortWithinPartitions(*names), rows.schema, rows.rows)
        kind, n_rows = rows.schema.field(by).type, rows.rows
        if pa.types.is_nested(kind):
            schema = pa.schema([("key", pa.int64()), ("order", pa.int64())])
            n_rows = None if n_rows is None or not pa.types.is_fixed_size_list(kind) else n_rows * kind.list_size
            rows, by = rows.mapped(partial(exploded, by=by, schema=schema), schema), "key"
        n = self.tasks_for(n_rows, self.texts_of_a_task if "text" in rows.schema.names else ROWS_OF_A_TASK)
        return self.together_by(rows, by, n, names, once)

    def together_by(
        self, rows: SparkTable, by: str, cut: int | Int64Array, sort: tuple[str, ...], once: bool = False
    ) -> SparkTable:
        """Bring rows to the tasks of their buckets, where they are sorted: see ``Packing``."""
        parted = sort[0] if once and sort[0] != by else None  # nothing but equal rows must be together
        packing = Packing(by=by, cut=1 if rows.here else cut, schema=rows.schema, key=self._key, parted=parted)
        packs = rows.mapped(partial(pack_batches, settings=packing), PACKED)
        step = partial(unpacked, settings=packing, sort=sort, once=once)
        if rows.here:
            return of_driver(self, lambda: step(packs.batches()), rows.schema, rows.rows)
        frame = self._to_buckets(packs.frame, cut if isinstance(cut, int) else len(cut) + 1)
        return of_frame(self, frame.sortWithinPartitions("bucket"), PACKED, rows.rows).mapped(step, rows.schema)

    def _to_buckets(self, packs: Any, n: int) -> Any:
        if hasattr(packs, "repartitionById"):
            return packs.repartitionById(n, "bucket")
        return packs.repartition(n, "bucket")  # before Spark 4.1: a task may get several buckets, one after the other

    def join(self, left: Table, right: Table, on: str, how: str) -> SparkTable:
        left, right = own(left), own(right)
        if isinstance(right, WholeComponents) and how == "anti":
            return right.left_out(left, on)
        prefix = "" if on == "order" else f"{on}_"
        if right is self._source or (isinstance(right, TextTable) and right.stored):
            where, texts = self._texts_of(right)
            schema = left.schema.append(pa.field(f"{prefix}text", pa.large_binary()))
            where, places = where.select(["order", *WHERE.names]), pa.schema([*left.schema, *WHERE])
            rows = self._join(
                left, where, JoinSettings(on=on, how="inner", left=left.schema, right=where.schema, schema=places)
            )
            return TextTable(self, rows, texts, f"{prefix}text", schema)
        if how in ("semi", "anti"):
            right = right.select(["order"])
        added = [field.with_name(prefix + field.name) for field in right.schema if field.name != "order"]
        schema = pa.schema([*left.schema, *added])
        return self._join(left, right, JoinSettings(on=on, how=how, left=left.schema, right=right.schema, schema=schema))

    def _texts_of(self, right: SparkTable) -> tuple[SparkTable, TextsOfJob]:
        """Return where the texts of documents are, and what reads them."""
        if isinstance(right, TextTable):
            return right.where, right.texts
        assert self._texts is not None and self._ranked is not None
        if not isinstance(self._texts, InputTexts):
            return self._ranked.select(["order", *WHERE.names]), self._texts
        schema = pa.schema([self._ranked.schema.field("order"), *WHERE])
        locating = partial(located, starts=self._texts.starts, schema=schema)
        return self._ranked.select(["order", "position"]).mapped(locating, schema), self._texts

    def with_texts(self, rows: TextTable) -> SparkTable:
        """Let rows go where their texts are, sorted as these lie there, and read these."""
        where = SparkTable(self, rows.where.schema, lambda: rows.where.stages, rows.rows)  # not here: tasks read texts
        there = self.together_by(where, "unit", self.tasks_for(rows.rows, self.texts_of_a_task), ("place",))
        return there.mapped(partial(read_wanted, texts=rows.texts, name=rows.name, schema=rows.schema), rows.schema)

    def _join(self, left: SparkTable, right: SparkTable, settings: JoinSettings) -> SparkTable:
        """Return rows that are joined when they are asked for; columns that nobody asks for are not moved."""

        def pick(names: Sequence[str]) -> SparkTable:
            some = settings.of(names)
            rows = self._join(left.select(some.left.names), right.select(some.right.names), some)
            if some.schema.names == list(names):
                return rows
            return rows.mapped(partial(some_columns, names=tuple(names)), some_fields(some.schema, names))

        return SparkTable(
            self, settings.schema, lambda: self._joined_packs(left, right, settings).stages, left.rows, pick,
            left.here and right.here,
        )  # fmt: skip

    def _joined_packs(self, left: SparkTable, right: SparkTable, settings: JoinSettings) -> SparkTable:
        here = left.here and right.here
        n_rows = None if left.rows is None or right.rows is None else left.rows + right.rows
        n, packs = 1 if here else self.tasks_for(n_rows, ROWS_OF_A_TASK), []
        for rows, by, side in ((right, "order", RIGHT), (left, settings.on, LEFT)):
            packing = Packing(by=by, cut=n, schema=rows.schema, side=side)
            packs.append(rows.mapped(partial(pack_batches, settings=packing), PACKED))
        step = partial(join_packs, settings=settings)
        if here:
            return of_driver(self, lambda: step(chain(*(some.batches() for some in packs))), settings.schema, left.rows)
        frame = self._to_buckets(packs[0].frame.union(packs[1].frame), n).sortWithinPartitions("bucket", "side")
        return of_frame(self, frame, PACKED, left.rows).mapped(step, settings.schema)

    def components(self, pairs: Table) -> WholeComponents | None:
        """Let the driver connect pairs that fit its memory; components too large for a task are left out."""
        assert self._ranked is not None
        return closed_of(own(pairs), self._ranked, int(self._sizes.sum()))

    def union(self, first: Table, second: Table) -> SparkTable:
        return union(own(first), own(second).select(first.schema.names))

    def has_room(self, n_bytes: int) -> bool:
        """Tell that nothing is shared: steps run in tasks."""
        return False

    def aggregate(self, rows: Table, fold: Aggregate) -> NDArray[Any]:
        """Add rows up in the tasks, then the sums of the tasks in a few others, and in one."""
        rows, start = own(rows), fold.start()
        if rows.here:
            for batch in rows.batches():
                fold.add(start, batch)
            return start
        sums = rows.mapped(partial(add_up, fold=fold), FOLDED)
        for n in (1,) if start.nbytes <= SMALL else (COMBINED_BY, 1):
            few = of_frame(self, sums.frame.repartition(n), FOLDED)
            sums = few.mapped(partial(add_up, fold=fold, again=True), FOLDED)
        if start.nbytes <= SMALL:
            found = [bytes(row.total) for row in self.act(sums.frame.collect)]
        else:
            found = [value.as_buffer() for batch in sums.batches() for value in batch.column(0)]
        return reduce(fold.combine, (np.frombuffer(one, start.dtype).reshape(start.shape) for one in found), start)

    def rank(self, rows: Table, by: Sequence[str], boundary: int) -> SparkTable:
        """Add the order; where it follows the inputs it is the place there, otherwise rows are sorted over all tasks."""
        rows = own(rows)
        counted = rows.select([name for name in ("position", "bytes") if name in rows.schema.names])
        n = len(self._sizes) if self._source is not None else int(self.aggregate(counted.select(["position"]), Inputs())[0])
        self._sizes, ends, n_bytes = self.aggregate(counted, Sizes(n))
        self._text_bytes = int(n_bytes.sum()) // max(1, int(self._sizes.sum()))
        schema = rows.schema.append(pa.field("order", pa.int64()))
        if by[0] in ("position", "-position") and (ends == self._sizes).all():
            placing = partial(
                ordered_by_place, sizes=self._sizes, n_references=int(self._sizes[: boundary >> SOURCE_BITS].sum()),
                backwards=by[0].startswith("-"),
            )  # fmt: skip
            self._ranked = derived(rows, ("position",), placing, schema, "order")
        else:
            self._ranked = ranked_by_sorting(rows, by, boundary, schema)
        return self._ranked

    def by_position(self, table: SparkTable, begin: int, end: int) -> SparkTable:
        total = int(self._sizes.sum())
        if begin <= 0 and end >= total:
            return table
        positions = [position_of(self._sizes, place) if place < total else 1 << 62 for place in (begin, max(begin, end))]
        return derived(table, ("position",), partial(between, begin=positions[0], end=positions[1]), table.schema)

    def by_input(self, rows: Table) -> SparkTable:
        """Return a row of each document, cut into runs of positions, each sorted by them."""
        rows = own(rows)
        return self.together_by(rows, "position", self.runs_of_input(rows), ())

    def runs_of_input(self, rows: SparkTable) -> Int64Array:
        """Return the positions at which all runs but the first begin that documents are cut into, for rows of a schema."""
        total = int(self._sizes.sum())
        wanted = self.tasks_for(total, self.texts_of_a_task if "text" in rows.schema.names else ROWS_OF_A_TASK)
        each = -(-total // wanted)
        return np.array([position_of(self._sizes, place) for place in range(each, total, each)] if total else [], np.int64)

    def materialize(self, rows: Table, name: str) -> SparkTable:
        """Make the rows and keep them; those of a job that is gone on with are found."""
        rows = own(rows)
        if isinstance(rows, StoredTable) or (isinstance(rows, TextTable) and rows.stored):
            return rows
        if isinstance(rows, TextTable):
            files = TextFiles(self.folder / f"{name}-files")
            self.discard_texts(files, name)
            schema = pa.schema([field for field in [*rows.schema, *WHERE] if field.name != rows.name])
            where = self.materialize(rows.mapped(partial(spool, folder=files.folder, schema=schema), schema), name)
            return TextTable(self, where, files, rows.name, rows.schema, stored=True)
        if isinstance(self._source, FrameSource) and self._source.sketched is rows:
            return self._source.store_numbered(rows, name)
        return StoredTable(self, self.write(rows, name), rows.schema)

    def write(self, rows: SparkTable, name: str, again: bool = False, adaptive: bool = False) -> TableFiles:
        """Let the tasks write rows to files, unless they are there; ``NAME.done`` says in the end which of these count.

        Tasks that are tried again may leave others in the folder; those of a driver that was killed are removed. Rows that
        Spark sorts, or makes by a plan of the caller, are ``adaptive``: it determines how many tasks they take.
        """
        done, folder = self.folder / f"{name}.done", self.folder / name
        if not again and (known := TableFiles.load(done, folder)) is not None:
            return known
        if self._progress is not None and not again:
            self._progress(name, 0)
        writing = rows.mapped(partial(write_rows, folder=folder, schema=rows.schema), WRITTEN)
        try:
            folder_of(folder).clear()
            told = [tuple(row.values()) for batch in writing.batches() for row in batch.to_pylist()] if rows.here else None
        except OSError as error:
            raise OutputError(f"cannot be used as work folder: {error.strerror or error}", folder) from None
        if told is None:
            told = [(row.name, row.rows, row.bytes) for row in self.act(writing.frame.collect, adaptive)]
        names, counts, sizes = zip(*sorted(told), strict=True) if told else ((), (), ())
        files = TableFiles(folder, tuple(names), tuple(counts), tuple(sizes))
        if not again:
            files.save(done)
        return files

    def discard_texts(self, files: TextFiles, name: str) -> None:
        """Remove texts that a driver left that died before the table of their places was whole: nothing names them."""
        if not (self.folder / f"{name}.done").exists():
            folder_of(files.folder).remove()

    def read_back(self, rows: SparkTable) -> Batches:
        """Bring rows to the driver by files that are removed again."""
        name = f"read-{next(self._names)}"
        files = self.write(rows, name, again=True)
        yield from StoredTable(self, files, rows.schema).batches()
        (self.folder / f"{name}.done").unlink(missing_ok=True)
        folder_of(files.folder).remove()

    def upload(self, rows: SparkTable) -> StoredTable:
        """Write rows that the driver makes, for tasks to read."""
        return StoredTable(self, self.write(rows, f"sent-{next(self._names)}", again=True), rows.schema)

    def close(self) -> None:
        """Remove what was kept; first what says that tables are whole, lest parts of them count if this is interrupted."""
        for done in folder_of(self.folder).files(".done"):
            done.unlink(missing_ok=True)
        folder_of(self.folder).remove()


def own(table: Table) -> SparkTable:
    """Return a table of this engine."""
    assert isinstance(table, SparkTable), "a table of another engine"
    return table
