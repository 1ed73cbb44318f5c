"""Columns become arrays and come back; nothing is copied that need not be."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from lookalike.engines.local.tables import arrays_of, column_of, dictionary_column, streamed, wrapped

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


@given(rows, st.integers(0, 12), st.integers(0, 12), st.booleans(), st.lists(st.integers(0, 11), max_size=8))
def test_any_rows_of_a_batch_come_back(found, begin, end, apart, chosen):
    """Also those of a slice, whose buffers begin before it, and of lists that are taken apart."""
    begin, end = sorted(min(place, len(found)) for place in (begin, end))
    arrays = arrays_of(pa.RecordBatch.from_pylist([*found[:1], *found], SCHEMA).slice(len(found[:1])))
    arrays = {name: array.whole() for name, array in streamed([arrays]).items()} if apart else arrays
    assert all(len(array) == len(found) for name, array in arrays.items() if name not in ("text", "id"))
    assert ("keys-00" in arrays) == apart and ("keys" in arrays) != apart
    chosen = [i for i in chosen if i < len(found)]
    for field in SCHEMA:
        values = [row[field.name] for row in found]
        some = column_of(field, arrays, begin, end), column_of(field, arrays, 0, 0, np.array(chosen, np.int64))
        for column in some:
            column.validate(full=True)
        assert [column.to_pylist() for column in some] == [values[begin:end], [values[i] for i in chosen]]


def test_bytes_are_wrapped_and_numbered_without_a_copy():
    values, numbers = np.arange(24, dtype=np.uint8).reshape(6, 4), np.arange(9)
    found = dictionary_column(pa.binary(4), values, np.array([5, 0, 5]))
    for column in (wrapped(pa.binary(4), values), found.dictionary):
        assert column.buffers()[1].address == values.ctypes.data
    assert found.to_pylist() == [bytes(values[i]) for i in (5, 0, 5)]
    assert arrays_of(pa.record_batch({"a": numbers}))["a"].ctypes.data == numbers.ctypes.data


def test_a_list_that_is_missing_has_numbers_all_the_same():
    """What is inside of it may be null, too; the array must have its width."""
    inside = pa.array([1, 2, None, None, 5, 6], pa.int64())
    column = pa.FixedSizeListArray.from_arrays(inside, 2, mask=pa.array([False, True, False]))
    arrays = arrays_of(pa.record_batch({"keys": column}))
    assert arrays["keys"].tolist() == [[1, 2], [0, 0], [5, 6]] and arrays["keys.missing"].tolist() == [False, True, False]
