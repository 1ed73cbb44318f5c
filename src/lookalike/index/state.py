"""What an index consists of at a moment, how it is opened, and how it gets from one manifest to the next."""

from __future__ import annotations

import fcntl
import os
import stat
from contextlib import suppress
from dataclasses import replace as changed
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import IndexFormatError, OutputError, ParameterError
from ..files.arrays import ArrayFile, write_arrays
from ..files.atomic import make_folders
from ..files.urls import check_on_disk
from ..text.texts import Texts
from ..values import Int64Array
from .kind import Kind, Sketches
from .manifest import Entry, Manifest, is_ours, read_manifest
from .segments import NONE, Segment, hash_ids
from .tables import merge_segments, write_segment

LOCK = "lock"
MOST_SEGMENTS, MERGED = 10, 8


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


def open_segment(folder: Path, kind: Kind, manifest: Manifest, entry: Entry, removed: NDArray[np.bool_]) -> Segment:
    """Open one segment, and hold it against what the manifest says."""
    segment = Segment(folder / entry.file, kind, manifest.keep_text, removed)
    if segment.n_rows != entry.rows:
        raise IndexFormatError(f"{segment.path}: {segment.n_rows:,} documents, where the manifest says {entry.rows:,}")
    if segment.file.meta.get("parameters") != manifest.parameters:
        raise IndexFormatError(f"{segment.path}: it belongs to another index, with other parameters")
    return segment


def open_segments(
    folder: Path, kind: Kind, manifest: Manifest, salvage: bool
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
            return changed(manifest, segments=tuple(entries)), tuple(segments), damaged
    raise IndexFormatError(f"{folder}: changes faster than it can be read")


def damage(folder: Path, kind: Kind, manifest: Manifest, entry: Entry) -> list[str]:
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


class State:
    """A folder's manifest and the segments it names. What changes it writes files first, then the manifest that names them.
    Manifest and segments are one value, ``now``, which is replaced and never changed: who took it reads on what it was."""

    def __init__(self, folder: Path, kind: Kind, manifest: Manifest, segments: tuple[Segment, ...]) -> None:
        self.folder = folder
        self.kind = kind
        self.now = manifest, segments

    @property
    def manifest(self) -> Manifest:
        """What the manifest says."""
        return self.now[0]

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The segments it names."""
        return self.now[1]

    def add(self, names: Texts, sketches: Sketches, texts: Texts | None, ids: str, removed: list[Int64Array]) -> None:
        """Add documents, and remove the rows of those whose place they take."""
        for i in self._to_merge(len(names)):
            self.segments[i].check()
        manifest = self.manifest
        name = f"segment-{manifest.next:08}"
        write_segment(self.folder / name, self.kind, names, sketches, texts, {"parameters": manifest.parameters})
        after = self._with_removed(removed)
        segments = (*after.segments, Entry(name, len(names)))
        self._commit(changed(after, ids=ids, next=max(after.next, manifest.next + 1), segments=segments))
        self.merge_small()

    def remove(self, removed: list[Int64Array]) -> None:
        """Remove rows of each segment."""
        if any(len(rows) for rows in removed):
            self._commit(self._with_removed(removed))

    def rows_of(self, names: Texts, unless: str | None = None) -> list[Int64Array]:
        """Return the rows of some ids in each segment."""
        hashes = hash_ids(names)
        if len(np.unique(hashes)) < len(names):
            first: dict[bytes, int] = {}
            for i in range(len(names)):
                if names.row(i) in first:
                    raise ParameterError(
                        f"the id {names.row(i).decode()!r} is given twice, in rows {first[names.row(i)]} and {i}"
                    )
                first[names.row(i)] = i
        found = []
        for segment in self.segments:
            rows = segment.find_ids(names, hashes)
            if unless is not None and (rows >= 0).any():
                row = int(np.argmax(rows >= 0))
                raise ParameterError(f"the id {names.row(row).decode()!r} {unless} (row {row})")
            found.append(rows[rows >= 0])
        return found

    def _with_removed(self, rows_of: list[Int64Array]) -> Manifest:
        """Write which rows are removed, segment by segment, and return the manifest that says so."""
        entries, number = list(self.manifest.segments), self.manifest.next + 1
        for i, rows in enumerate(rows_of):
            if len(rows):
                old = self.segments[i].removed
                mask = old.copy() if len(old) else np.zeros(self.segments[i].n_rows, np.bool_)
                mask[rows] = True
                name = f"removed-{number:08}"
                number += 1
                write_arrays(self.folder / name, {"removed": mask})
                entries[i] = changed(entries[i], removed=name, n_removed=int(mask.sum()))
        return changed(self.manifest, next=number, segments=tuple(entries))

    def _commit(self, manifest: Manifest) -> None:
        """Make a manifest the state of the index; files that it does not name go."""
        live = tuple(entry for entry in manifest.segments if entry.rows > entry.n_removed)
        manifest = changed(manifest, segments=live)
        before = zip(self.manifest.segments, self.segments, strict=True)
        known = {(entry.file, entry.removed): segment for entry, segment in before}
        opened = tuple(
            known.get((e.file, e.removed)) or open_segment(self.folder, self.kind, manifest, e, open_mask(self.folder, e))
            for e in live
        )
        stale = self.manifest.files - manifest.files
        try:
            manifest.write(self.folder)
        except BaseException:  # it may be on the disk or not: what it names must not be overwritten
            self.now = changed(self.manifest, next=manifest.next), self.segments
            raise
        self.now = manifest, opened
        with suppress(OSError):  # the change has happened; the next writer removes what is left over
            for name in stale:
                (self.folder / name).unlink(missing_ok=True)

    def _to_merge(self, *added: int) -> list[int]:
        """Return the smallest segments if there are too many, these sizes added; not those that are added."""
        sizes = [*(segment.n_live for segment in self.segments), *added]
        if len(sizes) <= MOST_SEGMENTS:
            return []
        order = np.argsort(sizes, kind="stable")[:MERGED].tolist()
        return sorted(i for i in order if i < len(self.segments))

    def merge_small(self) -> None:
        """Merge the smallest segments while there are many, if the disk has room: what was added has been added. Damage that is
        met here is an error of the next addition."""
        with suppress(OSError, IndexFormatError, MemoryError):
            while chosen := self._to_merge():
                self.merge(chosen)

    def merge(self, chosen: list[int]) -> None:
        """Make one segment of some."""
        manifest = self.manifest
        name = f"segment-{manifest.next:08}"
        segments = [self.segments[i] for i in chosen]
        merge_segments(self.folder / name, self.kind, segments, {"parameters": manifest.parameters})
        rest = [entry for i, entry in enumerate(manifest.segments) if i not in chosen]
        entry = Entry(name, sum(segment.n_live for segment in segments))
        self._commit(changed(manifest, next=manifest.next + 1, segments=(*rest, entry)))
