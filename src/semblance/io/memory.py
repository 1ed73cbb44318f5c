"""Texts and tables that are in memory already."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from ..errors import InputDataError
from ..text.texts import as_arrow_columns, as_texts
from .formats import suffix_of
from .inputs import Inputs, Place
from .parquet import check_names_free, table_batch
from .sources import Batch, Columns, Record, missing_column, numbers_from, open_sources


class ListSource:
    """A list of texts or a column of them; ids are row numbers, from 0."""

    name = "input"
    relative = "input"
    format = "memory"
    places: Sequence[Place] = ()

    def __init__(self, data: Any) -> None:
        self._data = data

    def label(self, number: int) -> Any:
        """Return the row number itself."""
        return number

    def identity(self) -> Record:
        """Return that the input was in memory."""
        return {"name": "in memory"}

    def batches(self, columns: Columns) -> Iterator[Batch]:
        """Read the texts; there are no columns but the text."""
        if columns.id is not None or columns.others:
            names = [*([columns.id] if columns.id else []), *columns.others]
            raise InputDataError(f"a list of texts has no columns; {', '.join(names)} was asked for: pass a table")
        first = 0
        for texts in as_texts(self._data, columns.encoding_errors):
            yield Batch(texts, numbers_from(first, len(texts)))
            first += len(texts)

    def check_free(self, names: Sequence[str]) -> None:
        """Do nothing: there are no columns."""

    def check_unchanged(self) -> None:
        """Do nothing: what is in memory is taken as it is."""

    def expected(self, text: str) -> tuple[int, int]:
        """Return the number of texts; their bytes are in memory already."""
        return len(self._data) if hasattr(self._data, "__len__") else 0, 0

    def records(self) -> Iterator[Record]:
        """Return all rows as dictionaries of id and text."""
        row = 0
        for texts in as_texts(self._data, "replace"):
            for i in range(len(texts)):
                yield {"id": row, "text": texts.row(i).decode("utf-8", "replace")}
                row += 1


class TableSource:
    """An Arrow table; ids are row numbers, from 0, unless a column is named."""

    name = "table"
    relative = "table"
    format = "table"
    places: Sequence[Place] = ()

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def label(self, number: int) -> Any:
        """Return the row number itself."""
        return number

    def identity(self) -> Record:
        """Return that the input was in memory."""
        return {"name": "in memory"}

    @property
    def schema(self) -> pa.Schema:
        """The table's schema."""
        return self._table.schema

    @property
    def compression(self) -> str:
        """The compression for files written from it."""
        return "snappy"

    def batches(self, columns: Columns) -> Iterator[Batch]:
        """Read the columns wanted."""
        wanted = [columns.text, *([columns.id] if columns.id is not None else []), *columns.others]
        for name in wanted:
            if name not in self._table.column_names:
                raise missing_column("table", "schema", "column", name, self._table.column_names, columns)
        self.check_free(columns.reserved)
        first = 0
        for batch in self._table.select(list(dict.fromkeys(wanted))).to_batches():
            yield table_batch(batch, first, columns, "table")
            first += len(batch)

    def check_free(self, names: Sequence[str]) -> None:
        """Raise InputDataError if the table has a column of one of these names."""
        check_names_free("table", self._table.column_names, names)

    def check_unchanged(self) -> None:
        """Do nothing: tables do not change."""

    def expected(self, text: str) -> tuple[int, int]:
        """Return the number of rows; their bytes are in memory already."""
        return len(self._table), 0

    def tables(self) -> Iterator[pa.Table]:
        """Return the table."""
        yield self._table

    def records(self) -> Iterator[Record]:
        """Return all rows as dictionaries."""
        for batch in self._table.to_batches(1024):
            yield from batch.to_pylist()


def _are_paths(items: list[Any] | tuple[Any, ...]) -> bool:
    """Tell a list of paths from a list of texts: texts do not all name existing files of a known suffix."""
    if all(isinstance(item, Path) for item in items):
        return True
    return all(
        isinstance(item, (str, Path)) and suffix_of(item) is not None and os.path.exists(item) and not os.path.isdir(item)
        for item in items
    )


def as_sources(data: Any, *, glob: str | None = None, format: str | None = None) -> list[Any]:
    """Tell what a user handed over: paths, a table or frame, or texts.

    A str or path is a path; a list is a list of texts unless its items are ``pathlib.Path`` or all name existing files
    of a known suffix; sources are taken as they are.

    Raises
    ------
    InputDataError
        If it is none of these.
    """
    if isinstance(data, (str, Path)):
        return open_sources([data], glob=glob, format=format)
    if isinstance(data, (list, tuple)) and data:
        if all(hasattr(item, "batches") and hasattr(item, "records") for item in data):
            return data if isinstance(data, Inputs) else list(data)
        if _are_paths(data):
            return open_sources(data, glob=glob, format=format)
    if isinstance(data, pa.RecordBatch):
        return [TableSource(pa.Table.from_batches([data]))]
    if isinstance(data, pa.Table):
        return [TableSource(data)]
    if hasattr(data, "columns") and (hasattr(data, "__arrow_c_stream__") or hasattr(data, "to_arrow")):
        return [TableSource(data.to_arrow() if hasattr(data, "to_arrow") else pa.table(data))]
    if type(data).__module__.startswith("pandas") and hasattr(data, "columns"):
        return [TableSource(pa.Table.from_pandas(data, preserve_index=False))]
    column = as_arrow_columns(data) if not isinstance(data, (list, tuple)) else None
    if column is not None and pa.types.is_struct(column.type):
        return [TableSource(pa.Table.from_batches([pa.RecordBatch.from_struct_array(c) for c in column.chunks]))]
    if isinstance(data, (dict, int, float, bytes)) or data is None:
        raise InputDataError(f"a path, a table or a list of texts is expected; {type(data).__name__} was given")
    return [ListSource(data if column is None else column)]
