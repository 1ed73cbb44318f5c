"""Writing rows out as they came in, and tables of results."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from ..errors import InputDataError, OutputError, ParameterError
from .csv_files import csv_value
from .formats import SIDECAR, SUFFIXES, atomic_file, check_output, is_single_file, suffix_of
from .outputs import NewFolder, atomic_directory, check_apart, check_names, form_of, names_in_folder
from .sources import Record

_RECORDS = 4096
_ROW_GROUP = 1 << 14
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
            records = (record for batch in table.to_batches(_RECORDS) for record in batch.to_pylist())
            _write_records(stream, form, records, table.column_names)
    if form != "parquet":
        _write_provenance(path.with_name(path.name + SIDECAR), provenance)


def _with_provenance(schema: pa.Schema, provenance: Record) -> dict[bytes, bytes]:
    return {**(schema.metadata or {}), b"semblance": json.dumps(provenance).encode()}


def _write_provenance(path: Path, provenance: Record) -> None:
    with atomic_file(path) as stream:
        stream.write(json.dumps(provenance, indent=2).encode() + b"\n")


def _write_records(stream: BinaryIO, form: str, records: Iterable[Record], names: Sequence[str]) -> None:
    if form == "jsonl":
        for record in records:
            stream.write(msgspec.json.encode(record) + b"\n")
        return
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, names, lineterminator="\n")
    writer.writeheader()
    for number, record in enumerate(records, 1):
        try:
            writer.writerow({name: csv_value(value) for name, value in record.items()})
        except ValueError:
            more = sorted(set(record) - set(names))
            raise OutputError(
                f"row {number} has fields that the first has not ({', '.join(more)}): one CSV file cannot hold both; "
                "write .jsonl instead"
            ) from None
        if buffer.tell() > 1 << 20:
            stream.write(buffer.getvalue().encode("utf-8", "replace"))
            buffer.seek(0)
            buffer.truncate()
    stream.write(buffer.getvalue().encode("utf-8", "replace"))


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
    """

    def __init__(self, source: Any, mask: NDArray[np.bool_], added: Added | None = None) -> None:
        self.source = source
        self.mask = mask
        self.added = added

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
        for count, line in enumerate(self.source.raw_rows(), 1):
            self._check(count) if count > len(self.mask) else None
            added = next(additions) if additions is not None else None
            if self.mask[count - 1]:
                yield line if added is None else self.source.annotate(line, added)
        self._check(count)

    def records(self) -> Iterator[Record]:
        """Yield the rows as dictionaries, additions appended."""
        additions = self._additions() if self.added is not None else None
        count = 0
        for count, record in enumerate(self.source.records(), 1):
            self._check(count) if count > len(self.mask) else None
            added = next(additions) if additions is not None else {}
            if self.mask[count - 1]:
                yield {**record, **added}
        self._check(count)

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
            yield table.filter(pa.array(self.mask[row:end]))
            row = end
        self._check(row)

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
        return
    (name,) = names_in_folder(source)
    with folder.file(name) as stream:
        _write_single(stream, form_of(source), [selection], provenance)


def _write_single(stream: BinaryIO, form: str, selections: Sequence[Selection], provenance: Record) -> None:
    """Write several sources into one stream: their own bytes where the formats agree, converted where not."""
    formats = {selection.source.format for selection in selections}
    if (
        form == "parquet"
        and formats <= {"parquet", "table"}
        and all(s.source.schema == selections[0].source.schema for s in selections)
    ):
        _write_parquet(stream, selections, provenance)
    elif form == "jsonl" and formats == {"jsonl"}:
        _write_lines(stream, selections)
    elif form == "csv" and formats == {"csv"} and len({s.source.header().rstrip() for s in selections}) == 1:
        header = selections[0].source.header()
        if selections[0].added is not None:
            header = selections[0].source.annotate(header, {n: n for n in selections[0].added_schema.names})
        stream.write(header)
        _write_lines(stream, selections, needs_feed=not header.endswith(b"\n"))
    else:
        if form == "parquet":
            _write_converted_parquet(stream, selections, provenance)
            return
        records = _all_records(selections)
        first = next(records, None)
        names = list(first) if first is not None else []
        _write_records(stream, form, _chain(first, records), names)


def _all_records(selections: Sequence[Selection]) -> Iterator[Record]:
    return (record for selection in selections for record in selection.records())


def _chain(first: Record | None, rest: Iterator[Record]) -> Iterator[Record]:
    if first is not None:
        yield first
    yield from rest


def _write_lines(stream: BinaryIO, selections: Sequence[Selection], needs_feed: bool = False) -> None:
    """Write lines, with a line feed where one that lacks it is followed by another."""
    for selection in selections:
        for line in selection.lines():
            if needs_feed:
                stream.write(b"\n")
            stream.write(line)
            needs_feed = not line.endswith(b"\n")


def _write_parquet(stream: BinaryIO, selections: Sequence[Selection], provenance: Record) -> None:
    schema = selections[0].schema
    schema = schema.with_metadata(_with_provenance(schema, provenance))
    with pq.ParquetWriter(stream, schema, compression=selections[0].source.compression) as writer:
        for selection in selections:
            for table in selection.tables():
                if len(table):
                    writer.write_table(table.cast(schema))


def _columns_of(rows: Sequence[Record], fields: dict[str, pa.DataType]) -> pa.Table:
    """Make a table of some rows; what fits no column of Arrow's becomes text of JSON."""
    columns = {}
    for name in fields or dict.fromkeys(name for row in rows for name in row):
        values = [row.get(name) for row in rows]
        try:
            columns[name] = pa.array(values, fields.get(name))
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
            columns[name] = pa.array([v if v is None or isinstance(v, str) else json.dumps(v) for v in values], pa.string())
    return pa.table(columns)


def _write_converted_parquet(stream: BinaryIO, selections: Sequence[Selection], provenance: Record) -> None:
    """Go through all rows twice: for the columns and their types, and to write them, some rows at a time."""
    fields: dict[str, pa.DataType] = {}
    for rows in _batched(_all_records(selections)):
        for field in _columns_of(rows, {}).schema:
            fields[field.name] = _common_type(fields.get(field.name), field.type)
    fields = {name: pa.string() if pa.types.is_null(kind) else kind for name, kind in fields.items()}
    schema = pa.schema(list(fields.items()))
    schema = schema.with_metadata(_with_provenance(schema, provenance))
    with pq.ParquetWriter(stream, schema) as writer:
        for rows in _batched(_all_records(selections)):
            writer.write_table(_columns_of(rows, fields).cast(schema))


def _common_type(known: pa.DataType | None, other: pa.DataType) -> pa.DataType:
    """The type that holds the values of both, text of JSON where there is none."""
    if known is None or known == other:
        return other
    try:
        both = [pa.schema([("x", kind)]) for kind in (known, other)]
        return pa.unify_schemas(both, promote_options="permissive").field("x").type
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.string()


def _batched(records: Iterator[Record]) -> Iterator[list[Record]]:
    while rows := list(islice(records, _ROW_GROUP)):
        yield rows
