"""Segments: sorted tables of some documents in one immutable file, read where they lie."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..io.array_files import ArrayFile, Streamed, write_arrays
from ..kernels import lookup as kernel
from ..kernels._threads import in_order
from ..kernels.hashing import digest_rows
from ..kernels.shingling import gather_rows
from ..text.texts import Texts
from ..values import Int64Array, UInt64Array
from .kinds import Kind, MinHashKind, SimHashKind, Sketches

KEYS_A_RUN = 3  # two to the power of it: keys that begin alike, about
NONE = np.empty(0, np.bool_)


def hash_ids(ids: Texts) -> UInt64Array:
    """Return 64 bits of each id."""
    digests = np.empty((len(ids), 2), np.uint64)
    digest_rows(ids.data, ids.offsets, 0, len(ids), digests)
    return np.ascontiguousarray(digests[:, 0])


def _prefix_bits(n: int, most: int) -> int:
    return max(1, min(most, int(n).bit_length() - KEYS_A_RUN))


def _tables(
    name: str, n_tables: int, n: int, n_keys: int, prefix_bits: int, key: Callable[[int], tuple[UInt64Array, Int64Array]]
) -> dict[str, Streamed]:
    """Return the arrays of sorted tables; ``key`` gives the keys of one table and their rows."""
    last: dict[int, Any] = {}

    def sort(table: int) -> Any:
        if table not in last:
            last.clear()
            keys, rows = key(table)
            order = np.argsort(keys, kind="stable")
            starts = np.empty((1 << prefix_bits) + 1, np.uint32)
            kernel.start_runs(keys[order], np.uint64(prefix_bits), starts)
            last[table] = keys[order], rows[order].astype(np.uint32), starts
        return last[table]

    def pieces(table: int, part: int) -> Iterator[NDArray[Any]]:
        yield sort(table)[part]

    shapes = (((n_keys,), np.uint64), ((n_keys,), np.uint32), (((1 << prefix_bits) + 1,), np.uint32))
    return {
        f"{name}_{part}-{table:02}": Streamed(dtype, shape, pieces(table, i))
        for table in range(n_tables)
        for i, (part, (shape, dtype)) in enumerate(zip(("keys", "rows", "starts"), shapes, strict=True))
    }


def write_segment(path: Path, kind: Kind, ids: Texts, sketches: Sketches, texts: Texts | None, meta: dict[str, Any]) -> None:
    """Write some documents as a segment."""
    full = np.flatnonzero(~sketches.empty)
    ids_hash = hash_ids(ids)
    arrays: dict[str, Any] = _describe(
        kind, len(ids), len(full), lambda table: (np.ascontiguousarray(sketches.keys[full, table]), full),
        lambda table: (ids_hash, np.arange(len(ids))),
    )  # fmt: skip
    arrays |= {"codes": sketches.codes, **_ragged("id", [ids])}
    if texts is not None:
        arrays |= _ragged("text", [texts])
    write_arrays(path, arrays, meta | {"rows": len(ids), "full": len(full)})


def _describe(kind: Any, n: int, n_full: int, key: Any, id_key: Any) -> dict[str, Any]:
    tables = _tables("band", kind.n_keys, n, n_full, _prefix_bits(n_full, kind.prefix_bits), key)
    return tables | _tables("id", 1, n, n, _prefix_bits(n, 32), id_key)


def _ragged(name: str, parts: list[Texts]) -> dict[str, Any]:
    """Return the arrays of texts that come in parts."""
    sizes = np.concatenate([np.diff(part.offsets) for part in parts])
    data = Streamed(np.uint8, (int(sizes.sum()),), (part.data[part.offsets[0] : part.offsets[-1]] for part in parts))
    return {f"{name}_bytes": data, f"{name}_offsets": np.concatenate([[0], np.cumsum(sizes)])}


class Segment:
    """One segment, read from its file as it is needed.

    Parameters
    ----------
    path : Path
    removed : ndarray of bool, shape (n_rows,), or of shape (0,)
        Rows that do not count any more.
    """

    def __init__(self, path: Path, removed: NDArray[np.bool_] = NONE) -> None:
        self.path = path
        self.file = ArrayFile(path)
        self.file.hold()
        self.removed = removed
        self.n_rows = int(self.file.meta["rows"])

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

    @cached_property
    def bands(self) -> tuple[Any, ...]:
        """The tables: keys, rows and starts, each a row a table, and the bits by which runs are told apart."""
        n_tables = sum(name.startswith("band_keys-") for name in self.file)
        keys, rows, starts = (
            self.file.map_stack([f"band_{part}-{table:02}" for table in range(n_tables)]) for part in ("keys", "rows", "starts")
        )
        return keys, rows, starts, np.uint64((starts.shape[1] - 1).bit_length() - 1)

    @cached_property
    def codes(self) -> NDArray[np.uint16]:
        """The codes of all rows."""
        return self.file.map("codes")

    def find_ids(self, ids: Texts, hashes: UInt64Array) -> Int64Array:
        """Return the live row of each id, or -1."""
        keys, rows = self.file.map("id_keys-00"), self.file.map("id_rows-00")
        out = np.full(len(ids), -1, np.int64)
        begin = np.searchsorted(keys, hashes, "left")
        end = np.searchsorted(keys, hashes, "right")
        for i in np.flatnonzero(end > begin).tolist():
            for row in rows[begin[i] : end[i]].tolist():
                if not (len(self.removed) and self.removed[row]) and self.id(row) == ids.row(i):
                    out[i] = row
        return out

    @cached_property
    def _id_offsets(self) -> Int64Array:
        return self.file.map("id_offsets")

    @cached_property
    def _ids(self) -> NDArray[np.uint8]:
        return self.file.map("id_bytes")

    def id(self, row: int) -> bytes:
        """Return the id of a row, as text."""
        return self._ids[self._id_offsets[row] : self._id_offsets[row + 1]].tobytes()

    @property
    def has_texts(self) -> bool:
        """Whether the texts are kept."""
        return "text_bytes" in self.file

    def search(
        self, kind: MinHashKind | SimHashKind, sketches: Sketches, asked: Int64Array, first_only: bool, threads: int = 1
    ) -> tuple[Int64Array, Int64Array, Int64Array]:
        """Return (query, row, score) of the matches of some queries."""

        def work(some: Int64Array) -> list[tuple[Int64Array, Int64Array, Int64Array]]:
            query_keys, query_codes = sketches.keys[some], sketches.codes[some]
            room, query, parts = 1 << 12, 0, []
            while query < len(some):
                found, row, score = (np.empty(room, np.int64) for _ in range(3))
                after, count = kernel.search(
                    query_keys, query_codes, kind.radius, kind.least, kind.differing, first_only, *self.bands, self.codes,
                    self.removed, query, found, row, score,
                )  # fmt: skip
                parts.append((some[found[:count]], row[:count], score[:count]))
                room, query = room if after > query else 4 * room, after
            return parts

        if threads == 1 or len(asked) < 128:
            parts = work(asked)
            if len(parts) == 1:
                return parts[0]
        else:
            pieces = np.array_split(asked, min(4 * threads, len(asked) // 64))
            parts = [part for found in in_order(work, pieces, threads) for part in found]
        none = np.empty(0, np.int64)
        columns = zip((none, none, none), *parts, strict=True)
        query, row, score = (np.concatenate(column) for column in columns)
        return query, row, score

    def take(self, name: str, rows: Int64Array) -> Texts:
        """Copy the ids ("id") or texts ("text") of some rows together."""
        data, bounds = self.file.map(f"{name}_bytes"), self.file.map(f"{name}_offsets")
        sizes = bounds[rows + 1] - bounds[rows]
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        out = np.empty(offsets[-1], np.uint8)
        gather_rows(np.asarray(data), np.asarray(bounds), rows, offsets, out)
        return Texts(out, offsets)


def merge_segments(path: Path, kind: Kind, segments: list[Segment], meta: dict[str, Any]) -> None:
    """Write the live documents of several segments as one, table after table."""
    live = [segment.live for segment in segments]
    firsts = np.cumsum([0, *map(len, live)])
    numbers = []
    for rows, first, segment in zip(live, firsts, segments, strict=False):
        number = np.full(segment.n_rows, -1, np.int64)
        number[rows] = first + np.arange(len(rows))
        numbers.append(number)

    def merged(name: str) -> Callable[[int], tuple[UInt64Array, Int64Array]]:
        def key(table: int) -> tuple[UInt64Array, Int64Array]:
            keys, rows = [], []
            for segment, number in zip(segments, numbers, strict=True):
                places = number[segment.file.map(f"{name}_rows-{table:02}")]
                keys.append(segment.file.map(f"{name}_keys-{table:02}")[places >= 0])
                rows.append(places[places >= 0])
            return np.concatenate(keys), np.concatenate(rows)

        return key

    n_full = sum(
        int((number[segment.file.map("band_rows-00")] >= 0).sum()) for segment, number in zip(segments, numbers, strict=True)
    )
    n = int(firsts[-1])
    arrays = _describe(kind, n, n_full, merged("band"), merged("id"))
    n_codes = segments[0].codes.shape[1]
    codes = (np.asarray(segment.codes)[rows] for segment, rows in zip(segments, live, strict=True))
    arrays["codes"] = Streamed(np.uint16, (n, n_codes), codes)
    for name in ("id", *(["text"] if segments[0].has_texts else [])):
        arrays |= _merged_texts(name, segments, live)
    write_arrays(path, arrays, meta | {"rows": n, "full": n_full})


def _merged_texts(name: str, segments: list[Segment], live: list[Int64Array]) -> dict[str, Any]:
    """Return the arrays of the texts of live rows, copied some at a time."""
    sizes = []
    for segment, rows in zip(segments, live, strict=True):
        bounds = segment.file.map(f"{name}_offsets")
        sizes.append(bounds[rows + 1] - bounds[rows])
    offsets = np.concatenate([[0], np.cumsum(np.concatenate(sizes))])

    def pieces() -> Iterator[NDArray[np.uint8]]:
        for segment, rows in zip(segments, live, strict=True):
            for part in np.array_split(rows, 1 + len(rows) // 65536):
                yield segment.take(name, part).data

    return {f"{name}_bytes": Streamed(np.uint8, (int(offsets[-1]),), pieces()), f"{name}_offsets": offsets}
