"""Temporary copies of what can be read only once: standard input, pipes, terminals."""

from __future__ import annotations

import os
import stat
import sys
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import InputDataError, OutputError, ParameterError
from .names import shown, suffix_of
from .streams import compression_of


class Spool:
    """A temporary copy of a pipe or a device, which can be read only once; it is removed when nobody needs it any more."""

    def __init__(self, name: str, stream: Any, status: os.stat_result, suffix: str) -> None:
        import shutil  # here, for what is not needed to start
        import tempfile

        self.file: Any = None
        self.name = self.relative = name
        self.number = (status.st_dev, status.st_ino)
        try:
            self.file = tempfile.NamedTemporaryFile(prefix="lookalike-", suffix=suffix)
            shutil.copyfileobj(stream, self.file, 1 << 20)
            self.file.flush()
        except OSError as error:
            where = self.file.name if self.file is not None else "no folder for temporary files"
            with_room = "name a folder with room for it in TMPDIR, or give files"
            raise OutputError(f"{name} cannot be stored in {where}: {error.strerror or error}; {with_room}") from None
        _spools[self.number] = self
        weakref.finalize(self, self.file.close)


def spool(
    name: str, format: str | None, formats: Mapping[str, Sequence[str]], status: os.stat_result | None = None
) -> Spool:  # fmt: skip
    """Copy standard input ("-"), a pipe or a terminal to a temporary file, since rows are read twice."""
    label = "stdin" if name == "-" else shown(name)
    known = suffix_of(name, [suffix for some in formats.values() for suffix in some])
    if format is None and known is None:
        what = "standard input" if name == "-" else label
        *first, last = formats
        raise ParameterError(f"{what} has no suffix: pass --format {', '.join(first)} or {last} with {name!r}")
    end = known or (Path(name).suffix if compression_of(name) else "")
    status = _stdin_status() if name == "-" else status
    assert status is not None
    if (status.st_dev, status.st_ino) in _spools:
        raise InputDataError(f"{label} is given twice, but can be read only once; save it to a file, and name that")
    if name == "-":
        if sys.stdin is None or sys.stdin.closed:
            raise InputDataError("standard input is closed")
        if any(known_input is sys.stdin for known_input in _read_once):
            raise InputDataError(
                "'-' is given twice, but standard input can be read only once; save it to a file, and name that"
            )
        _read_once.append(sys.stdin)
        copy = Spool(label, sys.stdin.buffer, status, end)
    else:
        if stat.S_ISBLK(status.st_mode) or (stat.S_ISCHR(status.st_mode) and not _ends(name)):
            raise InputDataError(f"{label} is a device, not a file")
        try:
            with open(name, "rb") as stream:
                copy = Spool(label, stream, status, end)
        except OutputError:
            raise
        except OSError as error:
            raise InputDataError(f"{label}: cannot be read: {error.strerror}; to read from a socket, pipe it to '-'") from None
    copy.name = label
    copy.relative = Path(name).name if known else f"{'stdin' if name == '-' else Path(name).name}.{format}"
    return copy


def _stdin_status() -> os.stat_result:
    """Return what tells standard input from other pipes; one that is no file counts as a device of its own."""
    try:
        return os.fstat(sys.stdin.fileno())
    except (OSError, ValueError, AttributeError):
        return os.stat_result((0, id(sys.stdin), -1, *[0] * 7))


def _ends(name: str) -> bool:
    """Tell a terminal and the null device from devices whose data never end."""
    if os.path.samefile(name, os.devnull):
        return True
    with open(name, "rb", buffering=0) as stream:
        return stream.isatty()


_spools: weakref.WeakValueDictionary[tuple[int, int], Spool] = weakref.WeakValueDictionary()
_read_once: list[Any] = []  # standard inputs that nothing is left of
