"""The folder of an index, its lock, and its manifest: which segments make up the index. The manifest is written whole and
renamed, so that it commits or does not.

The file holds eight hexadecimal digits, the CRC-32 of all that follows them, then a line feed, then JSON: ``format``,
``version``, ``parameters``, ``keep_text``, ``ids`` ("int", "str" or null), ``next`` (number of the next file) and
``segments``, each with its ``file``, ``rows``, and, where some were removed, ``removed`` (a file) and ``n_removed``. Files are
plain names in the folder, ``segment-00000000`` and ``removed-00000000`` with numbers below ``next``: no other file is read or
removed.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import stat
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from zlib import crc32

from ..errors import IndexFormatError, OutputError
from ..files.atomic import atomic_file, make_folders
from ..files.layout import is_count, open_regular
from ..files.urls import check_on_disk

NAME, LOCK, FORMAT, VERSION = "manifest", "lock", "lookalike index", 1
MOST_BYTES, MOST_FILES, MOST_ROWS = 1 << 24, 1 << 48, (1 << 32) - 1
_FILE = re.compile(r"(segment|removed)-([0-9]{8,15})", re.ASCII)
_OURS = re.compile(rf"{_FILE.pattern}|\.({_FILE.pattern}|manifest)\.[0-9a-f]+-[0-9a-f]+\.tmp", re.ASCII)


def is_ours(name: str) -> bool:
    """Tell whether a file in the folder of an index is a segment, a mask of removed rows, or half written."""
    return _OURS.fullmatch(name) is not None


@dataclass(frozen=True, slots=True)
class SegmentRef:
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
    segments: tuple[SegmentRef, ...] = field(default_factory=tuple)

    @property
    def files(self) -> set[str]:
        """All files that belong to it."""
        return {name for entry in self.segments for name in (entry.file, entry.removed) if name is not None}

    @property
    def n_documents(self) -> int:
        """Documents that count."""
        return sum(entry.rows - entry.n_removed for entry in self.segments)

    @property
    def n_removed(self) -> int:
        """Documents that do not, and take room until segments are merged."""
        return sum(entry.n_removed for entry in self.segments)

    def write(self, folder: Path) -> None:
        """Make this the state of the index in a folder; what it names must be on the disk."""
        body = json.dumps({"format": FORMAT, "version": VERSION} | asdict(self), indent=1).encode()
        with atomic_file(folder / NAME, compress=False) as stream:
            stream.write(b"%08x\n" % crc32(body) + body)


def read_manifest(folder: Path) -> Manifest:
    """Read the state of the index in a folder."""
    path = folder / NAME
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        check_on_disk(folder, "and an index is a folder on this machine")
        raise IndexFormatError("no index here; lookalike index create makes one", folder) from None
    except OSError as error:
        raise IndexFormatError(f"cannot be read: {error.strerror}", path) from None
    with open_regular(path) as stream:
        data = stream.read(MOST_BYTES)
    checksum, line, body = data[:8], data[8:9], data[9:]
    try:
        fits = line == b"\n" and checksum == b"%08x" % crc32(body)
        held = json.loads(body)
        if not isinstance(held, dict) or held.get("format") != FORMAT:
            raise ValueError
    except (ValueError, RecursionError):
        what = "not the manifest of an index" if b"lookalike" not in data else "damaged: checksum mismatch"
        raise IndexFormatError(what, path) from None
    if not fits:
        raise IndexFormatError("damaged: checksum mismatch", path)
    version: Any = held.get("version")
    if is_count(version) and version > VERSION:
        raise IndexFormatError(f"format version {version} is newer than {VERSION}, the newest known here; upgrade", path)
    wrong = next((name for name, rule in _RULES.items() if name not in held or not rule(held[name])), None)
    if wrong is not None:
        raise IndexFormatError(f"damaged: {wrong} cannot be {held.get(wrong)!r:.60}", path)
    manifest = Manifest(
        held["parameters"], held["keep_text"], held["ids"], held["next"], tuple(_entry(path, e) for e in held["segments"])
    )
    names = [name for entry in manifest.segments for name in (entry.file, entry.removed) if name is not None]
    if len(set(names)) < len(names) or any(int(name.partition("-")[2]) >= manifest.next for name in names):
        raise IndexFormatError(f"damaged: a file is named twice, or its number is not below {manifest.next}", path)
    if manifest.segments and manifest.ids is None:
        raise IndexFormatError("damaged: there are documents, and ids cannot be null", path)
    return manifest


_RULES: dict[str, Any] = {
    "version": lambda value: is_count(value) and value >= 1,
    "parameters": lambda value: isinstance(value, dict),
    "keep_text": lambda value: isinstance(value, bool),
    "ids": lambda value: value is None or value in ("int", "str"),
    "next": lambda value: is_count(value, MOST_FILES),
    "segments": lambda value: isinstance(value, list) and all(isinstance(entry, dict) for entry in value),
}


def _entry(path: Path, held: dict[str, Any]) -> SegmentRef:
    """Check what a manifest says of one segment."""
    file: Any = held.get("file")
    rows: Any = held.get("rows")
    removed: Any = held.get("removed")
    n_removed: Any = held.get("n_removed")
    if not (
        set(held) == {"file", "rows", "removed", "n_removed"}
        and _names(file, "segment")
        and (removed is None or _names(removed, "removed"))
        and is_count(rows, MOST_ROWS)
        and is_count(n_removed, rows)
        and (removed is None) == (n_removed == 0)
    ):
        raise IndexFormatError(f"damaged: a segment cannot be described by {held!r:.120}", path)
    return SegmentRef(file, rows, removed, n_removed)


def _names(value: object, kind: str) -> bool:
    """Tell whether a value is the name of a file of this kind."""
    return isinstance(value, str) and (found := _FILE.fullmatch(value)) is not None and found[1] == kind


def make_folder(folder: Path) -> None:
    """Make the folder of a new index, if it is not there, so that it lasts."""
    check_on_disk(folder, "and an index is a folder on this machine")
    try:
        if os.path.lexists(folder) and not (folder.is_dir() and all(map(_may_be_there, folder.iterdir()))):
            raise OutputError(" exists and is not an empty folder; choose another name", folder)
        make_folders(folder)
    except OSError as error:
        if isinstance(error, OutputError):
            raise
        raise OutputError(f"cannot be made: {error.strerror}", folder) from None


def _may_be_there(path: Path) -> bool:
    """Tell whether a file is what making an index leaves where it was cut off."""
    return path.name == LOCK or (path.name[0] == "." and is_ours(path.name))


def take_lock(folder: Path, wait: bool) -> int:
    """Lock an index against other writers; the kernel lets go of it when the process ends, however it ends."""
    try:
        lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
    except OSError as error:
        raise OutputError(f"cannot be opened for changes: {error.strerror}; it can still be read", folder) from None
    try:
        if not stat.S_ISREG(os.fstat(lock).st_mode):
            raise OutputError("not a regular file: remove it; the index can still be read", folder / LOCK)
        fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BaseException as error:
        os.close(lock)
        if isinstance(error, BlockingIOError):
            raise OutputError(
                "already open for changes, in another process or in this one; close it there, or wait for it: --wait "
                "(wait=True)",
                folder,
            ) from None
        if isinstance(error, OSError) and not isinstance(error, OutputError):
            raise OutputError(f"cannot be locked: {error.strerror}; it can still be read", folder) from None
        raise
    return lock


def release_lock(lock: int, process: int) -> None:
    """Let go of a lock. Only the process that took it does: a forked child closes its own copy and no more."""
    if os.getpid() == process:
        fcntl.flock(lock, fcntl.LOCK_UN)
    os.close(lock)


def remove_leftovers(folder: Path, manifest: Manifest) -> None:
    """Remove what a process that is gone had not committed."""
    try:
        for path in folder.iterdir():
            if is_ours(path.name) and path.name not in manifest.files and not path.is_dir():
                path.unlink()
    except OSError as error:
        raise OutputError(f"cannot be removed: {error.strerror}", error.filename or folder) from None
