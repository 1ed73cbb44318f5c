"""What an index consists of at a moment, and how it gets to the next: one manifest after the other."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace as changed
from pathlib import Path

import numpy as np

from ..errors import IndexFormatError, ParameterError
from ..files.arrays import write_arrays
from ..text.texts import Texts
from ..values import Int64Array
from .kind import Sketches
from .kinds import AnyKind
from .manifest import Entry, Manifest
from .merging import merge_segments
from .opening import open_mask, open_segment
from .segments import Segment, hash_ids, write_segment

MOST_SEGMENTS, MERGED = 10, 8


class State:
    """A folder's manifest and the segments it names. What changes it writes files first, then the manifest that names them.

    Manifest and segments are one value, ``now``, which is replaced and never changed: who took it reads on what it was.
    """

    def __init__(self, folder: Path, kind: AnyKind, manifest: Manifest, segments: tuple[Segment, ...]) -> None:
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
        """Merge the smallest segments while there are many, if the disk has room: what was added has been added.

        Damage that is met here is an error of the next addition.
        """
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
