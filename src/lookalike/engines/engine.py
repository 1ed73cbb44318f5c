"""What an engine is: where steps run, and which rows meet.

A *step* is a pure function from an iterator of record batches to an iterator of record batches; its settings are bound with
``functools.partial``, and it pickles with them. An engine runs steps over tables and brings rows together. It knows neither
sketches nor resemblance.

The rows of a table are a bag: their order, and how they are cut into batches, are the engine's own affair but where a method
below promises more. Keys that rows meet or are joined by are integers, bytes or strings, and are never null but as ``on`` of a
join. A job calls the operations from one thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, runtime_checkable

import pyarrow as pa
from numpy.typing import NDArray

from ..formats.split import Split
from ..inputs.read import ReadOptions

Batches = Iterator[pa.RecordBatch]
Step = Callable[[Batches], Batches]


class Table(Protocol):
    """Rows in batches, of any size and perhaps empty; making them may be put off until they are asked for."""

    schema: pa.Schema

    def batches(self) -> Batches:
        """Make the rows and yield them; every call yields the same rows."""
        ...

    def select(self, names: Sequence[str]) -> Table:
        """Return some columns."""
        ...

    def slice(self, begin: int, end: int) -> Table:
        """Return some rows of a ranked table: by position, from so many on up to so many."""
        ...


class Aggregate(Protocol):
    """A small array added up over rows, in any order and in any number of tasks."""

    def start(self) -> NDArray[Any]:
        """Return the array of no rows."""
        ...

    def add(self, total: NDArray[Any], batch: pa.RecordBatch, /) -> None:
        """Add the rows of a batch in place."""
        ...

    def combine(self, one: NDArray[Any], other: NDArray[Any], /) -> NDArray[Any]:
        """Put two arrays together."""
        ...


@runtime_checkable
class Engine(Protocol):
    """The operations that all jobs are made of."""

    def source(self, splits: Sequence[Split], reading: ReadOptions) -> Table:
        """Return the documents of some inputs: what ``read_documents`` of ``lookalike.inputs.read`` reads.

        Of inputs that are saved sketches these are sketches, under their own columns, which come to the step that is mapped
        next as they are. Joined with such documents, rows get the texts that ``SavedTexts`` reads.
        """
        ...

    def rows(self, table: pa.Table) -> Table:
        """Return rows that are in memory already."""
        ...

    def map(self, rows: Table, step: Step, schema: pa.Schema) -> Table:
        """Run a step on all rows; what met comes to it as it met, and stays so if the step leaves it so.

        The step may run several times, on some rows at a time; rows that met in one group are not parted.
        """
        ...

    def group_by(self, rows: Table, by: str | None, sort: str | tuple[str, ...], once: bool = False) -> Table:
        """Bring rows of equal ``by`` together, each group whole and sorted by ``sort``; groups come in any order.

        Parameters
        ----------
        rows : Table
            With columns of numbers alone, without nulls, or one that is stored or ranked, perhaps with some rows left out by a
            join; of an engine whose joins are not in place, any.
        by : str or None
            A column of integers, bytes or strings, of which equal ones meet. Or one of lists beside ``order``: a row meets once
            for each element, a null not at all, and the columns are then ``key`` and ``order``; elements at different places of
            lists are never equal. Groups of one row may be left out where this is no column of integers. None: all rows are one
            group, in one stream to the step.
        sort : str or tuple of str
            Columns of integers: ``order``, ``position`` or, for by=None, any of orders.
        once : bool, default False
            Of rows that are equal in all columns one is enough; the engine need not hold the others. Equal rows are beside
            each other, but a large group may come in parts.
        """
        ...

    def join(self, left: Table, right: Table, on: str, how: str) -> Table:
        """Add to each row of ``left`` the columns, but ``order``, of the row of ``right`` whose ``order`` is its ``on``.

        Where ``on`` is not ``order``, the names of what is added begin with it: ``left_code``. Bytes of fixed width may then
        come dictionary-encoded. A null matches nothing.

        Parameters
        ----------
        left : Table
        right : Table
            An order comes once, or, for "semi" and "anti", as often as it likes. Columns are of one width, but in one that is
            ranked. The table that ``source`` returned will do too: its rows have the orders that ``rank`` gave them, and
            ``text`` alone is added.
        on : str
        how : {"inner", "left", "semi", "anti"}
            "left": rows without a match get nulls; "semi" and "anti": rows with, or without, a match, no columns added.
        """
        ...

    def union(self, first: Table, second: Table) -> Table:
        """Return the rows of both, of the same schema."""
        ...

    def aggregate(self, rows: Table, fold: Aggregate) -> NDArray[Any]:
        """Add rows up into a small array."""
        ...

    def rank(self, rows: Table, by: Sequence[str], boundary: int) -> Table:
        """Add ``order``, from 0, to a row of each document.

        Rows of a ``position`` below the boundary come first, by position; then the others by the columns of ``by``, of which
        the last tells all apart. ``-name``: the largest first. A null, or a value without bytes, comes last in either case.
        """
        ...

    def materialize(self, rows: Table, name: str) -> Table:
        """Make the rows and keep them, so that they are read, not made again.

        A name stands for the same rows all through a job, so that a job that goes on may find them.
        """
        ...

    def close(self) -> None:
        """Remove what was kept: no table is asked for rows any more."""
        ...

    def has_room(self, n_bytes: int) -> bool:
        """Tell whether an array of so many bytes, which steps share, fits beside what the job holds."""
        ...

    @property
    def joins_keep_order(self) -> bool:
        """Whether the rows of a join are in the order and groups of its left table, and ranked rows in that of positions."""
        ...

    @property
    def components(self) -> Callable[[Table], Table | None] | None:
        """From pairs to bundles without texts; None: the engine has no such, and jobs decide by rounds, with the same result.

        Likewise if it returns None, of pairs that are too many.

        A bundle is a connected component, whole: columns bundle, order and partners (orders of all earlier documents of its
        pairs), grouped by bundle and sorted by order. Components may be left out.
        """
        ...
