from types import SimpleNamespace

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
        (False, pa.array([5, 7, 0], "int8")),
        (True, pa.array([1 << 63, 7, 0], "uint64")),
        (True, pa.array(["a", "é", "5"])),
        (True, pa.array(["a", "é", "5"], "string_view")),
        (True, pa.array(["a", "é", "a"]).dictionary_encode()),
        (False, pa.array([3, 4, 3]).dictionary_encode()),
        (True, pa.array(["x", "a", "é", "5"], "large_string").slice(1)),
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


def test_labels_are_made_of_file_and_row():
    """Rows alone are integers."""
    positions, numbers = np.array([0, 1 << SOURCE_BITS, 1 << SOURCE_BITS | 7]), np.array([1, 1, 9])
    for names, kind, ids in (
        (("a", "b\udcff"), "string", ["a:1", r"b\xff:1", r"b\xff:9"]),
        ((None, None), "int64", [1, 1, 9]),
        ((None, "b"), "string", ["1", "b:1", "b:9"]),
    ):
        splits = [SimpleNamespace(label=lambda n, name=name: n if name is None else f"{name}:{n}") for name in names]
        made = Labels.of(splits, False, False)
        assert made.ids(positions, numbers).equals(pa.array(ids, kind)) and made.kind == kind
    assert as_utf8("é\udc80") == r"é\x80"
