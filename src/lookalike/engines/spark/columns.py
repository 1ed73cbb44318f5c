"""Rows between our steps and Spark, whose columns have fewer types: the same bytes under types that it knows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from ...values.arrow import to_arrow, to_numpy
from ..engine import Batches

_PLAIN = {pa.int64(): "bigint", pa.int32(): "int", pa.int8(): "tinyint", pa.bool_(): "boolean", pa.float64(): "double"}


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _is_binary(kind: pa.DataType) -> bool:
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind))


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def spark_type(kind: pa.DataType) -> str:
    """Return the name of the type under which Spark holds a column."""
    if kind in _PLAIN:
        return _PLAIN[kind]
    if _is_text(kind):
        return "string"
    if _is_binary(kind):
        return "binary"
    if _is_list(kind):
        return f"array<{spark_type(kind.value_type)}>"
    raise TypeError(f"Spark has no column of type {kind}")


def spark_schema(schema: pa.Schema) -> str:
    """Return the columns of a table as Spark's DDL."""
    return ", ".join(f"`{field.name}` {spark_type(field.type)}" for field in schema)


def wire_type(kind: pa.DataType) -> pa.DataType:
    """Return the Arrow type that crosses to Spark and back; its offsets have 32 bits, as batches are far below 2 GB."""
    if kind in _PLAIN:
        return kind
    if _is_text(kind):
        return pa.string()
    if _is_binary(kind):
        return pa.binary()
    return pa.list_(wire_type(kind.value_type))


def _cast(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return a column under another type that holds the same values."""
    if isinstance(column, pa.DictionaryArray):
        column = column.dictionary_decode()
    if column.type == kind:
        return column
    if pa.types.is_large_binary(column.type) and pa.types.is_fixed_size_binary(kind):
        column = column.cast(pa.binary())
    if pa.types.is_fixed_size_list(column.type) and column.null_count and pa.types.is_list(kind):
        valid = to_numpy(column.is_valid())  # before Arrow 26 casts keep values of nulls, with which no file is written
        offsets = np.concatenate([[0], np.cumsum(valid * column.type.list_size)])
        column = pa.ListArray.from_arrays(to_arrow(offsets.astype(np.int32)), column.flatten(), mask=to_arrow(~valid))
    if pa.types.is_fixed_size_list(kind) and column.null_count == len(column):
        return pa.nulls(len(column), kind)  # Spark sends no buffer for values where there are none, and casts read one
    return column.cast(kind)


def changed(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Return a batch under the types of a schema."""
    columns = [_cast(batch.column(field.name), field.type) for field in schema]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def decoded(batches: Iterator[Any], schema: pa.Schema) -> Batches:
    """Yield what comes from Spark under our types; empty batches are left out."""
    for batch in batches:
        if len(batch):
            yield changed(batch, schema)


def encoded(batches: Batches, wire: pa.Schema) -> Iterator[Any]:
    """Yield our rows under the types that Spark takes."""
    for batch in batches:
        if len(batch):
            yield changed(batch, wire)


def stored_schema(schema: pa.Schema) -> pa.Schema:
    """Return the columns of a file of Parquet: Arrow before 26 does not read nulls among lists of a fixed size."""
    kinds = [pa.list_(one.type.value_type) if pa.types.is_fixed_size_list(one.type) else one.type for one in schema]
    return pa.schema([field.with_type(kind) for field, kind in zip(schema, kinds, strict=True)])


def wire_schema(schema: pa.Schema) -> pa.Schema:
    return pa.schema([pa.field(field.name, wire_type(field.type)) for field in schema])
