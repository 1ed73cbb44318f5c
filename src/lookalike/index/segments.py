"""Segments: sorted tables of some documents in one immutable file, read where they lie."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import core
from ..core import hash_texts
from ..errors import IndexFormatError
from ..files.arrays import ArrayFile
from ..files.layout import is_count
from ..text.texts import Texts
from ..values import Int64Array, UInt32Array, UInt64Array
from .kind import NO_PREFIXES, Sketches, SketchScheme

MOST_ROWS = (1 << 32) - 1
Cells = tuple[memoryview, memoryview]
FEW = 8  # queries that look into all files at once
NONE = np.empty(0, np.bool_)


def hash_ids(ids: Texts) -> UInt64Array:
    """Return 64 bits of each id."""
    hashes: UInt64Array = hash_texts(ids.data, ids.offsets)
    return hashes


def sort_ids(ids: Texts) -> tuple[Int64Array, UInt64Array]:
    """Return the places of ids in the order of their hashes, in which tables are searched in a fifth of the time, and these."""
    hashes = hash_ids(ids)
    order = np.argsort(hashes)
    return order, hashes[order]


class Segment:
    """One segment, read from its file as it is needed; ``removed`` marks rows that do not count any more, or is empty."""

    def __init__(self, path: Path, kind: SketchScheme, keep_text: bool, removed: NDArray[np.bool_] = NONE) -> None:
        self.path = path
        self.file = ArrayFile(path)
        self.removed = removed
        rows: Any = self.file.meta.get("rows")
        full: Any = self.file.meta.get("full")
        if not is_count(rows, MOST_ROWS) or not is_count(full, rows):
            raise self.damaged("its numbers of rows")
        self.n_rows: int = rows
        self._n_tables = kind.n_keys
        self._check_shapes(kind, full, keep_text)
        self.file.hold()

    def _check_shapes(self, kind: SketchScheme, full: int, keep_text: bool) -> None:
        """Check names, types and shapes of all arrays, so that no kernel reads beyond one."""
        names = ["codes", "id_bytes", "id_offsets", *(["text_bytes", "text_offsets"] if keep_text else [])]
        tables = [("band", i, full, kind.prefix_bits) for i in range(kind.n_keys)] + [("id", 0, self.n_rows, 32)]
        parts = [f"{name}_{part}-{i:02}" for name, i, _, _ in tables for part in ("keys", "rows", "starts")]
        if list(self.file) != parts + names:
            raise self.damaged("its arrays")
        shape = self.file.described
        starts: dict[str, int] = {}
        for name, i, count, most in tables:
            dtype, length = shape(f"{name}_starts-{i:02}")
            bits = int(length[0] - 1).bit_length() - 1 if len(length) == 1 else 0
            if (
                shape(f"{name}_keys-{i:02}") != ("<u8", (count,))
                or shape(f"{name}_rows-{i:02}") != ("<u4", (count,))
                or (dtype, length) != ("<u4", ((1 << max(bits, 0)) + 1,))
                or not 1 <= bits <= most
                or starts.setdefault(name, bits) != bits
            ):
                raise self.damaged(f"the {name} table {i}")
        for name in ("id", "text") if keep_text else ("id",):
            dtype, length = shape(f"{name}_bytes")
            if (dtype, len(length)) != ("|u1", 1) or shape(f"{name}_offsets") != ("<i8", (self.n_rows + 1,)):
                raise self.damaged(f"its {name}s")
        if shape("codes") != ("<u2", (self.n_rows, kind.n_codes)):
            raise self.damaged("its codes")

    def damaged(self, what: str) -> IndexFormatError:
        """Return the error of a file that contradicts itself."""
        return IndexFormatError(f"damaged: {what} are not those of a segment of this index", self.path)

    def check(self) -> None:
        """Read every byte: hold arrays against their checksums, and against each other."""
        self.file.check()
        for name, i in [*(("band", i) for i in range(self._n_tables)), ("id", 0)]:
            keys, rows, starts = (self.file.map(f"{name}_{part}-{i:02}") for part in ("keys", "rows", "starts"))
            seen = np.zeros(self.n_rows, np.bool_)
            if len(rows) and int(rows.max()) >= self.n_rows:
                raise self.damaged(f"the rows of {name} table {i}")
            seen[rows] = True
            runs = core.start_runs(keys, (len(starts) - 1).bit_length() - 1)
            if seen.sum() != len(rows) or (keys[1:] < keys[:-1]).any() or (runs != starts).any():
                raise self.damaged(f"the keys of {name} table {i}")
            self.file.let_go()
        for name in ("id", "text") if self.has_texts else ("id",):
            bounds = self.file.map(f"{name}_offsets")
            if bounds[0] != 0 or bounds[-1] != len(self.file.map(f"{name}_bytes")) or (np.diff(bounds) < 0).any():
                raise self.damaged(f"the offsets of its {name}s")
        ids = Texts(self.file.map("id_bytes"), self.file.map("id_offsets"))
        if (hash_ids(ids)[self.file.map("id_rows-00")] != self.file.map("id_keys-00")).any() or ids.find_invalid():
            raise self.damaged("its ids")
        self.file.let_go()

    @cached_property
    def prefix_bits(self) -> int:
        """Bits by which its tables are entered."""
        return int(self.file.described("band_starts-00")[1][0] - 1).bit_length() - 1

    @property
    def n_bytes(self) -> int:
        """Bytes of its file, and of what says which rows are removed."""
        return self.file.size + self.removed.nbytes

    @property
    def n_live(self) -> int:
        """Documents that count."""
        return self.n_rows - int(self.removed.sum())

    @property
    def live(self) -> Int64Array:
        """Their rows."""
        return np.flatnonzero(~self.removed) if len(self.removed) else np.arange(self.n_rows)

    @property
    def codes(self) -> NDArray[np.uint16]:
        """The codes of all rows."""
        return self.file.map("codes")

    @cached_property
    def tables(self) -> core.SegmentTables:
        """The tables, as they are looked up in."""
        keys, rows, starts = (
            self.file.map_stack([f"band_{part}-{table:02}" for table in range(self._n_tables)])
            for part in ("keys", "rows", "starts")
        )
        return core.SegmentTables(keys, rows, starts, self.codes, self.removed)

    def find_ids(self, ids: Texts, order: Int64Array, hashes: UInt64Array) -> Int64Array:
        """Return the live row of each id, or -1; see ``sort_ids``."""
        keys, rows = self.file.map("id_keys-00"), self.file.map("id_rows-00")
        out = np.full(len(ids), -1, np.int64)
        begin, end = (np.searchsorted(keys, hashes, side) for side in ("left", "right"))
        for there in np.flatnonzero(end > begin).tolist():
            for row in rows[begin[there] : end[there]].tolist():
                if row >= self.n_rows:
                    raise self.damaged("the rows of its ids")
                if not (len(self.removed) and self.removed[row]) and self.id(row) == ids.row(order[there]):
                    out[order[there]] = row
        return out

    @cached_property
    def _ids(self) -> Cells:
        return self._cells("id")

    @cached_property
    def _texts(self) -> Cells:
        return self._cells("text")

    def _cells(self, name: str) -> Cells:
        """Return offsets and bytes, from which Python takes one value faster than from arrays."""
        return self.file.map(f"{name}_offsets").view(np.int64).data, self.file.map(f"{name}_bytes").data

    def id(self, row: int) -> bytes:
        """Return the id of a row, as text."""
        return self._cell("id", self._ids, row)

    def text(self, row: int) -> bytes:
        """Return the text of a row of a segment that keeps texts."""
        return self._cell("text", self._texts, row)

    def _cell(self, name: str, cells: Cells, row: int) -> bytes:
        bounds, data = cells
        begin, end = bounds[row], bounds[row + 1]
        if not 0 <= begin <= end <= len(data):
            raise self.damaged(f"the offsets of its {name}s")
        return data[begin:end].tobytes()

    @property
    def has_texts(self) -> bool:
        """Whether the texts are kept."""
        return "text_bytes" in self.file

    def take(self, name: str, rows: Int64Array) -> Texts:
        """Copy the ids ("id") or texts ("text") of some rows together."""
        data, bounds = self.file.map(f"{name}_bytes"), self.file.map(f"{name}_offsets")
        begin, end = bounds[rows], bounds[rows + 1]
        unordered = (begin[1:] < end[:-1]).any()  # the rows ascend, and so do their bytes: no byte is copied twice
        if unordered or ((begin < 0) | (end < begin) | (end > len(data))).any():
            raise self.damaged(f"the offsets of its {name}s")
        return Texts(np.asarray(data), np.asarray(bounds)).take(rows)


def best_first(query: Int64Array, segment: Int64Array, row: Int64Array, score: Any, most: int | None) -> Int64Array:
    """Return the order of the matches of each query, at most so many: the best first, equal scores by segment and row."""
    order = np.lexsort((row, segment, -score, query))
    asking = query[order]
    return order if most is None else order[np.arange(len(order)) - np.searchsorted(asking, asking) < most]


class Segments(tuple[Segment, ...]):
    """The segments of one state of an index."""

    def search(self, kind: SketchScheme, asked: Sketches, most: int) -> Int64Array:
        """Return the matches of some sketches: their places, segments, rows and scores; of each the best first, of equal scores
        by segment and row. With ``most`` of 1 or more each gets its best, that many; with 0 all, with -1 the first only, in the
        first segment that has one."""
        few = kind.probes is None and len(asked) <= FEW
        if few or len(self) < 2:
            return self._search(kind, asked, kind.prefixes(asked, self[0].prefix_bits) if self else NO_PREFIXES, most)
        parts: list[Int64Array] = []  # of many queries: starts of runs stay in a cache; prefixes are for tables of one size
        for number, segment in enumerate(self):
            found = Segments((segment,)).search(kind, asked, most)
            found[1] = number
            parts.append(found)
            if most < 0:
                asked = replace(asked, empty=asked.empty.copy())
                asked.empty[found[0]] = True
        query, number, row, score = all_found = np.concatenate(parts, axis=1)
        return all_found[:, best_first(query, number, row, score, most if most > 0 else None)]

    def _search(self, kind: SketchScheme, asked: Sketches, wanted: UInt32Array, most: int) -> Int64Array:
        """Search with one set of prefixes, or none."""
        how = kind.radius, kind.least, kind.lane, most
        tables = [segment.tables for segment in self]
        found: Int64Array
        damaged, found = core.look_up(tables, asked.keys, asked.codes, asked.empty, wanted, *how)
        if damaged >= 0:
            raise self[damaged].damaged("the tables that a query needs")
        return found.T
