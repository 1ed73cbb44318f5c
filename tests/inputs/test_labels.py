"""What documents are called."""

import numpy as np
import pyarrow as pa
import pytest

from lookalike.inputs.labels import Labels, as_utf8
from lookalike.values.tables import SOURCE_BITS


class Input:
    """A source whose labels are file and row, or rows alone."""

    def __init__(self, name=None):
        self.name = name

    def label(self, number):
        return number if self.name is None else f"{self.name}:{number}"

    def file(self, number):
        return self.name


POSITIONS, NUMBERS = np.array([0, 1 << SOURCE_BITS, 1 << SOURCE_BITS | 7]), np.array([1, 1, 9])


def test_labels_are_made_of_file_and_row():
    labels = Labels.of([Input("a"), Input("b\udcff")], named=False, all_integers=False)
    assert labels.kind == pa.string()
    assert labels.ids(POSITIONS, NUMBERS).to_pylist() == ["a:1", r"b\xff:1", r"b\xff:9"]
    assert labels.files(POSITIONS, NUMBERS).to_pylist() == ["a", r"b\xff", r"b\xff"]
    assert as_utf8("é\udc80") == r"é\x80"


def test_rows_alone_are_integers():
    labels = Labels.of([Input(), Input()], named=False, all_integers=False)
    assert labels.kind == pa.int64() and labels.ids(POSITIONS, NUMBERS).to_pylist() == [1, 1, 9]
    assert labels.files(POSITIONS, NUMBERS).to_pylist() == [None] * 3
    assert Labels.of([Input(), Input("b")], named=False, all_integers=False).kind == pa.string()
    assert Labels.of([], named=False, all_integers=False).kind == pa.string()


@pytest.mark.parametrize(
    ("integers", "kind", "ids"), [(True, pa.int64(), [3, -2, 3]), (False, pa.large_string(), ["3", "-2", "3"])]
)
def test_ids_of_a_column_are_as_given(integers, kind, ids):
    labels = Labels.of([Input("a")], named=True, all_integers=integers)
    found = labels.ids(POSITIONS, NUMBERS, pa.array(["3", "-2", "3"], pa.large_string()))
    assert labels.kind == found.type == kind and found.to_pylist() == ids


def test_what_is_missing_is_not_made():
    labels = Labels.of([Input("a"), Input("b")], named=False, all_integers=False)
    made = []

    def make(positions, numbers, given):
        made.append(len(positions))
        return labels.ids(positions, numbers, given)

    for missing in ([False] * 3, [True, False, False], [False, True, False], [True] * 3):
        missing = np.array(missing)
        whole = labels.ids(POSITIONS, NUMBERS).to_pylist()
        found = labels.without(missing, make, POSITIONS, NUMBERS, None)
        assert found.to_pylist() == [None if gone else label for gone, label in zip(missing, whole, strict=True)]
    assert made == [3, 2, 2, 0]
    given = pa.array(["x", None, "z"])
    named = Labels.of([Input("a")], named=True, all_integers=False)
    assert named.without(np.array([False, True, False]), named.ids, POSITIONS, NUMBERS, given).to_pylist() == ["x", None, "z"]
