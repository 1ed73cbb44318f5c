"""``tests/recipes/test_twin.py`` holds whole decisions against the definition."""

import pyarrow as pa
from cut_tables import batches, columns_of, run, whole
from hypothesis import given
from hypothesis import strategies as st
from samples import words

import lookalike as la
from lookalike.inputs.ids import Labels
from lookalike.methods.registry import MethodSettings, make_method
from lookalike.steps.decide import decision_rows

integer, number, keys = pa.int64(), pa.float64(), pa.list_(pa.int64(), 1)
SIMHASH = make_method("simhash", MethodSettings())


@given(st.lists(st.tuples(st.none() | st.integers(-(2**63), 2**63 - 1), st.none() | st.integers(0, 9)), max_size=9))
def test_distances_are_those_of_fingerprints(documents):
    """Null where nobody stands for a document; 0 where one has no fingerprint."""
    rows = [
        (order, 99, None if other is None else 0.9, None if own is None else [own], None if other in (None, 9) else [other])
        for order, (own, other) in enumerate(documents)
    ]
    given_rows = pa.schema([*whole("order", "keeper"), ("score", number), ("keys", keys), ("keeper_keys", keys)])
    found = run(
        decision_rows, batches(columns_of(rows, given_rows), given_rows, [1]), schema=pa.schema({"distance": integer}),
        labels=Labels(splits=(), kind=integer), method=SIMHASH, boundary=1,
    )  # fmt: skip
    assert found == [
        (None if other is None else 0 if own is None or other == 9 else ((own ^ other) & 2**64 - 1).bit_count(),)
        for own, other in documents
    ]


def test_the_document_that_comes_first_in_the_input_is_on_the_left():
    """Whichever is kept; those without ids are called by their numbers."""
    texts, how = ["a b c d", "x y", "a b c d e", "a b c d f"], {"keep": "last", "evidence": "all", "width": 1}
    pairs = la.dedup(texts, threshold=0.7, **how).pairs.to_pylist()
    assert [tuple(row.values()) for row in pairs] == [(0, 2, 0.8), (0, 3, 0.8)]
    pairs = la.dedup(texts[2:], against=texts[:2], threshold=0.6, **how).pairs.to_pylist()
    assert [tuple(row.values()) for row in pairs] == [(0, 0, True, 0.8), (0, 1, True, 0.8), (0, 1, False, 4 / 6)]
    long = words("w", 99)
    found = la.dedup([long, f"{long} more"], method="simhash", **how)
    assert found.pairs["distance"].to_pylist() == found.removed["distance"].to_pylist() != [0]
