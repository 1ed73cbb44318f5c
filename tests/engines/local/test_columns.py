import numpy as np
import pyarrow as pa

from lookalike.engines.local.tables import arrays_of, dictionary_column, wrapped


def test_bytes_are_wrapped_and_numbered_without_a_copy():
    values, numbers = np.arange(24, dtype="uint8").reshape(6, 4), np.arange(9)
    found = dictionary_column(pa.binary(4), values, np.array([5, 0, 5]))
    for column in (wrapped(pa.binary(4), values), found.dictionary):
        assert column.buffers()[1].address == values.ctypes.data
    assert found.to_pylist() == [bytes(values[i]) for i in (5, 0, 5)]
    assert arrays_of(pa.record_batch({"a": numbers}))["a"].ctypes.data == numbers.ctypes.data


def test_a_list_that_is_missing_has_numbers_all_the_same():
    """What is inside of it may be null, too; the array must have its width. Also where the batch is a slice."""
    inside = pa.array([1, 2, None, None, 5, 6], "int64")
    column = pa.FixedSizeListArray.from_arrays(inside, 2, mask=pa.array([False, True, False]))
    for begin in range(3):
        arrays = arrays_of(pa.record_batch({"keys": column}).slice(begin))
        assert arrays["keys"].tolist() == [[1, 2], [0, 0], [5, 6]][begin:]
        assert begin == 2 or arrays["keys.missing"].tolist() == [False, True, False][begin:]
