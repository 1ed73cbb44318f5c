"""A value arrives as it was, or an error names file, row and column."""

import datetime
import decimal
import json

import pyarrow as pa
import pytest
from formats.jobs import refused
from hypothesis import given, settings
from hypothesis import strategies as st
from row_files import MOMENT, WORDS, column_file, converted, parquet

import lookalike as la
from lookalike.formats import merged_parquet

numbers = st.one_of(st.integers(), st.integers(2**53 - 3, 2**53 + 3), st.floats(allow_nan=False, allow_infinity=False))
values = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, st.text(st.characters(codec="utf-8"), max_size=3)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=5,
)


def plain(value):
    """Without what a column of Arrow adds: null for a field that a struct lacks."""
    if isinstance(value, dict):
        return {name: plain(v) for name, v in value.items() if v is not None}
    if isinstance(value, bool):
        return f"bool {value}"
    return list(map(plain, value)) if isinstance(value, list) else value


@settings(max_examples=40)
@given(column=st.lists(values, min_size=1, max_size=6), cut=st.integers(0, 6), rows=st.integers(1, 4))
def test_any_json_arrives_in_parquet(tmp_path_factory, column, cut, rows):
    """However rows are cut; what is not a string is one's JSON where the column is text."""
    folder = tmp_path_factory.mktemp("any")
    text = [json.dumps(value) for value in column]
    data = [column_file(folder / "one.jsonl", text[:cut]), column_file(folder / "two.jsonl", text[cut:], cut)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(merged_parquet, "ROW_GROUP", rows)
        found = converted(data, folder / "out.parquet")
    shown = [v if v is None or isinstance(v, str) else t for v, t in zip(column, text, strict=True)]
    assert list(map(plain, found)) == list(map(plain, shown if any(isinstance(v, str) for v in found) else column))
    assert converted(data, folder / "out.csv") == [v or "" for v in shown]


NANOSECONDS, STRUCT = "2023-11-14T22:13:20.123456789", pa.struct([("a", pa.struct([("b", "timestamp[ns]")]))])
ARROW = [
    ([MOMENT, None], "timestamp[ns]", [NANOSECONDS, None]),
    ([MOMENT // 1000], pa.timestamp("us", "Europe/Berlin"), ["2023-11-14T22:13:20.123456Z"]),
    ([-1], "timestamp[ms]", ["1969-12-31T23:59:59.999"]),
    ([0], "timestamp[us]", ["1970-01-01T00:00:00"]),
    ([datetime.date(1, 1, 1), datetime.date(9999, 12, 31)], "date32", ["0001-01-01", "9999-12-31"]),
    ([datetime.date(1969, 12, 31)], "date64", ["1969-12-31"]),
    ([1], "time64[ns]", ["00:00:00.000000001"]),
    ([86_399_999], "time32[ms]", ["23:59:59.999"]),
    ([90_061_000_000_001, -1], "duration[ns]", ["PT90061.000000001S", "-PT0.000000001S"]),
    ([decimal.Decimal("1.10"), None], pa.decimal128(3, 2), ["1.10", None]),
    ([decimal.Decimal("9" * 60)], pa.decimal256(60, 0), ["9" * 60]),
    ([2**64 - 1], "uint64", [2**64 - 1]),
    ([-(2**63)], "int64", [-(2**63)]),
    ([True, False, None], "bool", [True, False, None]),
    ([0.5], "float16", [decimal.Decimal("0.5")]),
    ([b"caf\xc3\xa9", None], "binary", ["café", None]),
    ([b"abc"], pa.binary(3), ["abc"]),
    (["b", "a", "b"], pa.dictionary(pa.int32(), pa.string()), ["b", "a", "b"]),
    ([[MOMENT, None], None], pa.list_(pa.timestamp("ns")), [[NANOSECONDS, None], None]),
    ([[1, 2]], pa.list_(pa.int8(), 2), [[1, 2]]),
    ([[0]], pa.list_(pa.date32(), 1), [["1970-01-01"]]),
    ([{"a": {"b": MOMENT}}], STRUCT, [{"a": {"b": NANOSECONDS}}]),
    ([[("k", MOMENT)]], pa.map_(pa.string(), pa.timestamp("ns")), [[["k", NANOSECONDS]]]),
    ([[b"a"]], pa.list_(pa.binary()), [["a"]]),
    ([b"0123456789abcdef"], pa.uuid(), ["30313233-3435-3637-3839-616263646566"]),
    ([1, None, 0], pa.bool8(), [True, None, False]),
    ([None, None], "null", [None, None]),
]


@pytest.mark.parametrize(("values", "kind", "expected"), ARROW)
def test_arrow_values_arrive_with_every_digit(tmp_path, values, kind, expected):
    """Arrow would use pandas for nanoseconds."""
    column = pa.array(values, kind)
    path = parquet(tmp_path / "in.parquet", column)
    assert converted(path, tmp_path / "out.jsonl") == expected
    text = [
        "" if v is None else v if isinstance(v, str) else json.dumps(v, ensure_ascii=False, separators=(",", ":"), default=str)
        for v in expected
    ]
    assert [value.strip('"') for value in converted(path, tmp_path / "out.csv")] == [value.strip('"') for value in text]
    table = pa.table({"text": WORDS[: len(column)], "x": column})
    la.dedup(table, threshold=1.0).write(tmp_path / "table.jsonl")
    assert (tmp_path / "table.jsonl").read_bytes() == (tmp_path / "out.jsonl").read_bytes()


@pytest.mark.parametrize("name", ["out.jsonl", "out.csv"])
@pytest.mark.parametrize(
    ("column", "words"),
    [
        (pa.array([b"a", b"\xff"]), "row 2, column 'x': the bytes are not UTF-8 text"),
        (pa.array([None, [float("inf")]]), r"row 2, column 'x': JSON has no \[inf\]"),
        (pa.array([{"a": 1.0}, {"a": float("nan")}]), r"row 2, column 'x': JSON has no {'a': nan}"),
        (pa.array([2**62], "timestamp[us]"), "row 1, column 'x': the year is not in 1..9999"),
        (pa.StructArray.from_arrays([WORDS[:1]] * 2, ["a", "a"]), "column 'x': values .* two of its fields have the same name"),
    ],
)
def test_what_has_no_form_in_text_is_refused(tmp_path, name, column, words):
    path = parquet(tmp_path / "in.parquet", column)
    refused(rf"in\.parquet, {words}.*; write \.parquet", la.dedup(path).write, tmp_path / name)
    assert [p.name for p in tmp_path.iterdir()] == ["in.parquet"]


@pytest.mark.parametrize("depth", [10, 60, 600])
def test_deep_values_become_parquet_that_can_be_read(tmp_path, depth):
    """Readers of parquet take a limited number of levels: deeper values are text of JSON."""
    deep = "[" * depth + "1" + "]" * depth
    (value,) = converted(column_file(tmp_path / "in.jsonl", [deep]), tmp_path / "out.parquet")
    assert (value if isinstance(value, str) else json.dumps(value)) == deep
