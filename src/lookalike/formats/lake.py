"""Tables of Delta Lake and Iceberg: a split for each data file of one version, without the rows that were deleted since.

The package of the table says which files and rows there are; the files are read as other Parquet files are. Which version and
how many folders below the table's the file is are in the name of the format, so that rows are read again from the same version.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import types

from ..errors import InputDataError, OutputError, ParameterError
from ..files.folder import UnfinishedFolder
from ..files.inputs import entries_in
from ..files.names import show_path
from ..files.places import NO_DEVICE, FoundFile, place_at
from ..files.streams import asking
from ..files.tables import TITLES, above
from ..files.urls import AnyPath, Status, Url
from ..values import Int64Array
from ..values.arrow import to_arrow
from ..wording import plural
from .columnar import check_columns, outer, path_of, table_batch
from .format import Format, Selection
from .parquet import Parquet
from .registry import format_named
from .row_groups import Damaged, RowGroups
from .rows import NumberedRows
from .split import Batch, Columns, Pieces, Record, Split, mask_of

NONE = np.empty(0, np.int64)
_GONE = -1  # the size of a file that is not there


@dataclass(frozen=True, slots=True, eq=False)
class DataFile:
    """What a version of a table says of one of its files."""

    deleted: Int64Array  # rows, from 0, ascending
    constants: Mapping[str, Any]  # values of columns that the file may lack
    n_rows: int | None  # deleted ones too; None: the table does not say


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """A version of a table."""

    schema: pa.Schema
    fields: Sequence[pa.Field]  # the same, with what says which column of a file each is
    files: Mapping[str, DataFile]  # by their names in the folder of the table
    names: Mapping[str, str] = field(default_factory=dict)  # what columns are known by, by their names in files without ids


class TableFormat(Parquet):
    """Tables of one kind. Rows are numbered as in their files, from 1."""

    has_partitions = True
    recovers = False

    output_format = "parquet"
    version, depth = "", 0
    omitted: Collection[str] = ()
    """Columns that are not written."""

    def latest(self, root: AnyPath) -> str:
        """Return the version of a table that counts now."""
        raise NotImplementedError

    def snapshot(self, root: AnyPath, version: str) -> Snapshot:
        """Return what the package of the table says of a version; an InputDataError if that is damaged, or not there."""
        raise NotImplementedError

    def key(self, own: pa.Field, of_file: bool) -> str:
        """Return by what a column of the table and one of a file are known to be the same."""
        raise NotImplementedError

    @property
    def _kind(self) -> str:
        return self.name.partition(":")[0]

    def detailed(self, detail: str) -> Self:
        """Return the format of a version ("delta:12"), or of a file of it so many folders below the table's ("delta:12:2")."""
        version, _, depth = detail.partition(":")
        if not version or (depth and not depth.isdecimal()):
            raise ParameterError(f"must name a version after {self._kind}, as in {self._kind}:12", "format", detail)
        found = type(self)()
        found.name, found.version, found.depth = f"{self._kind}:{detail}", version, int(depth or 0)
        return found

    def splits(self, places: Sequence[FoundFile]) -> list[Split]:
        """Return the data files of tables, a split each, in the order of their names."""
        if not self.depth:
            _snapshot.cache_clear()  # another table may be in the folder by now
        return [split for place in places for split in self._files_of(place)]

    def _files_of(self, place: FoundFile) -> Iterator[Split]:
        title = TITLES[self._kind]
        if self.depth:
            yield Split(form=self, name=place.name, relative=place.relative, places=(place,))
            return
        if not place.table:
            raise InputDataError(f"not the folder of a table of {title}; name the folder", place.name)
        version = self.version or self.latest(place.path)
        files = _snapshot(self._kind, place.path.absolute(), version).files
        if not files and not place.found:
            raise InputDataError(f"version {version} of the {title} table has no data files", place.name)
        statuses = _statuses(place.path, files)
        for name in sorted(files, key=lambda one: one.split("/")):
            path, relative = place.path / name, "/".join(filter(None, (place.relative, name)))
            if (status := statuses.get(name)) is not None:
                found = place_at(path, relative, show_path(path), status, place.path, place.found)
            else:
                found = FoundFile(path, relative, show_path(path), place.path, place.found, _GONE, 0, NO_DEVICE, 0)
            form = self.detailed(f"{version}:{name.count('/') + 1}")
            yield Split(form=form, name=found.name, relative=relative, places=(found,))

    def _known(self, split: Split) -> tuple[Snapshot, DataFile]:
        path = split.place.path.absolute()
        root = above(path, self.depth)
        snapshot = _snapshot(self._kind, root, self.version)
        name = str(path).removeprefix(f"{str(root).rstrip('/')}/")
        if name not in snapshot.files:
            raise InputDataError(f"version {self.version} of the table {show_path(root)} has no such file", split.name)
        return snapshot, snapshot.files[name]

    def schema(self, split: Split) -> pa.Schema:
        snapshot, known = self._known(split)
        if split.place.size == _GONE:
            rows = "" if known.n_rows is None else f", of {plural(known.n_rows - len(known.deleted), 'row')},"
            raise InputDataError(
                f"version {self.version} of the {TITLES[self._kind]} table needs this file{rows} and it is not "
                "there (removed by VACUUM?): restore it, or read another version with --format (format=) "
                f"{self._kind}:VERSION",
                split.name,
            )
        schema = snapshot.schema
        return pa.schema([own for own in schema if own.name not in self.omitted], schema.metadata)

    def identity(self, split: Split) -> Record:
        """Return name, bytes and time of change of the file, and of which version of the table it is."""
        return super().identity(split) | {"table": f"{self._kind} {self.version}"}

    def read(self, split: Split, columns: Columns) -> Iterator[Batch]:
        snapshot, known = self._known(split)
        check_columns(split, snapshot.schema, columns)
        with self._open(split) as file:
            schema, n_rows = file.schema_arrow, file.metadata.num_rows
        if known.n_rows not in (None, n_rows) or (known.deleted >= n_rows).any():
            said = f"deletes row {int(known.deleted[-1]) + 1:,}" if known.n_rows in (None, n_rows) else f"says {known.n_rows:,}"
            raise InputDataError(
                f"the file has {n_rows:,} rows, and the {TITLES[self._kind]} table {said}: restore the file", split.name
            )
        fields, sources = self.sources(snapshot, schema, split.name)
        wanted = outer(snapshot.schema, columns.wanted)
        fields = [own for own in fields if own.name in wanted]
        if not len(known.deleted) and all(
            (there := sources.get(own.name)) is not None and there.name == own.name and alike(self, there, own)
            for own in fields
        ):
            yield from super().read(split, replace(columns, reserved=()))
            return
        names = [sources[name].name for name in wanted if name in sources] or schema.names[:1]
        top, *inner = path_of(snapshot.schema, columns.text)
        text = ".".join([sources[top].name, *inner]) if top in sources else None
        if not path_of(schema, text or ""):  # what is inside has another name
            text = None
        with self._both(split) as (file, raw):
            for row, batch, left_out in RowGroups(file, raw, split, names, text).batches(*split.groups or ()):
                if isinstance(left_out, Damaged):
                    raise left_out.error
                keep = _not_deleted(known.deleted, row, len(batch))
                made = self._columns(batch, fields, sources, known, split)
                some = pa.RecordBatch.from_arrays(made, [own.name for own in fields])
                split.note_rows(len(some), n_rows)
                found = table_batch(some, row + 1, columns, split.name)
                found = replace(found, skipped=mask_of(len(some), left_out)) if isinstance(left_out, list) else found
                del batch, made, some  # not held while the next is read
                if len(keep):
                    yield found.take(keep)
                del found

    def rows(self, split: Split, encoding_errors: str) -> NumberedRows:
        deleted, gone, number = self._known(split)[1].deleted, 0, 0
        for _, row in super().rows(split, encoding_errors):
            while gone < len(deleted) and deleted[gone] == number:
                gone, number = gone + 1, number + 1
            number += 1
            yield number, row

    def tables(self, split: Split, converted: bool) -> Iterator[pa.Table]:
        snapshot, known = self._known(split)
        fields, sources = self.sources(snapshot, super().schema(split), split.name)
        schema, row = self.schema(split), 0
        fields = [own for own in fields if own.name in schema.names]
        for table in super().tables(split, converted):
            keep = _not_deleted(known.deleted, row, len(table))
            row += len(table)
            batch = table.combine_chunks().to_batches()[0] if len(table) else None
            del table
            if batch is not None and len(keep):
                made = self._columns(batch, fields, sources, known, split)
                made = [c if c.type == own.type else self._cast(c, own, split) for c, own in zip(made, schema, strict=True)]
                yield pa.Table.from_arrays(made, schema=schema).take(to_arrow(keep))
                del made, batch  # not held while the next is read

    def sources(self, snapshot: Snapshot, schema: pa.Schema, name: str) -> tuple[list[pa.Field], dict[str, pa.Field]]:
        """Return the columns of the table, and those of a file by the names that they have there."""
        own = {self.key(one, True): one for one in schema}
        return list(snapshot.fields), {one.name: own[key] for one in snapshot.fields if (key := self.key(one, False)) in own}

    def _columns(
        self, batch: pa.RecordBatch, fields: Sequence[pa.Field], sources: Mapping[str, pa.Field], known: DataFile, split: Split
    ) -> list[pa.Array]:
        """Return columns of the table out of some rows of a file."""
        found = []
        for own in fields:
            if (source := sources.get(own.name)) is not None:
                found.append(self._fitted(batch.column(source.name), source, own, split))
                continue
            value = known.constants.get(own.name)
            try:
                found.append(pa.repeat(pa.scalar(value, own.type), len(batch)))
            except (pa.ArrowException, ValueError, TypeError) as error:
                raise InputDataError(f"{value!r:.80} is not a valid value: {error}", split.name, column=own.name) from None
        return found

    def _fitted(self, column: pa.Array, source: pa.Field, own: pa.Field, split: Split) -> pa.Array:
        """Return a column of a file as the table has it; fields of structs are matched, too."""
        if alike(self, source, own):
            return column
        if types.is_struct(source.type) and types.is_struct(own.type):
            there = {self.key(inner, True): place for place, inner in enumerate(source.type)}
            made = []
            for inner in own.type:
                place = there.get(self.key(inner, False))
                found = None if place is None else column.field(place)
                made.append(
                    pa.nulls(len(column), inner.type) if found is None
                    else self._cast(self._fitted(found, source.type.field(place), inner, split), inner, split)
                )  # fmt: skip
            return pa.StructArray.from_arrays(made, fields=list(own.type), mask=column.is_null())
        if types.is_nested(source.type) or types.is_nested(own.type):
            raise InputDataError(
                "fields inside lists or maps were added, renamed or dropped since the file "
                "was written: write the table again, as compaction does",
                split.name,
                column=own.name,
            )
        return self._cast(column, own, split)

    @staticmethod
    def _cast(column: pa.Array, own: pa.Field, split: Split) -> pa.Array:
        try:
            return column.cast(own.type)
        except (pa.ArrowException, ValueError) as error:
            raise InputDataError(f"values do not fit into {own.type}: {error}", split.name, column=own.name) from None

    def pieces(self, split: Split, n_bytes: int) -> Pieces:
        """Return runs of row groups; deleted rows do not count."""
        deleted = self._known(split)[1].deleted
        return [(first - int(np.searchsorted(deleted, first)), piece) for first, piece in super().pieces(split, n_bytes)]

    def expected(self, split: Split, texts: Sequence[str]) -> tuple[int, int]:
        """Return what the metadata say of rows and bytes."""
        snapshot, known = self._known(split)
        with self._open(split) as file:
            _, sources = self.sources(snapshot, file.schema_arrow, split.name)
            paths = filter(None, (path_of(snapshot.schema, one) for one in texts))
            own = [".".join([sources[top].name, *inner]) for top, *inner in paths if top in sources]
            n_bytes = self._bytes_of(file, [name for name in own if path_of(file.schema_arrow, name)])
            return max(0, file.metadata.num_rows - len(known.deleted)), n_bytes

    def write(self, stream: BinaryIO, selections: Sequence[Selection], provenance: Record) -> None:
        raise OutputError(f"tables of {TITLES[self._kind]} are not written; write a folder of Parquet files, such as clean/")

    def write_kept_file(self, folder: UnfinishedFolder, selection: Selection, provenance: Record) -> None:
        """Write a Parquet file, without the columns that its folder says, such as ``lang=de``, if the data file had none."""
        snapshot, _ = self._known(selection.split)
        _, sources = self.sources(snapshot, super().schema(selection.split), selection.split.name)
        said = {part.partition("=")[0] for part in selection.split.relative.split("/")[:-1] if "=" in part}
        some, form = copy(selection), self.detailed(f"{self.version}:{self.depth}")
        form.omitted = said - set(sources)
        some.split = replace(selection.split, form=form)
        (name,) = self.names_in_folder(some.split)
        with folder.file(name) as stream:
            format_named("parquet").write(stream, [some], provenance)

    def names_in_folder(self, split: Split) -> list[str]:
        return [split.relative]


def alike(form: TableFormat, source: pa.Field, own: pa.Field) -> bool:
    """Tell whether columns are of one type, also the fields inside them, and these the same."""
    if _plain(source.type) != _plain(own.type) if not own.type.num_fields else source.type.id != own.type.id:
        return False
    if source.type.num_fields != own.type.num_fields:
        return False
    inner = [(source.type.field(i), own.type.field(i)) for i in range(own.type.num_fields)]
    named = not types.is_struct(own.type) or all(
        a.name == b.name and form.key(a, True) == form.key(b, False) for a, b in inner
    )  # fmt: skip
    return named and all(alike(form, a, b) for a, b in inner)


def _plain(kind: pa.DataType) -> pa.DataType:
    """Return a type of texts or bytes without how large they can be together."""
    return {pa.large_string(): pa.string(), pa.large_binary(): pa.binary()}.get(kind, kind)


def _not_deleted(deleted: Int64Array, row: int, n: int) -> Int64Array:
    """Return which of some rows, from one on, are not deleted."""
    keep: NDArray[np.bool_] = np.ones(n, np.bool_)
    begin, end = np.searchsorted(deleted, (row, row + n))
    keep[deleted[begin:end] - row] = False
    return np.flatnonzero(keep)


@lru_cache(8)
def _snapshot(kind: str, root: AnyPath, version: str) -> Snapshot:
    form: Format = format_named(kind)
    assert isinstance(form, TableFormat)
    return form.snapshot(root, version)


@contextmanager
def opening(kind: str, root: AnyPath, what: str = "") -> Iterator[None]:
    """Turn what the package of a table raises, panics included, into an InputDataError that names the table."""
    try:
        yield
    except (InputDataError, MemoryError):
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        said = " ".join(str(error).split()) or type(error).__name__
        if "equality deletes" in said:
            said = "it has equality deletes, which are not read: write the table again, as compaction does"
        raise InputDataError(f"the {kind} table{f', {what},' if what else ''} cannot be read: {said:.500}", root) from None


def outside(root: AnyPath, name: str) -> InputDataError:
    return InputDataError(
        f"the table names a file outside of its folder, {name!r:.200}, as shallow clones do; these are not "
        "read: copy the table whole (deep clone)",
        root,
    )


def inside(name: str, root: AnyPath) -> AnyPath:
    """Return the path of a file in a table's folder; refuse one that leads out of it, or is a pipe or device."""
    path = root / name
    if name.startswith("/") or ".." in name.split("/"):
        raise outside(root, name)
    if isinstance(path, Path) and not os.path.realpath(path).startswith(os.path.join(os.path.realpath(root), "")):
        raise outside(root, name)
    if isinstance(path, Path) and path.exists() and not path.is_file():
        raise InputDataError("the table lists this as a file, but it is not one", path)
    return path


def _statuses(root: AnyPath, names: Mapping[str, DataFile]) -> dict[str, os.stat_result | Status]:
    """Return the status of files in a folder, as far as they are there."""
    if isinstance(root, Url):
        length = len(str(root)) + 1
        entries = {str(entry.url)[length:]: entry for entry in entries_in(root, recursive=True) if not entry.is_folder}
        return {name: entry.status for name, entry in entries.items() if name in names}
    found: dict[str, os.stat_result | Status] = {}
    for name in names:
        with asking(root / name), suppress(FileNotFoundError):
            found[name] = os.stat(inside(name, root))
    return found
