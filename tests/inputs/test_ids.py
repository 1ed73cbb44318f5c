"""What documents are called: ids as text, default ids; and keys of the columns beside the text."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.errors import InputDataError
from lookalike.formats.memory import as_sources
from lookalike.formats.split import Batch
from lookalike.inputs.ids import Labels, as_utf8, column_keys, group_codes, id_column
from lookalike.text.texts import Texts
from lookalike.values.tables import SOURCE_BITS


def batch(ids, others=None):
    """A batch of rows numbered from 10."""
    n = len(ids)
    return Batch(Texts(np.zeros(n, np.uint8), np.arange(n + 1)), np.arange(10, 10 + n), ids, others or {})


kept = st.text(st.characters(codec="utf-8"), min_size=1, max_size=4) | st.integers(-(1 << 70), 1 << 70)


@given(st.lists(kept, max_size=12))
def test_ids_become_text_whatever_they_were(ids):
    texts, is_text = id_column("in", batch(ids))
    assert texts.to_pylist() == [str(i) for i in ids]
    whole = all(isinstance(i, int) and -(1 << 63) <= i < 1 << 63 for i in ids)
    assert is_text.to_pylist() == [not whole] * len(ids)


@pytest.mark.parametrize(
    ("column", "is_text"),
    [
        (pa.array([5, -7, 0]), False), (pa.array([5, 7, 0], pa.int8()), False), (pa.array([1 << 63, 7, 0], pa.uint64()), True),
        (pa.array(["a", "é", "5"]), True), (pa.array(["a", "é", "5"], pa.string_view()), True),
        (pa.array(["a", "é", "a"]).dictionary_encode(), True), (pa.array([3, 4, 3]).dictionary_encode(), False),
        (pa.array(["x", "a", "é", "5"], pa.large_string()).slice(1), True),
    ],
)  # fmt: skip
def test_ids_of_a_column_of_arrow(column, is_text):
    texts, told = id_column("in", batch(column))
    assert texts.to_pylist() == [str(value) for value in column.to_pylist()] and told.to_pylist() == [is_text] * 3


@pytest.mark.parametrize(
    ("ids", "said"),
    [
        (["a", None], "row 11: an id must be a str or an int; this one is null"),
        (["a", True], "row 11: an id must be a str or an int; this one is True, of type bool"),
        (["a", 1.5], "row 11: .* this one is 1.5, of type float"),
        (["a", "b", ""], "row 12: .* this one is empty"),
        (["a", "\ud800"], "row 11: .* lone surrogate"),
        (pa.array(["a", None]), "row 11: the id is null"),
        (pa.array(["a", ""]), "row 11: .* this one is empty"),
        (pa.array([1.0]), "row 10: .* the column holds double"),
        (pa.array([b"a"]), "row 10: .* the column holds binary"),
    ],
)
def test_ids_that_are_none_are_named_by_row(ids, said):
    with pytest.raises(InputDataError, match=f"^in, {said}"):
        id_column("in", batch(ids))


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
    with pytest.raises(InputDataError, match=r"^table, column 'x': lists and objects nested more than \d+ deep"):
        column_keys(source, batch(["i"], {"x": [deep]}), "x")
    with pytest.raises(InputDataError, match=r"^table, column 'x': values of type month_\w+ cannot be compared"):
        column_keys(source, batch(["i"], {"x": pa.array([(1, 2, 3)], pa.month_day_nano_interval())}), "x")
    same = column_keys(source, batch(["i", "j", "k", "l"], {"x": [1, 1.0, True, "1"]}), "x")
    assert same[0] == same[1] and len(set(same)) == 3


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
