"""Sketches: what is made of each document's text in one pass, and what is saved of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..core import digest_documents
from ..errors import InputDataError
from ..hashing import digest_secret
from ..inputs.sketch_rows import TEXT, bytes_of_keys
from ..methods.method import Method
from ..text.shingle import Shingling
from ..text.texts import PIECE_BYTES, Texts, concatenate, from_arrow_array
from ..values import Int64Array, UInt64Array
from ..values.arrow import alone, strings, to_arrow, wrapped
from ..values.tables import COLUMN, KEY, SKETCHES, WITHIN_BYTES
from .batches import Batches, as_words, check_tokens, flags, row_error
from .override import OVERRIDE, Overriding
from .pairs import MEMBERS

_PASSED_ON = ("id", "id_is_text", "order_by", "skipped", "whole", "unit", "place")
SHORT = pa.field("short", pa.bool_())
"""Whether a text has no more than one shingle."""

_WORD = pa.binary(16)
_NOT_WITHIN = np.empty((0, 2), np.uint64)


def sketches_schema(documents: pa.Schema, method: Method, overridden: bool = False) -> pa.Schema:
    """Return the columns of the sketches of some documents."""
    made = [("code", 2 * method.n_codes), ("estimate", 4 * method.n_estimates)]
    keys = pa.list_(pa.int64(), method.n_keys)
    fields = [field.with_type(keys) if field.name == "keys" else field for field in SKETCHES]
    fields += [pa.field(name, pa.binary(width)) for name, width in made if width]
    passed = ("priority", COLUMN)
    fields += [field for field in documents if field.name in _PASSED_ON or field.name.startswith(passed)]
    fields.append(SHORT)
    if overridden:
        fields.append(OVERRIDE)
    return pa.schema([*fields, *(pa.field(name, _WORD) for name in (KEY, "within", "across") if name in documents.names)])


def sketch(
    rows: Batches, *, shingling: Shingling, method: Method, key: bytes, encoding_errors: str = "strict",
    overriding: Overriding | None = None, piece_bytes: int = PIECE_BYTES, most: int = 1 << 60,
) -> Batches:  # fmt: skip
    """Turn documents into sketches, ``piece_bytes`` of text at a time, on which the result does not depend.

    Invalid UTF-8 is an error where these are "strict", and so is a text of more tokens than the ``most``; ``overriding`` are
    documents that people decided about by hand.
    """
    for batch in rows:
        schema = sketches_schema(batch.schema, method, overriding is not None)
        if "digest" in batch.schema.names:
            batch = batch.append_column(SHORT, to_arrow(np.zeros(len(batch), np.bool_)))
            if overriding is not None:  # they are references, which nothing overrides
                batch = batch.append_column(OVERRIDE, to_arrow(np.zeros(len(batch), np.int32)))
            try:
                made = batch.select(schema.names).cast(schema)
            except (pa.ArrowException, KeyError) as error:
                raise InputDataError(f"saved sketches are damaged: other settings made them than they say: {error}") from None
            yield made
            continue
        whole = from_arrow_array(batch.column("text"))
        for begin, end in whole.cut(piece_bytes):
            piece, texts = batch.slice(begin, end - begin), whole.slice(begin, end)
            check_tokens(piece, texts, shingling.unit, most)
            with alone(texts.longest):
                try:
                    hashed = shingling.hashes(texts, encoding_errors == "strict")
                except InputDataError as error:
                    raise row_error(piece, error) from error.__cause__
                made = _sketched(piece, texts, schema, shingling, method, key, overriding, hashed)
                del hashed
            yield made


def _sketched(
    piece: pa.RecordBatch, texts: Texts, schema: pa.Schema, shingling: Shingling, method: Method, key: bytes,
    overriding: Overriding | None, hashed: tuple[UInt64Array, Int64Array],
) -> pa.RecordBatch:  # fmt: skip
    """Sketch some documents at once."""
    n, (values, offsets) = len(piece), hashed
    groups, withins = _groups(piece, "within", key) if "within" in schema.names else (np.zeros(n, np.uint64), _NOT_WITHIN)
    across = _groups(piece, "across", key)[1] if "across" in schema.names else _NOT_WITHIN
    made = method.sketch(values, offsets, groups)
    digests = digest_documents(texts.data, texts.offsets, digest_secret(key, "documents"), withins)
    empty = np.diff(offsets) == 0
    override = np.empty(0, np.int32)
    if overriding is not None:
        override = overriding.look_up(piece, key)
        empty |= override < 0  # one that is removed by hand meets nobody: it has no keys, and is no copy
    if shingling.ignored is not None:  # what has no token is no copy; what has some, of which none counts, can be one
        left = np.flatnonzero(empty)
        some = concatenate([texts.slice(row, row + 1) for row in left.tolist()])
        alone = np.diff(replace(shingling, ignored=None).hashes(some)[1]) == 0
        digests[left[alone | (override[left] < 0 if len(override) else False)]] = 0
    columns = {
        "bytes": to_arrow(np.diff(texts.offsets)),
        "digest": _fixed(digests),
        "empty": to_arrow(empty),
        "short": to_arrow(np.diff(offsets) < 2),
        "keys": wrapped(pa.list_(pa.int64(), made.keys.shape[1]), made.keys, empty),
        "code": _fixed(made.codes),
        "estimate": _fixed(made.estimates),
        "within": _fixed(withins),
        "across": _fixed(across),
        "override": to_arrow(override),
    }
    if KEY in schema.names:
        columns[KEY] = _fixed(_keys(piece, key, override))
    return pa.RecordBatch.from_arrays(
        [columns[name] if name in columns else piece.column(name) for name in schema.names], schema=schema
    )


def _keys(piece: pa.RecordBatch, key: bytes, override: NDArray[np.int32]) -> UInt64Array:
    """Return keyed digests of the keys of documents, zeros for those that have none."""
    keys = from_arrow_array(piece.column(KEY))
    digests: UInt64Array = digest_documents(keys.data, keys.offsets, digest_secret(key, "keys"))
    none = np.diff(keys.offsets) == 0
    if len(override):
        none |= override < 0
    if "skipped" in piece.schema.names:
        none |= flags(piece, "skipped")
    digests[none] = 0
    return digests


def _groups(piece: pa.RecordBatch, name: str, key: bytes) -> tuple[UInt64Array, UInt64Array]:
    """Return, of a column of codes, the word that enters sketches, and a keyed digest that decides."""
    words = as_words(piece.column(name), WITHIN_BYTES, np.uint64)
    offsets = WITHIN_BYTES * np.arange(len(piece) + 1)
    withins = digest_documents(words.reshape(-1).view(np.uint8), offsets, digest_secret(key, name))
    if name == "across":  # zeros are no value
        withins[~words.any(1)] = 0
    return words[:, 0].astype(np.uint64), withins


def _fixed(array: NDArray[Any]) -> pa.Array:
    """Return the rows of a contiguous array as binary values, without copying."""
    return wrapped(pa.binary(array.shape[1] * array.itemsize), array)


SAVED = ("position", "number", "bytes", "digest", "keys", "code", "estimate", KEY, "within", "across", "id", "id_is_text")
"""Columns of sketches that are saved."""


def kept_sketches_schema(sketches: pa.Schema) -> pa.Schema:
    """Return the columns that are saved of sketches; their texts too, where these are a column."""
    keys = pa.binary(8 * sketches.field("keys").type.list_size)
    fields = [field.with_type(keys) if field.name == "keys" else field for field in sketches if field.name in SAVED]
    return pa.schema([*fields, pa.field(TEXT, pa.large_binary())] if TEXT in sketches.names else fields)


def kept_sketches(rows: Batches) -> Batches:
    """Turn sketches into rows that are saved."""
    for batch in rows:
        schema = kept_sketches_schema(batch.schema)
        columns = [bytes_of_keys(batch.column("keys")) if f.name == "keys" else batch.column(f.name) for f in schema]
        yield pa.RecordBatch.from_arrays(columns, schema=schema)


WRITTEN = ("kept", "spared")
"""Reasons of documents that stay, and so are compared with by later jobs."""


def choose_kept(rows: Batches) -> Batches:
    """Choose the documents that stay; references are none of them."""
    stay = strings(WRITTEN)
    for batch in rows:
        yield batch.filter(pa.compute.is_in(batch.column("reason"), stay)).select(MEMBERS.names)
