"""What the pipeline reads: sources of rows, in batches."""

from __future__ import annotations

import glob as globbing
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from ..errors import InputDataError, ParameterError
from ..text.texts import Texts
from ..values import Int64Array
from .formats import FORMATS, SUFFIXES, compression_of, read_blocks, suffix_of

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

    def __init__(self, path: Path, relative: str | None = None, name: str | None = None) -> None:
        self.path = path
        self.name = str(path) if name is None else name
        self.relative = path.name if relative is None else relative
        self._identity = self._stat()

    def _stat(self) -> Record:
        try:
            status = self.path.stat()
        except OSError as error:
            raise InputDataError(f"{self.name}: cannot be read: {error.strerror}") from None
        return {"name": self.name, "bytes": status.st_size, "modified_ns": status.st_mtime_ns}

    def label(self, number: int) -> Any:
        """Return ``file:row``."""
        return f"{self.name}:{number}"

    def identity(self) -> Record:
        """Return name, bytes and time of change, as they were when the file was first met."""
        return self._identity

    def expected(self, text: str) -> tuple[int, int]:
        """Judge (rows, bytes of text) by the size of the file and its beginning."""
        start = next(read_blocks(self.path, 1 << 16), b"")
        size = self._identity["bytes"] * (1 if compression_of(self.path) is None else EXPANSION)
        return int(size * max(1, start.count(b"\n")) / max(1, len(start))), size

    def check_unchanged(self) -> None:
        """Raise InputDataError if the file changed since it was first met."""
        if self._stat() != self._identity:
            raise InputDataError(f"{self.name}: the file changed while it was worked on; run again")


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


def _expand(path: str, pattern: str | None, format: str | None) -> list[tuple[Path, str]]:
    """Return (file, name relative to what was given) of all files that a path, folder or glob stands for."""
    given = Path(path)
    if given.is_dir():
        wanted = pattern or "*"
        files = sorted(
            file for file in given.rglob(wanted)
            if file.is_file() and not any(part.startswith((".", "_")) for part in file.relative_to(given).parts)
            and (pattern is not None or suffix_of(file) is not None)
        )  # fmt: skip
        if not files:
            known = ", ".join(SUFFIXES)
            raise InputDataError(
                f"{path}: the folder holds no file that matches {pattern!r}" if pattern
                else f"{path}: the folder holds no file with a known suffix ({known}); use --glob to name others"
            )  # fmt: skip
        return [(file, str(file.relative_to(given))) for file in files]
    if given.exists() or not globbing.has_magic(path):
        return [(given, given.name)]
    files = sorted(Path(match) for match in globbing.glob(path, recursive=True) if Path(match).is_file())
    if not files:
        raise InputDataError(f"{path}: no file matches")
    return [(file, file.name) for file in files]


def open_sources(
    paths: Sequence[str | os.PathLike[str]], *, glob: str | None = None, format: str | None = None
) -> list[Source]:
    """Open files, folders, globs and "-" (standard input) for reading.

    Parameters
    ----------
    paths : sequence of str or path
    glob : str, optional
        Which files of a folder are read; default all with a known suffix.
    format : {"parquet", "jsonl", "csv", "txt"}, optional
        In place of what the suffix says; needed for standard input.

    Raises
    ------
    InputDataError
        If a path does not exist or a format is not known.
    """
    from .csv_files import CsvSource
    from .jsonl import JsonLinesSource
    from .parquet import ParquetSource
    from .text_files import TextFilesSource

    if format is not None and format not in FORMATS:
        raise ParameterError(f"format must be one of {', '.join(FORMATS)}; {format!r} was given")
    kinds: dict[str, Any] = {"parquet": ParquetSource, "jsonl": JsonLinesSource, "csv": CsvSource}
    found: list[tuple[Path, str, str | None]] = []
    for given in paths:
        path = os.fspath(given)
        if path == "-":
            if format is None:
                raise ParameterError("standard input has no suffix: pass --format jsonl, csv, parquet or txt with '-'")
            found.append((_spool(), f"stdin.{format}", "stdin"))
        else:
            found.extend((file, relative, None) for file, relative in _expand(path, glob, format))
    if not found:
        raise ParameterError("no input was given: name files, folders, globs, or '-' for standard input")
    resolved = [file.resolve() for file, _, _ in found]
    if len(set(resolved)) < len(resolved):
        again = next(f for i, (f, _, _) in enumerate(found) if resolved[i] in resolved[:i])
        raise InputDataError(f"{again} is given twice: every document would be its own duplicate")
    if len({relative for _, relative, _ in found}) < len(found):
        base = os.path.commonpath([file.parent for file in resolved])
        found = [(f, os.path.relpath(r, base), n) for (f, _, n), r in zip(found, resolved, strict=True)]
    sources: list[Source] = []
    texts: list[tuple[Path, str, str | None]] = []
    for file, relative, name in found:
        suffix = suffix_of(file)
        kind = format or (SUFFIXES[suffix][0] if suffix else None)
        if kind is None:
            known = ", ".join(SUFFIXES)
            raise InputDataError(
                f"{file}: no file of that name" if not file.exists()
                else f"{file}: the suffix tells no format (known: {known}); pass --format"
            )  # fmt: skip
        if not file.exists():
            raise InputDataError(f"{file}: no file of that name")
        if kind == "txt":
            texts.append((file, relative, name))
        else:
            sources.append(kinds[kind](file, relative, name))
    if texts:
        sources.append(TextFilesSource(texts))
    return sources


def _spool() -> Path:
    """Copy standard input to a temporary file, since rows are read twice; it goes when the program ends."""
    spool = tempfile.NamedTemporaryFile(prefix="semblance-stdin-")
    shutil.copyfileobj(sys.stdin.buffer, spool)
    spool.flush()
    _spools.append(spool)
    return Path(spool.name)


_spools: list[Any] = []
