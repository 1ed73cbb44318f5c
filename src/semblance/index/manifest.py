"""The manifest: which segments make up an index. It is written whole and renamed, so that it commits or does not.

The file holds eight hexadecimal digits, the CRC-32 of all that follows them, then a line feed, then JSON: ``format``,
``version``, ``parameters``, ``keep_text``, ``ids`` ("int", "str" or null), ``next`` (number of the next file) and ``segments``,
each with its ``file``, ``rows``, and, where some were removed, ``removed`` (a file) and ``n_removed``.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from zlib import crc32

from ..errors import IndexFormatError
from ..io.formats import atomic_file

NAME, FORMAT, VERSION = "manifest", "semblance index", 1


@dataclass(frozen=True, slots=True)
class Entry:
    """One segment of an index."""

    file: str
    rows: int
    removed: str | None = None
    n_removed: int = 0


@dataclass(frozen=True, slots=True)
class Manifest:
    """A consistent state of an index."""

    parameters: dict[str, Any]
    keep_text: bool = False
    ids: str | None = None
    next: int = 0
    segments: tuple[Entry, ...] = field(default_factory=tuple)

    @property
    def files(self) -> set[str]:
        """All files that belong to it."""
        return {name for entry in self.segments for name in (entry.file, entry.removed) if name is not None}

    def write(self, folder: Path) -> None:
        """Make this the state of the index in a folder; what it names must be on the disk.

        Raises
        ------
        OutputError
            If it cannot be written; the state is then what it was.
        """
        body = json.dumps({"format": FORMAT, "version": VERSION} | asdict(self), indent=1).encode()
        with atomic_file(folder / NAME) as stream:
            stream.write(b"%08x\n" % crc32(body) + body)


def read_manifest(folder: Path) -> Manifest:
    """Read the state of the index in a folder.

    Raises
    ------
    IndexFormatError
        If there is none, it is another program's, of a newer version, or damaged.
    """
    path = folder / NAME
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise IndexFormatError(f"{folder}: no index here; semblance index create makes one") from None
    except OSError as error:
        raise IndexFormatError(f"{path}: cannot be read: {error.strerror}") from None
    checksum, line, body = data[:8], data[8:9], data[9:]
    try:
        fits = line == b"\n" and checksum == b"%08x" % crc32(body)
        held = json.loads(body)
        if not isinstance(held, dict) or held.get("format") != FORMAT:
            raise ValueError
    except ValueError:
        what = "not the manifest of an index" if b"semblance" not in data else "damaged: it does not fit its checksum"
        raise IndexFormatError(f"{path}: {what}") from None
    if not fits:
        raise IndexFormatError(f"{path}: damaged: it does not fit its checksum")
    if held["version"] > VERSION:
        raise IndexFormatError(
            f"{path}: format version {held['version']} is newer than {VERSION}, the newest known here; upgrade"
        )
    segments = tuple(Entry(**entry) for entry in held["segments"])
    return Manifest(held["parameters"], held["keep_text"], held["ids"], held["next"], segments)
