"""Distances of fingerprints, and rows of pairs; ``tests/recipes/test_twin.py`` holds whole decisions against the definition."""

import pyarrow as pa
from cut_tables import batches, columns_of, run, whole
from hypothesis import given
from hypothesis import strategies as st

from lookalike.formats.memory import as_sources
from lookalike.inputs.ids import Labels
from lookalike.methods.registry import MethodSettings, make_method
from lookalike.steps.decide import POSITIONS, decision_rows, pair_rows
from lookalike.values.tables import MATCHES

integer, number, keys = pa.int64(), pa.float64(), pa.list_(pa.int64(), 1)
MINHASH, SIMHASH = (make_method(name, MethodSettings()) for name in ("minhash", "simhash"))


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


SIDES = [("position", integer), ("number", integer), ("id", pa.large_string()), ("keys", keys)]
FOUND = pa.schema([*MATCHES, *((f"{side}_{name}", kind) for side in ("left", "right") for name, kind in SIDES)])


def pairs_told(method, named=True):
    """What the step says of two pairs, of which the second is the other way round in the input."""
    labels = Labels.of(as_sources(["a"]), named, False)
    found = [
        (a, b, score, p, p + 1, f"id{a}", [1 << a], q, q + 1, f"id{b}", [1 << b])
        for a, b, score, p, q in ((2, 5, 0.9, 10, 20), (4, 7, 0.8, 21, 9))
    ]
    given = pa.schema([field for field in FOUND if named or not field.name.endswith("_id")])
    added = [(name, integer if name == "distance" else number) for name in method.added[1:]]
    ids = [("left_id", labels.kind), ("right_id", labels.kind), ("left_is_reference", pa.bool_()), ("resemblance", number)]
    schema = pa.schema([*whole("left", "right"), *ids, *added, *POSITIONS])
    rows = batches(columns_of(found, FOUND), given, [1])
    return run(pair_rows, rows, schema=schema, labels=labels, method=method, boundary=3)


def test_the_document_that_comes_first_in_the_input_is_on_the_left():
    """Those without ids are called by their numbers; fingerprints are told with their distance."""
    wanted = [(2, 5, "id2", "id5", True, 0.9, 10, 20), (7, 4, "id7", "id4", False, 0.8, 9, 21)]
    assert pairs_told(MINHASH) == wanted
    assert [row[2:4] for row in pairs_told(MINHASH, named=False)] == [(11, 21), (10, 22)]
    assert [row[6] for row in pairs_told(SIMHASH)] == [2, 2]
