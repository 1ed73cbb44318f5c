"""Answers: matches with their ids, and documents by their ids, which lie in segments as text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from ..errors import IndexFormatError, InputDataError, ParameterError
from ..text.texts import Texts, concatenate, from_strings
from ..values import Float64Array, Int64Array
from ..values.arrow import to_arrow
from .kind import Kind, Sketches
from .lookup import look_up, measure
from .manifest import Manifest
from .segments import Segment, hash_ids

ID_TYPES = {"int": pa.int64(), "str": pa.string(), None: pa.string()}
NAMES = ("query", "id", "estimated_resemblance", "standard_error", "resemblance")


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
        exact = pa.nulls(len(self), pa.float64()) if self.resemblance is None else to_arrow(self.resemblance)
        scores = to_arrow(self.estimated_resemblance), to_arrow(self.standard_error), exact
        return pa.table([to_arrow(self.query), pa.array(self.id, ID_TYPES[self.id_type]), *scores], NAMES)


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
            raise IndexFormatError(f"{segments[n].path}: damaged: the id of row {r:,} is not of type {kind}") from None
    return out


def answer(
    kind: Kind, manifest: Manifest, segments: tuple[Segment, ...], sketches: Sketches,
    texts: list[Texts] | None, top: int | None, first_only: bool, threads: int,
) -> Answers:  # fmt: skip
    """Look up sketches, and measure their matches where texts were given and are kept."""
    found = look_up(kind, segments, sketches, top, first_only, threads)
    measured = None
    if manifest.keep_text and texts is not None:
        measured = measure(kind, segments, concatenate(texts), found)
    ids = ids_of(segments, found.segment, found.row, manifest.ids)
    return Answers(found.query, ids, *kind.estimate(found.score), measured, manifest.ids)


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
    hashes = hash_ids(names)
    segment_of, row_of = np.full(len(names), -1), np.full(len(names), -1)
    for number, segment in enumerate(segments):
        rows = segment.find_ids(names, hashes)
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
