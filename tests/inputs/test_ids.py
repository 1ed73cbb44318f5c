"""What documents are called: ids as text, default ids; and keys of the columns beside the text."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from raising import assert_raises

from lookalike.errors import InputDataError
from lookalike.formats.memory import as_sources
from lookalike.formats.split import Batch
from lookalike.inputs.ids import Labels, as_utf8, column_keys, group_codes, id_column
from lookalike.text.texts import Texts
from lookalike.values.tables import SOURCE_BITS


def batch(ids, others=None):
    n = len(ids)
    return Batch(Texts(np.zeros(n, np.uint8), np.arange(n + 1)), np.arange(10, 10 + n), ids, others or {})


kept = st.text(st.characters(codec="utf-8"), min_size=1, max_size=4) | st.integers(-(1 << 70), 1 << 70)


@given(st.lists(kept, max_size=12))
def test_ids_become_text_whatever_they_were(ids):
    texts, is_text = id_column("in", batch(ids))
    assert texts.to_pylist() == [str(i) for i in ids]
    whole = all(isinstance(i, int) and -(1 << 63) <= i < 1 << 63 for i in ids)
    assert is_text.to_pylist() == [not whole] * len(ids)


def test_ids_of_a_column_of_arrow():
    for is_text, column in (
        (False, pa.array([5, -7, 0])),
        (False, pa.array([5, 7, 0], pa.int8())),
        (True, pa.array([1 << 63, 7, 0], pa.uint64())),
        (True, pa.array(["a", "é", "5"])),
        (True, pa.array(["a", "é", "5"], pa.string_view())),
        (True, pa.array(["a", "é", "a"]).dictionary_encode()),
        (False, pa.array([3, 4, 3]).dictionary_encode()),
        (True, pa.array(["x", "a", "é", "5"], pa.large_string()).slice(1)),
    ):
        texts, told = id_column("in", batch(column))
        assert texts.to_pylist() == [str(value) for value in column.to_pylist()] and told.to_pylist() == [is_text] * 3


def test_ids_that_are_none_are_named_by_row():
    for said, ids in {
        "row 11: an id must be a str or an int; this one is null": ["a", None],
        "row 11: .* this one is 1.5, of type float": ["a", 1.5],
        "row 11: an id must be a str or an int; this one is True, of type bool": ["a", True],
        "row 12: .* this one is empty": ["a", "b", ""],
        "row 11: .* lone surrogate": ["a", "\ud800"],
        "row 11: the id is null": pa.array(["a", None]),
        "row 11: .* this one is empty": pa.array(["a", ""]),
        "row 10: .* the column holds double": pa.array([1.0]),
        "row 10: .* the column holds binary": pa.array([b"a"]),
    }.items():
        assert_raises(InputDataError, f"^in, {said}", id_column, "in", batch(ids))


@given(st.lists(st.binary(max_size=3), max_size=20))
def test_equal_keys_and_no_others_have_equal_codes(keys):
    codes = group_codes(keys)
    assert codes.shape == (len(keys), 5) and codes.dtype == np.uint64
    for i, one in enumerate(keys):
        assert [(codes[i] == other).all() for other in codes] == [one == other for other in keys]


def test_values_that_cannot_be_compared_name_file_and_column():
    (source,) = as_sources(pa.table({"text": ["a"]}))
    deep = []
    for _ in range(200):
        deep = [deep]
    for said, values in (
        (r"lists and objects nested more than \d+ deep", [deep]),
        (r"values of type month_\w+ cannot be compared", pa.array([(1, 2, 3)], pa.month_day_nano_interval())),
    ):
        assert_raises(InputDataError, rf"^table, column 'x': {said}", column_keys, source, batch(["i"], {"x": values}), "x")
    same = column_keys(source, batch(["i", "j", "k", "l"], {"x": [1, 1.0, True, "1"]}), "x")
    assert same[0] == same[1] and len(set(same)) == 3


class Input:
    """A source whose labels are file and row, or rows alone."""

    def __init__(self, name=None):
        self.name, self.file = name, lambda number: name

    def label(self, number):
        return number if self.name is None else f"{self.name}:{number}"


def labels(*names, named=False, all_integers=False):
    return Labels.of([Input(name) for name in names], named=named, all_integers=all_integers)


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


def test_what_is_missing_is_not_made():
    some = labels("a", "b")
    made = []
    whole = some.ids(POSITIONS, NUMBERS).to_pylist()

    def make(positions, numbers, given):
        made.append(len(positions))
        return some.ids(positions, numbers, given)

    for missing in ([False] * 3, [True, False, False], [False, True, False], [True] * 3):
        found = some.without(np.array(missing), make, POSITIONS, NUMBERS, None)
        assert found.to_pylist() == [None if gone else label for gone, label in zip(missing, whole, strict=True)]
    assert made == [3, 2, 2, 0]
    named = labels("a", named=True)
    given = pa.array(["x", None, "z"])
    assert named.without(np.array([False, True, False]), named.ids, POSITIONS, NUMBERS, given).to_pylist() == given.to_pylist()
