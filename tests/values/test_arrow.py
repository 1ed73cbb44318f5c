"""Columns made without pyarrow's own functions are what these make."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from lookalike.values import arrow
from lookalike.values.arrow import no_rows, nulled, string, strings, to_arrow, to_numpy

DTYPES = ("bool", "int8", "int32", "int64", "uint8", "uint16", "uint64", "float32", "float64")


def test_arrays_become_columns_and_come_back():
    for dtype, n in product(DTYPES, [0, 1, 7, 8, 9, 100]):
        rng = np.random.default_rng(n)
        values = rng.integers(0, 2 if dtype == "bool" else 100, n).astype(dtype)
        missing = rng.random(n) < 0.3
        column = to_arrow(values)
        column.validate(full=True)
        assert column.equals(pa.array(values)) and column.null_count == 0
        assert to_arrow(values, missing).equals(pa.array(values, mask=missing))
        assert to_arrow(values, np.zeros(n, np.bool_)).equals(column)
        found = to_numpy(column)
        assert found.dtype == values.dtype and found.tolist() == values.tolist()
        assert dtype == "bool" or not n or not found.flags.writeable
        filled = to_numpy(to_arrow(values, missing), True if dtype == "bool" else 1)
        assert filled.dtype == values.dtype and filled.tolist() == np.where(missing, 1, values).tolist()


def test_a_part_of_a_column_is_read_where_it_lies():
    for dtype, (begin, length) in product(DTYPES, [(0, 5), (3, 8), (8, 8), (11, 20), (40, 0)]):
        values, missing = np.random.default_rng(1).integers(0, 2, 40).astype(dtype), np.arange(40) % 3 == 0
        part = slice(begin, begin + length)
        assert to_numpy(to_arrow(values).slice(begin, length)).tolist() == values[part].tolist()
        found = to_numpy(to_arrow(values, missing).slice(begin, length), 1)
        assert found.tolist() == np.where(missing, 1, values)[part].tolist()


def test_arrays_that_are_no_run_of_memory():
    values = np.arange(20).reshape(4, 5)[:, 2]
    assert to_arrow(values).to_pylist() == values.tolist()
    assert to_arrow(np.arange(10)[::-2]).to_pylist() == [9, 7, 5, 3, 1]


def test_a_null_number_is_nan_unless_something_else_is_wanted():
    column = pa.array([1.5, None, 2.5])
    assert np.isnan(to_numpy(column)).tolist() == [False, True, False]
    assert np.isnan(to_numpy(pa.array([1, None]))).tolist() == [False, True]
    assert to_numpy(pa.array([1, None]), 0).tolist() == [1, 0]
    assert to_numpy(pa.array([True, None, False]), False).tolist() == [True, False, False]


def test_chunks_become_one_array():
    assert to_numpy(pa.chunked_array([[1, 2], [], [None]], pa.int64()), -1).tolist() == [1, 2, -1]
    empty = to_numpy(pa.chunked_array([], pa.int32()))
    assert (len(empty), empty.dtype) == (0, np.int32)


def test_texts_become_columns():
    for kind, items in product(
        [pa.string(), pa.large_string(), pa.binary(), pa.large_binary()],
        [[], ["a"], ["", "ü€😀", None, "b" * 300], [None, None], [b"bytes", "text"]],
    ):
        column = strings(items, kind)
        column.validate(full=True)
        assert column.type == kind
        encoded = [item.encode() if isinstance(item, str) else item for item in items]
        assert column.cast(pa.large_binary()).to_pylist() == encoded
        if not any(isinstance(item, bytes) for item in items):
            assert column.equals(pa.array(items, kind))


def test_a_lone_surrogate_is_no_text():
    with pytest.raises(UnicodeEncodeError):
        strings(["fine", "\ud800"])


def test_single_values_and_tables_without_rows():
    assert string("near").equals(pa.scalar("near"))
    for values in ([1, 2, 3], [[1], [], [2, 3]], ["a", "", "bcd"], [b"0123", b"4567", b"8901"], [True, False, True]):
        assert nulled(pa.array(values)[1:], np.array([False, True])).equals(pa.array([values[1], None], pa.array(values).type))
    schema = pa.schema([("a", pa.int64()), ("b", pa.string())])
    assert no_rows(schema).equals(schema.empty_table())


def test_the_order_of_bytes_does_not_matter():
    assert to_arrow(np.array([1, 2**40], ">i8")).to_pylist() == [1, 2**40]


def test_freed_memory_is_given_back(monkeypatch):
    """Both by Arrow and by the C library, where that has a way to."""
    asked = []
    pool = SimpleNamespace(release_unused=lambda: asked.append("arrow"))
    library = SimpleNamespace(malloc_trim=lambda kept: asked.append(kept))
    monkeypatch.setattr(arrow.pa, "default_memory_pool", lambda: pool)
    for found in (library, object()):
        monkeypatch.setattr(arrow.ctypes, "CDLL", lambda name, found=found: found)
        arrow.give_back()
    assert asked == ["arrow", 0, "arrow"]
