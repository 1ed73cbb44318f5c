"""What documents are called: ids as text, and default ids."""

import numpy as np
import pyarrow as pa
from raising import assert_raises

from lookalike.errors import InputDataError
from lookalike.formats.split import Batch
from lookalike.inputs.ids import Labels, as_utf8, id_column
from lookalike.text.texts import Texts
from lookalike.values.tables import SOURCE_BITS


def column_of(ids):
    n = len(ids)
    return id_column("in", Batch(Texts(np.zeros(n, np.uint8), np.arange(n + 1)), np.arange(10, 10 + n), ids, {}))


def test_ids_become_text_whatever_they_were():
    """Those of a batch are integers if all of them are, of 64 bits."""
    for is_text, ids in (
        (False, [5, -(1 << 63), (1 << 63) - 1]),
        (True, [5, 1 << 63]),
        (True, [-(1 << 63) - 1]),
        (True, [5, "é"]),
        (False, pa.array([5, -7, 0])),
        (False, pa.array([5, 7, 0], pa.int8())),
        (True, pa.array([1 << 63, 7, 0], pa.uint64())),
        (True, pa.array(["a", "é", "5"])),
        (True, pa.array(["a", "é", "5"], pa.string_view())),
        (True, pa.array(["a", "é", "a"]).dictionary_encode()),
        (False, pa.array([3, 4, 3]).dictionary_encode()),
        (True, pa.array(["x", "a", "é", "5"], pa.large_string()).slice(1)),
    ):
        texts, told = column_of(ids)
        assert texts.to_pylist() == [str(getattr(one, "as_py", lambda one=one: one)()) for one in ids]
        assert told.to_pylist() == [is_text] * len(ids)


def test_ids_that_are_none_are_named_by_row():
    for said, ids in {
        "row 11: an id must be a str or an int; this one is null": ["a", None],
        "row 11: .* this one is 1.5, of type float": ["a", 1.5],
        "row 12: .* this one is empty": ["a", "b", ""],
        "row 11: .* lone surrogate": ["a", "\ud800"],
        "row 11: the id is null": pa.array(["a", None]),
        "row 10: .* the column holds double": pa.array([1.0]),
        "row 10: .* the column holds binary": pa.array([b"a"]),
    }.items():
        assert_raises(InputDataError, f"^in, {said}", column_of, ids)


class Input:
    """A source whose labels are file and row, or rows alone."""

    def __init__(self, name=None):
        self.file = lambda number: name
        self.label = lambda number: number if name is None else f"{name}:{number}"


def labels(*names, named=False, all_integers=False):
    return Labels.of([Input(name) for name in names], named, all_integers)


POSITIONS, NUMBERS = np.array([0, 1 << SOURCE_BITS, 1 << SOURCE_BITS | 7]), np.array([1, 1, 9])


def test_labels_are_made_of_file_and_row():
    """Rows alone are integers; ids of a column are as given."""
    column = pa.array(["3", "-2", "3"], pa.large_string())
    for made, columns, kind, ids, files in (
        (labels("a", "b\udcff"), [], pa.string(), ["a:1", r"b\xff:1", r"b\xff:9"], ["a", r"b\xff", r"b\xff"]),
        (labels(None, None), [], pa.int64(), [1, 1, 9], [None] * 3),
        (labels("a", named=True, all_integers=True), [column], pa.int64(), [3, -2, 3], None),
        (labels("a", named=True), [column], pa.large_string(), ["3", "-2", "3"], None),
    ):
        found = made.ids(POSITIONS, NUMBERS, *columns)
        assert found.to_pylist() == ids and made.kind == found.type == kind
        assert files is None or made.files(POSITIONS, NUMBERS).to_pylist() == files
    assert labels(None, "b").kind == labels().kind == pa.string() and as_utf8("é\udc80") == r"é\x80"
