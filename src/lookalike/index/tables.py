"""Segments written: the sorted tables of new documents, or those of several segments made into one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..files.arrays import write_arrays
from ..files.layout import Streamed
from ..kernels import lookup as kernel
from ..text.texts import Texts
from ..values import Int64Array, UInt64Array
from .kind import Kind, Sketches
from .segments import MOST_ROWS, Segment, hash_ids

Places = NDArray[np.integer[Any]]
Keys = Callable[[int], tuple[UInt64Array, Places]]
KEYS_A_RUN = 3  # two to the power of it: keys that begin alike, about
REMOVED = np.uint32(MOST_ROWS)  # where the new number of a row stands
TOGETHER = 1 << 14  # rows that are copied at a time


def _sorted_tables(name: str, n_tables: int, n_keys: int, most_bits: int, key: Keys) -> dict[str, Streamed]:
    """Return the arrays of tables, entered by at most so many bits; ``key`` gives the keys of one table and their rows."""
    prefix_bits = max(1, min(most_bits, n_keys.bit_length() - KEYS_A_RUN))
    last: dict[int, tuple[NDArray[Any], ...]] = {}

    def sort(table: int) -> tuple[NDArray[Any], ...]:
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


def _tables(kind: Kind, n: int, n_full: int, key: Keys, id_key: Keys) -> dict[str, Any]:
    """Return the tables of a segment of ``n`` rows, of which ``n_full`` have shingles; keys come when asked for."""
    return _sorted_tables("band", kind.n_keys, n_full, kind.prefix_bits, key) | _sorted_tables("id", 1, n, 32, id_key)


def write_segment(path: Path, kind: Kind, ids: Texts, sketches: Sketches, texts: Texts | None, meta: dict[str, Any]) -> None:
    """Write some documents as a segment."""
    full = np.flatnonzero(~sketches.empty)
    ids_hash = hash_ids(ids)
    arrays = _tables(
        kind, len(ids), len(full), lambda table: (np.ascontiguousarray(sketches.keys[full, table]), full),
        lambda table: (ids_hash, np.arange(len(ids))),
    )  # fmt: skip
    arrays |= {"codes": sketches.codes, **_ragged("id", ids)}
    if texts is not None:
        arrays |= _ragged("text", texts)
    write_arrays(path, arrays, meta | {"rows": len(ids), "full": len(full)})


def _ragged(name: str, texts: Texts) -> dict[str, Any]:
    """Return the arrays of texts."""
    begin, end = texts.offsets[0], texts.offsets[-1]
    return {f"{name}_bytes": texts.data[begin:end], f"{name}_offsets": texts.offsets - begin}


def merge_segments(path: Path, kind: Kind, segments: list[Segment], meta: dict[str, Any]) -> None:
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
    n_codes = segments[0].tables.codes.shape[1]
    arrays["codes"] = Streamed(np.uint16, (n, n_codes), (s.tables.codes[part] for s, part in _parts(segments, live)))
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

    return {f"{name}_bytes": Streamed(np.uint8, (int(offsets[-1]),), pieces()), f"{name}_offsets": offsets}
