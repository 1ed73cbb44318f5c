"""What is known of documents whose sketches an earlier job saved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import InputDataError
from ..files.folder import parquet_file
from ..files.streams import of_store
from ..files.urls import AnyPath
from ..formats.split import Names, Split
from ..values.arrow import rows_of, to_numpy, wrapped
from ..values.tables import KEY, check_values

DESCRIPTION = "sketches.json"
GENERATIONS = "generations.json"
"""Beside folders of sketches that jobs with ``--history`` saved: what these jobs were."""
ROWS = "_sketches"
"""The folder, inside that of sketches on a store, of the files with rows; it is hidden, so that none is taken for documents."""
TEXT = "text"
"""The column of the texts, where they are saved."""
_MOST = 1 << 62
_TYPES = {
    "position": [pa.int64()], "number": [pa.int64()], "bytes": [pa.int64()], "digest": [pa.binary(16)],
    KEY: [pa.binary(16)], "within": [pa.binary(16)], "across": [pa.binary(16)], "id": [pa.string(), pa.large_string()],
    "id_is_text": [pa.bool_()], TEXT: [pa.large_binary()],
}  # fmt: skip
_WIDE = ("keys", "code", "estimate")  # bytes, as many as the settings of a job say


@dataclass(frozen=True, slots=True)
class Saved:
    """A folder of saved sketches."""

    folder: AnyPath
    name: str  # as it was given, for messages
    checksum: str
    token: str  # tells its secret from others
    settings: dict[str, Any]  # of the job
    text: Names  # a column, or several, of the inputs, as is ``id``
    id: str | None
    text_ids: bool  # some ids are no integers
    files: tuple[tuple[str, int], ...]  # names, and rows of each
    counts: tuple[str, ...] = ()  # the name of the file of what the job counted, if it did

    def path(self, name: str) -> AnyPath:
        return self.folder / name


@dataclass(frozen=True, slots=True)
class SavedRows:
    """Some rows of saved sketches, by their places in all files: those of one input, or of a piece of it."""

    saved: Saved
    begin: int
    end: int
    origin: Split | None  # the input that they came from; None: it was no file
    texts: bool  # saved beside: the input may be gone

    def batches(self, names: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Read some columns, by default all but texts."""
        first, last = 0, -1
        for name, n in self.saved.files:
            if self.begin < first + n and first < self.end:
                try:
                    with parquet_file(self.saved.path(name), checked=True) as file:
                        known = self._columns(file.schema_arrow)
                        if file.metadata.num_rows != n:
                            raise ValueError(f"{n:,} rows were written, {file.metadata.num_rows:,} are there")
                        for batch in self._of_file(file, first, known if names is None else list(names)):
                            last = self._check(batch, last)
                            yield batch
                except (OSError, ValueError, pa.ArrowException) as error:
                    if isinstance(error, InputDataError):
                        raise
                    what = "cannot be read" if of_store(error) else "damaged"
                    again = "" if of_store(error) else "; save the sketches again"
                    raise InputDataError(f"{what}: {error}{again}", self.saved.path(name)) from None
            first += n

    def _columns(self, schema: pa.Schema) -> list[str]:
        """Return the columns of a file but texts, if they are those that sketches have."""
        names = schema.names
        needed = ["position", "number", "bytes", "digest", "keys", *(["id", "id_is_text"] if self.saved.id is not None else [])]
        needed += [name for name in ("within", "across") if self.saved.settings.get(name) is not None]
        needed += [KEY] if self.saved.settings.get("key") is not None else []
        needed += [TEXT] if self.texts else []
        for name, kind in zip(names, schema.types, strict=True):
            wide = name in _WIDE and pa.types.is_fixed_size_binary(kind) and kind.byte_width > 0
            if not (wide or kind in _TYPES.get(name, ())) or (name == "keys" and kind.byte_width % 8):
                raise ValueError(f"its column {name} is of the type {kind}")
        if len(set(names)) < len(names) or not set(needed) <= set(names):
            raise ValueError(f"its columns are {', '.join(names)}; expected {', '.join(needed)}")
        return [name for name in names if name != TEXT]

    def _check(self, batch: pa.RecordBatch, last: int) -> int:
        """Check some rows; return the last position, which that of the next row is above."""
        files = len(self.origin.places) if self.origin is not None and self.origin.form.rows_are_files else _MOST
        check_values(batch, {"position": (0, _MOST), "number": (0, files), "bytes": (0, _MOST)}, ("keys",))
        if "position" in batch.schema.names and len(batch):
            positions = to_numpy(batch.column("position"))
            if positions[0] <= last or not (np.diff(positions) > 0).all():
                raise ValueError("its column position does not ascend")
            last = int(positions[-1])
        if "id" in batch.schema.names:
            batch.column("id").filter(pc.invert(batch.column("id_is_text"))).cast(pa.int64())
        return last

    def _of_file(self, file: Any, first: int, names: list[str]) -> Iterator[pa.RecordBatch]:
        for group in range(file.metadata.num_row_groups):
            n = file.metadata.row_group(group).num_rows
            begin, end = max(self.begin - first, 0), min(self.end - first, n)
            if begin < end:
                table = file.read_row_group(group, names, use_threads=False).select(names).slice(begin, end - begin)
                if len(table) != end - begin:
                    raise ValueError("it is cut short")
                yield from table.combine_chunks().to_batches()
            first += n


def is_saved(split: object) -> bool:
    return isinstance(split, Split) and isinstance(split.data, SavedRows)


def keys_of(column: pa.Array) -> pa.Array:
    """Return keys, saved as bytes, as lists of numbers."""
    width = column.type.byte_width // 8
    data = np.frombuffer(column.buffers()[1] or b"", np.int64)
    keys = rows_of(column, data, width).reshape(-1, width)
    return wrapped(pa.list_(pa.int64(), width), keys, to_numpy(column.is_null()))


def bytes_of_keys(column: pa.Array) -> pa.Array:
    """Return keys, as ``sketch`` makes them, as bytes that Parquet keeps as they are; null stays null."""
    width = column.type.list_size
    keys = rows_of(column, to_numpy(column.values, 0), width).reshape(-1, width)
    return wrapped(pa.binary(8 * width), keys, to_numpy(column.is_null()))
