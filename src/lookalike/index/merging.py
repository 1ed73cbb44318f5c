"""Several segments made into one: what was removed leaves no trace."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..files.arrays import write_arrays
from ..files.layout import Streamed
from ..values import Int64Array, UInt64Array
from .kind import Kind
from .segments import MOST_ROWS, Places, Segment, describe

REMOVED = np.uint32(MOST_ROWS)  # where the new number of a row stands
TOGETHER = 1 << 14  # rows that are copied at a time


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

    def merged(name: str) -> Callable[[int], tuple[UInt64Array, Places]]:
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
    arrays = describe(kind, n, n_full, merged("band"), merged("id"))
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
