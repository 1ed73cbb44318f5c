"""What the pipeline reads: sources of rows, in batches."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from ..errors import InputDataError, ParameterError
from ..files.atomic import FORMATS, SUFFIXES, compression_of, read_blocks, suffix_of
from ..files.places import SNIFFED, Inputs, Place, Skipped, find_places
from ..text.texts import Texts
from ..values import Int64Array

Record = dict[str, Any]
EXPANSION = 4  # of compressed lines, about


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns that a job needs: the text, the id (None: made from file and row), and others by name.

    ``prefix`` begins the names of the options that name the text and the id.
    """

    text: str = "text"
    id: str | None = None
    others: tuple[str, ...] = ()
    reserved: tuple[str, ...] = ()
    encoding_errors: str = "strict"
    prefix: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Some rows in a row: texts, their numbers as a user counts them, ids and other columns where asked for."""

    texts: Texts
    numbers: Int64Array
    ids: list[Any] | pa.Array | None = None
    others: dict[str, list[Any] | pa.Array] = field(default_factory=dict)


class Source(Protocol):
    """Rows from a file, several files, or memory; can be read again to write rows out as they were."""

    name: str
    relative: str
    format: str
    places: Sequence[Place]

    def batches(self, columns: Columns) -> Iterator[Batch]:
        """Read the columns wanted, in batches of rows."""
        ...

    def label(self, number: int) -> Any:
        """Return the default id of the row of a number: ``file:row``."""
        ...

    def identity(self) -> Record:
        """Return what tells this input from another: name, size, time of change."""
        ...

    def records(self, encoding_errors: str = "strict") -> Iterator[tuple[int, Record]]:
        """Read all rows again, whole: the number of each and a dictionary."""
        ...

    def check_unchanged(self) -> None:
        """Raise InputDataError if the input is known to have changed since it was first met."""
        ...

    def expected(self, text: str) -> tuple[int, int]:
        """Return about how many rows, and how many bytes in the column of that name, there will be."""
        ...

    def check_free(self, names: Sequence[str]) -> None:
        """Raise InputDataError if a column of one of these names, which annotation would add, is there already."""
        ...


class FileSource:
    """What sources of one file have in common."""

    format = ""

    def __init__(self, place: Place) -> None:
        self.places: Sequence[Place] = (place,)
        self.path, self.name, self.relative = place.path, place.name, place.relative

    def label(self, number: int) -> Any:
        """Return ``file:row``."""
        return f"{self.name}:{number}"

    def identity(self) -> Record:
        """Return name, bytes and time of change, as they were when the file was first met."""
        (place,) = self.places
        if place.spool is not None:
            return {"name": self.name, "bytes": place.size, "read_once": True}
        return {"name": self.name, "bytes": place.size, "modified_ns": place.modified_ns}

    def expected(self, text: str) -> tuple[int, int]:
        """Judge (rows, bytes of text) by the size of the file and its beginning."""
        start = next(read_blocks(self.path, 1 << 16), b"")
        size = self.places[0].size * (1 if compression_of(self.path) is None else EXPANSION)
        return int(size * max(1, start.count(b"\n")) / max(1, len(start))), size

    def check_unchanged(self) -> None:
        """Raise InputDataError if the file changed since it was first met."""
        check_unchanged(self.places)


def check_unchanged(places: Sequence[Place]) -> None:
    """Raise InputDataError if one of some files changed since it was first met."""
    for place in places:
        try:
            status = place.path.stat()
        except OSError as error:
            raise InputDataError(f"{place.name}: cannot be read: {error.strerror}") from None
        if status.st_size != place.size or (place.spool is None and status.st_mtime_ns != place.modified_ns):
            raise InputDataError(f"{place.name}: the file changed while it was worked on; run again")


def missing_column(
    source: str, row: str, kind: str, name: str, found: Sequence[str], columns: Columns, way_out: str = ""
) -> InputDataError:
    """The error for a column that is not there."""
    for option, given in (("text", columns.text), ("id", columns.id)):
        if name == given and not way_out:
            option = columns.prefix + option
            way_out = f"; name another with --{option} ({option.replace('-', '_')}=)"
    return InputDataError(f"{source}, {row}: {kind} {name!r} is missing; {kind}s found: {', '.join(found) or 'none'}{way_out}")


def reserved_column(source: str, row: str, kind: str, name: str) -> InputDataError:
    """The error for a column that annotation would write a second time."""
    return InputDataError(
        f"{source}, {row}: the {kind} {name!r} is there already, and --annotate adds one of that name; "
        "rename it, or run without --annotate"
    )


def numbers_from(first: int, count: int) -> Int64Array:
    """Row numbers ``first``, ``first + 1``, ..."""
    return np.arange(first, first + count, dtype=np.int64)


def _is_binary(place: Place) -> bool:
    """Tell whether a file that is to be text begins with bytes that no text has; UTF-16, which has them, is refused later."""
    start = next(read_blocks(place.path, SNIFFED), b"")
    return b"\0" in start and start[:2] not in (b"\xff\xfe", b"\xfe\xff")


def open_sources(paths: Sequence[str | os.PathLike[str]], *, glob: str | None = None, format: str | None = None) -> Inputs:
    """Open files, folders, globs, pipes and "-" (standard input) for reading.

    Parameters
    ----------
    paths : sequence of str or path
    glob : str, optional
        Which files of a folder are read; default all with a known suffix.
    format : {"parquet", "jsonl", "csv", "txt"}, optional
        In place of what the suffix says; needed for standard input.

    Returns
    -------
    Inputs
        A list of sources, which also counts the files that were left out.

    Raises
    ------
    InputDataError
        If a path does not exist or a format is not known.
    """
    from .csv import CsvSource
    from .jsonl import JsonLinesSource
    from .parquet import ParquetSource
    from .txt import TextFilesSource

    if format is not None and format not in FORMATS:
        raise ParameterError(f"format must be one of {', '.join(FORMATS)}; {format!r} was given")
    kinds: dict[str, Any] = {"parquet": ParquetSource, "jsonl": JsonLinesSource, "csv": CsvSource}
    skipped = Skipped()
    sources: list[Source] = []
    texts: list[Place] = []
    for place in find_places(paths, glob, format, skipped):
        suffix = suffix_of(place.path)
        kind = format or (SUFFIXES[suffix][0] if suffix else None)
        if kind is None:
            raise InputDataError(f"{place.name}: the suffix tells no format (known: {', '.join(SUFFIXES)}); pass --format")
        if kind != "txt":
            sources.append(kinds[kind](place))
        elif place.found and _is_binary(place):
            skipped.add("binary", place.name)
        else:
            texts.append(place)
    if texts:
        sources.append(TextFilesSource(texts))
    if not sources:
        if "binary" in skipped.counts:
            raise InputDataError(f"no text was found: all files are binary, such as {skipped.names['binary'][0]}")
        raise ParameterError("no input was given: name files, folders, globs, or '-' for standard input")
    return Inputs(sources, skipped)
