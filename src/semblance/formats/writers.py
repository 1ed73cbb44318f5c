"""Writing rows out as they came in, and tables of results."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from ..errors import InputDataError, OutputError, ParameterError
from ..files.atomic import SIDECAR, SUFFIXES, atomic_file, check_output, is_single_file, suffix_of
from ..files.outputs import NewFolder, atomic_directory, check_apart, check_names, form_of, names_in_folder
from ._rows import csv_line, csv_record, json_line, plain_rows
from .jsonl import BOM
from .merged_parquet import common_schema, common_tables, row_groups
from .sources import Record

_RECORDS = 4096
_ADDED = 1 << 18  # rows whose additions are made at once: those may be drawn from all parts of a long job


def format_of(output: Path) -> str:
    """Return the format that an output file's suffix names."""
    suffix = suffix_of(output)
    if suffix is None or suffix == ".txt":
        raise ParameterError(f"{output}: the suffix must be one of {', '.join(s for s in SUFFIXES if s != '.txt')}")
    return SUFFIXES[suffix][0]


def write_table(
    output: str | Path, table: pa.Table, provenance: Record, *, sources: Sequence[Any] = (), force: bool = False
) -> None:
    """Write a table of results as parquet, JSON lines or CSV, by the suffix.

    Raises
    ------
    OutputError
        If the file exists and ``force`` is not set, is one of the ``sources``, or cannot be written; nothing half written is
        left.
    """
    path = check_output(output, force)
    form = format_of(path)
    check_apart(output, sources)
    with atomic_file(path) as stream:
        if form == "parquet":
            pq.write_table(table.replace_schema_metadata(_with_provenance(table.schema, provenance)), stream)
        else:
            stream.write(csv_line(table.column_names).encode()) if form == "csv" else None
            for batch in table.to_batches(_RECORDS):
                for number, record in plain_rows(batch, path.name, 1):
                    line = csv_line(record.values()).encode() if form == "csv" else json_line(path.name, number, record)
                    stream.write(line)
    if form != "parquet":
        _write_provenance(path.with_name(path.name + SIDECAR), provenance)


def _with_provenance(schema: pa.Schema, provenance: Record) -> dict[bytes, bytes]:
    return {**(schema.metadata or {}), b"semblance": json.dumps(provenance).encode()}


def _write_provenance(path: Path, provenance: Record) -> None:
    with atomic_file(path) as stream:
        stream.write(json.dumps(provenance, indent=2).encode() + b"\n")


def _filtered(table: pa.Table, mask: NDArray[np.bool_]) -> pa.Table:
    """Return the rows where ``mask`` is set; run by run where Arrow filters no columns of some type."""
    try:
        return table.filter(pa.array(mask))
    except pa.ArrowNotImplementedError:
        bounds = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]))).reshape(-1, 2)
        return pa.concat_tables([table.slice(0, 0), *(table.slice(begin, end - begin) for begin, end in bounds.tolist())])


Added = Callable[[int, int], pa.Table]


class Selection:
    """The rows of one source that are to be written, and what is added to them.

    Parameters
    ----------
    source : Source
    mask : ndarray of bool, shape (n_rows,)
        Rows to write.
    added : callable, optional
        From rows of the source, the first and the one after the last, to an Arrow table of columns to append to them.
    encoding_errors : {"strict", "replace"}, default "strict"
        Whether U+FFFD takes the place of invalid UTF-8 where a row is converted.
    """

    def __init__(
        self, source: Any, mask: NDArray[np.bool_], added: Added | None = None, encoding_errors: str = "strict"
    ) -> None:  # fmt: skip
        self.source = source
        self.mask = mask
        self.added = added
        self.encoding_errors = encoding_errors

    def _check(self, n_rows: int) -> None:
        if n_rows != len(self.mask):
            raise InputDataError(f"{self.source.name}: {len(self.mask)} rows were read at first, {n_rows} now; run again")

    def _additions(self) -> Iterator[Record]:
        assert self.added is not None
        for begin in range(0, len(self.mask), _ADDED):
            for batch in self.added(begin, min(begin + _ADDED, len(self.mask))).to_batches(_RECORDS):
                yield from batch.to_pylist()

    def lines(self) -> Iterator[bytes]:
        """Yield the rows' own bytes, additions appended."""
        additions = self._additions() if self.added is not None else None
        count = 0
        for count, line in enumerate(self.source.raw_rows(padded=additions is not None), 1):
            self._check(count) if count > len(self.mask) else None
            added = next(additions) if additions is not None else None
            if self.mask[count - 1]:
                yield line if added is None else self.source.annotate(line, added)
        self._check(count)
        self.source.check_unchanged()

    def records(self) -> Iterator[tuple[int, Record]]:
        """Yield the rows as dictionaries, each with its number, additions appended."""
        additions = self._additions() if self.added is not None else None
        count = 0
        for count, (number, record) in enumerate(self.source.records(self.encoding_errors), 1):
            self._check(count) if count > len(self.mask) else None
            added = next(additions) if additions is not None else {}
            if self.mask[count - 1]:
                yield number, {**record, **added}
        self._check(count)
        self.source.check_unchanged()

    def tables(self) -> Iterator[pa.Table]:
        """Yield the rows as Arrow tables, additions appended."""
        row = 0
        for table in self.source.tables():
            end = row + len(table)
            self._check(end) if end > len(self.mask) else None
            if self.added is not None:
                added = self.added(row, end)
                for name in added.column_names:
                    table = table.append_column(name, added.column(name))
            mask = self.mask[row:end]
            yield table if mask.all() else _filtered(table, mask)
            row = end
        self._check(row)
        self.source.check_unchanged()

    @property
    def schema(self) -> pa.Schema:
        """The schema of ``tables``."""
        schema = self.source.schema
        for field in self.added_schema:
            schema = schema.append(field)
        return schema

    @property
    def added_schema(self) -> pa.Schema:
        """The schema of what is added."""
        return pa.schema([]) if self.added is None else self.added(0, min(1, len(self.mask))).schema


def write_rows(
    output: str | Path, selections: Sequence[Selection], provenance: Record, *, sources: Sequence[Any] = (), force: bool = False
) -> None:
    """Write selected rows: into one file if ``output`` has a known suffix, else into a directory, a file per input.

    Parameters
    ----------
    output : str or path
    selections : sequence of Selection
    provenance : dict
    sources : sequence of Source
        All that was read, reference documents included: none of it may be written over.
    force : bool
        Replace an existing output. A directory is replaced as a whole, and only where an earlier run wrote all that is in it.

    Raises
    ------
    OutputError
        If the output exists and ``force`` is not set, meets an input, or cannot be written; nothing half written is left.
    """
    path = check_output(output, force)
    check_apart(output, sources)
    if is_single_file(output):
        with atomic_file(path) as stream:
            _write_single(stream, format_of(path), selections, provenance)
        if format_of(path) != "parquet":
            _write_provenance(path.with_name(path.name + SIDECAR), provenance)
        return
    check_names([name for selection in selections for name in names_in_folder(selection.source)])
    with atomic_directory(path) as folder:
        for selection in selections:
            _write_alike(folder, selection, provenance)
        described = provenance | {"files": sorted(folder.files)}
        with folder.file(SIDECAR) as stream:
            stream.write(json.dumps(described, indent=2).encode() + b"\n")


def _write_alike(folder: NewFolder, selection: Selection, provenance: Record) -> None:
    """Write one source in its own format under its own name."""
    source = selection.source
    if source.format == "txt":
        if selection.added is not None:
            raise ParameterError("text files cannot be annotated; name an output file such as annotated.jsonl")
        source.check_unchanged()
        for place, kept in zip(source.places, selection.mask, strict=True):
            if kept:
                with folder.file(place.relative, compress=False) as stream:
                    source.copy(place, stream)
        source.check_unchanged()
        return
    (name,) = names_in_folder(source)
    with folder.file(name, compress=form_of(source) != "parquet") as stream:
        _write_single(stream, form_of(source), [selection], provenance)


def _write_single(stream: BinaryIO, form: str, selections: Sequence[Selection], provenance: Record) -> None:
    """Write several sources into one stream: their own bytes where the formats agree, converted where not."""
    for selection in selections:
        if not len(selection.mask):
            selection.source.check_unchanged()
    selections = [selection for selection in selections if len(selection.mask)] or selections[:1]
    if form == "parquet":
        _write_parquet(stream, selections, provenance)
    elif form == "csv":
        _write_csv(stream, selections)
    else:
        _write_jsonl(stream, selections)


def _write_lines(stream: BinaryIO, lines: Iterable[bytes], feed: bool = False) -> bool:
    """Write lines, a line feed first if one is missing (``feed``); return whether one is missing at the end."""
    for line in lines:
        if feed:
            stream.write(b"\n")
        stream.write(line)
        feed = not line.endswith(b"\n")
    return feed


def _unmarked(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield lines of JSON, a byte order mark before the first of all alone."""
    for number, line in enumerate(lines):
        yield line.removeprefix(BOM) if number else line


def _write_jsonl(stream: BinaryIO, selections: Sequence[Selection]) -> None:
    _write_lines(stream, _unmarked(line for selection in selections for line in _json_lines(selection)))


def _json_lines(selection: Selection) -> Iterator[bytes]:
    """The rows of one source: as they are, or converted."""
    name = selection.source.name
    if selection.source.format == "jsonl":
        return selection.lines()
    return (json_line(name, number, record) for number, record in selection.records())


def _write_csv(stream: BinaryIO, selections: Sequence[Selection]) -> None:
    """Write records under the header of the first source; those of sources with the same header as they are."""
    names: list[str] = []
    feed = False
    for selection in selections:
        source, added = selection.source, selection.added_schema.names
        if source.format == "csv":
            own, header = source.header()
            if own and not names:
                names = [*own, *added]
                header = source.annotate(header, dict(zip(added, added, strict=True)))
                feed = _write_lines(stream, [header])
            if [*own, *added] == names:
                feed = _write_lines(stream, selection.lines(), feed)
                continue
        records: Iterator[tuple[int, Record]] = selection.records()
        if not names:
            first = next(records, None)
            records = chain([] if first is None else [first], records)
            names = list(first[1]) if first is not None else selection.schema.names if hasattr(source, "schema") else []
            stream.write(csv_line(names).encode() if names else b"")
        lines = (csv_record(source.name, number, record, names) for number, record in records)
        feed = _write_lines(stream, lines, feed)


def _write_parquet(stream: BinaryIO, selections: Sequence[Selection], provenance: Record) -> None:
    """Write tables: as they are where all sources have the same schema, converted where not."""
    schemas: list[Any] = [selection.schema if hasattr(selection.source, "schema") else None for selection in selections]
    alike = schemas[0] is not None and all(schema == schemas[0] for schema in schemas)
    schema: Any = schemas[0] if alike else common_schema(selections)
    schema = schema.with_metadata(_with_provenance(schema, provenance))
    tables = chain.from_iterable(s.tables() for s in selections) if alike else row_groups(common_tables(selections, schema))
    compression = selections[0].source.compression if alike else "snappy"
    with _parquet(stream, schema, compression) as writer:
        for table in tables:
            if len(table):
                writer.write_table(table if table.schema.equals(schema, check_metadata=True) else table.cast(schema))


@contextmanager
def _parquet(stream: BinaryIO, schema: pa.Schema, compression: str) -> Iterator[pq.ParquetWriter]:
    """Open a writer of parquet; what cannot be written becomes an OutputError that names the column."""
    try:
        with pq.ParquetWriter(stream, schema, compression=compression) as writer:
            yield writer
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid, pa.ArrowTypeError) as error:
        culprits = [field.name for field in schema if not _is_writable(field)]
        where = f"column {culprits[0]!r}, of type {schema.field(culprits[0]).type}" if culprits else "a column"
        raise OutputError(f"{where}, cannot be written as parquet: {error}; cast or drop it") from None


def _is_writable(field: pa.Field) -> bool:
    try:
        with pq.ParquetWriter(pa.BufferOutputStream(), pa.schema([field])):
            return True
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid, pa.ArrowTypeError):
        return False
