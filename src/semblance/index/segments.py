"""Segments: sorted tables of some documents in one immutable file, read where they lie."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import IndexFormatError
from ..files.container import ArrayFile, write_arrays
from ..files.layout import Streamed, is_count
from ..kernels import lookup as kernel
from ..kernels._threads import in_order
from ..kernels.hashing import digest_rows
from ..kernels.hits import room_for
from ..kernels.shingling import gather_rows
from ..text.texts import Texts
from ..values import Int64Array, UInt64Array
from .kind import Kind, Sketches
from .kinds import AnyKind

MOST_ROWS = (1 << 32) - 1
Places = NDArray[np.integer[Any]]
MOST_PREFIXES = 1 << 20  # of queries that are looked up together
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
    name: str, n_tables: int, n: int, n_keys: int, prefix_bits: int, key: Callable[[int], tuple[UInt64Array, Places]]
) -> dict[str, Streamed]:
    """Return the arrays of sorted tables; ``key`` gives the keys of one table and their rows."""
    last: dict[int, Any] = {}

    def sort(table: int) -> Any:
        if table not in last:
            last.clear()
            keys, rows = key(table)
            order = np.argsort(keys, kind="stable")
            keys, rows = keys[order], rows.astype(np.uint32, copy=False)[order]
            starts = np.empty((1 << prefix_bits) + 1, np.uint32)
            kernel.start_runs(keys, np.uint64(prefix_bits), starts)
            last[table] = keys, rows, starts
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
    arrays: dict[str, Any] = describe(
        kind, len(ids), len(full), lambda table: (np.ascontiguousarray(sketches.keys[full, table]), full),
        lambda table: (ids_hash, np.arange(len(ids))),
    )  # fmt: skip
    arrays |= {"codes": sketches.codes, **_ragged("id", [ids])}
    if texts is not None:
        arrays |= _ragged("text", [texts])
    write_arrays(path, arrays, meta | {"rows": len(ids), "full": len(full)})


def describe(kind: Any, n: int, n_full: int, key: Any, id_key: Any) -> dict[str, Any]:
    """Return the tables of a segment of ``n`` rows, of which ``n_full`` have shingles; keys come when asked for."""
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
    kind : Kind
    keep_text : bool
    removed : ndarray of bool, shape (n_rows,), or of shape (0,)
        Rows that do not count any more.

    Raises
    ------
    IndexFormatError
        If the file is damaged as far as its header shows, or does not hold what a segment of this kind holds.
    """

    def __init__(self, path: Path, kind: AnyKind, keep_text: bool, removed: NDArray[np.bool_] = NONE) -> None:
        self.path = path
        self.file = ArrayFile(path)
        self.removed = removed
        rows: Any = self.file.meta.get("rows")
        full: Any = self.file.meta.get("full")
        if not is_count(rows, MOST_ROWS) or not is_count(full, rows):
            raise self._damaged("its numbers of rows")
        self.n_rows: int = rows
        self._n_tables = kind.n_keys
        self._check_shapes(kind, full, keep_text)
        self.file.hold()

    def _check_shapes(self, kind: AnyKind, full: int, keep_text: bool) -> None:
        """Check names, types and shapes of all arrays, so that no kernel reads beyond one."""
        names = ["codes", "id_bytes", "id_offsets", *(["text_bytes", "text_offsets"] if keep_text else [])]
        tables = [("band", i, full, kind.prefix_bits) for i in range(kind.n_keys)] + [("id", 0, self.n_rows, 32)]
        parts = [f"{name}_{part}-{i:02}" for name, i, _, _ in tables for part in ("keys", "rows", "starts")]
        if list(self.file) != parts + names:
            raise self._damaged("its arrays")
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
                raise self._damaged(f"the {name} table {i}")
        for name in ("id", "text") if keep_text else ("id",):
            dtype, length = shape(f"{name}_bytes")
            if (dtype, len(length)) != ("|u1", 1) or shape(f"{name}_offsets") != ("<i8", (self.n_rows + 1,)):
                raise self._damaged(f"its {name}s")
        if shape("codes") != ("<u2", (self.n_rows, kind.n_codes)):
            raise self._damaged("its codes")

    def _damaged(self, what: str) -> IndexFormatError:
        return IndexFormatError(f"{self.path}: damaged: {what} are not those of a segment of this index")

    def check(self) -> None:
        """Read every byte: hold arrays against their checksums, and against each other.

        Raises
        ------
        IndexFormatError
            If one does not fit.
        """
        self.file.check()
        for name, i in [*(("band", i) for i in range(self._n_tables)), ("id", 0)]:
            keys, rows, starts = (self.file.map(f"{name}_{part}-{i:02}") for part in ("keys", "rows", "starts"))
            seen, runs = np.zeros(self.n_rows, np.bool_), np.empty(len(starts), np.uint32)
            if len(rows) and int(rows.max()) >= self.n_rows:
                raise self._damaged(f"the rows of {name} table {i}")
            seen[rows] = True
            kernel.start_runs(keys, np.uint64((len(starts) - 1).bit_length() - 1), runs)
            if seen.sum() != len(rows) or (keys[1:] < keys[:-1]).any() or (runs != starts).any():
                raise self._damaged(f"the keys of {name} table {i}")
            self.file.let_go()
        for name in ("id", "text") if self.has_texts else ("id",):
            bounds = self.file.map(f"{name}_offsets")
            if bounds[0] != 0 or bounds[-1] != len(self.file.map(f"{name}_bytes")) or (np.diff(bounds) < 0).any():
                raise self._damaged(f"the offsets of its {name}s")
        ids = Texts(np.asarray(self._ids), np.asarray(self._id_offsets))
        if (hash_ids(ids)[self.file.map("id_rows-00")] != self.file.map("id_keys-00")).any() or ids.find_invalid():
            raise self._damaged("its ids")
        self.file.let_go()

    @property
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

    @cached_property
    def bands(self) -> tuple[Any, Any, Any, np.uint64]:
        """The tables: keys, rows and starts, each a row a table, and the bits by which runs are told apart."""
        keys, rows, starts = (
            self.file.map_stack([f"band_{part}-{table:02}" for table in range(self._n_tables)])
            for part in ("keys", "rows", "starts")
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
                if row >= self.n_rows:
                    raise self._damaged("the rows of its ids")
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
        begin, end = int(self._id_offsets[row]), int(self._id_offsets[row + 1])
        if not 0 <= begin <= end <= len(self._ids):
            raise self._damaged("the offsets of its ids")
        return self._ids[begin:end].tobytes()

    @property
    def has_texts(self) -> bool:
        """Whether the texts are kept."""
        return "text_bytes" in self.file

    def search(
        self, kind: AnyKind, sketches: Sketches, asked: Int64Array, most: int, threads: int = 1
    ) -> tuple[Int64Array, Int64Array, Int64Array]:
        """Return (query, row, score) of the matches of some queries; ``most``: see ``kernels.lookup.search``."""

        def work(some: Int64Array) -> list[tuple[Int64Array, Int64Array, Int64Array]]:
            query_keys, query_codes = sketches.keys[some], sketches.codes[some]
            wanted = kind.prefixes(sketches, some, self.prefix_bits)
            room, query, parts = 1 << 12, 0, []
            tables = kernel.Tables(*self.bands, self.codes, self.removed)
            runs = np.empty((kernel.AHEAD, wanted.shape[1] if len(wanted) else self._n_tables, 2), np.int64)
            while query < len(some):
                hits, near = room_for(room), np.empty(room, np.int64)
                after, count = kernel.search(
                    query_keys, query_codes, wanted, kind.radius, kind.least, kind.lane, most, tables, near, runs, query,
                    hits,
                )  # fmt: skip
                if after < 0:
                    raise self._damaged("the tables that a query needs")
                parts.append((some[hits.left[:count]], hits.right[:count], hits.counted[:count]))
                room, query = room if after > query else 4 * room, after
            return parts

        n_pieces = 1 if threads == 1 or len(asked) < 128 else min(4 * threads, len(asked) // 64)
        n_pieces = max(n_pieces, -(-len(asked) * (kind.probes or 0) // MOST_PREFIXES))
        if n_pieces == 1:
            parts = work(asked)
            if len(parts) == 1:
                return parts[0]
        else:
            pieces = np.array_split(asked, n_pieces)
            parts = [part for found in in_order(work, pieces, threads) for part in found]
        none = np.empty(0, np.int64)
        columns = zip((none, none, none), *parts, strict=True)
        query, row, score = (np.concatenate(column) for column in columns)
        return query, row, score

    def take(self, name: str, rows: Int64Array) -> Texts:
        """Copy the ids ("id") or texts ("text") of some rows together."""
        data, bounds = self.file.map(f"{name}_bytes"), self.file.map(f"{name}_offsets")
        begin, end = bounds[rows], bounds[rows + 1]
        unordered = (begin[1:] < end[:-1]).any()  # the rows ascend, and so do their bytes: no byte is copied twice
        if unordered or ((begin < 0) | (end < begin) | (end > len(data))).any():
            raise self._damaged(f"the offsets of its {name}s")
        sizes = end - begin
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        out = np.empty(offsets[-1], np.uint8)
        gather_rows(np.asarray(data), np.asarray(bounds), rows, offsets, out)
        return Texts(out, offsets)
