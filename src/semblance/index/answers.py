"""From the segments' matches to an answer; and ids, which lie in segments as text."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from ..errors import IndexFormatError, InputDataError, ParameterError
from ..text.keyed import KeyedHashes
from ..text.texts import Texts, concatenate, from_strings
from ..values import Int64Array
from .kind import Sketches
from .kinds import AnyKind
from .manifest import Manifest
from .segments import MOST_ROWS, Segment

MOST_KNOWN = 1 << 16  # pairs of texts whose resemblance is remembered
SCORES = ("estimated_resemblance", "standard_error", "resemblance")


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Matches: the query, the segment and row of what was found, and its score."""

    query: Int64Array
    segment: Int64Array
    row: Int64Array
    score: Int64Array


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
    none = np.empty(0, np.int64)
    parts = [(none, none, none, none)]
    most = -1 if first_only else 0 if top is None else min(top, MOST_ROWS)
    for number, segment in enumerate(segments):
        found, row, score = segment.search(kind, sketches, asked, most, threads)
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
    """Return the texts of some rows of a segment that keeps them; U+FFFD for what was added and is no UTF-8."""
    texts = segment.take("text", rows)
    if texts.find_invalid() is not None:
        return pa.array([texts.row(i).decode("utf-8", "replace") for i in range(len(texts))], pa.large_string())
    buffers = [None, pa.py_buffer(texts.offsets), pa.py_buffer(texts.data)]
    return pa.Array.from_buffers(pa.large_string(), len(rows), buffers)


def measure(kind: AnyKind, segments: Sequence[Segment], asked: Texts, found: Found) -> Iterator[float]:
    """Compare queries, given by their texts, with the texts of their matches, exactly: by hashes under a key drawn for it.

    Equal texts, told by digests under a key, are compared once: a thousand copies would be compared with ten others each.
    """
    hashes, key = KeyedHashes(kind.shingling, os.urandom(16)).hashes, os.urandom(16)
    last, text, mine, known = -1, asked, b"", dict[bytes, float]()
    for q, n, r in zip(found.query.tolist(), found.segment.tolist(), found.row.tolist(), strict=True):
        if q != last:
            last, text, values = q, asked.slice(q, q + 1), None
            mine = _digest(text, key)
        other = segments[n].take("text", np.array([r]))
        pair = mine + _digest(other, key)
        if pair not in known:
            if len(known) == MOST_KNOWN:
                known.clear()
            values = hashes(text)[0].copy() if values is None else values
            known[pair] = kind.measure(values, hashes(other)[0])
        yield known[pair]


def _digest(text: Texts, key: bytes) -> bytes:
    """Return a digest of a single text."""
    return hashlib.blake2b(text.row(0), key=key, digest_size=16).digest()


def ids_of(segments: Sequence[Segment], segment: Int64Array, row: Int64Array, kind: str | None) -> pa.Array:
    """Return ids as an Arrow array, of the type that they were added with."""
    read = int if kind == "int" else bytes.decode
    out: list[Any] = []
    for n, r in zip(segment.tolist(), row.tolist(), strict=True):
        try:
            out.append(read(segments[n].id(r)))
        except ValueError as error:
            if isinstance(error, IndexFormatError):
                raise
            raise IndexFormatError(f"{segments[n].path}: damaged: the id of row {r:,} is not of type {kind}") from None
    return pa.array(out, pa.int64() if kind == "int" else pa.string())


def answer(
    kind: AnyKind, manifest: Manifest, segments: tuple[Segment, ...], sketches: Sketches,
    texts: list[Texts] | None, top: int | None, first_only: bool, threads: int,
) -> pa.Table:  # fmt: skip
    """Look up sketches, and measure their matches where texts were given and are kept: the table of ``Index.query``."""
    found = look_up(kind, segments, sketches, top, first_only, threads)
    estimated, error = kind.estimate(found.score)
    measured: list[float | None] = [None] * len(found.query)
    if manifest.keep_text and texts is not None:
        measured = list(measure(kind, segments, concatenate(texts), found))
    columns = [pa.array(found.query), ids_of(segments, found.segment, found.row, manifest.ids), pa.array(estimated),
               pa.array(error), pa.array(measured, pa.float64())]  # fmt: skip
    return pa.table(columns, ["query", "id", *SCORES])


def all_documents(manifest: Manifest, segments: tuple[Segment, ...]) -> Iterator[pa.Table]:
    """Yield tables of all documents."""
    for number, segment in enumerate(segments):
        for rows in np.array_split(segment.live, 1 + segment.n_live // 10_000):
            columns = {"id": ids_of(segments, np.full(len(rows), number), rows, manifest.ids)}
            if segment.has_texts:
                columns["text"] = texts_of(segment, rows)
            yield pa.table(columns)


def id_texts(ids: Any) -> tuple[str | None, Texts]:
    """Return (type, texts) of ids, which are gone through once; no type where there are none.

    Raises
    ------
    ParameterError
        If they are no ids of one type; the message names the row.
    """
    if isinstance(ids, (str, bytes)) or not isinstance(ids, Iterable):
        raise ParameterError(f"ids must be a list; got a single {type(ids).__name__}: put it into a list")
    if isinstance(ids, (Mapping, Set)) or getattr(ids, "ndim", 1) != 1:
        raise ParameterError(f"ids must be a list or a column; got {type(ids).__name__}")
    listed = next((getattr(ids, name) for name in ("to_pylist", "tolist", "to_list") if hasattr(ids, name)), None)
    values = list(ids) if listed is None else listed()
    kind = "int" if values and type(values[0]) is int else "str"
    for row, value in enumerate(values):
        if type(value) not in (str, int) or (type(value) is int) != (kind == "int"):
            raise ParameterError(
                f"ids must all be str or all be int; {_shown(value)}, in row {row}, is of type {type(value).__name__}"
            )
        if kind == "int" and not -(1 << 63) <= value < 1 << 63:
            raise ParameterError(f"ids of type int must fit 64 bits; {_shown(value)}, in row {row}, does not: make them str")
    try:
        return (kind if values else None), from_strings(map(str, values))
    except InputDataError:
        row = next(row for row, value in enumerate(values) if re.search("[\ud800-\udfff]", value))
        raise ParameterError(f"ids must be Unicode text; {values[row]!r:.60}, in row {row}, has a lone surrogate") from None


def _shown(value: object) -> str:
    """Write a value out for a message, whatever it is."""
    if isinstance(value, int) and value.bit_length() > 256:  # Python refuses to write out very long ones
        return f"an integer of {value.bit_length():,} bits"
    return f"{value!r:.60}"


def check_type(kind: str | None, known: str | None, names: Texts) -> None:
    """Check that ids are of the type that an index has."""
    if None not in (kind, known) and kind != known:
        raise ParameterError(f"the ids of this index are of type {known}; got {names.row(0).decode()!r:.60} of type {kind}")
