"""Opening an index: the lock of the one writer, segments that are whole, files that nobody needs."""

from __future__ import annotations

import fcntl
import os
import stat
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import IndexFormatError, OutputError
from ..files.arrays import ArrayFile
from ..files.atomic import make_folders
from ..files.urls import check_on_disk
from .kinds import AnyKind
from .manifest import Entry, Manifest, is_ours, read_manifest
from .segments import NONE, Segment

LOCK = "lock"


def make_folder(folder: Path) -> None:
    """Make the folder of a new index, if it is not there, so that it lasts."""
    check_on_disk(folder, "and an index is a folder on this machine")
    try:
        if os.path.lexists(folder) and not (folder.is_dir() and all(map(_may_be_there, folder.iterdir()))):
            raise OutputError(f"{folder} exists and is not an empty folder; choose another name")
        make_folders(folder)
    except OSError as error:
        if isinstance(error, OutputError):
            raise
        raise OutputError(f"{folder}: cannot be made: {error.strerror}") from None


def _may_be_there(path: Path) -> bool:
    """Tell whether a file is what making an index leaves where it was cut off."""
    return path.name == LOCK or (path.name[0] == "." and is_ours(path.name))


def take_lock(folder: Path, wait: bool) -> int:
    """Lock an index against other writers; the kernel lets go of it when the process ends, however it ends."""
    try:
        lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be opened for changes: {error.strerror}; open it with mode='read'") from None
    try:
        if not stat.S_ISREG(os.fstat(lock).st_mode):
            raise OutputError(f"{folder / LOCK}: not a regular file: remove it, or open the index with mode='read'")
        fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BaseException as error:
        os.close(lock)
        if isinstance(error, BlockingIOError):
            raise OutputError(
                f"{folder}: open for changes already, in another process or in this one; close it there, wait for it "
                "(--wait, wait=True), or open it with mode='read'"
            ) from None
        if isinstance(error, OSError) and not isinstance(error, OutputError):
            raise OutputError(f"{folder}: cannot be locked: {error.strerror}; open it with mode='read'") from None
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
        raise OutputError(f"{error.filename or folder}: cannot be removed: {error.strerror}") from None


def open_mask(folder: Path, entry: Entry) -> NDArray[np.bool_]:
    """Read which rows of a segment are removed."""
    if entry.removed is None:
        return NONE
    path = folder / entry.removed
    file = ArrayFile(path)
    if list(file) != ["removed"] or file.described("removed") != ("|b1", (entry.rows,)):
        raise IndexFormatError(f"{path}: damaged: not a mask of {entry.rows:,} rows")
    removed = file["removed"]
    if np.count_nonzero(removed) != entry.n_removed or removed.view(np.uint8).max(initial=0) > 1:
        raise IndexFormatError(f"{path}: damaged: it does not mask {entry.n_removed:,} rows")
    return removed


def open_segment(folder: Path, kind: AnyKind, manifest: Manifest, entry: Entry, removed: NDArray[np.bool_]) -> Segment:
    """Open one segment, and hold it against what the manifest says."""
    segment = Segment(folder / entry.file, kind, manifest.keep_text, removed)
    if segment.n_rows != entry.rows:
        raise IndexFormatError(f"{segment.path}: {segment.n_rows:,} documents, where the manifest says {entry.rows:,}")
    if segment.file.meta.get("parameters") != manifest.parameters:
        raise IndexFormatError(f"{segment.path}: it belongs to another index, with other parameters")
    return segment


def open_segments(
    folder: Path, kind: AnyKind, manifest: Manifest, salvage: bool
) -> tuple[Manifest, tuple[Segment, ...], list[str]]:
    """Open all segments; a reader that meets a state just replaced takes the next one."""
    for _ in range(100):
        segments, entries, damaged = [], [], []
        for entry in manifest.segments:
            try:
                problems = damage(folder, kind, manifest, entry) if salvage else []
                if not problems:
                    segments.append(open_segment(folder, kind, manifest, entry, open_mask(folder, entry)))
                    entries.append(entry)
            except IndexFormatError as error:
                problems = [str(error)]
            if problems and (newer := read_manifest(folder)) != manifest:
                manifest = newer
                break
            if problems and not salvage:
                raise IndexFormatError(problems[0])
            damaged += problems
        else:
            return replace(manifest, segments=tuple(entries)), tuple(segments), damaged
    raise IndexFormatError(f"{folder}: changes faster than it can be read")


def damage(folder: Path, kind: AnyKind, manifest: Manifest, entry: Entry) -> list[str]:
    """Read every byte of a segment, and say what is wrong, file by file."""
    found = []

    def check_mask() -> None:
        if entry.removed is not None:
            ArrayFile(folder / entry.removed).check()
            open_mask(folder, entry)

    for check in (check_mask, lambda: open_segment(folder, kind, manifest, entry, NONE).check()):
        try:
            check()
        except IndexFormatError as error:
            found.append(str(error))
    return found
