"""Texts and tables that are in memory already."""

from __future__ import annotations

import glob as globbing
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from ..errors import InputDataError
from ..files.names import expanded, is_glob, listed, suffix_of
from ..files.skipped import Inputs
from ..files.urls import is_url
from ..text.texts import as_arrow_columns, as_items, as_texts
from ..values.arrow import without_views
from ._columnar import ColumnarFormat, check_columns, table_batch
from ._format import Format
from ._registry import formats_by_suffix, known_suffixes
from ._rows import refuse_twice
from ._split import Batch, Columns, Record, Split, numbers_from
from .sources import open_sources

MAX_PATH = 1024
ROWS = 1 << 14  # of a table in memory that are copied together
ROWS_BYTES = 32 << 20
AS_TEXTS = "pass the texts as a column, pyarrow.array(texts)"


class _Lists(Format):
    """A list of texts or a column of them; ids are row numbers, from 0."""

    name = "memory"
    written_as = "jsonl"
    has_columns = False

    def __reduce__(self) -> str:
        """Pickle as the one of this file."""
        return "LISTS"

    def label(self, split: Split, number: int) -> int:
        """Return the row number itself."""
        return number

    def file(self, split: Split, number: int) -> None:
        """Return None: there is no file."""

    def identity(self, split: Split) -> Record:
        """Return that the input was in memory."""
        return {"name": "in memory"}

    def read(self, split: Split, columns: Columns) -> Iterator[Batch]:
        """Read the texts; there are no columns but the text."""
        if columns.id is not None or columns.others:
            names = [*([columns.id] if columns.id else []), *columns.others]
            raise InputDataError(f"a list of texts has no columns; {', '.join(names)} was asked for: pass a table")
        first = 0
        for texts in as_texts(split.data, columns.encoding_errors):
            yield Batch(texts, numbers_from(first, len(texts)))
            first += len(texts)

    def check_free(self, split: Split, names: Sequence[str]) -> None:
        """Do nothing: there are no columns."""

    def expected(self, split: Split, text: str) -> tuple[int, int]:
        """Return the number of texts; their bytes are in memory already."""
        return len(split.data) if hasattr(split.data, "__len__") else 0, 0

    def rows(self, split: Split, encoding_errors: str) -> Iterator[tuple[int, Record]]:
        """Return all rows as dictionaries of id and text, each with its number."""
        row = 0
        for texts in as_texts(split.data, "replace"):
            for i in range(len(texts)):
                yield row, {"id": row, "text": texts.row(i).decode("utf-8", "replace")}
                row += 1


class _Tables(ColumnarFormat):
    """An Arrow table; ids are row numbers, from 0, unless a column is named."""

    name = "table"
    written_as = "parquet"
    first_number = 0

    def __reduce__(self) -> str:
        """Pickle as the one of this file."""
        return "TABLES"

    label, file, identity = _Lists.label, _Lists.file, _Lists.identity

    def schema(self, split: Split) -> pa.Schema:
        """Return the table's schema."""
        return split.data.schema

    def read(self, split: Split, columns: Columns) -> Iterator[Batch]:
        """Read the columns wanted."""
        check_columns(split, split.data.column_names, columns)
        first = 0
        for batch in split.data.select(list(dict.fromkeys(columns.wanted))).to_batches():
            yield table_batch(batch, first, columns, split.name)
            first += len(batch)

    def expected(self, split: Split, text: str) -> tuple[int, int]:
        """Return the number of rows; their bytes are in memory already."""
        return len(split.data), 0

    def tables(self, split: Split) -> Iterator[pa.Table]:
        """Return the table, some rows at a time."""
        rows = max(1, min(ROWS, ROWS_BYTES * len(split.data) // max(1, split.data.nbytes)))
        for first in range(0, len(split.data), rows):
            yield split.data.slice(first, rows)


class _Made(_Tables):
    """Rows that are made when they are asked for: anything with ``schema`` and ``batches()``."""

    def __reduce__(self) -> str:
        """Pickle as the one of this file."""
        return "MADE"

    def tables(self, split: Split) -> Iterator[pa.Table]:
        """Make the rows, some at a time."""
        for batch in split.data.batches():
            yield pa.Table.from_batches([batch])
            del batch  # not held while the next is made


LISTS, TABLES, MADE = _Lists(), _Tables(), _Made()


def list_split(texts: Any) -> Split:
    """Return a list of texts, or a column of them, as a split."""
    return Split(form=LISTS, name="input", relative="input", data=texts)


def table_split(table: pa.Table, name: str = "table") -> Split:
    """Return an Arrow table as a split."""
    for place, column in enumerate(table.columns):
        if (plain := without_views(column)) is not column:
            table = table.set_column(place, table.field(place).with_type(plain.type), plain)
    return Split(form=TABLES, name=name, relative=name, data=table)


def made_split(rows: Any, name: str) -> Split:
    """Return rows that are made when they are asked for as a split."""
    return Split(form=MADE, name=name, relative=name, data=rows)


def _is_missing(path: str) -> bool:
    """Tell whether a path, other than "-" and URLs, stands for no file or folder, as a glob or as it is."""
    if path == "-" or is_url(path) or (len(path) <= MAX_PATH and "\0" not in path and os.path.lexists(path)):
        return False
    if len(path) > MAX_PATH or "\n" in path or "\0" in path or not is_glob(path):
        return True
    return all(next(globbing.iglob(pattern, recursive=True), None) is None for pattern in expanded(path))


def _has_suffix(item: str, known: Mapping[str, Any], longest: int) -> bool:
    """Tell whether a str ends in a known suffix, or a glob in several: "*.{md,txt}"."""
    if item.endswith("}"):
        before, _, inside = item[:-1].rpartition("{")
        return all(end[-1:] != "}" and _has_suffix(before + end, known, longest) for end in inside.split(","))
    return "." in item[-longest:] and suffix_of(item, known) is not None


def _are_paths(items: list[Any] | tuple[Any, ...]) -> bool:
    """Tell a list of paths from a list of texts.

    Raises
    ------
    InputDataError
        If it could be either, or if a path is missing.
    """
    kinds = set(map(type, items))
    if any(issubclass(kind, os.PathLike) for kind in kinds):
        stranger = next((i for i in items if not isinstance(i, (str, os.PathLike))), None)
        if stranger is not None:
            raise InputDataError(f"a list with a path must hold paths only; got {type(stranger).__name__}: {stranger!r:.60}")
        missing = next((item for item in items if _is_missing(os.fsdecode(item))), None)
        if missing is not None:
            name = os.fsdecode(missing)
            raise InputDataError(f"{name!r:.200}: no file of that name; a list with a path must hold paths only")
        return True
    if not all(issubclass(kind, str) for kind in kinds):
        return False
    if all(map(is_url, items)):
        return True
    known = formats_by_suffix()
    longest = max(map(len, known))
    named = [item for item in items if len(item) <= MAX_PATH and "\n" not in item and _has_suffix(item, known, longest)]
    if len(named) == len(items):
        missing = next((item for item in items if _is_missing(item)), None)
        if missing is None:
            return True
        raise InputDataError(
            f"{missing!r:.200}: no file of that name; a list is read as paths if each item ends in a known suffix; "
            f"if these are texts, {AS_TEXTS}"
        )
    existing = next((item for item in named if os.path.exists(item)), None)
    if existing is None and all(len(item) <= MAX_PATH and os.path.exists(item) for item in items):
        existing = items[0]
    if existing is not None:
        raise InputDataError(
            f"{existing!r:.200} names an existing file or folder, but the list could be texts: a list of str is read as paths "
            f"only if each item ends in a known suffix ({listed(known_suffixes())}); pass paths as pathlib.Path, or {AS_TEXTS}"
        )
    return False


def as_sources(
    data: Any, *, glob: str | Sequence[str] | None = None, format: str | None = None, delimiter: str | None = None
) -> list[Any]:  # fmt: skip
    """Tell what a user handed over: paths, a table or frame, or texts.

    A str or path is a path. A list is a list of paths if it holds a ``pathlib.Path``, or if all its items end in a known
    suffix or are URLs of a store; otherwise it is a list of texts. An iterator is read once, into a list. Sources are taken as
    they are.

    Raises
    ------
    InputDataError
        If it is none of these, a path is missing, or a list could be paths or texts.
    """
    if isinstance(data, (str, os.PathLike)):
        path = os.fsdecode(data)
        if _is_missing(path):
            hint = "; a str is read as a path: put a text into a list" if isinstance(data, str) else ""
            raise InputDataError(f"{path!r:.200}: no file {'matches' if is_glob(path) else 'of that name'}{hint}")
        return open_sources([path], glob=glob, format=format, delimiter=delimiter)
    if isinstance(data, pa.RecordBatch):
        return [table_split(pa.Table.from_batches([data]))]
    if isinstance(data, pa.Table):
        return [table_split(data)]
    if hasattr(type(data), "collect"):
        raise InputDataError(f"a lazy frame has no rows yet; got {type(data).__name__}: call collect() first")
    frame = _frame(data)
    if frame is not None:
        return [table_split(frame)]
    column = as_arrow_columns(data)
    if column is not None and pa.types.is_struct(column.type):
        return [table_split(pa.Table.from_batches([pa.RecordBatch.from_struct_array(c) for c in column.chunks]))]
    if column is not None:
        return [list_split(column)]
    if isinstance(data, dict):
        raise InputDataError("a path, a table or a list of texts is expected; got a dict: pass a dict of columns as a table, "
                             "pyarrow.table(columns)")  # fmt: skip
    items = as_items(data, "a path, a table or a list of texts is expected")
    if items and all(hasattr(item, "batches") and hasattr(item, "records") for item in items):
        return data if isinstance(data, Inputs) else list(items)
    if items and _are_paths(items):
        return open_sources([os.fsdecode(item) for item in items], glob=glob, format=format, delimiter=delimiter)
    return [list_split(items)]


def _frame(data: Any) -> pa.Table | None:
    """Return the Arrow table of a pandas or polars frame, or None if ``data`` is neither.

    Raises
    ------
    InputDataError
        If Arrow has no types for its columns, or two have the same name.
    """
    pandas = type(data).__module__.startswith("pandas")
    if not hasattr(data, "columns") or not (pandas or hasattr(data, "__arrow_c_stream__") or hasattr(data, "to_arrow")):
        return None
    refuse_twice("frame", "columns", [str(name) for name in data.columns])
    try:
        if pandas:
            return pa.Table.from_pandas(data, preserve_index=False)
        return data.to_arrow() if hasattr(data, "to_arrow") else pa.table(data)
    except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
        raise InputDataError(
            f"a {type(data).__name__} must have columns of one type each: {error}; convert or drop the column"
        ) from None
