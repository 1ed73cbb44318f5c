"""Parquet in, parquet out: columns beside the text survive unchanged, whatever their type."""

import datetime
import decimal
import json

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import semblance as sb

WORDS = [f"number {i} of some texts that have hardly a word in common {i * 7919} {i * 104729}" for i in range(6)]
TEXTS = [WORDS[0], WORDS[1], WORDS[0], None, WORDS[2], WORDS[3]]
KEPT = [0, 1, 3, 4, 5]
N = len(TEXTS)
STAMPS = [1_700_000_000_123_456_789, None, -1, 0, 2**62, 5]


def repeated(*values):
    return [values[i % len(values)] for i in range(N)]


def nested(kind, *values):
    return pa.array(repeated(*values), kind)


BYSTANDERS = {
    "null": pa.nulls(N),
    "bool": nested(pa.bool_(), True, None, False),
    **{str(t): nested(t, 0, 127, None) for t in (pa.int8(), pa.int16(), pa.int32(), pa.uint8(), pa.uint16(), pa.uint32())},
    "int64": nested(pa.int64(), 2**63 - 1, -(2**63), None),
    "uint64": nested(pa.uint64(), 2**64 - 1, 0, None),
    "half": nested(pa.float16(), 1.5, None, float("inf")),
    "float": nested(pa.float32(), 0.1, None, -0.0),
    "double": nested(pa.float64(), 0.1, float("inf"), None, 5e-324),
    "string": nested(pa.string(), "", None, "é\0\n", '"'),
    "large_string": nested(pa.large_string(), "", None, "x"),
    "string_view": nested(pa.string_view(), "", None, "longer than twelve bytes"),
    "binary": nested(pa.binary(), b"\xff\0", None, b""),
    "large_binary": nested(pa.large_binary(), b"\xff\0", None, b""),
    "binary_view": nested(pa.binary_view(), b"\xff\0", None, b"longer than twelve bytes"),
    "fixed_binary": nested(pa.binary(3), b"abc", None, b"\xff\0\1"),
    "date32": nested(pa.date32(), datetime.date(1, 1, 1), None, datetime.date(9999, 12, 31)),
    "date64": nested(pa.date64(), datetime.date(1, 1, 1), None, datetime.date(9999, 12, 31)),
    "time32": nested(pa.time32("ms"), 1, None, 86_399_999),
    "time64": nested(pa.time64("ns"), 1, None, 86_399_999_999_999),
    **{f"timestamp_{u}": pa.array(STAMPS, pa.int64()).cast(pa.timestamp(u)) for u in ("ms", "us", "ns")},
    "timestamp_s": nested(pa.timestamp("s"), 1, None, -1),
    "zoned": pa.array(STAMPS, pa.int64()).cast(pa.timestamp("us", "Europe/Berlin")),
    **{f"duration_{u}": pa.array(STAMPS, pa.int64()).cast(pa.duration(u)) for u in ("s", "ms", "us", "ns")},
    "decimal32": nested(pa.decimal32(5, 2), decimal.Decimal("1.10"), None, decimal.Decimal("-999.99")),
    "decimal128": nested(pa.decimal128(38, 10), decimal.Decimal("1.1"), None, decimal.Decimal("12345678901234567890.0000000001")),
    "decimal256": nested(pa.decimal256(70, 3), decimal.Decimal("1.100"), None, decimal.Decimal("9" * 60)),
    "dictionary": nested(pa.string(), "a", None, "b").dictionary_encode(),
    "ordered": pa.DictionaryArray.from_arrays([0, 1, None, 0, 1, 1], ["low", "high"], ordered=True),
    "numbers_by_dictionary": nested(pa.int64(), 5, None, 7).dictionary_encode(),
    "list": nested(pa.list_(pa.int8()), [1, None], None, []),
    "large_list": nested(pa.large_list(pa.string()), ["a", None], None, []),
    "list_view": nested(pa.list_view(pa.int32()), [1, None], None, []),
    "fixed_list": nested(pa.list_(pa.float32(), 2), [1.0, None], None, [0.0, 0.0]),
    "list_of_lists": nested(pa.list_(pa.list_(pa.string())), [["a"], [], None], None, []),
    "struct": nested(pa.struct([("x", pa.int64()), ("y", pa.list_(pa.int64()))]), {"x": 1, "y": [2]}, None, {"x": None, "y": []}),
    "map": nested(pa.map_(pa.string(), pa.int64()), [("a", 1), ("b", None)], None, []),
    "uuid": pa.ExtensionArray.from_storage(pa.uuid(), nested(pa.binary(16), b"0123456789abcdef", None)),
    "json": pa.ExtensionArray.from_storage(pa.json_(pa.string()), nested(pa.string(), '{"a": 1}', None)),
    "bool8": pa.ExtensionArray.from_storage(pa.bool8(), nested(pa.int8(), 1, None, 0)),
    "tensor": pa.ExtensionArray.from_storage(pa.fixed_shape_tensor(pa.int32(), [2]), nested(pa.list_(pa.int32(), 2), [1, 2])),
}  # fmt: skip


def read(path):
    with pq.ParquetFile(path) as file:
        return file.read()


def shown(column):
    """Every value as Arrow prints it: all digits, and NaN equals itself."""
    return column.combine_chunks().to_string(window=N)


@pytest.mark.parametrize("name", BYSTANDERS)
@pytest.mark.parametrize("place", ["before", "after"])
def test_a_column_of_any_type_survives(tmp_path, name, place):
    """Values and schema stay as Arrow reads them from the input, whichever side of the text the column is on."""
    columns = {"text": pa.array(TEXTS), name: BYSTANDERS[name]}
    table = pa.table(columns if place == "after" else dict(reversed(columns.items())))
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=4)
    result = sb.dedup(tmp_path / "in.parquet", threads=1)
    assert [i for i, kept in enumerate(result.keep) if kept] == KEPT
    result.write(tmp_path / "out.parquet")
    before, after = read(tmp_path / "in.parquet"), read(tmp_path / "out.parquet")
    assert after.schema.remove_metadata().equals(before.schema.remove_metadata(), check_metadata=True)
    kept = pa.concat_tables(before.slice(i, 1) for i in KEPT)
    for place in range(2):
        assert shown(after.column(place)) == shown(kept.column(place))
    result.write(tmp_path / "all.parquet", annotate=True)
    annotated = read(tmp_path / "all.parquet")
    assert annotated.column("keep").to_pylist() == result.keep.tolist()
    assert annotated.schema.field(name).equals(before.schema.field(name), check_metadata=True)
    assert annotated.column(name).combine_chunks().to_string(window=9) == before.column(name).combine_chunks().to_string(
        window=9
    )
