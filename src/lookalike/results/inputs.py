"""The inputs of a result: a table that says where they are or were, and the way back to their texts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import InputDataError
from ..files.descriptions import check_trusted
from ..files.names import show_path
from ..files.places import FoundFile, digest_of, place_of
from ..files.urls import AnyPath, is_url, path_of
from ..formats.registry import format_named
from ..formats.split import Split
from ..inputs.read import ReadOptions
from ..inputs.sketch_rows import is_saved
from ..inputs.sketches import description_of, open_saved
from ..inputs.texts import SAVED, read_again
from ..settings.settings import Settings
from ..values import Int64Array
from ..values.arrow import to_arrow, to_numpy
from ..values.tables import SOURCE_BITS

INPUTS = pa.schema(
    {
        "source": pa.int64(), "reference": pa.bool_(), "format": pa.string(), "name": pa.string(), "path": pa.binary(),
        "bytes": pa.int64(), "modified_ns": pa.int64(),
    }
)  # fmt: skip


def inputs_of(splits: Sequence[Split], n_references: int) -> pa.Table:
    """Return a row for each file that a job read: ``INPUTS``; ``source`` is the number that positions have.

    ``path`` is absolute, in the bytes of the file system; null where nothing can be read again: standard input, pipes, and
    values in memory, which have no format either. The file of saved sketches is the description of their folder.
    """
    columns: dict[str, list[Any]] = {name: [] for name in INPUTS.names}
    for number, split in enumerate(splits):
        places = [description_of(split)] if is_saved(split) else split.places
        files: list[tuple[Any, ...]] = [
            (one.name, None if one.is_temporary else os.fsencode(_from_root(os.fspath(one.path))), one.size, one.modified_ns)
            for one in places
        ] or [(split.name, None, None, None)]
        for name, values in zip(("name", "path", "bytes", "modified_ns"), zip(*files, strict=True), strict=True):
            columns[name] += values
        form = split.format if places else None
        for name, value in (("source", number), ("reference", number < n_references), ("format", form)):
            columns[name] += [value] * len(files)
    return pa.table(columns, schema=INPUTS)


def reading_of(settings: Settings) -> ReadOptions:
    """Return how the texts that were compared are read again."""
    return ReadOptions(text=settings.text, encoding_errors=settings.encoding_errors, pages=settings.pages)


@dataclass(frozen=True, slots=True, eq=False)
class OpenInputs:
    """The inputs of an open job, which are at hand: what cannot be read is an error."""

    sources: Sequence[Split]
    n_references: int
    checksums: Sequence[str | None] = ()  # of the saved sketches that an input was; None: it was none
    own = True
    """Whether this process's user chose the files."""

    @property
    def noted(self) -> SavedInputs:
        """What is known of them when the job is closed."""
        return SavedInputs(inputs_of(self.sources, self.n_references), Path(), checksums=self.checksums)

    def texts(self, positions: Int64Array, settings: Settings, most: int | None = None) -> dict[int, bytes]:
        """Read the texts of documents again, by their positions."""
        return read_again(self.sources, reading_of(settings), positions, most)[0]

    def digest(self, number: int) -> str | None:
        """Return the digest of an input; None where it is no file."""
        return digest_of(self.sources[number].places)


@dataclass(frozen=True, slots=True, eq=False)
class SavedInputs:
    """The files that a job read, and which of them may be read again."""

    table: pa.Table  # as ``inputs_of`` makes it
    folder: AnyPath  # of the result, for messages
    trusted: tuple[AnyPath, ...] | None = None  # where files of somebody else's result are read; None: it is this user's own
    checksums: Sequence[str | None] = ()  # of the saved sketches that an input was; None: it was none

    @property
    def own(self) -> bool:
        """Whether this process's user chose the files."""
        return self.trusted is None

    @property
    def n_references(self) -> int:
        """How many inputs hold references."""
        return len(pc.unique(self.table.filter(self.table["reference"])["source"]))

    @property
    def noted(self) -> SavedInputs:
        """The inputs themselves."""
        return self

    def digest(self, number: int) -> str | None:
        """Return the digest of an input; None where it was no file."""
        return digest_of(self.places(number))

    def texts(self, positions: Int64Array, settings: Settings, most: int | None = None) -> dict[int, bytes]:
        """Read texts again, by positions: a file up to its last wanted row; of files that are documents, only those wanted."""
        texts: dict[int, bytes] = {}
        inputs, reading = self.table, reading_of(settings)
        wanted = np.unique(positions)
        for number in np.unique(wanted >> SOURCE_BITS).tolist():
            some = wanted[wanted >> SOURCE_BITS == number]
            first, end = self._rows_of(number)
            if not inputs["format"][first].is_valid:
                raise _no_file(inputs["name"][first].as_py())
            if inputs["format"][first].as_py() == SAVED.name:
                texts |= self._texts_of_saved(number, some, reading, most)
                continue
            form = format_named(inputs["format"][first].as_py())
            rows = files = some - (number << SOURCE_BITS)
            if files[-1] >= end - first if form.rows_are_files else end - first > 1:
                raise InputDataError(f"damaged: input {number + 1:,} is {end - first:,} files", self.folder)
            if form.rows_are_files:
                rows = np.arange(len(some))
            else:
                files = np.arange(end - first)
            places = [self._place(row) for row in inputs.take(to_arrow(first + files)).to_pylist()]
            split = Split(form=form, name=places[0].name, relative=places[0].name, places=tuple(places))
            read = read_again([split], reading, rows, most)[0]
            texts |= {position: read[row] for position, row in zip(some.tolist(), rows.tolist(), strict=True)}
        return texts

    def _rows_of(self, number: int) -> tuple[int, int]:
        """Return the first row of a source, and the one behind its last."""
        first, end = np.searchsorted(to_numpy(self.table["source"]), [number, number + 1]).tolist()
        return first, end

    def _texts_of_saved(self, number: int, positions: Int64Array, reading: ReadOptions, most: int | None) -> dict[int, bytes]:
        """Read texts of saved documents again; the inputs of a folder follow one another, in the order of its description."""
        inputs, (first, _) = self.table, self._rows_of(number)
        first_of_folder = pc.index(inputs["path"].combine_chunks(), inputs["path"][first]).as_py()
        number_in_folder = number - inputs["source"][first_of_folder].as_py()
        (row,) = inputs.slice(first, 1).to_pylist()
        splits = open_saved(self._place(row).path.parent, self.trusted, self.checksums[number] or "none")
        if number_in_folder >= len(splits):
            raise InputDataError(f"damaged: {row['name']} has fewer inputs than the result says", self.folder)
        read = read_again([splits[number_in_folder]], reading, positions - (number << SOURCE_BITS), most)[0]
        return {position: read[position - (number << SOURCE_BITS)] for position in positions.tolist()}

    def places(self, source: int) -> list[FoundFile]:
        """Return the files of a source, as they were; none if it was no file, or saved sketches."""
        first, end = self._rows_of(source)
        rows = self.table.slice(first, end - first).to_pylist()
        return [self._place(row) for row in rows if row["path"] is not None and row["format"] != SAVED.name]

    def _place(self, row: dict[str, Any]) -> FoundFile:
        """Return a file of a job as it was, looked up from the root and from the current folder."""
        name = row["name"]
        if row["path"] is None:
            raise _no_file(name)
        looked = list(dict.fromkeys(map(_from_root, (os.fsdecode(row["path"]), name))))
        changed = None
        for path in check_trusted(self.folder, looked, self.trusted):
            try:
                place = place_of(path_of(path), name, name)
            except (OSError, ValueError):  # the latter of no name that a file can have
                continue
            if (place.size, place.modified_ns) == (row["bytes"], row["modified_ns"]):
                return place
            changed = changed or path
        if changed is not None:
            raise InputDataError(
                "the file has changed since the result was made, so its texts can differ; run dedup again", changed
            )
        raise InputDataError(
            f"the input no longer exists; looked for {' and '.join(map(show_path, looked))}: restore it with its "
            f"modification time (cp -p), or run dedup again",
            name,
        )


def _no_file(name: str) -> InputDataError:
    """The error for an input that cannot be read a second time."""
    return InputDataError(
        "the texts cannot be read again: this input was no file, but values in memory, a pipe or part of an archive", name
    )


def _from_root(path: str) -> str:
    """Return a path from the root; a URL is one. No store is asked."""
    return path if is_url(path) else os.path.abspath(path)


Inputs = OpenInputs | SavedInputs
