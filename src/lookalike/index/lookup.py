"""Sketches looked up in all segments of an index: the best matches of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..kernels._threads import in_order
from ..values import Int64Array
from .kind import Sketches
from .kinds import AnyKind
from .segments import MOST_ROWS, Room, Segment

MOST_PREFIXES = 1 << 20  # of queries that are looked up together
FEW = 128  # queries that are not worth sharing among threads


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Matches: the query, the segment and row of what was found, and its score."""

    query: Int64Array
    segment: Int64Array
    row: Int64Array
    score: Int64Array

    def slice(self, begin: int, end: int) -> Found:
        """Return some matches in a row."""
        return Found(self.query[begin:end], self.segment[begin:end], self.row[begin:end], self.score[begin:end])


def look_up(
    kind: AnyKind,
    segments: Sequence[Segment],
    sketches: Sketches,
    top: int | None,
    first_only: bool,
    threads: int,
) -> Found:
    """Look up sketches in all segments: the best matches of each query, in the order of the queries, the best first."""
    asked = np.flatnonzero(~sketches.empty)
    n_pieces = 1 if threads == 1 or len(asked) < FEW else min(4 * threads, len(asked) // (FEW // 2))
    n_pieces = max(n_pieces, -(-len(asked) * (kind.probes or 0) // MOST_PREFIXES))
    work = partial(_look_up_some, kind, segments, sketches, top, first_only)
    if n_pieces == 1:
        return work(asked)
    parts = list(in_order(work, np.array_split(asked, n_pieces), threads))
    columns = (np.concatenate([getattr(part, name) for part in parts]) for name in Found.__slots__)
    return Found(*columns)


def _look_up_some(
    kind: AnyKind, segments: Sequence[Segment], sketches: Sketches, top: int | None, first_only: bool, asked: Int64Array
) -> Found:
    """Look up some of the sketches, one segment after the other."""
    most = -1 if first_only else 0 if top is None else min(top, MOST_ROWS)
    parts, some, room = [], sketches.take(asked), Room()
    for number, segment in enumerate(segments):
        if not len(asked):
            break
        found = segment.search(kind, some, most, room)
        if found is None:
            continue
        place, row, score = found
        parts.append((asked[place], np.full(len(place), number), row, score))
        if first_only:
            asked = np.delete(asked, place)
            some = sketches.take(asked)
    if not parts:
        none = np.empty(0, np.int64)
        return Found(none, none, none, none)
    query, segment_of, row, score = parts[0] if len(parts) == 1 else map(np.concatenate, zip(*parts, strict=True))
    order = np.lexsort((row, segment_of, -score, query))
    if top is not None:
        asking = query[order]
        order = order[np.arange(len(order)) - np.searchsorted(asking, asking) < top]
    return Found(query[order], segment_of[order], row[order], score[order])
