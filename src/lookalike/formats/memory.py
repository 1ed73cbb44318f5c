"""Texts, rows and tables that a program has already."""

from __future__ import annotations

import glob as globbing
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from io import BytesIO
from typing import Any

import numpy as np
import pyarrow as pa

from ..errors import InputDataError, OutputError, ParameterError
from ..files.names import expanded, is_glob, list_suffixes, suffix_of
from ..files.urls import WEB, is_url
from ..text.texts import as_arrow_columns, as_items, as_texts
from ..values.arrays import plain
from ..values.arrow import without_views
from .columnar import ColumnarFormat, check_columns, cut, outer, table_batch
from .format import Format, Selection
from .frames import LazyRows, ScannedTable, frame_of, table_of_lake
from .registry import known_suffixes, names_by_suffix
from .rows import NumberedRows
from .sources import Files, open_sources
from .split import Batch, Columns, FinalError, Inputs, Record, Split, numbers_from

MAX_PATH = 1024
AS_TEXTS = "pass the texts as a column, pyarrow.array(texts)"
_TAKEN = "must be a path, a table, a data set, a dict of id to text, or a list of texts or of dicts"
_JSON = (str, int, float, list, dict, type(None))


def own_id(splits: Sequence[Split]) -> str | None:
    """Return the column of ids that all inputs have whatever they are; None if there is none."""
    found = {split.form.own_id for split in splits}
    return found.pop() if len(found) == 1 else None


class InMemory(Format):
    """What values in memory are called."""

    def __reduce__(self) -> str:
        """Pickle as the constant below that is named after the class."""
        return type(self).__name__[1:].upper()

    def label(self, split: Split, number: int) -> Any:
        """Return the row number itself, after the name of an input that has one."""
        return super().label(split, number) if split.named else number

    def file(self, split: Split, number: int) -> str | None:
        """Return the name of an input that has one; there is no file."""
        return split.name if split.named else None

    def identity(self, split: Split) -> Record:
        """Return that the input was in memory, and its name."""
        return {"name": split.name, "in_memory": True} if split.named else {"name": "in memory"}

    def expected(self, split: Split, texts: Sequence[str]) -> tuple[int, int]:
        """Return the number of rows; their bytes are in memory already."""
        return len(split.data) if hasattr(split.data, "__len__") else 0, 0


class _Lists(InMemory):
    """A list of texts or a column of them; ids are row numbers, from 0."""

    name = "memory"
    output_format = "jsonl"
    has_columns = False

    def read(self, split: Split, columns: Columns) -> Iterator[Batch]:
        """Read the texts; there are no columns but the text."""
        if asked := columns.wanted[1:]:
            raise FinalError(
                f"a list of texts has no columns; {', '.join(asked)} was asked for: pass a dict of id to text, a list of "
                "dicts, or a table"
            )
        try:
            pieces = as_texts(split.data, "replace" if split.limit.faults else columns.encoding_errors)
        except InputDataError as error:  # or all that follows would be left out
            raise FinalError(error.reason, row=error.row) from None
        first = 0
        for texts in pieces:
            yield Batch(texts, numbers_from(first, len(texts)))
            first += len(texts)

    def rows(self, split: Split, encoding_errors: str) -> NumberedRows:
        """Return all rows as dictionaries of id and text, each with its number."""
        row = 0
        for texts in as_texts(split.data, "replace"):
            for i in range(len(texts)):
                yield row, {"id": row, "text": texts.row(i).decode("utf-8", "replace")}
                row += 1


class _Records(InMemory):
    """A list of dicts; ids are row numbers, from 0, unless a field is named."""

    name = "dicts"
    output_format = "jsonl"

    def read(self, split: Split, columns: Columns) -> Iterator[Batch]:
        """Read the fields wanted; values that JSON does not have become an Arrow column."""
        if split.limit.faults:
            columns = replace(columns, encoding_errors="replace")
        for batch in super().read(split, columns):
            others = {name: _plain(values, split.name, name) for name, values in batch.others.items()}
            ids = batch.ids if batch.ids is None else _plain(batch.ids, split.name, columns.id)
            yield replace(batch, ids=ids, others=others)

    def rows(self, split: Split, encoding_errors: str) -> NumberedRows:
        """Return the dicts, each with its number, numbers of NumPy as those of Python."""
        for number, row in enumerate(split.data):
            yield number, {name: plain(value) for name, value in row.items()}


class _Texts(_Records):
    """A dict of id to text, as dicts of both."""

    own_id = "id"


class _Tables(InMemory, ColumnarFormat):
    """An Arrow table; ids are row numbers, from 0, unless a column is named."""

    name = "table"
    output_format = "parquet"
    first_number = 0

    def schema(self, split: Split) -> pa.Schema:
        return split.data.schema

    def read(self, split: Split, columns: Columns) -> Iterator[Batch]:
        check_columns(split, split.data.schema, columns)
        first = 0
        for batch in self.batches(split.data.select(outer(split.data.schema, columns.wanted))):
            yield table_batch(batch, first, columns, split.name)
            first += len(batch)
            del batch  # not held while the next is read

    def batches(self, table: pa.Table) -> Iterator[pa.RecordBatch]:
        return iter(table.to_batches())

    def tables(self, split: Split, converted: bool) -> Iterator[pa.Table]:
        """Return the table, some rows at a time."""
        return cut(split.data)


class _DeferredTables(_Tables):
    """Rows that are made when they are asked for: see ``LazyRows``."""

    def batches(self, table: LazyRows) -> Iterator[pa.RecordBatch]:
        return table.batches()

    def tables(self, split: Split, converted: bool) -> Iterator[pa.Table]:
        for batch in split.data.batches():
            yield pa.Table.from_batches([batch])
            del batch  # not held while the next is made


LISTS, RECORDS, TEXTS, TABLES, MADE = _Lists(), _Records(), _Texts(), _Tables(), _DeferredTables()


def list_split(texts: Any) -> Split:
    return Split(form=LISTS, name="input", relative="input", data=texts)


def _plain(values: Any, source: str, name: str | None) -> Any:
    """Return values as they are if JSON has them, else as an Arrow column."""
    if all(isinstance(value, _JSON) for value in values):
        return values
    try:
        return pa.array(values)
    except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
        raise InputDataError(f"the values must be of one type: {error}", source, column=name) from None


def _record_split(rows: Sequence[Any]) -> Split:
    for number, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise InputDataError(f"a list with a dict must hold dicts only; got {type(row).__name__}", row=number)
        if others := [name for name in row if not isinstance(name, str)]:
            raise InputDataError(f"the names of fields must be str; got {others[0]!r:.60}: rename the field", row=number)
    return Split(form=RECORDS, name="input", relative="input", data=rows)


def _dict_sources(data: Mapping[Any, Any], how: dict[str, Any]) -> list[Split]:
    """Return a dict of id to text as a split, or a dict of name to table as one each."""
    if all(isinstance(text, str | None) for text in data.values()):
        rows = [{"id": id, "text": text} for id, text in data.items()]
        return [Split(form=TEXTS, name="input", relative="input", data=rows)]
    splits: list[Split] = []
    for name, value in sorted(data.items(), key=lambda item: isinstance(item[1], str)):
        if (
            isinstance(value, str | bytes | list | tuple | int | float)
            or not isinstance(name, str)
            or not name
            or set(name) & set("/\0")
        ):
            raise InputDataError(
                f"a dict must be of id to text, or of name to table or data set; got {name!r:.60}: {type(value).__name__}: "
                "pass a dict of columns as a table, pyarrow.table(columns)"
            )
        for split in _sources(value, how):
            splits.append(split if split.places else replace(split, name=name, relative=name, named=True))
    return splits


def table_split(table: pa.Table, name: str = "table") -> Split:
    for place, column in enumerate(table.columns):
        if (plain := without_views(column)) is not column:
            table = table.set_column(place, table.field(place).with_type(plain.type), plain)
    return Split(form=TABLES, name=name, relative=name, data=table)


def check_types(form: Format, splits: Sequence[Split]) -> None:
    """Raise OutputError if a format has no type for a column of the inputs, which tables without rows show."""
    schemas: dict[pa.Schema, Split] = {}
    for split in splits:
        if isinstance(split.form, ColumnarFormat) and split.form is not form:
            schemas.setdefault(split.form.schema(split).remove_metadata(), split)
    for schema, split in schemas.items():
        try:
            empty = table_split(schema.empty_table())
        except pa.ArrowNotImplementedError:  # of a type of which Arrow has no empty column
            continue
        try:
            form.write(BytesIO(), [Selection(empty, np.zeros(0, np.bool_))], {})
        except OutputError as error:
            raise OutputError(error.reason, split.name, column=error.column) from None


def made_split(rows: LazyRows, name: str) -> Split:
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
    """Tell a list of paths from a list of texts."""
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
    if all(is_url(item, WEB) for item in items):
        return True
    known = names_by_suffix()
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
            f"only if each item ends in a known suffix ({list_suffixes(known_suffixes())}); pass paths as pathlib.Path, "
            f"or {AS_TEXTS}"
        )
    return False


def as_sources(data: Any, *, others: Sequence[Split] | None = (), name: str = "data", **how: Any) -> list[Split]:
    """Tell what a user handed over: paths, a table, frame or data set, texts, or rows.

    A str or path is a path. A list is a list of paths if it holds a ``pathlib.Path``, or if all its items end in a known
    suffix or are URLs of a store; otherwise it is a list of dicts or of texts. A dict is one of id to text, or of name to
    table. An iterator is read once, into a list. Sources are taken as they are. Options that are for files (``how``) are
    refused where there are none, nor among ``others`` that were opened with them; None: they are not refused.
    """
    splits, delimiter = _sources(data, how, name), how.get("delimiter")
    if others is None:
        return splits
    if not any(split.places for split in (*splits, *others)):
        refuse_for_files(how | {"on_error": None}, "in memory")
    if delimiter is not None and not any(hasattr(one.form, "delimiter") for one in (*splits, *others)):
        raise ParameterError(
            f"delimiter is for CSV and TSV files, and there is none; got {delimiter!r:.80}: leave it out",
            "delimiter",
            delimiter,
        )
    return splits


def refuse_for_files(how: Mapping[str, Any], what: str) -> None:
    """Refuse options that are for files where the input is something else."""
    for name, value in how.items():
        if value is not None:
            raise ParameterError(f"{name} is for files, and the input is {what}; got {value!r:.80}: leave it out", name, value)


def _sources(data: Any, how: dict[str, Any], name: str = "data") -> list[Split]:
    if isinstance(data, Files):
        return open_sources(data, **how)
    if isinstance(data, (str, os.PathLike)):
        path = os.fsdecode(data)
        if _is_missing(path):
            hint = "; a str is read as a path: put a text into a list" if isinstance(data, str) else ""
            raise InputDataError(f"{path!r:.200}: no file {'matches' if is_glob(path) else 'of that name'}{hint}")
        return open_sources([path], **how)
    if isinstance(data, pa.RecordBatch | pa.Table):
        return [table_split(data if isinstance(data, pa.Table) else pa.Table.from_batches([data]))]
    if (table := table_of_lake(data)) is not None:
        refuse_for_files({"format": how.get("format")}, "a table")
        return open_sources([table[0]], **how | {"format": table[1]})
    frame = frame_of(data)
    if frame is not None:
        return [made_split(frame, "table") if isinstance(frame, ScannedTable) else table_split(frame)]
    column = as_arrow_columns(data)
    if column is not None and pa.types.is_struct(column.type):
        return [table_split(pa.Table.from_batches([pa.RecordBatch.from_struct_array(c) for c in column.chunks]))]
    if column is not None:
        return [list_split(column)]
    if isinstance(data, Mapping):
        return _dict_sources(data, how)
    items = as_items(data, f"{name} {_TAKEN}")
    if items and all(hasattr(item, "batches") and hasattr(item, "records") for item in items):
        return data if isinstance(data, Inputs) else list(items)
    if items and _are_paths(items):
        return open_sources([os.fsdecode(item) for item in items], **how)
    return [_record_split(items) if any(isinstance(item, Mapping) for item in items) else list_split(items)]
