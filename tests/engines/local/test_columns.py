"""Columns become arrays and come back; nothing is copied that need not be."""

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.engines.local.tables import arrays_of, column_of, dictionary_column, streamed, take_column, wrapped
from lookalike.files.workspace import Workspace

integers = st.integers(-(2**63), 2**63 - 1)
SCHEMA = pa.schema([
    ("number", pa.int64()), ("score", pa.float64()), ("flag", pa.bool_()), ("digest", pa.binary(5)),
    ("keys", pa.list_(pa.int64(), 3)), ("text", pa.large_binary()), ("id", pa.large_string()),
])  # fmt: skip
ROW = st.fixed_dictionaries({
    "number": integers, "score": st.floats(allow_nan=False), "flag": st.booleans(), "digest": st.binary(min_size=5, max_size=5),
    "keys": st.none() | st.lists(integers, min_size=3, max_size=3), "text": st.binary(max_size=6), "id": st.text("aé", max_size=4),
})  # fmt: skip
rows = st.lists(ROW, max_size=12)


def in_memory(parts):
    """Columns put together, lists taken apart."""
    return {name: array.whole() for name, array in streamed(parts).items()}


def stored(found, cuts):
    """Rows in the parts of a workspace; return (workspace, names of parts, first rows)."""
    space, starts = Workspace(), [0]
    bounds = [0, *sorted(min(cut, len(found)) for cut in cuts), len(found)]
    for begin, end in itertools.pairwise(bounds):
        space.append("rows", streamed([arrays_of(pa.RecordBatch.from_pylist(found[begin:end], SCHEMA))]))
        starts.append(end)
    return space, space.numbered_names("rows"), np.array(starts)


@given(rows, st.integers(0, 12), st.integers(0, 12), st.booleans())
def test_any_rows_of_a_batch_come_back(found, begin, end, apart):
    """Also those of a slice, whose buffers begin before it."""
    begin, end = sorted(min(place, len(found)) for place in (begin, end))
    whole = pa.RecordBatch.from_pylist([*found[:1], *found], SCHEMA).slice(len(found[:1]))
    arrays = arrays_of(whole.slice(begin, end - begin))
    arrays = in_memory([arrays]) if apart else arrays
    assert all(len(array) == end - begin for name, array in arrays.items() if name not in ("text", "id"))
    assert ("keys-00" in arrays) == apart and ("keys" in arrays) != apart
    columns = [column_of(field, arrays, 0, end - begin) for field in SCHEMA]
    for column in columns:
        column.validate(full=True)
    assert pa.RecordBatch.from_arrays(columns, schema=SCHEMA).to_pylist() == found[begin:end]


@given(rows.filter(bool), st.data())
def test_some_rows_come_back(found, data):
    arrays = in_memory([arrays_of(pa.RecordBatch.from_pylist(found, SCHEMA))])
    n = len(found)
    begin, end = sorted(data.draw(st.tuples(st.integers(0, n), st.integers(0, n))))
    chosen = np.array(data.draw(st.lists(st.integers(0, n - 1), max_size=8)), np.int64)
    for field in SCHEMA:
        assert column_of(field, arrays, begin, end).to_pylist() == [row[field.name] for row in found[begin:end]]
        assert column_of(field, arrays, 0, 0, chosen).to_pylist() == [found[i][field.name] for i in chosen]


@given(rows.filter(bool), st.lists(st.integers(0, 12), max_size=3), st.data())
def test_rows_of_all_parts_come_in_the_order_given(found, cuts, data):
    space, parts, starts = stored(found, cuts)
    chosen = np.array(data.draw(st.lists(st.integers(0, len(found) - 1), max_size=10)), np.int64)
    for field in SCHEMA:
        column = take_column(field, space, parts, starts, chosen)
        assert column.type == field.type and column.to_pylist() == [found[i][field.name] for i in chosen]


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 64, 65])
def test_nulls_are_bits(n):
    missing = np.arange(n) % 3 == 1
    for kind, values in ((pa.int64(), np.arange(n)), (pa.binary(2), np.zeros((n, 2), np.uint8)),
                         (pa.list_(pa.int64(), 2), np.arange(2 * n).reshape(n, 2))):  # fmt: skip
        column = wrapped(kind, values, missing)
        column.validate(full=True)
        assert column.is_null().to_pylist() == missing.tolist() and column.null_count == missing.sum()
        assert wrapped(kind, values, np.zeros(n, np.bool_)).null_count == 0


def test_bytes_are_wrapped_and_numbered_without_a_copy():
    values = np.arange(24, dtype=np.uint8).reshape(6, 4)
    assert wrapped(pa.binary(4), values).buffers()[1].address == values.ctypes.data
    found = dictionary_column(pa.binary(4), values, np.array([5, 0, 5]))
    assert found.dictionary.buffers()[1].address == values.ctypes.data
    assert found.to_pylist() == [bytes(values[i]) for i in (5, 0, 5)]
    numbers = np.arange(9)
    assert arrays_of(pa.record_batch({"a": numbers}))["a"].ctypes.data == numbers.ctypes.data


def test_a_list_that_is_missing_has_numbers_all_the_same():
    """What is inside of it may be null, too; the array must have its width."""
    inside = pa.array([1, 2, None, None, 5, 6], pa.int64())
    column = pa.FixedSizeListArray.from_arrays(inside, 2, mask=pa.array([False, True, False]))
    arrays = arrays_of(pa.record_batch({"keys": column}))
    assert arrays["keys"].tolist() == [[1, 2], [0, 0], [5, 6]] and arrays["keys.missing"].tolist() == [False, True, False]
