"""What an engine is: where steps run, and which rows meet.

A *step* is a pure function from an iterator of record batches to an iterator of record batches; its settings are bound with
``functools.partial``, and it pickles with them. An engine runs steps over tables and brings rows together. It knows neither
sketches nor resemblance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import pyarrow as pa
from numpy.typing import NDArray

Batches = Iterator[pa.RecordBatch]
Step = Callable[[Batches], Batches]


class Table(Protocol):
    """Rows in batches; making them may be put off until they are asked for."""

    schema: pa.Schema

    def batches(self) -> Batches:
        """Make the rows and yield them; every call yields the same rows."""
        ...

    def select(self, names: Sequence[str]) -> Table:
        """Return some columns."""
        ...

    def slice(self, begin: int, end: int) -> Table:
        """Return some rows of a table that is stored, by number."""
        ...


class Fold(Protocol):
    """A small array added up over rows, in any order and in any number of tasks."""

    def start(self) -> NDArray[Any]:
        """Return the array of no rows."""
        ...

    def add(self, total: NDArray[Any], batch: pa.RecordBatch) -> None:
        """Add the rows of a batch in place."""
        ...

    @property
    def combine(self) -> Any:
        """The universal function that puts two arrays together."""
        ...


class Engine(Protocol):
    """The operations that all jobs are made of."""

    def source(self, splits: Sequence[Any], reading: Any) -> Table:
        """Return the documents of some inputs."""
        ...

    def rows(self, table: pa.Table) -> Table:
        """Return rows that are in memory already."""
        ...

    def map(self, rows: Table, step: Step, schema: pa.Schema) -> Table:
        """Run a step; rows that met stay together and in order."""
        ...

    def meet(self, rows: Table, by: str | None, sort: str | tuple[str, ...]) -> Table:
        """Bring rows of equal ``by`` together, whole and sorted by ``sort``; of a list column, once for each element.

        A group whose rows are alone may be left out where ``by`` is a list column. ``by=None``: all rows are one group.
        """
        ...

    def join(self, left: Table, right: Table, on: str, how: str) -> Table:
        """Add to each row of ``left`` the columns, but ``order``, of the row of ``right`` whose ``order`` is its ``on``.

        Where ``on`` is not ``order``, the names of what is added begin with it: ``left_code``. Bytes of fixed width may then
        come dictionary-encoded.

        Parameters
        ----------
        how : {"inner", "left", "semi", "anti"}
            "left": rows without a match get nulls; "semi" and "anti": rows with, or without, a match, no columns added.
        """
        ...

    def union(self, first: Table, second: Table) -> Table:
        """Return the rows of both, of the same schema."""
        ...

    def fold(self, rows: Table, fold: Fold) -> NDArray[Any]:
        """Add rows up into a small array."""
        ...

    def rank(self, rows: Table, by: Sequence[str]) -> Table:
        """Add ``order``, from 0: references first, by position; then by the columns (``-name``: descending; nulls last)."""
        ...

    def store(self, rows: Table, name: str) -> Table:
        """Make the rows and keep them, so that they are read, not made again; a job that goes on finds them."""
        ...

    joins_in_place: bool
    """Whether the rows of a join are in the order and groups of its left table."""

    slices: Callable[[Table], list[tuple[int, int]]] | None
    """From pairs to runs of orders whose documents can be compared at one time; None: the engine decides by rounds."""

    together: Callable[[Table], Table] | None
    """From pairs to one bundle of all their documents, without texts; where there are slices."""

    components: Callable[[Table], Table] | None
    """From pairs to bundles without texts, a bundle for each connected component that fits; None: the engine has no such."""
