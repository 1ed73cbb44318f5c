"""Texts sketched, sketches looked up in all segments, and the best matches of each compared with what was asked."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..errors import IncompatibleSketchError, ParameterError
from ..kernels.threads import in_order
from ..text.hashes import KeyedHashes
from ..text.texts import PIECE_BYTES, Texts, as_texts, from_bytes, from_strings
from ..values import Float64Array, Int64Array
from .kind import Kind, Sketches
from .segments import MOST_ROWS, Room, Segment

MOST_PREFIXES = 1 << 20  # of queries that are looked up together
FEW = 128  # queries that are not worth sharing among threads
BLOCK_BYTES = 4 << 20  # of texts that are compared together


def sketch_texts(kind: Kind, given: Any, threads: int, asking: bool) -> tuple[Sketches, list[Texts] | None]:
    """Return the sketches of texts, and the texts, which are gone through once; sketches are returned as they are. ``asking``:
    they are to be looked up, too."""
    if threads < 1:
        raise ParameterError(f"threads must be at least 1; got {threads}")
    if isinstance(given, Sketches):
        if given.kind != kind:
            raise IncompatibleSketchError(f"this index was made with {kind}; the sketches with {given.kind}")
        return given, None

    def work(piece: Texts) -> Sketches:
        return kind.sketch(*kind.shingling.hashes(piece), asking)

    texts = as_texts(given)
    if len(texts) == 1 and texts[0].n_bytes <= PIECE_BYTES:
        return work(texts[0]), texts
    pieces = (some.slice(*bounds) for some in texts for bounds in some.cut())
    parts = list(in_order(work, pieces, threads)) or [work(from_strings([]))]
    keys, codes, empty = (np.concatenate([getattr(p, name) for p in parts]) for name in ("keys", "codes", "empty"))
    margins = [part.margins for part in parts if part.margins is not None]
    return Sketches(keys, codes, empty, kind, np.concatenate(margins) if margins else None), texts


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
    kind: Kind,
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
    kind: Kind, segments: Sequence[Segment], sketches: Sketches, top: int | None, first_only: bool, asked: Int64Array
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


def measure(kind: Kind, segments: Sequence[Segment], asked: Texts, found: Found) -> Float64Array:
    """Return how alike queries, given by their texts, and their matches are: by hashes under a key drawn for it. Equal texts
    are shingled once: a thousand copies that ten queries find are one text, and not ten thousand."""
    out = np.empty(len(found.query))
    hashing = KeyedHashes(kind.shingling, os.urandom(16)) if len(out) else None
    rows = list(zip(found.query.tolist(), found.segment.tolist(), found.row.tolist(), strict=True))
    begin = 0
    while hashing is not None and begin < len(rows):
        numbers, left, right, size = dict[bytes, int](), list[int](), list[int](), 0
        while begin + len(left) < len(rows) and size <= BLOCK_BYTES:
            query, segment, row = rows[begin + len(left)]
            for side, text in ((left, asked.row(query)), (right, segments[segment].text(row))):
                size += 0 if text in numbers else len(text)
                side.append(numbers.setdefault(text, len(numbers)))
        values = hashing.hashes(from_bytes(list(numbers)))
        out[begin : begin + len(left)] = kind.measure(*values, np.array(left), np.array(right))
        begin += len(left)
    return out
