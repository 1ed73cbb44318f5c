"""From the segments' matches to an answer; and ids, which lie in segments as text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from ..errors import InputDataError, ParameterError
from ..text.texts import Texts, from_strings
from ..values import Int64Array
from .kinds import MinHashKind, SimHashKind, Sketches
from .segments import Segment


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Matches: the query, the segment and row of what was found, and its score."""

    query: Int64Array
    segment: Int64Array
    row: Int64Array
    score: Int64Array


def look_up(
    kind: MinHashKind | SimHashKind,
    segments: list[Segment],
    sketches: Sketches,
    top: int | None,
    first_only: bool,
    threads: int,
) -> Found:
    """Look up sketches in all segments: the best matches of each query, in the order of the queries, the best first."""
    asked = np.flatnonzero(~sketches.empty)
    none = np.empty(0, np.int64)
    parts = [(none, none, none, none)]
    for number, segment in enumerate(segments):
        found, row, score = segment.search(kind, sketches, asked, first_only, threads)
        parts.append((found, np.full(len(found), number), row, score))
        if first_only and len(found):
            asked = np.setdiff1d(asked, found)
    query, segment_of, row, score = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((row, segment_of, -score, query))
    if top is not None:
        asking = query[order]
        order = order[np.arange(len(order)) - np.searchsorted(asking, asking) < top]
    return Found(query[order], segment_of[order], row[order], score[order])


def texts_of(segment: Segment, rows: Int64Array) -> pa.Array:
    """Return the texts of some rows of a segment that keeps them."""
    texts = segment.take("text", rows)
    buffers = [None, pa.py_buffer(texts.offsets), pa.py_buffer(texts.data)]
    return pa.Array.from_buffers(pa.large_string(), len(rows), buffers)


def measure(kind: MinHashKind | SimHashKind, segments: list[Segment], asked: Texts, found: Found) -> Iterator[float]:
    """Compare queries, given by their texts, with the texts of their matches, exactly."""
    hashes = kind.shingling.hashes
    last, values = -1, np.empty(0, np.uint64)
    for q, n, r in zip(found.query.tolist(), found.segment.tolist(), found.row.tolist(), strict=True):
        if q != last:
            last, values = q, hashes(asked.slice(q, q + 1))[0].copy()
        yield kind.measure(values, hashes(segments[n].take("text", np.array([r])))[0])


def ids_of(segments: list[Segment], segment: Int64Array, row: Int64Array, kind: str | None) -> pa.Array:
    """Return ids as an Arrow array, of the type that they were added with."""
    out: list[Any] = [segments[n].id(r).decode() for n, r in zip(segment.tolist(), row.tolist(), strict=True)]
    return pa.array(list(map(int, out)), pa.int64()) if kind == "int" else pa.array(out, pa.string())


def id_texts(ids: Any, known: str | None) -> tuple[str, Texts]:
    """Return (type, texts) of ids."""
    values = ids.to_pylist() if hasattr(ids, "to_pylist") else ids.tolist() if isinstance(ids, np.ndarray) else list(ids)
    if isinstance(ids, str):
        raise ParameterError("ids must be a list; a single str was given: put it into a list")
    kinds = {type(value) for value in values}
    if not kinds <= {str} and not kinds <= {int}:
        strange = next(value for value in values if type(value) is not (str if str in kinds else int))
        raise ParameterError(f"ids must all be str or all be int; {strange!r:.60} is of type {type(strange).__name__}")
    kind = known or ("int" if int in kinds else "str")
    if values and kind != ("int" if int in kinds else "str"):
        raise ParameterError(f"the ids of this index are of type {kind}; {values[0]!r:.60} was given")
    if kind == "int" and any(not -(1 << 63) <= value < 1 << 63 for value in values):
        raise ParameterError("ids of type int must fit 64 bits; make them str")
    try:
        return kind, from_strings(map(str, values))
    except InputDataError as error:
        raise ParameterError(f"ids: {error}") from None
