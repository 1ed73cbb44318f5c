"""Documents of which others are to be found: references become shingle hashes, documents the passages that they contain."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa

from ..errors import EncodingError, RowError
from ..inputs.read import not_utf8, text_column
from ..search.passages import Passages
from ..text.hashes import KeyedHashes
from ..text.shingle import Shingling
from ..text.texts import Texts, concatenate, from_arrow_array
from ..values import Int64Array, UInt64Array
from ..values.arrow import to_arrow
from .batches import Batches

MATCH = np.dtype([("passage", np.int64), ("resemblance", np.float64), ("containment", np.float64)])
"""The best passage of a reference document that a document contains."""
_KEPT = ("position", "number", "id", "id_is_text", "skipped")


def hashed_schema(documents: pa.Schema) -> pa.Schema:
    """Return the columns of references as hashes: where each is, its tokens and shingles, and the hashes as bytes."""
    return _with(documents, ("tokens", "shingles"), "hashes")


def matched_schema(documents: pa.Schema) -> pa.Schema:
    """Return the columns of documents with their matches: how many, and their bytes, which are those of MATCH."""
    return _with(documents, ("n",), "matches")


def _with(documents: pa.Schema, counts: tuple[str, ...], data: str) -> pa.Schema:
    kept = [documents.field(name) for name in _KEPT if name in documents.names]
    return pa.schema([*kept, *(pa.field(name, pa.int64()) for name in counts), pa.field(data, pa.large_binary())])


def hash_references(rows: Batches, *, shingling: Shingling, key: bytes, strict: bool) -> Batches:
    """Turn reference documents into shingle hashes; with ``strict`` invalid UTF-8 is an error."""
    for piece, texts, hashes, offsets in _hashed(rows, shingling, key, strict):
        sizes = np.diff(offsets)
        data = text_column(Texts(hashes.copy().view(np.uint8), 8 * offsets))
        made = {"tokens": to_arrow(_tokens(shingling, texts, sizes)), "shingles": to_arrow(sizes), "hashes": data}
        yield _made(piece, made, hashed_schema(piece.schema))


def match_documents(
    rows: Batches, *, shingling: Shingling, key: bytes, strict: bool, passages: Passages, measure: str, threshold: float
) -> Batches:
    """Find the passages that documents contain, of each reference document the best, the best first."""
    for piece, _, hashes, offsets in _hashed(rows, shingling, key, strict):
        row, chosen, both, n = passages.match(hashes, offsets, measure == "containment", threshold)
        order, resemblance, containment = passages.best(row, chosen, both, n, measure)
        found = np.empty(len(order), MATCH)
        for name, values in (("passage", chosen), ("resemblance", resemblance), ("containment", containment)):
            found[name] = values[order]
        counts = np.bincount(row[order], minlength=len(piece))
        bounds = np.concatenate([[0], np.cumsum(counts * MATCH.itemsize)])
        made = {"n": to_arrow(counts), "matches": text_column(Texts(found.view(np.uint8), bounds))}
        yield _made(piece, made, matched_schema(piece.schema))


def _hashed(
    rows: Batches, shingling: Shingling, key: bytes, strict: bool
) -> Iterator[tuple[pa.RecordBatch, Texts, UInt64Array, Int64Array]]:
    """Yield (documents, texts, shingle hashes under the key, offsets) of some documents at a time."""
    hashing = KeyedHashes(shingling, key)
    for batch in rows:
        texts = from_arrow_array(batch.column("text"))
        for begin, end in texts.cut():
            piece, some = batch.slice(begin, end - begin), texts.slice(begin, end)
            try:
                hashes, offsets = hashing.hashes(some, strict=strict)
            except EncodingError as error:
                position, row = (piece.column(name)[error.row].as_py() for name in ("position", "number"))
                raise RowError(position, row, not_utf8(error.place)) from None
            yield piece, some, hashes, offsets


def _made(piece: pa.RecordBatch, made: dict[str, pa.Array], schema: pa.Schema) -> pa.RecordBatch:
    columns = [made[name] if name in made else piece.column(name) for name in schema.names]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def matches_of(batch: pa.RecordBatch) -> np.ndarray[tuple[int], np.dtype[np.void]]:
    """Return the matches of all documents of a batch, one after the other."""
    texts = from_arrow_array(batch.column("matches"))
    return np.frombuffer(texts.data[texts.offsets[0] : texts.offsets[-1]], MATCH)


def _tokens(shingling: Shingling, texts: Texts, n_shingles: Int64Array) -> Int64Array:
    """Return the number of tokens of each text; of texts with several shingles only that it exceeds the width."""
    assert shingling.width is not None
    tokens = np.where(n_shingles > 1, shingling.width + 1, n_shingles)
    single = np.flatnonzero(n_shingles == 1)
    if len(single) and shingling.width > 1:
        some = concatenate([texts.slice(row, row + 1) for row in single.tolist()])
        tokens[single] = np.diff(replace(shingling, width=1).hashes(some)[1])
    return tokens
