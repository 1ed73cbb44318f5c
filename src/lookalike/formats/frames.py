"""Tables of other libraries: frames of pandas and polars, and those that are read some rows at a time."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import compress
from operator import getitem
from typing import Any, Protocol
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..errors import InputDataError, OutputError, ParameterError
from ..values.arrow import to_arrow
from .columnar import ROWS, decoded, filter_table
from .rows import refuse_twice

READ_ROWS = 1 << 10  # that another library reads or computes together
_Read = Callable[[list[str] | None], Iterator[pa.RecordBatch]]


class LazyRows(Protocol):
    """Rows that are made when they are asked for; those with ``select()`` too can be read as documents."""

    @property
    def schema(self) -> pa.Schema: ...

    def __len__(self) -> int: ...

    def batches(self) -> Iterator[pa.RecordBatch]: ...


@dataclass(frozen=True, slots=True)
class ScannedTable:
    """Rows that another library reads, the same each time."""

    schema: pa.Schema
    n_rows: int  # 0: nobody knows without reading them
    read: _Read  # from names of columns, None for all, to batches
    names: list[str] | None = None  # the columns that are wanted

    def __len__(self) -> int:
        """Return how many rows there are, as far as that is known."""
        return self.n_rows

    def select(self, names: Sequence[str]) -> ScannedTable:
        """Return some columns; the others are not read."""
        return replace(self, schema=pa.schema([self.schema.field(name) for name in names]), names=list(names))

    def batches(self) -> Iterator[pa.RecordBatch]:
        for batch in self.read(self.names):
            for begin in range(0, len(batch), ROWS):
                yield batch.slice(begin, ROWS)


def table_of_lake(data: Any) -> tuple[str, str] | None:
    """Return where a table of ``deltalake`` or ``pyiceberg`` is, and the format that reads its version."""
    library = type(data).__module__.partition(".")[0]
    if library == "deltalake" and hasattr(data, "table_uri"):
        where, form = (
            unquote(data.table_uri) if data.table_uri.startswith("file:") else data.table_uri,
            f"delta:{data.version()}",
        )
    elif library == "pyiceberg" and hasattr(data, "metadata_location"):
        where, form = data.metadata_location, "iceberg"
    else:
        return None
    return re.sub("^file:/*", "/", where), form


def frame_of(data: Any) -> pa.Table | ScannedTable | None:
    """Return the table behind a frame or data set of another library, or None if ``data`` is neither."""
    library = type(data).__module__.partition(".")[0]
    if library == "datasets" and hasattr(data, "_indices"):
        return _dataset(data)
    if library == "pyarrow" and "pyarrow.dataset" in sys.modules:
        from pyarrow import dataset

        if isinstance(data, dataset.Dataset):
            return ScannedTable(data.schema, 0, partial(_scanned, data))
        if isinstance(data, dataset.Scanner):
            return _spooled(data.to_reader(), lambda: data.projected_schema)
    if library == "pyiceberg" and hasattr(data, "to_arrow_batch_reader"):
        reader = data.to_arrow_batch_reader()
        return _spooled(reader, lambda: reader.schema)
    if library == "polars" and hasattr(data, "collect_batches"):
        from polars.exceptions import PolarsError

        frames = data.collect_batches(chunk_size=READ_ROWS)
        try:
            return _spooled((b for some in frames for b in some.to_arrow().to_batches()), lambda: _eager(data.limit(0)).schema)
        except PolarsError as error:
            raise InputDataError(f"the {type(data).__name__} cannot be computed: {str(error).partition(chr(10))[0]}") from error
    if library.endswith("duckdb") and hasattr(data, "sql"):
        raise InputDataError(
            f"got a {type(data).__name__}: pass the rows of a query, connection.sql('select id, text from ...')"
        )
    if library == "polars" and hasattr(data, "collect"):
        return _eager(data)
    if hasattr(type(data), "collect"):
        hint = '; frames of Spark are for dedup, with engine="spark"' if library == "pyspark" else ""
        raise InputDataError(f"got a {type(data).__name__}: call collect() first{hint}")
    if library != "pandas" and not hasattr(data, "__arrow_c_stream__") and not hasattr(data, "to_arrow"):
        return None
    return _whole(data, library) if hasattr(data, "columns") else None


def _eager(lazy: Any) -> pa.Table:
    table: pa.Table = lazy.collect().to_arrow()
    return table


def _whole(frame: Any, library: str) -> pa.Table:
    refuse_twice("frame", [str(name) for name in frame.columns])
    try:
        if library == "pandas":
            return pa.Table.from_pandas(frame, preserve_index=False)
        return frame.to_arrow() if hasattr(frame, "to_arrow") else pa.table(frame)
    except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
        raise InputDataError(
            f"a {type(frame).__name__} must have columns of one type each: {error}; convert or drop the column"
        ) from None


def _dataset(data: Any) -> pa.Table | ScannedTable:
    """Return a data set of Hugging Face: its table or, if it is a selection in some order, rows that are read when needed."""
    table: pa.Table = data.data.table
    if data._indices is None:
        return table

    def read(names: list[str] | None) -> Iterator[pa.RecordBatch]:
        some = data if names is None else data.select_columns(names)
        for part in some.with_format("arrow").iter(batch_size=READ_ROWS):
            yield from part.to_batches()

    return ScannedTable(table.schema, len(data), read)


def _scanned(data: Any, names: list[str] | None) -> Iterator[pa.RecordBatch]:
    """Read a data set of Arrow, little ahead."""
    return data.to_batches(columns=names, batch_size=READ_ROWS, batch_readahead=1, fragment_readahead=1)


def _spooled(batches: Iterable[pa.RecordBatch], schema_of: Callable[[], pa.Schema]) -> ScannedTable:
    """Write rows that may not come the same twice to a temporary file, removed when it is not needed."""
    import tempfile  # here, for what is not needed to start

    plain, rows = (_decoded(batch) for batch in batches), 0
    first = next(plain, None)
    schema = _decoded(pa.RecordBatch.from_pylist([], schema_of())).schema if first is None else first.schema
    try:
        with tempfile.NamedTemporaryFile(prefix="lookalike-", suffix=".arrow") as file:
            with pa.ipc.new_file(file, schema) as writer:
                while first is not None:
                    writer.write_batch(first)
                    rows += len(first)
                    first = next(plain, None)
            file.flush()
            stored = pa.OSFile(file.name)  # which stays open without its name
    except pa.ArrowException as error:
        raise InputDataError(f"a column of the frame cannot be stored: {error}; cast or drop it") from None
    except OSError as error:
        raise OutputError(
            f"a lazy frame cannot be stored in a temporary file: {error.strerror or error}; name a folder with room for it in "
            "TMPDIR"
        ) from None
    return ScannedTable(schema, rows, partial(_stored, stored, schema))


def _decoded(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a batch without dictionaries, of which a file can have only one for all batches."""
    columns = [c if (kind := decoded(c.type)) == c.type else c.cast(kind) for c in batch.columns]
    return pa.RecordBatch.from_arrays(columns, batch.schema.names)


def _stored(file: pa.OSFile, schema: pa.Schema, names: list[str] | None) -> Iterator[pa.RecordBatch]:
    wanted = None if names is None else [schema.get_field_index(name) for name in names]
    reader = pa.ipc.open_file(file, options=pa.ipc.IpcReadOptions(included_fields=wanted))
    for i in range(reader.num_record_batches):
        batch = reader.get_batch(i)
        yield batch if names is None else batch.select(names)


_CHOSEN: dict[str, Callable[[Any, NDArray[np.bool_]], Any]] = {
    "pandas.DataFrame": getitem,
    "pandas.Series": getitem,
    "numpy.ndarray": getitem,
    "polars.DataFrame": lambda data, keep: data.filter(keep),
    "polars.Series": lambda data, keep: data.filter(type(data)(keep)),
    "polars.LazyFrame": lambda data, keep: filter_data(data.collect(), keep).lazy(),
    "builtins.list": lambda data, keep: list(compress(data, keep)),
    "builtins.tuple": lambda data, keep: tuple(compress(data, keep)),
    "collections.OrderedDict": lambda data, keep: type(data)(compress(data.items(), keep)),
    "builtins.dict": lambda data, keep: dict(compress(data.items(), keep)),
    "datasets.Dataset": lambda data, keep: data.select(np.flatnonzero(keep)),
    "datasets.IterableDataset": lambda data, keep: data.filter(partial(_is_kept, keep), with_indices=True),
}
_OTHERWISE = "clean() without it returns an Arrow table, and keep is a mask"


def filter_data(data: Any, keep: NDArray[np.bool_]) -> Any:
    """Return the kept rows of what a program has, or of several tables by name, as the same kind."""
    kinds = [f"{kind.__module__.partition('.')[0]}.{kind.__name__}" for kind in type(data).__mro__]
    tables = isinstance(data, Mapping) and not isinstance(next(iter(data.values()), ""), (str, bytes, type(None)))
    choose = next((_CHOSEN[kind] for kind in kinds if kind in _CHOSEN), None)
    if kinds[0].startswith("pyarrow.") and hasattr(data, "slice"):  # a table, a batch or a column
        choose = _filter_tables
    if tables:
        choose = _of_each if all(hasattr(some, "__len__") for some in data.values()) else None
    if choose is None:
        raise ParameterError(
            "data must be what dedup got: a list, a tuple, a dict, a column, a table, a frame or a data set of Hugging Face; "
            f"got {type(data).__name__}: {'clean its data sets one by one' if tables else _OTHERWISE}"
        )
    rows = sum(map(len, data.values())) if tables else len(data) if hasattr(data, "__len__") else len(keep)
    if rows != len(keep):
        raise ParameterError(f"data must have the {len(keep):,} rows that were read, and has {rows:,}")
    return choose(data, keep)


def _filter_tables(data: Any, keep: NDArray[np.bool_]) -> Any:
    """Return the kept rows of a table, a batch or a column; see ``filter_table``."""
    if isinstance(data, pa.Table):
        return filter_table(data, keep)
    try:
        return data.filter(to_arrow(keep))
    except pa.ArrowNotImplementedError:
        batch = isinstance(data, pa.RecordBatch)
        table = filter_table(pa.Table.from_batches([data]) if batch else pa.table({"": data}), keep)
        if batch:
            return pa.RecordBatch.from_arrays([column.combine_chunks() for column in table.columns], schema=data.schema)
        return table.column(0) if isinstance(data, pa.ChunkedArray) else table.column(0).combine_chunks()


def _of_each(data: Any, keep: NDArray[np.bool_]) -> Any:
    """Return the kept rows of each table of a dict."""
    parts = np.split(keep, np.cumsum([len(some) for some in data.values()])[:-1])
    return type(data)({name: filter_data(some, part) for (name, some), part in zip(data.items(), parts, strict=True)})


def _is_kept(keep: NDArray[np.bool_], row: Any, number: int) -> bool:
    if number >= len(keep):
        raise ParameterError(f"data must have the {len(keep):,} rows that were read, and has more")
    return bool(keep[number])
