"""What is saved of the documents that a job keeps: their sketches, under types that Parquet keeps as they are."""

from __future__ import annotations

import pyarrow as pa

from ..inputs.sketch_rows import TEXT, bytes_of_keys
from ..values.arrow import string
from ._batches import Batches
from .members import MEMBERS

SAVED = ("position", "number", "bytes", "digest", "keys", "code", "estimate", "within", "id", "id_is_text")
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


def kept(rows: Batches) -> Batches:
    """Choose the documents that are kept; references are none of them."""
    for batch in rows:
        yield batch.filter(pa.compute.equal(batch.column("reason"), string("kept"))).select(MEMBERS.names)
