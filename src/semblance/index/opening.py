"""Opening an index: the lock of the one writer, segments that are whole, files that nobody needs."""

from __future__ import annotations

import fcntl
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import IndexFormatError, OutputError
from ..io.array_files import ArrayFile
from .manifest import Entry, Manifest, read_manifest
from .segments import NONE, Segment

LOCK = "lock"


def take_lock(folder: Path, wait: bool) -> int:
    """Lock an index against other writers; the kernel lets go of it when the process ends, however it ends."""
    try:
        lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be opened for changes: {error.strerror}; open it with mode='read'") from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        os.close(lock)
        raise OutputError(
            f"{folder}: another process has it open for changes; wait for it (--wait, wait=True), or open it with mode='read'"
        ) from None
    return lock


def remove_leftovers(folder: Path, manifest: Manifest) -> None:
    """Remove what a process that is gone had not committed."""
    for path in folder.iterdir():
        if (
            path.name.startswith(("segment-", "removed-", ".segment-", ".removed-", ".manifest"))
            and path.name not in manifest.files
        ):
            path.unlink()


def open_segment(folder: Path, entry: Entry) -> Segment:
    removed: NDArray[np.bool_] = NONE
    if entry.removed is not None:
        removed = ArrayFile(folder / entry.removed)["removed"]
    segment = Segment(folder / entry.file, removed)
    if segment.n_rows != entry.rows:
        raise IndexFormatError(f"{segment.path}: {segment.n_rows:,} documents, where the manifest says {entry.rows:,}")
    return segment


def open_segments(folder: Path, manifest: Manifest, salvage: bool) -> tuple[Manifest, list[Segment], list[str]]:
    """Open all segments; a reader that meets a state just replaced takes the next one."""
    for _ in range(100):
        segments, entries, damaged = [], [], []
        for entry in manifest.segments:
            problems = [m for name in (entry.file, entry.removed) if salvage and name and (m := damage(folder / name))]
            if problems:
                damaged += problems
                continue
            try:
                segments.append(open_segment(folder, entry))
                entries.append(entry)
            except IndexFormatError:
                newer = read_manifest(folder)
                if newer == manifest:
                    raise
                manifest = newer
                break
        else:
            return replace(manifest, segments=tuple(entries)), segments, damaged
    raise IndexFormatError(f"{folder}: changes faster than it can be read")


def damage(path: Path) -> str | None:
    """Say what is wrong with a file, or nothing."""
    try:
        ArrayFile(path).check()
    except IndexFormatError as error:
        return str(error)
    return None
