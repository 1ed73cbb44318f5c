"""Answers: texts sketched, sketches looked up in all segments, matches measured, and given with their ids; documents by their
ids, which lie in segments as text."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ..core.threads import in_order
from ..errors import IncompatibleSketchError, IndexFormatError, InputDataError, ParameterError
from ..text.hashes import KeyedHashes
from ..text.texts import PIECE_BYTES, Texts, as_texts, from_bytes, from_strings
from ..values import Float64Array, Int64Array
from ..values.arrays import concatenate_columns, whole
from ..values.arrow import strings, to_arrow
from .kind import Sketches, SketchScheme
from .manifest import Manifest
from .segments import MOST_ROWS, Segment, Segments, sort_ids

ID_TYPES = {"int": pa.int64(), "str": pa.string(), None: pa.string()}
NAMES = ("query", "id", "estimated_resemblance", "standard_error", "resemblance")
MOST_PREFIXES = 1 << 20  # of queries that are looked up together
MOST_FRAMED, ROOM_FRAMED = 32, 4096  # matches, and bytes of their ids, that are put into a table made before
FEW = 128  # queries that are not worth sharing among threads
BLOCK_BYTES = 4 << 20  # of texts that are compared together


def sketch_texts(kind: SketchScheme, given: Any, threads: int, asking: bool) -> tuple[Sketches, list[Texts] | None]:
    """Return the sketches of texts, and the texts, which are gone through once; sketches are returned as they are. ``asking``:
    they are to be looked up, too."""
    threads = whole("threads", threads, 1)
    if isinstance(given, Sketches):
        if given.kind is not kind and given.kind != kind:
            raise IncompatibleSketchError(f"this index was made with {kind}; the sketches with {given.kind}")
        return given, None

    def work(piece: Texts) -> Sketches:
        return kind.sketch(*kind.shingling.hashes(piece), asking)

    texts = as_texts(given)
    if len(texts) == 1 and texts[0].n_bytes <= PIECE_BYTES:
        return work(texts[0]), texts
    pieces = (some.slice(*bounds) for some in texts for bounds in some.cut())
    parts = list(in_order(work, pieces, threads)) or [work(from_strings([]))]
    keys, codes, empty = concatenate_columns((part.keys, part.codes, part.empty) for part in parts)
    margins = [part.margins for part in parts if part.margins is not None]
    return Sketches(keys, codes, empty, kind, np.concatenate(margins) if margins else None), texts


class Hits(NamedTuple):
    """Matches: the query, the segment and row of what was found, and its score."""

    query: Int64Array
    segment: Int64Array
    row: Int64Array
    score: Int64Array


def look_up(
    kind: SketchScheme, segments: Segments, sketches: Sketches, top: int | None, first_only: bool, threads: int
) -> Hits:
    """Look up sketches in all segments: the best matches of each query, in the order of the queries, the best first."""
    most, n = -1 if first_only else 0 if top is None else min(whole("top", top, 1), MOST_ROWS), len(sketches)
    n_pieces = 1 if threads == 1 or n < FEW else min(4 * threads, n // (FEW // 2))
    n_pieces = max(n_pieces, -(-n * (kind.probes or 0) // MOST_PREFIXES))
    if n_pieces == 1:
        return Hits(*segments.search(kind, sketches, most))

    def work(rows: Int64Array) -> Int64Array:
        found = segments.search(kind, sketches.take(rows), most)
        found[0] = rows[found[0]]
        return found

    return Hits(*np.concatenate(list(in_order(work, np.array_split(np.arange(n), n_pieces), threads)), axis=1))


def measure(kind: SketchScheme, segments: Sequence[Segment], asked: Texts, found: Hits) -> Float64Array:
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


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """The matches of some queries, in columns: those of each query together, the best first.

    Parameters
    ----------
    query : ndarray of int64
        Places of the queries.
    resemblance : ndarray of float64, or None
        Exact; None unless the index keeps texts and the queries are texts.
    id_type : {"int", "str", None}
        What ids are; None while there are none.
    """

    query: Int64Array
    id: list[int] | list[str]
    estimated_resemblance: Float64Array
    standard_error: Float64Array
    resemblance: Float64Array | None
    id_type: str | None

    def __len__(self) -> int:
        """Return the number of matches."""
        return len(self.query)

    def to_table(self) -> pa.Table:
        """Return the same as the table of ``Index.query``."""
        if not len(self):
            return _empty(self.id_type)
        text = None if self.id_type == "int" else [*map(str.encode, self.id)]  # type: ignore[arg-type]
        room = 0 if text is None else sum(map(len, text))
        numbers = np.array(
            self.id if text is None else [0, *accumulate(map(len, text))], np.int64 if text is None else np.int32
        )
        columns = [self.query, numbers, self.estimated_resemblance, self.standard_error]
        columns += [] if self.resemblance is None else [self.resemblance]
        if len(self) > MOST_FRAMED or room > ROOM_FRAMED:
            exact = pa.nulls(len(self), pa.float64()) if self.resemblance is None else to_arrow(self.resemblance)
            ids = to_arrow(numbers) if text is None else strings(text)
            return pa.table([to_arrow(self.query), ids, *map(to_arrow, columns[2:4]), exact], NAMES)
        room = 1 << max(room - 1, 0).bit_length() if text is not None else -1
        frame, schema, places, data = _frame(len(self), room, self.resemblance is not None)
        out = bytearray(frame)
        for place, column in zip(places, columns, strict=True):
            out[place : place + column.nbytes] = column.data
        if text is not None:
            joined = b"".join(text)
            out[data : data + len(joined)] = joined
        return pa.Table.from_batches([pa.ipc.read_record_batch(pa.py_buffer(out), schema)])


@cache
def _empty(id_type: str | None) -> pa.Table:
    """Return the table without matches."""
    none = to_arrow(np.empty(0))
    return pa.table([to_arrow(np.empty(0, np.int64)), pa.array([], ID_TYPES[id_type]), none, none, none], NAMES)


@lru_cache(256)
def _frame(n: int, room: int, exact: bool) -> tuple[bytes, pa.Schema, tuple[int, ...], int]:
    """Return a record batch of ``n`` matches as bytes, its schema, where in it the numbers of each column begin (of ids that
    are texts their offsets), and where these texts, which may fill ``room`` bytes; -1: ids are numbers. To read it takes half
    the time of columns one by one."""
    numbers, zeros = to_arrow(np.ones(n, np.int64)), to_arrow(np.zeros(n))
    ids = numbers if room < 0 else strings([b"x" * room] + [b""] * (n - 1))
    made = pa.record_batch([numbers, ids, zeros, zeros, zeros if exact else pa.nulls(n, pa.float64())], NAMES)
    frame = made.serialize()
    found = [column.buffers() for column in pa.ipc.read_record_batch(frame, made.schema).columns]
    data = 0 if room < 0 else found[1][2].address - frame.address
    return frame.to_pybytes(), made.schema, tuple(b[1].address - frame.address for b in found[: 4 + exact]), data


def texts_of(segment: Segment, rows: Int64Array) -> pa.Array:
    """Return the texts of some rows of a segment that keeps them; U+FFFD for what was added and is no UTF-8."""
    texts = segment.take("text", rows)
    if texts.find_invalid() is not None:
        return pa.array([texts.row(i).decode("utf-8", "replace") for i in range(len(texts))], pa.large_string())
    buffers = [None, pa.py_buffer(texts.offsets), pa.py_buffer(texts.data)]
    return pa.Array.from_buffers(pa.large_string(), len(rows), buffers)


def ids_of(segments: Sequence[Segment], segment: Int64Array, row: Int64Array, kind: str | None) -> list[Any]:
    """Return ids, of the type that they were added with."""
    read = int if kind == "int" else bytes.decode
    out: list[Any] = []
    for n, r in zip(segment.tolist(), row.tolist(), strict=True):
        try:
            out.append(read(segments[n].id(r)))
        except ValueError as error:
            if isinstance(error, IndexFormatError):
                raise
            raise IndexFormatError(f"damaged: the id of row {r:,} is not of type {kind}", segments[n].path) from None
    return out


def all_documents(manifest: Manifest, segments: tuple[Segment, ...]) -> Iterator[pa.Table]:
    """Yield tables of all documents."""
    for number, segment in enumerate(segments):
        for rows in np.array_split(segment.live, 1 + segment.n_live // 10_000):
            ids = ids_of(segments, np.full(len(rows), number), rows, manifest.ids)
            columns = {"id": pa.array(ids, ID_TYPES[manifest.ids])}
            if segment.has_texts:
                columns["text"] = texts_of(segment, rows)
            yield pa.table(columns)


def find(segments: Sequence[Segment], names: Texts) -> tuple[Int64Array, Int64Array]:
    """Return (segment, row) of the documents of some ids; -1 for those that are not there."""
    sought = sort_ids(names)
    segment_of, row_of = np.full(len(names), -1), np.full(len(names), -1)
    for number, segment in enumerate(segments):
        rows = segment.find_ids(names, *sought)
        segment_of[rows >= 0] = number
        row_of[rows >= 0] = rows[rows >= 0]
    return segment_of, row_of


def documents_of(manifest: Manifest, segments: Sequence[Segment], names: Texts) -> pa.Table:
    """Return the documents of some ids, in their order: ``id``, and ``text`` if the index keeps texts."""
    segment_of, row_of = find(segments, names)
    there = np.flatnonzero(row_of >= 0)
    columns = {"id": pa.array(ids_of(segments, segment_of[there], row_of[there], manifest.ids), ID_TYPES[manifest.ids])}
    if manifest.keep_text:
        pieces = [texts_of(segments[segment_of[i]], row_of[i : i + 1]) for i in there.tolist()]
        columns["text"] = pa.concat_arrays(pieces) if pieces else pa.array([], pa.large_string())
    return pa.table(columns)


def id_texts(ids: Any) -> tuple[str | None, Texts]:
    """Return (type, texts) of ids, which are gone through once; no type where there are none."""
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
                f"ids must all be str or all be int; {_written(value)}, in row {row}, is of type {type(value).__name__}"
            )
        if kind == "int" and not -(1 << 63) <= value < 1 << 63:
            raise ParameterError(f"ids of type int must fit 64 bits; {_written(value)}, in row {row}, does not: make them str")
    try:
        return (kind if values else None), from_strings(map(str, values))
    except InputDataError:
        row = next(row for row, value in enumerate(values) if re.search("[\ud800-\udfff]", value))
        raise ParameterError(f"ids must be Unicode text; {values[row]!r:.60}, in row {row}, has a lone surrogate") from None


def _written(value: object) -> str:
    if isinstance(value, int) and value.bit_length() > 256:  # Python refuses to write out very long ones
        return f"an integer of {value.bit_length():,} bits"
    return f"{value!r:.60}"


def check_type(kind: str | None, known: str | None, names: Texts) -> None:
    """Check that ids are of the type that an index has."""
    if None not in (kind, known) and kind != known:
        raise ParameterError(
            f"the ids of this index are of type {known}; got {names.row(0).decode()!r:.60} of type {kind}: "
            "pass ids of that type (lookalike index add --id COLUMN)"
        )
