"""Columns made without pyarrow's own functions are what these make."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
from raising import assert_raises

from lookalike.values import arrow
from lookalike.values.arrow import no_rows, nulled, string, strings, to_arrow, to_numpy

DTYPES = ("bool", "int8", "int32", "int64", "uint8", "uint16", "uint64", "float32", "float64")


def test_arrays_become_columns_and_come_back_whole_or_in_part():
    for dtype, n in product(DTYPES, [0, 1, 7, 8, 9, 100]):
        rng = np.random.default_rng(n)
        values, missing = rng.integers(0, 2 if dtype == "bool" else 100, n).astype(dtype), rng.random(n) < 0.3
        column, gaps = to_arrow(values), to_arrow(values, missing)
        column.validate(full=True)
        assert gaps.equals(pa.array(values, mask=missing)) and column.null_count == 0
        assert column.equals(pa.array(values)) and column.equals(to_arrow(values, np.zeros(n, "bool")))
        for part in (slice(n), slice(3, 11), slice(8, 16), slice(11, 31)):
            found, filled = to_numpy(column[part]), to_numpy(gaps[part], dtype == "bool" or 1)
            assert found.dtype == filled.dtype == dtype and found.tolist() == values[part].tolist()
            assert filled.tolist() == np.where(missing, 1, values)[part].tolist()


def test_arrays_that_are_no_run_of_memory_and_chunks():
    values = np.arange(20)
    for array in (values.reshape(4, 5)[:, 2], values[::-2], np.array([1, 2**40], ">i8")):
        assert to_arrow(array).to_pylist() == array.tolist()
    assert to_numpy(pa.chunked_array([[1, 2], [], [None]], "int64"), -1).tolist() == [1, 2, -1]
    empty = to_numpy(pa.chunked_array([], "int32"))
    assert (len(empty), empty.dtype) == (0, np.int32)


def test_a_null_number_is_nan_unless_something_else_is_wanted():
    for one in (1.5, 1):
        assert np.isnan(to_numpy(pa.array([one, None]))).tolist() == [False, True]
    assert to_numpy(pa.array([1, None]), 0).tolist() == [1, 0]
    assert to_numpy(pa.array([True, None, False]), False).tolist() == [True, False, False]


def test_texts_become_columns():
    for kind, items in product(
        [pa.string(), pa.large_string(), pa.binary(), pa.large_binary()],
        [[], ["a"], ["", "ü€😀", None, "b" * 300], [None, None], [b"bytes", "text"]],
    ):
        column = strings(items, kind)
        column.validate(full=True)
        assert column.equals(pa.array([item.decode() if isinstance(item, bytes) else item for item in items], kind))
    assert_raises(UnicodeEncodeError, "", strings, ["fine", "\ud800"])


def test_single_values_and_tables_without_rows():
    assert string("near").equals(pa.scalar("near"))
    for values in ([1, 2, 3], [[1], [], [2, 3]], ["a", "", "bcd"], [b"0123", b"4567", b"8901"], [True, False, True]):
        assert nulled(pa.array(values)[1:], np.array([False, True])).equals(pa.array([values[1], None], pa.array(values).type))
    schema = pa.schema([("a", "int64"), ("b", "string")])
    assert no_rows(schema).equals(schema.empty_table())


def test_freed_memory_is_given_back(monkeypatch):
    asked = []
    monkeypatch.setattr(pa, "default_memory_pool", lambda: SimpleNamespace(release_unused=lambda: asked.append("arrow")))
    for found in (SimpleNamespace(malloc_trim=asked.append), object()):
        monkeypatch.setattr(arrow.ctypes, "CDLL", lambda name, found=found: found)
        arrow.give_back()
    assert asked == ["arrow", 0, "arrow"]
