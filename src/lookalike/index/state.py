"""What an index consists of at a moment, how segments are opened, written and merged, and how it gets from one manifest to the
next."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace as changed
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import core
from ..errors import IndexFormatError, ParameterError
from ..files.arrays import ArrayFile, write_arrays
from ..files.layout import ChunkedArray
from ..text.texts import Texts
from ..values import Int64Array, UInt64Array
from .kind import Sketches, SketchScheme
from .manifest import Manifest, SegmentRef, read_manifest
from .segments import MOST_ROWS, NONE, Segment, Segments, hash_ids, sort_ids

MOST_SEGMENTS, MERGED = 10, 8
Places = NDArray[np.integer[Any]]
Keys = Callable[[int], tuple[UInt64Array, Places]]
KEYS_A_RUN = 3  # two to the power of it: keys that begin alike, about
REMOVED = np.uint32(MOST_ROWS)  # where the new number of a row stands
TOGETHER = 1 << 14  # rows that are copied at a time


def open_mask(folder: Path, entry: SegmentRef) -> NDArray[np.bool_]:
    """Read which rows of a segment are removed."""
    if entry.removed is None:
        return NONE
    path = folder / entry.removed
    file = ArrayFile(path)
    if list(file) != ["removed"] or file.described("removed") != ("|b1", (entry.rows,)):
        raise IndexFormatError(f"damaged: not a mask of {entry.rows:,} rows", path)
    removed = file["removed"]
    if np.count_nonzero(removed) != entry.n_removed or removed.view(np.uint8).max(initial=0) > 1:
        raise IndexFormatError(f"damaged: it does not mask {entry.n_removed:,} rows", path)
    return removed


def open_segment(
    folder: Path, kind: SketchScheme, manifest: Manifest, entry: SegmentRef, removed: NDArray[np.bool_]
) -> Segment:
    """Open one segment, and hold it against what the manifest says."""
    segment = Segment(folder / entry.file, kind, manifest.keep_text, removed)
    if segment.n_rows != entry.rows:
        raise IndexFormatError(f"{segment.n_rows:,} documents, where the manifest says {entry.rows:,}", segment.path)
    if segment.file.meta.get("parameters") != manifest.parameters:
        raise IndexFormatError("it belongs to another index, with other parameters", segment.path)
    return segment


def open_segments(
    folder: Path, kind: SketchScheme, manifest: Manifest, salvage: bool
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
    raise IndexFormatError("changes faster than it can be read", folder)


def damage(folder: Path, kind: SketchScheme, manifest: Manifest, entry: SegmentRef) -> list[str]:
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

    def __init__(self, folder: Path, kind: SketchScheme, manifest: Manifest, segments: tuple[Segment, ...]) -> None:
        self.folder = folder
        self.kind = kind
        self.now = manifest, Segments(segments)

    @property
    def manifest(self) -> Manifest:
        """What the manifest says."""
        return self.now[0]

    @property
    def segments(self) -> Segments:
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
        segments = (*after.segments, SegmentRef(name, len(names)))
        self._commit(changed(after, ids=ids, segments=segments))
        self.merge_small()

    def remove(self, removed: list[Int64Array]) -> None:
        """Remove rows of each segment."""
        if any(len(rows) for rows in removed):
            self._commit(self._with_removed(removed))

    def rows_of(self, names: Texts, unless: str | None = None) -> list[Int64Array]:
        """Return the rows of some ids in each segment."""
        order, hashes = sort_ids(names)
        if (hashes[1:] == hashes[:-1]).any():
            seen: set[bytes] = set()
            for i in range(len(names)):
                name = names.row(i)
                if name in seen:
                    raise ParameterError(f"the id {name.decode()!r} is given twice")
                seen.add(name)
        found = []
        for segment in self.segments:
            rows = segment.find_ids(names, order, hashes)
            if unless is not None and (rows >= 0).any():
                row = int(np.argmax(rows >= 0))
                raise ParameterError(f"the id {names.row(row).decode()!r} {unless}")
            found.append(rows[rows >= 0])
        return found

    def _with_removed(self, rows_of: list[Int64Array]) -> Manifest:
        """Write which rows are removed, segment by segment, and return the manifest that says so; the number that was next is
        left to a segment."""
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
        opened = Segments(
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
        entry = SegmentRef(name, sum(segment.n_live for segment in segments))
        self._commit(changed(manifest, next=manifest.next + 1, segments=(*rest, entry)))


def _sorted_tables(name: str, n_tables: int, n_keys: int, most_bits: int, key: Keys) -> dict[str, ChunkedArray]:
    """Return the arrays of tables, entered by at most so many bits; ``key`` gives the keys of one table and their rows."""
    prefix_bits = max(1, min(most_bits, n_keys.bit_length() - KEYS_A_RUN))
    last: dict[int, tuple[NDArray[Any], ...]] = {}

    def sort(table: int) -> tuple[NDArray[Any], ...]:
        if table not in last:
            last.clear()
            keys, rows = key(table)
            order = np.argsort(keys, kind="stable")
            keys, rows = keys[order], rows.astype(np.uint32, copy=False)[order]
            last[table] = keys, rows, core.start_runs(keys, prefix_bits)
        return last[table]

    def pieces(table: int, part: int) -> Iterator[NDArray[Any]]:
        yield sort(table)[part]

    shapes = (((n_keys,), np.uint64), ((n_keys,), np.uint32), (((1 << prefix_bits) + 1,), np.uint32))
    return {
        f"{name}_{part}-{table:02}": ChunkedArray(dtype, shape, pieces(table, i))
        for table in range(n_tables)
        for i, (part, (shape, dtype)) in enumerate(zip(("keys", "rows", "starts"), shapes, strict=True))
    }


def _tables(kind: SketchScheme, n: int, n_full: int, key: Keys, id_key: Keys) -> dict[str, Any]:
    """Return the tables of a segment of ``n`` rows, of which ``n_full`` have shingles; keys come when asked for."""
    return _sorted_tables("band", kind.n_keys, n_full, kind.prefix_bits, key) | _sorted_tables("id", 1, n, 32, id_key)


def write_segment(
    path: Path, kind: SketchScheme, ids: Texts, sketches: Sketches, texts: Texts | None, meta: dict[str, Any]
) -> None:
    """Write some documents as a segment."""
    full = np.flatnonzero(~sketches.empty)
    arrays = _tables(
        kind, len(ids), len(full), lambda table: (np.ascontiguousarray(sketches.keys[full, table]), full),
        lambda table: (hash_ids(ids), np.arange(len(ids))),
    )  # fmt: skip
    arrays |= {"codes": sketches.codes, **_ragged("id", ids)}
    if texts is not None:
        arrays |= _ragged("text", texts)
    write_arrays(path, arrays, meta | {"rows": len(ids), "full": len(full)})


def _ragged(name: str, texts: Texts) -> dict[str, Any]:
    """Return the arrays of texts."""
    begin, end = texts.offsets[0], texts.offsets[-1]
    return {f"{name}_bytes": texts.data[begin:end], f"{name}_offsets": texts.offsets - begin}


def merge_segments(path: Path, kind: SketchScheme, segments: list[Segment], meta: dict[str, Any]) -> None:
    """Write the live documents of several segments as one, table after table."""
    for segment in segments:
        segment.check()
    live = [segment.live for segment in segments]
    firsts = np.cumsum([0, *map(len, live)])
    numbers = []
    for rows, first, segment in zip(live, firsts, segments, strict=False):
        number = np.full(segment.n_rows, REMOVED, np.uint32)
        number[rows] = np.arange(first, first + len(rows), dtype=np.uint32)
        numbers.append(number)

    def merged(name: str) -> Keys:
        def key(table: int) -> tuple[UInt64Array, Places]:
            keys, rows = [], []
            for segment, number in zip(segments, numbers, strict=True):
                places = number[segment.file.map(f"{name}_rows-{table:02}")]
                keys.append(segment.file.map(f"{name}_keys-{table:02}")[places != REMOVED])
                rows.append(places[places != REMOVED])
                segment.file.let_go()
            return np.concatenate(keys), np.concatenate(rows)

        return key

    n_full = sum(
        int((number[segment.file.map("band_rows-00")] != REMOVED).sum())
        for segment, number in zip(segments, numbers, strict=True)
    )
    n = int(firsts[-1])
    arrays = _tables(kind, n, n_full, merged("band"), merged("id"))
    n_codes = segments[0].codes.shape[1]
    arrays["codes"] = ChunkedArray(np.uint16, (n, n_codes), (s.codes[part] for s, part in _parts(segments, live)))
    for name in ("id", *(["text"] if segments[0].has_texts else [])):
        arrays |= _merged_texts(name, segments, live)
    write_arrays(path, arrays, meta | {"rows": n, "full": n_full})


def _parts(segments: list[Segment], live: list[Int64Array]) -> Iterator[tuple[Segment, Int64Array]]:
    """Yield segments with some of their live rows at a time; of what is read of them no more stays than of some rows."""
    for segment, rows in zip(segments, live, strict=True):
        for part in np.array_split(rows, 1 + len(rows) // TOGETHER):
            yield segment, part
            segment.file.let_go()


def _merged_texts(name: str, segments: list[Segment], live: list[Int64Array]) -> dict[str, Any]:
    """Return the arrays of the texts of live rows, copied some at a time."""
    sizes = []
    for segment, rows in zip(segments, live, strict=True):
        bounds = segment.file.map(f"{name}_offsets")
        sizes.append(bounds[rows + 1] - bounds[rows])
    offsets = np.concatenate([[0], np.cumsum(np.concatenate(sizes))])

    def pieces() -> Iterator[NDArray[np.uint8]]:
        for segment, part in _parts(segments, live):
            yield segment.take(name, part).data

    return {f"{name}_bytes": ChunkedArray(np.uint8, (int(offsets[-1]),), pieces()), f"{name}_offsets": offsets}
